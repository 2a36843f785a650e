/** The developers page: API keys, the agents that are bound to them, and the quotas of the workspace. */
import type { Instant } from '@claimcheck/core/rules'
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
import { refusalOf } from '../refusal.ts'
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
  const { keys, allowedOrigins, quotas, members, connections, registry, now, ownAddress } = services
  const ownerNow = { preHandler: [ownersOnly, freshSignInOnly(services)] }

  async function shown(request: FastifyRequest): Promise<DevelopersProps> {
    const { id } = workspaceOf(request)
    const [listed, agents, quota, listedSites] = await Promise.all([
      keys.list(id),
      keys.boundAgents(id),
      quotas.state(id),
      allowedOrigins.list(id),
    ])
    const names = await members.namesOf(listed.map(({ createdBy }) => createdBy))
    return {
      viewer: viewerOf(request),
      isOwner: isOwner(request),
      keys: listed,
      agents,
      names,
      quota,
      sites: listedSites,
      now: now(),
    }
  }

  async function requireKey(request: FastifyRequest, id: string): Promise<ApiKey> {
    const key = (await keys.list(workspaceOf(request).id)).find((one) => one.id === id)
    if (!key) throw new ServiceError('not_found', 'there is no such key')
    return key
  }

  const by = actingOf

  async function sendNewKey(request: FastifyRequest, reply: FastifyReply, key: string, replaced?: ApiKey) {
    const providers = (await connections.list(workspaceOf(request).id)).map(({ provider }) => provider)
    const profile = firstProfile(registry, providers)
    const command = firstClaimCommand({ origin: ownAddress.origin(), key, profile })
    const props = { viewer: viewerOf(request), secret: key, command, now: now(), ...(replaced ? { replaced } : {}) }
    return sendPage(reply, <NewKey {...props} />, 201)
  }

  app.get('/developers', async (request, reply) =>
    sendPage(reply, <Developers {...(await shown(request))} done={queryOf(request).done} />),
  )

  // For a reload of the page of a new key.
  app.get('/developers/keys', async (request, reply) => reply.redirect(paths.developers(workspaceOf(request).id), 303))

  app.post('/developers/keys', { ...KEEPS_ALL, ...ownerNow }, async (request, reply) => {
    const values = formOf(request)
    try {
      const settings = readKeyFields(values)
      const { key } = await keys.create(workspaceOf(request).id, values.name ?? '', settings, by(request))
      return sendNewKey(request, reply, key)
    } catch (error) {
      const problem = `no key was made: ${refusalOf(error)}`
      return sendPage(reply, <Developers {...(await shown(request))} values={values} problem={problem} />, 422)
    }
  })

  app.get<KeyPath>('/developers/keys/:key', { preHandler: ownersOnly }, async (request, reply) => {
    const key = await requireKey(request, request.params.key)
    const props = { viewer: viewerOf(request), apiKey: key, now: now() }
    return sendPage(
      reply,
      key.revokedAt === null ? <ChangeKey {...props} values={fieldsOf(key)} /> : <RevokeKey {...props} />,
    )
  })

  app.post<KeyPath>('/developers/keys/:key', { ...KEEPS_ALL, ...ownerNow }, async (request, reply) => {
    const workspaceId = workspaceOf(request).id
    const key = await requireKey(request, request.params.key)
    const values = formOf(request)
    try {
      const changes = { name: values.name ?? '', ...readKeyFields(values, key) }
      await keys.change(key.id, changes, workspaceId, by(request))
      return reply.redirect(`${paths.developers(workspaceId)}?done=key-changed`, 303)
    } catch (error) {
      const props = { viewer: viewerOf(request), apiKey: key, now: now(), values }
      return sendPage(reply, <ChangeKey {...props} problem={`the key is as before: ${refusalOf(error)}`} />, 422)
    }
  })

  app.get<KeyPath>('/developers/keys/:key/rotate', { preHandler: ownersOnly }, async (request, reply) => {
    const key = await requireKey(request, request.params.key)
    return sendPage(reply, <RotateKey viewer={viewerOf(request)} apiKey={key} now={now()} />)
  })

  app.post<KeyPath>('/developers/keys/:key/rotate', { ...KEEPS_ALL, ...ownerNow }, async (request, reply) => {
    const workspaceId = workspaceOf(request).id
    const key = await requireKey(request, request.params.key)
    try {
      const overlapMs = readDuration(formOf(request).overlap ?? '')
      const { key: made, replaced } = await keys.rotate(key.id, overlapMs, workspaceId, by(request))
      return sendNewKey(request, reply, made, replaced)
    } catch (error) {
      const props = { viewer: viewerOf(request), apiKey: key, now: now() }
      return sendPage(reply, <RotateKey {...props} problem={`no key was made: ${refusalOf(error)}`} />, 422)
    }
  })

  app.get<KeyPath>('/developers/keys/:key/revoke', { preHandler: ownersOnly }, async (request, reply) => {
    const key = await requireKey(request, request.params.key)
    return sendPage(reply, <RevokeKey viewer={viewerOf(request)} apiKey={key} now={now()} />)
  })

  app.post<KeyPath>('/developers/keys/:key/revoke', { preHandler: ownersOnly }, async (request, reply) => {
    const workspaceId = workspaceOf(request).id
    await keys.revoke(request.params.key, workspaceId, by(request))
    return reply.redirect(`${paths.developers(workspaceId)}?done=key-revoked`, 303)
  })

  app.post('/developers/sites', { ...KEEPS_ALL, ...ownerNow }, async (request, reply) => {
    const workspaceId = workspaceOf(request).id
    const { sites: typed = '' } = formOf(request)
    try {
      await allowedOrigins.set(workspaceId, linesOf(typed), by(request))
      return reply.redirect(`${paths.developers(workspaceId)}?done=sites-changed`, 303)
    } catch (error) {
      const sitesProblem = `the sites are as before: ${refusalOf(error)}`
      return sendPage(
        reply,
        <Developers {...(await shown(request))} typedSites={typed} sitesProblem={sitesProblem} />,
        422,
      )
    }
  })

  app.get('/developers/agents/release', { preHandler: ownersOnly }, async (request, reply) => {
    const { agent = '' } = queryOf(request)
    const bound = (await keys.boundAgents(workspaceOf(request).id)).some(({ agentId }) => agentId === agent)
    if (!bound) throw new ServiceError('not_found', 'there is no such bound agent')
    return sendPage(reply, <ReleaseAgent viewer={viewerOf(request)} agentId={agent} />)
  })

  app.post('/developers/agents/release', { ...KEEPS_ALL, ...ownerNow }, async (request, reply) => {
    const workspaceId = workspaceOf(request).id
    const { agent = '' } = formOf(request)
    try {
      await keys.releaseAgent(workspaceId, agent, by(request))
      return reply.redirect(`${paths.developers(workspaceId)}?done=agent-released`, 303)
    } catch (error) {
      const page = <ReleaseAgent viewer={viewerOf(request)} agentId={agent} problem={refusalOf(error)} />
      return sendPage(reply, page, 422)
    }
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
  readonly now: Instant
  /** Of the form for a new key. */
  readonly values?: Fields
  readonly problem?: string
  readonly done?: string | undefined
}

function Developers(props: DevelopersProps) {
  const { viewer, isOwner, keys, agents, names, quota, now, values = {}, problem, done } = props
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
        <KeyTable viewer={viewer} isOwner={isOwner} keys={keys} names={names} now={now} />
      )}
      {isOwner ? (
        <>
          <h2>New key</h2>
          <PostForm action={paths.keys(viewer.workspace!.id)} csrf={viewer.csrf}>
            <NewKeyFields values={values} problem={problem} />
            <button type="submit">Make a key</button>
          </PostForm>
        </>
      ) : null}
      <BoundAgents viewer={viewer} isOwner={isOwner} agents={agents} now={now} />
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
