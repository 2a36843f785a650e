/** The developers page: API keys, the agents that are bound to them, and the quotas of the workspace. */
import type { FastifyRequest } from 'fastify'
import type { VNode } from 'preact'
import { readDuration } from '../../../base/duration.ts'
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { Empty } from '../../../web/parts/table.tsx'
import { sentence } from '../../../web/words.tsx'
import type { QuotaState } from '../../claims/quotas.ts'
import type { ApiKey } from '../../workspaces/keys.ts'
import { answerForm, saveForm, showPage } from '../answers.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { firstClaimCommand, firstProfile } from '../first-claim.ts'
import { ownersNow } from '../fresh-sign-in.ts'
import { ConsolePage } from '../page.tsx'
import { PostForm } from '../parts/form.tsx'
import { type Fields, formOf, linesOf, queryOf } from '../request-fields.ts'
import { actingOf, ownersOnly, workspaceOf } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'
import { Sites } from './developers/allowed-origins.tsx'
import { BoundAgents, ReleaseAgent } from './developers/bound-agents.tsx'
import { Domain } from './developers/domain.tsx'
import { fieldsOf, NewKeyFields, readKeyFields } from './developers/key-fields.tsx'
import { ChangeKey, NewKey, RevokeKey, RotateKey } from './developers/key-pages.tsx'
import { KeyTable } from './developers/key-table.tsx'

type KeyPath = { Params: { key: string } }

export function developerRoutes(app: App, services: ConsoleDependencies): void {
  newKeyRoutes(app, services)
  changeKeyRoutes(app, services)
  endKeyRoutes(app, services)
  siteRoutes(app, services)
  agentRoutes(app, services)
  domainRoutes(app, services)
}

const forOwners = { preHandler: ownersOnly }

function forOwnersNow(services: ConsoleDependencies) {
  return { ...KEEPS_ALL, ...ownersNow(services) }
}

interface Typed {
  /** In the form for a new key. */
  readonly values?: Fields
  readonly problem?: string
  readonly sites?: string
  readonly sitesProblem?: string
  readonly domain?: string
  readonly domainProblem?: string
}

async function page(
  { keys, quotas, allowedOrigins, holders, members }: ConsoleDependencies,
  request: FastifyRequest,
  { values = {}, problem, sites: typedSites, sitesProblem, domain: typedDomain, domainProblem }: Typed = {},
): Promise<VNode> {
  const { id, payer, isOwner } = workspaceOf(request)
  const [listed, bound, quota, sites, domain] = await Promise.all([
    keys.list(id),
    keys.boundAgents(id),
    quotas.state({ workspaceId: id, payer }),
    allowedOrigins.list(id),
    holders.domainOf(id),
  ])
  const pseudonyms = await holders.pseudonymsOf(
    id,
    bound.map(({ agentId }) => agentId),
  )
  const agents = bound.map((agent, index) => ({ ...agent, pseudonym: pseudonyms[index] }))
  const names = await members.namesOf(listed.map(({ createdBy }) => createdBy))
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
      {isOwner ? (
        <>
          <h2>New key</h2>
          <PostForm action={paths.keys(id)}>
            <NewKeyFields values={values} problem={problem} />
            <button type="submit">Make a key</button>
          </PostForm>
        </>
      ) : null}
      <BoundAgents agents={agents} />
      <Domain domain={domain} typed={typedDomain} problem={domainProblem} />
      <Sites sites={sites} typed={typedSites} problem={sitesProblem} />
      <h2>Limits</h2>
      <Quota {...quota} />
    </ConsolePage>
  )
}

async function requireKey({ keys }: ConsoleDependencies, request: FastifyRequest<KeyPath>): Promise<ApiKey> {
  const key = (await keys.list(workspaceOf(request).id)).find(({ id }) => id === request.params.key)
  if (!key) throw new ServiceError('not_found', 'there is no such key')
  return key
}

/** The answer to a form that made a key. */
async function newKey(
  { connections, registry, ownAddress }: ConsoleDependencies,
  request: FastifyRequest,
  { key, replaced }: { readonly key: string; readonly replaced?: ApiKey },
) {
  const providers = (await connections.list(workspaceOf(request).id)).map(({ provider }) => provider)
  const command = firstClaimCommand({ origin: ownAddress.origin(), key, profile: firstProfile(registry, providers) })
  return { page: <NewKey secret={key} command={command} replaced={replaced} />, status: 201 }
}

function doneAt(request: FastifyRequest, done: string): string {
  return `${paths.developers(workspaceOf(request).id)}?done=${done}`
}

