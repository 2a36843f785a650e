/** The developers page: API keys, the agents that are bound to them, and the quotas of the workspace. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readDuration } from '../../../base/duration.ts'
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { sendPage } from '../../../web/document.tsx'
import { Empty } from '../../../web/parts/table.tsx'
import type { QuotaState } from '../../claims/quotas.ts'
import type { ApiKey, BoundAgent } from '../../workspaces/keys.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { firstClaimCommand, firstProfile } from '../first-claim.ts'
import { freshSignInOnly } from '../fresh-sign-in.ts'
import { ConsolePage, type Viewer } from '../page.tsx'
import { PostForm } from '../parts/form.tsx'
import { refusalOf, saveForm } from '../refusal.ts'
import { type Fields, formOf, queryOf } from '../request-fields.ts'
import { actingOf, isOwner, ownersOnly, viewerOf, workspaceOf } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'
import { Sites } from './developers/allowed-origins.tsx'
import { BoundAgents, ReleaseAgent } from './developers/bound-agents.tsx'
import { fieldsOf, linesOf, NewKeyFields, readKeyFields } from './developers/key-fields.tsx'
import { ChangeKey, NewKey, RevokeKey, RotateKey } from './developers/key-pages.tsx'
import { KeyTable } from './developers/key-table.tsx'

type KeyPath = { Params: { key: string } }

export function developerRoutes(app: App, services: ConsoleDependencies): void {
  newKeyRoutes(app, services)
  changeKeyRoutes(app, services)
  endKeyRoutes(app, services)
  siteRoutes(app, services)
  agentRoutes(app, services)
}

const forOwners = { preHandler: ownersOnly }

function forOwnersNow(services: ConsoleDependencies) {
  return { ...KEEPS_ALL, preHandler: [ownersOnly, freshSignInOnly(services)] }
}

async function shown(services: ConsoleDependencies, request: FastifyRequest): Promise<DevelopersProps> {
  const { keys, quotas, allowedOrigins, members } = services
  const { id, payer } = workspaceOf(request)
  const [listed, agents, quota, sites] = await Promise.all([
    keys.list(id),
    keys.boundAgents(id),
    quotas.state({ workspaceId: id, payer }),
    allowedOrigins.list(id),
  ])
  const names = await members.namesOf(listed.map(({ createdBy }) => createdBy))
  const viewer = viewerOf(request)
  return { viewer, isOwner: isOwner(request), keys: listed, agents, names, quota, sites }
}

async function requireKey({ keys }: ConsoleDependencies, request: FastifyRequest<KeyPath>): Promise<ApiKey> {
  const key = (await keys.list(workspaceOf(request).id)).find(({ id }) => id === request.params.key)
  if (!key) throw new ServiceError('not_found', 'there is no such key')
  return key
}

async function sendNewKey(
  { connections, registry, ownAddress }: ConsoleDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  made: { readonly key: string; readonly replaced?: ApiKey },
) {
  const { key, replaced } = made
  const providers = (await connections.list(workspaceOf(request).id)).map(({ provider }) => provider)
  const command = firstClaimCommand({ origin: ownAddress.origin(), key, profile: firstProfile(registry, providers) })
  const props = { viewer: viewerOf(request), secret: key, command, ...(replaced ? { replaced } : {}) }
  return sendPage(reply, <NewKey {...props} />, 201)
}

function doneAt(request: FastifyRequest, done: string): string {
  return `${paths.developers(workspaceOf(request).id)}?done=${done}`
}

function newKeyRoutes(app: App, services: ConsoleDependencies): void {
  app.get('/developers', async (request, reply) =>
    sendPage(reply, <Developers {...(await shown(services, request))} done={queryOf(request).done} />),
  )

  // A reload of the page of a new key asks for this.
  app.get('/developers/keys', async (request, reply) => reply.redirect(paths.developers(workspaceOf(request).id), 303))

  app.post('/developers/keys', forOwnersNow(services), async (request, reply) => {
    const values = formOf(request)
    try {
      const settings = readKeyFields(values)
      const { id } = workspaceOf(request)
      const made = await services.keys.create(id, values.name ?? '', settings, actingOf(request))
      return sendNewKey(services, request, reply, { key: made.key })
    } catch (error) {
      const problem = `no key was made: ${refusalOf(error)}`
      return sendPage(
        reply,
        <Developers {...(await shown(services, request))} values={values} problem={problem} />,
        422,
      )
    }
  })
}

function changeKeyRoutes(app: App, services: ConsoleDependencies): void {
  const { keys } = services

  app.get<KeyPath>('/developers/keys/:key', forOwners, async (request, reply) => {
    const key = await requireKey(services, request)
    const props = { viewer: viewerOf(request), apiKey: key }
    return sendPage(
      reply,
      key.revokedAt === null ? <ChangeKey {...props} values={fieldsOf(key)} /> : <RevokeKey {...props} />,
    )
  })

  app.post<KeyPath>('/developers/keys/:key', forOwnersNow(services), async (request, reply) => {
    const key = await requireKey(services, request)
    const values = formOf(request)
    const props = { viewer: viewerOf(request), apiKey: key, values }
    return saveForm(reply, {
      work: async () => {
        const changes = { name: values.name ?? '', ...readKeyFields(values, key) }
        await keys.change(key.id, changes, workspaceOf(request).id, actingOf(request))
      },
      next: doneAt(request, 'key-changed'),
      refused: (problem) => <ChangeKey {...props} problem={`the key is as before: ${problem}`} />,
    })
  })
}

function endKeyRoutes(app: App, services: ConsoleDependencies): void {
  const { keys } = services
  const propsOf = async (request: FastifyRequest<KeyPath>) => {
    return { viewer: viewerOf(request), apiKey: await requireKey(services, request) }
  }

  app.get<KeyPath>('/developers/keys/:key/rotate', forOwners, async (request, reply) =>
    sendPage(reply, <RotateKey {...(await propsOf(request))} />),
  )

  app.post<KeyPath>('/developers/keys/:key/rotate', forOwnersNow(services), async (request, reply) => {
    const props = await propsOf(request)
    try {
      const overlapMs = readDuration(formOf(request).overlap ?? '')
      const { id } = workspaceOf(request)
      return sendNewKey(services, request, reply, await keys.rotate(props.apiKey.id, overlapMs, id, actingOf(request)))
    } catch (error) {
      return sendPage(reply, <RotateKey {...props} problem={`no key was made: ${refusalOf(error)}`} />, 422)
    }
  })

  app.get<KeyPath>('/developers/keys/:key/revoke', forOwners, async (request, reply) =>
    sendPage(reply, <RevokeKey {...(await propsOf(request))} />),
  )

  app.post<KeyPath>('/developers/keys/:key/revoke', forOwners, async (request, reply) => {
    await keys.revoke(request.params.key, workspaceOf(request).id, actingOf(request))
    return reply.redirect(doneAt(request, 'key-revoked'), 303)
  })
}

function siteRoutes(app: App, services: ConsoleDependencies): void {
  app.post('/developers/sites', forOwnersNow(services), async (request, reply) => {
    const { sites: typedSites = '' } = formOf(request)
    return saveForm(reply, {
      work: () => services.allowedOrigins.set(workspaceOf(request).id, linesOf(typedSites), actingOf(request)),
      next: doneAt(request, 'sites-changed'),
      refused: async (problem) => {
        const sitesProblem = `the sites are as before: ${problem}`
        return <Developers {...(await shown(services, request))} typedSites={typedSites} sitesProblem={sitesProblem} />
      },
    })
  })
}

function agentRoutes(app: App, services: ConsoleDependencies): void {
  const { keys } = services

  app.get('/developers/agents/release', forOwners, async (request, reply) => {
    const { agent = '' } = queryOf(request)
    const bound = (await keys.boundAgents(workspaceOf(request).id)).some(({ agentId }) => agentId === agent)
    if (!bound) throw new ServiceError('not_found', 'there is no such bound agent')
    return sendPage(reply, <ReleaseAgent viewer={viewerOf(request)} agentId={agent} />)
  })

  app.post('/developers/agents/release', forOwnersNow(services), async (request, reply) => {
    const { agent = '' } = formOf(request)
    return saveForm(reply, {
      work: () => keys.releaseAgent(workspaceOf(request).id, agent, actingOf(request)),
      next: doneAt(request, 'agent-released'),
      refused: (problem) => <ReleaseAgent viewer={viewerOf(request)} agentId={agent} problem={problem} />,
    })
  })
}

interface DevelopersProps {
  readonly viewer: Viewer
  readonly isOwner: boolean
  readonly keys: readonly ApiKey[]
  readonly agents: readonly BoundAgent[]
  /** Names of the people who made keys, by their ids. */
  readonly names: ReadonlyMap<string, string>
  readonly quota: QuotaState
  readonly sites: readonly string[]
  readonly typedSites?: string
  readonly sitesProblem?: string
  /** What was typed into the form for a new key. */
  readonly values?: Fields
  readonly problem?: string
  readonly done?: string | undefined
}

