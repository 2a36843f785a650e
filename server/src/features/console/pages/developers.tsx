/** The developers page: API keys, the agents that are bound to them, the domain and the sites of the workspace, and its quotas. */
import type { VNode } from 'preact'
import { readDuration } from '../../../base/duration.ts'
import type { App } from '../../../http/instance.ts'
import { pathsIn } from '../../../web/console-paths.ts'
import { Empty } from '../../../web/parts/table.tsx'
import { sentence } from '../../../web/words.tsx'
import type { QuotaState } from '../../claims/quotas.ts'
import type { ApiKey } from '../../workspaces/keys.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { firstClaimCommand, firstProfile } from '../first-claim.ts'
import { addPage, FRESH_SIGN_IN, type Refused, requireFound, type Visit } from '../form-page.tsx'
import { ConsolePage, useWorkspace, type ViewedWorkspace } from '../page.tsx'
import { Field, PostForm } from '../parts/form.tsx'
import { linesOf } from '../request-fields.ts'
import { BoundAgents, ReleaseAgent } from './developers/bound-agents.tsx'
import { Domain } from './developers/domain.tsx'
import { fieldsOf, NewKeyFields, readKeyFields } from './developers/key-fields.tsx'
import { ChangeKey, NewKey, RevokeKey, RotateKey } from './developers/key-pages.tsx'
import { KeyTable } from './developers/key-table.tsx'

/** The guard of changes that only owners make, after a sign-in of the last ten minutes. */
const BY_OWNERS_NOW = { owners: true, ...FRESH_SIGN_IN } as const

export function developerRoutes(app: App, services: ConsoleDependencies): void {
  const { keys, allowedOrigins, holders } = services

  // Browsers that reload the page of a new key ask for this.
  app.get<{ Params: { workspace: string } }>('/developers/keys', async ({ params }, reply) =>
    reply.redirect(pathsIn(params.workspace).developers, 303),
  )

  addPage(app, services, '/developers', {
    show: ({ workspace, refused }) => developersPage(services, workspace, refused),
    forms: {
      '/developers/keys': {
        ...BY_OWNERS_NOW,
        answer: async ({ workspace: { id }, form, by }) => {
          const { key } = await keys.create(id, form.name ?? '', readKeyFields(form), by)
          return newKeyPage(services, id, { key })
        },
      },
      '/developers/sites': {
        ...BY_OWNERS_NOW,
        save: ({ workspace, form, by }) => allowedOrigins.set(workspace.id, linesOf(form.sites ?? ''), by),
        done: 'sites-changed',
      },
      '/developers/domain': {
        ...BY_OWNERS_NOW,
        cost: 'trial',
        save: ({ workspace, form, by }) => holders.setDomain(workspace.id, form.domain ?? '', by),
        done: 'domain-changed',
      },
    },
  })

  addPage(app, services, '/developers/agents/release', {
    owners: true,
    show: async ({ workspace, query, refused }) => {
      if (refused) return <ReleaseAgent agentId={refused.values.agent ?? ''} problem={refused.problem} />
      const { agent = '' } = query
      const bound = await keys.boundAgents(workspace.id)
      const { agentId } = requireFound(
        bound.find((one) => one.agentId === agent),
        'there is no such bound agent',
      )
      return <ReleaseAgent agentId={agentId} />
    },
    form: {
      ...BY_OWNERS_NOW,
      save: ({ workspace, form, by }) => keys.releaseAgent(workspace.id, form.agent ?? '', by),
      done: 'agent-released',
      leadsTo: (at) => at.developers,
    },
  })

  keyRoutes(app, services)
}

/** Adds the pages of one key: changing, replacing and revoking it. */
function keyRoutes(app: App, services: ConsoleDependencies): void {
  const { keys } = services

  async function load({ workspace, params }: Visit): Promise<ApiKey> {
    const listed = await keys.list(workspace.id)
    return requireFound(
      listed.find(({ id }) => id === params.key),
      'there is no such key',
    )
  }

  addPage(app, services, '/developers/keys/:key', {
    owners: true,
    load,
    show: ({ loaded: key, refused }) => {
      if (refused) {
        const problem = sentence(`the key is as before: ${refused.problem}`)
        return <ChangeKey apiKey={key} values={refused.values} problem={problem} />
      }
      return key.revokedAt === null ? <ChangeKey apiKey={key} values={fieldsOf(key)} /> : <RevokeKey apiKey={key} />
    },
    form: {
      ...BY_OWNERS_NOW,
      save: async ({ loaded: key, workspace, form, by }) =>
        keys.change(key.id, { name: form.name ?? '', ...readKeyFields(form, key) }, workspace.id, by),
      done: 'key-changed',
      leadsTo: (at) => at.developers,
    },
  })

  addPage(app, services, '/developers/keys/:key/rotate', {
    owners: true,
    load,
    show: ({ loaded: key, refused }) => (
      <RotateKey apiKey={key} problem={refused && `no key was made: ${refused.problem}`} />
    ),
    form: {
      ...BY_OWNERS_NOW,
      answer: async ({ loaded: key, workspace, form, by }) => {
        const made = await keys.rotate(key.id, readDuration(form.overlap ?? ''), workspace.id, by)
        return newKeyPage(services, workspace.id, made)
      },
    },
  })

  addPage(app, services, '/developers/keys/:key/revoke', {
    owners: true,
    load,
    show: ({ loaded: key }) => <RevokeKey apiKey={key} />,
    form: {
      freshSignIn: 'a leaked key ends at once',
      save: ({ loaded: key, workspace, by }) => keys.revoke(key.id, workspace.id, by),
      done: 'key-revoked',
      leadsTo: (at) => at.developers,
    },
  })
}