function newKeyRoutes(app: App, services: ConsoleDependencies): void {
  app.get('/developers', async (request, reply) => showPage(request, reply, await page(services, request)))

  // A reload of the page of a new key asks for this.
  app.get('/developers/keys', async (request, reply) => reply.redirect(paths.developers(workspaceOf(request).id), 303))

  app.post('/developers/keys', forOwnersNow(services), async (request, reply) => {
    const values = formOf(request)
    return answerForm(request, reply, {
      work: async () => {
        const settings = readKeyFields(values)
        const { id } = workspaceOf(request)
        const { key } = await services.keys.create(id, values.name ?? '', settings, actingOf(request))
        return newKey(services, request, { key })
      },
      refused: (problem) => page(services, request, { values, problem: sentence(`no key was made: ${problem}`) }),
    })
  })
}

function changeKeyRoutes(app: App, services: ConsoleDependencies): void {
  const { keys } = services

  app.get<KeyPath>('/developers/keys/:key', forOwners, async (request, reply) => {
    const key = await requireKey(services, request)
    const isActive = key.revokedAt === null
    const page = isActive ? <ChangeKey apiKey={key} values={fieldsOf(key)} /> : <RevokeKey apiKey={key} />
    return showPage(request, reply, page)
  })

  app.post<KeyPath>('/developers/keys/:key', forOwnersNow(services), async (request, reply) => {
    const key = await requireKey(services, request)
    const values = formOf(request)
    return saveForm(request, reply, {
      work: async () => {
        const changes = { name: values.name ?? '', ...readKeyFields(values, key) }
        await keys.change(key.id, changes, workspaceOf(request).id, actingOf(request))
      },
      next: doneAt(request, 'key-changed'),
      refused: (problem) => (
        <ChangeKey apiKey={key} values={values} problem={sentence(`the key is as before: ${problem}`)} />
      ),
    })
  })
}

function endKeyRoutes(app: App, services: ConsoleDependencies): void {
  const { keys } = services

  app.get<KeyPath>('/developers/keys/:key/rotate', forOwners, async (request, reply) =>
    showPage(request, reply, <RotateKey apiKey={await requireKey(services, request)} />),
  )

  app.post<KeyPath>('/developers/keys/:key/rotate', forOwnersNow(services), async (request, reply) => {
    const key = await requireKey(services, request)
    return answerForm(request, reply, {
      work: async () => {
        const overlapMs = readDuration(formOf(request).overlap ?? '')
        const made = await keys.rotate(key.id, overlapMs, workspaceOf(request).id, actingOf(request))
        return newKey(services, request, made)
      },
      refused: (problem) => <RotateKey apiKey={key} problem={`no key was made: ${problem}`} />,
    })
  })

  app.get<KeyPath>('/developers/keys/:key/revoke', forOwners, async (request, reply) =>
    showPage(request, reply, <RevokeKey apiKey={await requireKey(services, request)} />),
  )

  app.post<KeyPath>('/developers/keys/:key/revoke', forOwners, async (request, reply) => {
    await keys.revoke(request.params.key, workspaceOf(request).id, actingOf(request))
    return reply.redirect(doneAt(request, 'key-revoked'), 303)
  })
}

function siteRoutes(app: App, services: ConsoleDependencies): void {
  app.post('/developers/sites', forOwnersNow(services), async (request, reply) => {
    const { sites = '' } = formOf(request)
    return saveForm(request, reply, {
      work: () => services.allowedOrigins.set(workspaceOf(request).id, linesOf(sites), actingOf(request)),
      next: doneAt(request, 'sites-changed'),
      refused: (problem) => page(services, request, { sites, sitesProblem: `the sites are as before: ${problem}` }),
    })
  })
}

function agentRoutes(app: App, services: ConsoleDependencies): void {
  const { keys } = services

  app.get('/developers/agents/release', forOwners, async (request, reply) => {
    const { agent = '' } = queryOf(request)
    const bound = (await keys.boundAgents(workspaceOf(request).id)).some(({ agentId }) => agentId === agent)
    if (!bound) throw new ServiceError('not_found', 'there is no such bound agent')
    return showPage(request, reply, <ReleaseAgent agentId={agent} />)
  })

  app.post('/developers/agents/release', forOwnersNow(services), async (request, reply) => {
    const { agent = '' } = formOf(request)
    return saveForm(request, reply, {
      work: () => keys.releaseAgent(workspaceOf(request).id, agent, actingOf(request)),
      next: doneAt(request, 'agent-released'),
      refused: (problem) => <ReleaseAgent agentId={agent} problem={problem} />,
    })
  })
}

function domainRoutes(app: App, services: ConsoleDependencies): void {
  const options = { ...forOwnersNow(services), config: { ...KEEPS_ALL.config, cost: 'trial' } } as const

  app.post('/developers/domain', options, async (request, reply) => {
    const { domain = '' } = formOf(request)
    return saveForm(request, reply, {
      work: () => services.holders.setDomain(workspaceOf(request).id, domain, actingOf(request)),
      next: doneAt(request, 'domain-changed'),
      refused: (problem) => page(services, request, { domain, domainProblem: `the domain is as before: ${problem}` }),
    })
  })
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
