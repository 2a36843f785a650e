/** The developers page: API keys, and the quotas of the workspace. */
import type { Instant } from '@claimcheck/core'
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../base/errors.ts'
import type { QuotaState } from '../../claims/quotas.ts'
import type { App } from '../../http/instance.ts'
import { sendPage } from '../../web/document.tsx'
import { originOf } from '../../web/origin.ts'
import { Empty, Table } from '../../web/parts/table.tsx'
import { Code, Time } from '../../web/parts/values.tsx'
import { sentence } from '../../web/words.tsx'
import { type ApiKey, KEY_PREFIX } from '../../workspaces/keys.ts'
import { actingOf } from '../acting.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { firstClaimCommand, firstProfile } from '../first-claim.ts'
import { ConsolePage, type Viewer } from '../page.tsx'
import { Field, PostForm } from '../parts/form.tsx'
import { paths } from '../paths.ts'
import { refusalOf } from '../refusal.ts'
import { formOf, queryOf } from '../request-fields.ts'
import { isOwner, ownersOnly, sessionOf, viewerOf, workspaceOf } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'

type DeveloperServices = Pick<
  ConsoleDependencies,
  'keys' | 'quotas' | 'members' | 'connections' | 'registry' | 'now' | 'config'
>

type KeyPath = { Params: { key: string } }

const COMMAND_LINE = 'command line'

export function developerRoutes(
  app: App,
  { keys, quotas, members, connections, registry, now, config }: DeveloperServices,
): void {
  async function shown(request: FastifyRequest): Promise<DevelopersProps> {
    const { id } = workspaceOf(request)
    const [listed, quota] = await Promise.all([keys.list(id), quotas.state(id)])
    const names = await members.namesOf(listed.map(({ createdBy }) => createdBy))
    return { viewer: viewerOf(request), isOwner: isOwner(request), keys: listed, names, quota, now: now() }
  }

  async function requireKey(request: FastifyRequest, id: string): Promise<ApiKey> {
    const key = (await keys.list(workspaceOf(request).id)).find((one) => one.id === id)
    if (!key) throw new ServiceError('not_found', 'there is no such key')
    return key
  }

  app.get('/developers', async (request, reply) =>
    sendPage(reply, <Developers {...(await shown(request))} done={queryOf(request).done} />),
  )

  // For a reload of the page of a new key.
  app.get('/developers/keys', async (request, reply) => reply.redirect(paths.developers(workspaceOf(request).id), 303))

  app.post('/developers/keys', { ...KEEPS_ALL, preHandler: ownersOnly }, async (request, reply) => {
    const { name = '' } = formOf(request)
    try {
      const { key } = await keys.create(workspaceOf(request).id, name, sessionOf(request).user.id, actingOf(request))
      const providers = (await connections.list(workspaceOf(request).id)).map(({ provider }) => provider)
      const profile = firstProfile(registry, providers)
      const command = firstClaimCommand({ origin: originOf(request, config.publicUrl), key, profile })
      return sendPage(reply, <NewKey viewer={viewerOf(request)} secret={key} command={command} />, 201)
    } catch (error) {
      const problem = `no key was made: ${refusalOf(error)}`
      return sendPage(reply, <Developers {...(await shown(request))} name={name} problem={problem} />, 422)
    }
  })

  app.get<KeyPath>('/developers/keys/:key/revoke', { preHandler: ownersOnly }, async (request, reply) => {
    const key = await requireKey(request, request.params.key)
    return sendPage(reply, <Revoke viewer={viewerOf(request)} apiKey={key} now={now()} />)
  })

  app.post<KeyPath>('/developers/keys/:key/revoke', { preHandler: ownersOnly }, async (request, reply) => {
    const workspaceId = workspaceOf(request).id
    await keys.revoke(request.params.key, workspaceId, actingOf(request))
    return reply.redirect(`${paths.developers(workspaceId)}?done=key-revoked`, 303)
  })
}

interface DevelopersProps {
  readonly viewer: Viewer
  readonly isOwner: boolean
  readonly keys: readonly ApiKey[]
  /** Names of the people who made keys, by their ids. */
  readonly names: ReadonlyMap<string, string>
  readonly quota: QuotaState
  readonly now: Instant
  readonly name?: string
  readonly problem?: string
  readonly done?: string | undefined
}

function Developers({ viewer, isOwner, keys, names, quota, now, name, problem, done }: DevelopersProps) {
  return (
    <ConsolePage title="Developers" viewer={viewer} section="developers" done={done}>
      <h2>API keys</h2>
      <p>
        Programs submit claims and read this workspace with a key. A key gives full access to the API. Revoked keys stay
        in this list.
      </p>
      {keys.length === 0 ? (
        <Empty heading="No keys yet">
          <p>
            {isOwner ? 'Make a key below to submit the first claim.' : 'Ask an owner of the workspace to make one.'}
          </p>
        </Empty>
      ) : (
        <KeyTable viewer={viewer} isOwner={isOwner} keys={keys} names={names} now={now} />
      )}
      {isOwner ? (
        <>
          <h2>New key</h2>
          <PostForm action={paths.keys(viewer.workspace!.id)} csrf={viewer.csrf}>
            <Field
              name="name"
              label="Name"
              value={name}
              problem={problem && sentence(problem)}
              help="What will use it: a program, a machine, a pipeline."
              autocomplete="off"
              required
            />
            <button type="submit">Make a key</button>
          </PostForm>
        </>
      ) : null}
      <h2>Limits</h2>
      <Quota {...quota} />
    </ConsolePage>
  )
}