/** Makes the page of a new key, which answers the form that made it. */
async function newKeyPage(
  { connections, registry, ownAddress }: ConsoleDependencies,
  workspaceId: string,
  { key, replaced }: { readonly key: string; readonly replaced?: ApiKey },
) {
  const providers = (await connections.list(workspaceId)).map(({ provider }) => provider)
  const command = firstClaimCommand({ origin: ownAddress.origin(), key, profile: firstProfile(registry, providers) })
  return { page: <NewKey secret={key} command={command} replaced={replaced} />, status: 201 }
}

async function developersPage(
  { keys, quotas, allowedOrigins, holders, members, isActive }: ConsoleDependencies,
  { id, payer, isOwner, at }: ViewedWorkspace,
  refused: Refused | undefined,
): Promise<VNode> {
  const [listed, bound, quota, sites, domain] = await Promise.all([
    keys.list(id),
    keys.boundAgents(id),
    quotas.state({ workspaceId: id, payer }),
    allowedOrigins.list(id),
    holders.domainOf(id),
  ])
  const agentIds = bound.map(({ agentId }) => agentId)
  const pseudonyms = await holders.pseudonymsOf(id, agentIds)
  const names = await members.namesOf(listed.map(({ createdBy }) => createdBy))
  const refusedAt = (form: string) => (refused?.form === form ? refused : undefined)
  const refusedKey = refusedAt('/developers/keys')
  return (
    <ConsolePage title="Developers" section="developers">
      <h2>API keys</h2>
      <p>
        Programs submit claims and read this workspace with a key. A key gives full access to the API, as far as it is
        not held to a time, networks or agents. Revoked and expired keys stay in this list.
      </p>
      {listed.length === 0 ? (
        <Empty heading="No keys yet">
          <p>
            {isOwner ? 'Make a key below to submit the first claim.' : 'Ask an owner of the workspace to make one.'}
          </p>
        </Empty>
      ) : (
        <KeyTable keys={listed} names={names} />
      )}
      {isOwner && (
        <>
          <h2>New key</h2>
          <PostForm action={at.keys}>
            <NewKeyFields
              values={refusedKey?.values ?? {}}
              problem={refusedKey && sentence(`no key was made: ${refusedKey.problem}`)}
            />
            <button type="submit">Make a key</button>
          </PostForm>
        </>
      )}
      {isOwner && isActive('webhooks') && (
        <>
          <h2>Webhooks</h2>
          <p>
            <a href={at.webhooks}>Webhooks</a> tell your own programs at once of what happens here, such as a claim that
            failed.
          </p>
        </>
      )}
      <BoundAgents agents={bound.map((agent, index) => ({ ...agent, pseudonym: pseudonyms[index] }))} />
      <Domain domain={domain} refused={refusedAt('/developers/domain')} />
      <Sites sites={sites} refused={refusedAt('/developers/sites')} />
      <h2>Limits</h2>
      <Quota {...quota} />
    </ConsolePage>
  )
}

/** The part on allowed origins: the sites from which scripts may submit claims. */
function Sites({ sites, refused }: { sites: readonly string[]; refused: Refused | undefined }) {
  const { at, isOwner } = useWorkspace()
  return (
    <>
      <h2 id="sites">Scripts in browsers</h2>
      <p>
        {sites.length === 0
          ? 'Scripts of no other site may submit claims with the keys of this workspace.'
          : `Scripts of these sites may submit claims with the keys of this workspace: ${sites.join(', ')}`}
      </p>
      {isOwner && (
        <PostForm action={at.sites}>
          <Field
            name="sites"
            label="Sites"
            multiline
            value={refused ? refused.values.sites : sites.join('\n')}
            help="One a line, such as https://app.example.com. Every visitor of such a page can take a key that is in it."
            problem={refused && `the sites are as before: ${refused.problem}`}
          />
          <button type="submit">Change the sites</button>
        </PostForm>
      )}
    </>
  )
}

function Quota({ claimsPerMinute, waitingClaims, waiting }: QuotaState) {
  const rate = claimsPerMinute === 0 ? 'any number of' : claimsPerMinute.toLocaleString('en')
  const most = waitingClaims === 0 ? 'any number' : waitingClaims.toLocaleString('en')
  return (
    <p>
      This workspace may submit {rate} claims a minute, and {most} may wait for a decision at a time.{' '}
      {waiting.toLocaleString('en')} {waiting === 1 ? 'claim waits' : 'claims wait'} now. Beyond a limit the API answers
      429 and says when to try again.
    </p>
  )
}
