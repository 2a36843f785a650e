/** The list of a workspace's connections, and of the destinations that can be connected. */

import { secretNames } from '@claimcheck/core/hosting'
import type { JsonValue } from '@claimcheck/core/rules'
import { visibleName } from '@claimcheck/core/words/plain-text'
import { propertyLabel } from '../../../../base/schema-properties.ts'
import type { HostedConnectionType } from '../../../../plugins/hosted.ts'
import type { Registry } from '../../../../plugins/registry.ts'
import type { StoredIdentity } from '../../../../storage/workspaces.ts'
import { failureAdvice, failureInWords } from '../../../../web/failures.ts'
import { type FactRows, Facts } from '../../../../web/parts/facts.tsx'
import { MARKS } from '../../../../web/parts/icons.tsx'
import { Empty } from '../../../../web/parts/table.tsx'
import { ActionNames, Codes, Name, Time, useNow, withCommas } from '../../../../web/parts/values.tsx'
import { endingOf, failureOf, isFailing } from '../../../workspaces/connection-health.ts'
import type { ConnectionSummary } from '../../../workspaces/connections.ts'
import type { Overlap } from '../../../workspaces/overlaps.ts'
import type { AddressInReceipts } from '../../../workspaces/sources.ts'
import { ConsolePage, useWorkspace } from '../../page.tsx'
import { AskForm, PostForm } from '../../parts/form.tsx'
import { actionTitle } from '../../words.ts'
import { Destinations } from './destinations.tsx'
import { TRY, trialLabel } from './trial-field.tsx'

interface ConnectionsProps {
  readonly connections: readonly ConnectionSummary[]
  /** Names of the people who made the connections, by their ids. */
  readonly names: ReadonlyMap<string, string>
  readonly registry: Pick<
    Registry,
    'connectionType' | 'connectionTypes' | 'actionsFor' | 'publicActions' | 'verifierFor'
  >
  /** The ways in which receipts name the connections' addresses, by the ids of connections. */
  readonly addresses: ReadonlyMap<string, AddressInReceipts>
  /** The other connections that the same claims may fit, by the id of a connection. */
  readonly overlaps: ReadonlyMap<string, readonly Overlap[]>
  /** The words by which destinations are looked for. */
  readonly search: string
}

export function Connections(props: ConnectionsProps) {
  const { connections, names, registry, addresses, overlaps, search } = props
  const { isOwner } = useWorkspace()
  const publicActions = registry.publicActions()
  const failing = connections.filter((one) => failureOf(one) !== null)
  const named = namesFrom(registry)
  const toConnect = isOwner ? (
    <a class="button" href="#connect">
      Connect a destination
    </a>
  ) : null
  return (
    <ConsolePage title="Connections" section="connections" actions={toConnect}>
      <Failing connections={failing} />
      <Ending connections={connections} />
      <p>Claims are checked at their destinations through connections. Destinations are only read, never changed.</p>
      {publicActions.length > 0 && (
        <p>
          Public destinations need no connection: <ActionNames actions={publicActions.map(named)} />.
        </p>
      )}
      {connections.length === 0 ? (
        <Empty heading="Nothing is connected">
          <p>{isOwner ? 'Choose a destination below.' : 'Ask an owner of the workspace to connect destinations.'}</p>
        </Empty>
      ) : (
        <>
          <h2>Connected</h2>
          <div class="cards">
            {[...new Set([...failing, ...connections])].map((connection) => (
              <ConnectionCard
                connection={connection}
                named={named}
                type={registry.connectionType(connection.provider)}
                address={addresses.get(connection.id)!}
                overlaps={(overlaps.get(connection.id) ?? []).flatMap((overlap) => {
                  const other = connections.find(({ id }) => id === overlap.id)
                  return other ? [{ ...overlap, name: other.name }] : []
                })}
                by={connection.connectedBy === null ? 'the command line' : names.get(connection.connectedBy)}
              />
            ))}
          </div>
        </>
      )}
      {isOwner && <Destinations registry={registry} search={search} />}
    </ConsolePage>
  )
}