function Quota({ claimsPerMinute, waitingClaims, waiting }: QuotaState) {
  const rate = claimsPerMinute === 0 ? 'any number of' : format(claimsPerMinute)
  const most = waitingClaims === 0 ? 'any number' : format(waitingClaims)
  return (
    <p>
      This workspace may submit {rate} claims a minute, and {most} may wait for a decision at a time. {format(waiting)}{' '}
      {waiting === 1 ? 'claim waits' : 'claims wait'} now. Beyond a limit the API answers 429 and says when to try
      again.
    </p>
  )
}

const format = (count: number) => count.toLocaleString('en')

type KeyTableProps = Pick<DevelopersProps, 'viewer' | 'isOwner' | 'keys' | 'names' | 'now'>

function KeyTable({ viewer, isOwner, keys, names, now }: KeyTableProps) {
  const head = ['Name', 'Key', 'State', 'Last used', 'Created', 'Created by', ...(isOwner ? ['Revoke'] : [])]
  return (
    <Table stacks label="API keys" head={head}>
      {keys.map((key) => (
        <tr>
          <th scope="row" class="wide">
            {key.name}
          </th>
          <td>
            <KeyText apiKey={key} />
          </td>
          <td>
            <State revokedAt={key.revokedAt} now={now} />
          </td>
          <td>
            <Time at={key.lastUsedAt} now={now} none="never" />
          </td>
          <td>
            <Time at={key.createdAt} now={now} />
          </td>
          <td>{key.createdBy === null ? COMMAND_LINE : names.get(key.createdBy)}</td>
          {isOwner ? <td>{key.revokedAt === null ? <RevokeLink viewer={viewer} apiKey={key} /> : null}</td> : null}
        </tr>
      ))}
    </Table>
  )
}

function KeyText({ apiKey }: { readonly apiKey: ApiKey }) {
  return <code>{`${KEY_PREFIX}…${apiKey.lastFour}`}</code>
}

function State({ revokedAt, now }: { readonly revokedAt: Instant | null; readonly now: Instant }) {
  if (revokedAt === null) return <>active</>
  return (
    <span class="none">
      revoked <Time at={revokedAt} now={now} />
    </span>
  )
}

function RevokeLink({ viewer, apiKey }: { readonly viewer: Viewer; readonly apiKey: ApiKey }) {
  return (
    <a href={paths.revokeKey(viewer.workspace!.id, apiKey.id)} aria-label={`Revoke ${apiKey.name}`}>
      Revoke
    </a>
  )
}

interface NewKeyProps {
  readonly viewer: Viewer
  readonly secret: string
  readonly command: string
}

function NewKey({ viewer, secret, command }: NewKeyProps) {
  return (
    <ConsolePage title="Your new key" viewer={viewer} section="developers">
      <p class="notice warning">
        <strong>Copy this key now: it is not shown again.</strong> Only its hash is stored.
      </p>
      <Code text={secret} label="the key" />
      <h2>Submit a first claim</h2>
      <p>Paste this into a shell. Replace the example with what your agent did, and where.</p>
      <Code text={command} label="the command" />
      <p>
        <a class="button" href={paths.developers(viewer.workspace!.id)}>
          I have copied the key
        </a>
      </p>
    </ConsolePage>
  )
}

interface RevokeProps {
  readonly viewer: Viewer
  readonly apiKey: ApiKey
  readonly now: Instant
}

function Revoke({ viewer, apiKey, now }: RevokeProps) {
  const workspaceId = viewer.workspace!.id
  return (
    <ConsolePage
      title={apiKey.revokedAt === null ? 'Revoke this key?' : 'This key is revoked'}
      viewer={viewer}
      section="developers"
    >
      <dl class="facts">
        <dt>Name</dt>
        <dd>{apiKey.name}</dd>
        <dt>Key</dt>
        <dd>
          <KeyText apiKey={apiKey} />
        </dd>
        <dt>Last used</dt>
        <dd>
          <Time at={apiKey.lastUsedAt} now={now} none="never" />
        </dd>
        <dt>State</dt>
        <dd>
          <State revokedAt={apiKey.revokedAt} now={now} />
        </dd>
      </dl>
      {apiKey.revokedAt === null ? (
        <>
          <p>
            The next request with this key is refused. This cannot be undone. Claims that were submitted with it stay.
          </p>
          <PostForm action={paths.revokeKey(workspaceId, apiKey.id)} csrf={viewer.csrf} class="actions">
            <button type="submit" class="danger">
              Revoke the key
            </button>
            <a class="button quiet" href={paths.developers(workspaceId)}>
              Keep it
            </a>
          </PostForm>
        </>
      ) : (
        <p>
          Requests with it are refused. <a href={paths.developers(workspaceId)}>Back to the keys</a>
        </p>
      )}
    </ConsolePage>
  )
}