function Developers(props: DevelopersProps) {
  const { viewer, isOwner, keys, agents, names, quota, values = {}, problem, done } = props
  return (
    <ConsolePage title="Developers" viewer={viewer} section="developers" done={done}>
      <h2>API keys</h2>
      <p>
        Programs submit claims and read this workspace with a key. A key gives full access to the API, as far as it is
        not held to a time, networks or agents. Revoked and expired keys stay in this list.
      </p>
      {keys.length === 0 ? (
        <Empty heading="No keys yet">
          <p>
            {isOwner ? 'Make a key below to submit the first claim.' : 'Ask an owner of the workspace to make one.'}
          </p>
        </Empty>
      ) : (
        <KeyTable viewer={viewer} isOwner={isOwner} keys={keys} names={names} />
      )}
      {isOwner ? (
        <>
          <h2>New key</h2>
          <PostForm action={paths.keys(viewer.workspace!.id)}>
            <NewKeyFields values={values} problem={problem} />
            <button type="submit">Make a key</button>
          </PostForm>
        </>
      ) : null}
      <BoundAgents viewer={viewer} isOwner={isOwner} agents={agents} />
      <Sites
        viewer={viewer}
        isOwner={isOwner}
        sites={props.sites}
        typed={props.typedSites}
        problem={props.sitesProblem}
      />
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