/** Shows connections that cannot be read first, with what to do about it. */
function Failing({ connections }: Pick<ConnectionsProps, 'connections'>) {
  const { isOwner } = useWorkspace()
  if (connections.length === 0) return null
  return (
    <section class="notice problem" aria-label="Problems">
      <p>
        <strong>
          {connections.length === 1 ? 'A connection' : `${connections.length} connections`} could not be read.
        </strong>{' '}
        Claims that need {connections.length === 1 ? 'it' : 'them'} wait until their deadline, and are unverifiable
        then.
        {!isOwner && ' Ask an owner of the workspace to look at this:'}
      </p>
      <ul>
        {connections.map((connection) => {
          const failure = failureOf(connection)!
          return (
            <li>
              <ConnectionLink {...connection} />: {failureInWords(failure)}.{isOwner && ` ${failureAdvice(failure)}`}
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** Lists connections whose credentials end within a week, or have ended. */
function Ending({ connections }: Pick<ConnectionsProps, 'connections'>) {
  const now = useNow()
  const ending = connections.flatMap((connection) => {
    const end = endingOf(connection, now)
    return end ? [{ ...connection, ...end }] : []
  })
  if (ending.length === 0) return null
  return (
    <section class="notice warning" aria-label="Credentials that end">
      <ul>
        {ending.map(({ id, name, at, isOver }) => (
          <li>
            The credentials of <ConnectionLink id={id} name={name} /> {isOver ? 'ended' : 'end'} <Time at={at} />:
            replace them, or claims that need them stay unverified.
          </li>
        ))}
      </ul>
    </section>
  )
}

function namesFrom(registry: Pick<Registry, 'verifierFor'>) {
  return (action: string) => ({ action, title: actionTitle(registry, action) })
}

const ADDRESS_WORDS: Readonly<Record<AddressInReceipts, string>> = {
  listed: 'named: the operator lists it as a public destination',
  published: 'named',
  withheld: 'withheld: readers see that this workspace chose the destination',
}

interface ConnectionCardProps {
  readonly connection: ConnectionSummary
  readonly named: ReturnType<typeof namesFrom>
  /** The type of the connection; undefined where its plugin is not loaded. */
  readonly type: HostedConnectionType | undefined
  readonly address: AddressInReceipts
  readonly overlaps: readonly (Overlap & { readonly name: string })[]
  readonly by: string | undefined
}

function ConnectionCard({ connection, named, type, address, overlaps, by }: ConnectionCardProps) {
  const { id, name, provider, actions, scopes, notes, connectedAt } = connection
  const same = overlaps.filter(({ isOnePlace }) => isOnePlace)
  return (
    <article class="card" aria-labelledby={id}>
      <h3 id={id}>
        <Name of={name} />
      </h3>
      <Health connection={connection} />
      {notes.map((note) => (
        <p class="notice warning">{note}</p>
      ))}
      <Ambiguous overlaps={overlaps.filter(({ isOnePlace }) => !isOnePlace)} />
      <Facts
        rows={[
          ['Kind', type?.title ?? provider],
          ...optionRows(connection, type),
          [
            'Verifies',
            actions.length > 0 ? (
              <ActionNames actions={actions.map(named)} />
            ) : (
              'nothing: no loaded plugin verifies through it'
            ),
          ],
          [
            'Permissions',
            scopes.length > 0 ? (
              <Codes values={scopes} />
            ) : (
              <span class="none">unknown: the destination does not say</span>
            ),
          ],
          ['Address in receipts', ADDRESS_WORDS[address]],
          [
            'Reads the same as',
            same.length === 0 ? null : (
              <>
                <ConnectionLinks overlaps={same} />: the oldest that is shown what a claim names reads it
              </>
            ),
          ],
          [
            'Connected',
            <>
              <Time at={connectedAt} /> by {by}
            </>,
          ],
          ['Identity', type?.identified ? <Identity of={connection.identity} /> : null],
          ['Credentials end', connection.expiresAt === null ? null : <Time at={connection.expiresAt} />],
          ...readRows(connection),
        ]}
      />
      {useWorkspace().isOwner && <ConnectionActions connection={connection} type={type} />}
    </article>
  )
}

/** Shows the identity of a destination, and the one that it had before. */
function Identity({ of }: { readonly of: StoredIdentity | null }) {
  if (of === null) return <span class="none">unknown: until a test tells it, what is missing blames nobody</span>
  const { text, since, former } = of
  return (
    <>
      <code>{text}</code>
      {former === null ? null : (
        <>
          : since <Time at={since} /> another than before, which was <code>{former}</code>
        </>
      )}
    </>
  )
}

function Ambiguous({ overlaps }: Pick<ConnectionCardProps, 'overlaps'>) {
  if (overlaps.length === 0) return null
  return (
    <p class="notice warning">
      Claims that fit this connection can fit <ConnectionLinks overlaps={overlaps} /> too. Such a claim is unverifiable
      {overlaps.every(({ hasHost }) => hasHost) && (
        <>
          , unless its <code>host</code> param names one of them
        </>
      )}
      : disconnect those that are too many, or connect each for its own part, such as its owners.
    </p>
  )
}

function ConnectionLinks({ overlaps }: Pick<ConnectionCardProps, 'overlaps'>) {
  return withCommas(overlaps.map((overlap) => <ConnectionLink {...overlap} />))
}

function ConnectionLink({ id, name }: Pick<ConnectionSummary, 'id' | 'name'>) {
  return (
    <a href={`#${id}`}>
      <Name of={name} />
    </a>
  )
}

function ConnectionActions({ connection, type }: Pick<ConnectionCardProps, 'connection' | 'type'>) {
  const { id, trialTarget } = connection
  const name = visibleName(connection.name)
  const { at } = useWorkspace()
  return (
    <div class="actions">
      <PostForm action={at.testConnection(id)} class="row">
        {type?.trial && (
          <input
            name={TRY}
            value={trialTarget ?? ''}
            placeholder={type.trial.example}
            aria-label={`${trialLabel(type.trial)} with ${name}`}
            autocomplete="off"
            spellcheck={false}
          />
        )}
        <button type="submit" class="quiet" aria-label={`Test now: ${name}`}>
          Test now
        </button>
      </PostForm>
      <a class="button quiet" href={at.connectionName(id)} aria-label={`Rename ${name}`}>
        Rename
      </a>
      {type && secretNames(type).length > 0 && (
        <a class="button quiet" href={at.credentials(id)} aria-label={`Replace credentials of ${name}`}>
          Replace credentials
        </a>
      )}
      {type?.hints && (
        <a class="button quiet" href={at.hints(id)} aria-label={`Hints for ${name}`}>
          Hints
        </a>
      )}
      <a class="button danger quiet" href={at.disconnect(id)} aria-label={`Disconnect ${name}`}>
        Disconnect
      </a>
    </div>
  )
}

const REFUSED_WORDS: Readonly<Record<string, string>> = {
  unauthorized: 'Refused',
  forbidden: 'Not shown',
  refused: 'Refused',
}

/** The state of a connection, and since when. Only what a read proved is green. */
function Health({ connection }: Pick<ConnectionCardProps, 'connection'>) {
  const { state, stateAt, trialTarget, lastFailureAt } = connection
  const failure = failureOf(connection)
  if (failure !== null) {
    const isRefused = state === 'refused'
    return (
      <p class="health failing">
        <MARKS.failed /> {isRefused ? REFUSED_WORDS[failure] : 'Last read'}{' '}
        <Time at={isRefused ? stateAt : lastFailureAt} />: {failureInWords(failure)}
      </p>
    )
  }
  if (state === null) return <p class="health">Not tried yet</p>
  if (state === 'works') {
    return (
      <p class="health working">
        <MARKS.verified /> Works{trialTarget === null ? ', tested' : `: read ${trialTarget}`} <Time at={stateAt} />
      </p>
    )
  }
  return (
    <p class="health">
      <MARKS.unverifiable /> Reached, but not tried, <Time at={stateAt} />: nothing shows yet that it can be read. Test
      it with something that only its credentials can read.
    </p>
  )
}

/** Lists the times of the last read of a connection, and of the last one that failed. */
function readRows(connection: ConnectionSummary): FactRows {
  const { lastReadAt, lastFailureAt, lastFailure } = connection
  return [
    [isFailing(connection) ? 'Last good read' : 'Last read', <Time at={lastReadAt} none="not yet" />],
    [
      'Last failure',
      <>
        <Time at={lastFailureAt} none="none" />
        {lastFailure !== null && `: ${failureInWords(lastFailure)}`}
      </>,
    ],
  ]
}

export function optionRows({ options }: ConnectionSummary, type: HostedConnectionType | undefined): FactRows {
  return Object.entries(options).map(([key, value]) => [propertyLabel(type?.options, key), optionText(value)])
}

function optionText(value: JsonValue): string {
  if (typeof value === 'string') return value
  const isTexts = Array.isArray(value) && value.every((item) => typeof item === 'string')
  return isTexts ? value.join(', ') : JSON.stringify(value)
}

export function Disconnect({ connection, type }: Pick<ConnectionCardProps, 'connection' | 'type'>) {
  const { at } = useWorkspace()
  return (
    <ConsolePage title={`Disconnect ${visibleName(connection.name)}?`} section="connections">
      <Facts rows={[['Kind', type?.title ?? connection.provider], ...optionRows(connection, type)]} />
      <p>
        The credentials are deleted at once. Claims that wait for this connection are decided as unverifiable. To read
        the destination again, connect it again.
      </p>
      <AskForm
        action={at.disconnect(connection.id)}
        submit="Disconnect"
        danger
        cancel="Keep it"
        href={at.connections}
      />
    </ConsolePage>
  )
}
