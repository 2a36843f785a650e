/** A service that is sent requests that nobody meant, and the list of what it answered wrongly. */
import { resolve } from 'node:path'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import { type Random, seededRandom } from '../crash/random.ts'
import { Application, OAUTH } from '../support/application.ts'
import { Client } from '../support/client.ts'
import { connect } from '../support/connect.ts'
import { createDatabase, type Dialect } from '../support/database.ts'
import { Installation, SCRIPTED } from '../support/installation.ts'
import { OpenIdProvider } from '../support/openid-provider.ts'
import { servedRoutes } from '../support/served-routes.ts'
import { SCHEMA } from '../support/storage.ts'
import { PASSWORD, Visitor } from '../support/visitor.ts'
import { type ApiValues, apiRequest, type OpenApi, operationsOf } from './api.ts'
import { changedHeaders, changedMethod, changedPairs, changedPath, changedType, formText, queryText } from './change.ts'
import { createJudge } from './judge.ts'
import { oauthRequest } from './oauth.ts'
import { crawl, type Form, formsOf } from './pages.ts'
import { createSender, curlOf, type FuzzAnswer, type FuzzRequest } from './request.ts'
import { escaped, nastyText } from './values.ts'

export interface FuzzOptions {
  readonly requests: number
  readonly seed: number
  /** By default that of the test run. */
  readonly dialect?: Dialect
}

export interface FuzzReport {
  /** How often each status was answered, by the kind of request. */
  readonly statuses: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly forms: number
  readonly routes: number
  readonly operations: number
  /** Each with the request, as a command. */
  readonly problems: readonly string[]
}

const FORM_TYPE = 'application/x-www-form-urlencoded'
const AT_A_TIME = 6
const MOST_PROBLEMS = 20
/** A person who was fuzzed for so long may have lost what the forms are about. */
const REQUESTS_OF_A_PERSON = 400
/** To hash a password, or to make another person, takes as long as fifty other requests. */
const COSTLY_FIELD = /password/
const COSTLY_ACTION = /sign-out|sessions\/end/

export async function runFuzz({ requests, seed, dialect }: FuzzOptions): Promise<FuzzReport> {
  const world = await createWorld(dialect)
  const statuses: Record<string, Record<string, number>> = {}
  const problems: string[] = []
  let next = 0

  async function work(): Promise<void> {
    while (next < requests && problems.length < MOST_PROBLEMS) {
      const index = next++
      // Of its own, so that the order in which answers arrive changes no later request.
      const random = seededRandom(Math.imul(seed, 0x9e3779b1) + index)
      const kind = random.pick(KINDS)
      const request = await world.requestOf(kind, random)
      const found = await examine(request, kind)
      for (const problem of found)
        problems.push(`request ${index} of seed ${seed}: ${problem}\n  ${curlOf(world.url, request)}`)
    }
  }

  async function examine(request: FuzzRequest, kind: Kind): Promise<readonly string[]> {
    try {
      const answer = await world.sender.send(request)
      const counts = statuses[kind] ?? {}
      statuses[kind] = { ...counts, [answer.status]: (counts[answer.status] ?? 0) + 1 }
      if (isSignedOut(request, answer)) world.leave()
      return world.judge(request, answer)
    } catch (error) {
      return [(error as Error).message]
    }
  }

  try {
    await Promise.all(Array.from({ length: AT_A_TIME }, work))
    problems.push(...(await world.afterwards()))
    return { statuses, problems, forms: world.forms(), routes: servedRoutes().length, operations: world.operations }
  } finally {
    await world.close()
  }
}

/** Who sent the cookie of a session has none any more. */
function isSignedOut({ headers }: FuzzRequest, { status, headers: { location } }: FuzzAnswer): boolean {
  return headers.cookie?.includes('claimcheck=') === true && (status === 401 || location?.includes('/sign-in') === true)
}

/** The more there is of it, the more often. */
const KINDS = ['api', 'api', 'api', 'api', 'form', 'form', 'form', 'page', 'oauth', 'route'] as const
type Kind = (typeof KINDS)[number]

async function createWorld(dialect: Dialect | undefined) {
  const provider = await OpenIdProvider.start()
  const installation = await Installation.start({
    // Its routes are read from what runs.
    inProcess: true,
    database: await createDatabase(dialect),
    // The service's own words about a fault, for who looks for its cause: LOG_LEVEL=error npm run fuzz.
    env: { ...provider.env, LOG_LEVEL: process.env.LOG_LEVEL ?? 'silent' },
    plugins: [SCRIPTED, { use: resolve('build/test/plugins/connected.js'), trusted: true }],
    file: {
      oauth: { ...OAUTH, dynamic_registration: true },
      sign_in: provider.section,
      rate_limits: { refusals: 0, sign_in: 0 },
    },
  })
  const { host, url, claimcheck } = installation
  provider.open(`${url}/console/sign-in/outside/callback`)
  const { body: openApi } = (await host.request('/openapi.json')) as { body: OpenApi }
  const values = await valuesOf(installation)
  const operations = operationsOf(openApi, values)
  const sender = createSender(url)
  const tokens = [...values.credentials]
  let person: Promise<Person> | undefined
  let uses = 0
  let forms = 0

  /** A new one where the last is signed out, or may have lost what it had. */
  function somebody(): Promise<Person> {
    if (uses++ >= REQUESTS_OF_A_PERSON) leave()
    person ??= createPerson(installation).then((created) => {
      tokens.push(...created.tokens)
      forms = Math.max(forms, created.forms.length)
      return created
    })
    return person
  }

  function leave(): void {
    person = undefined
    uses = 0
  }

  const makers: Readonly<Record<Kind, (random: Random) => Promise<FuzzRequest>>> = {
    api: async (random) =>
      apiRequest(operations, random.chance(0.1) ? { ...values, credentials: tokens } : values, random),
    oauth: async (random) => oauthRequest({ tokens }, random),
    form: async (random) => formRequest(await somebody(), url, random),
    page: async (random) => pageRequest(await somebody(), random),
    route: async (random) => routeRequest((await somebody()).visitor, url, values, random),
  }

  return {
    url,
    sender,
    operations: operations.length,
    forms: () => forms,
    judge: createJudge({
      openApi,
      url,
      mayLeadTo: [...OAUTH.clients.flatMap(({ redirect_uris }) => redirect_uris), provider.issuer],
    }),
    requestOf: (kind: Kind, random: Random) => makers[kind](random),
    leave,
    /** What is wrong with the service when all is over. */
    async afterwards(): Promise<readonly string[]> {
      const { status, body } = await installation.request('/readyz')
      const { problems } = await diagnose(claimcheck.storage, {
        schema: SCHEMA,
        signatures: true,
        secrets: claimcheck.secrets,
      })
      const client = await installation.client('afterwards')
      const answer = await client.submit()
      return [
        ...(status === 200 ? [] : [`it is not ready: ${JSON.stringify(body)}`]),
        ...(answer.body.verdict === 'verified' ? [] : [`it takes no claim: ${JSON.stringify(answer.body)}`]),
        ...problems.map((problem) => `doctor: ${problem}`),
      ]
    },
    async close(): Promise<void> {
      sender.close()
      await installation.remove()
      await provider.close()
    },
  }
}

async function valuesOf(installation: Installation): Promise<ApiValues> {
  const client = await installation.client('api')
  const claim = {
    client_claim_id: 'run-1',
    agent_id: 'agent-1',
    action: 'test.outcome.reach',
    target: 'somewhere',
    params: { see: 'present', content: 'x' },
    claimed_at: new Date(installation.claimcheck.now()).toISOString(),
  }
  const { body: decided } = await client.post(JSON.stringify(claim))
  const { body: queued } = await client.post(
    JSON.stringify({ ...claim, client_claim_id: 'run-2', params: { see: 'absent' } }),
  )
  const later = new Date(installation.claimcheck.now() + 3_600_000).toISOString()
  return {
    ids: {
      claim_id: [decided.claim_id, queued.claim_id],
      receipt_id: [decided.receipt_id],
      ...profileIds(claim.action),
    },
    bodies: {
      submitClaim: [
        claim,
        { ...claim, client_claim_id: 'run-3', deadline_at: later },
        { ...claim, params: { see: 'absent', later: { at: 1, see: 'present' } } },
      ],
    },
    credentials: [client.key],
  }
}

function profileIds(action: string): Readonly<Record<string, readonly string[]>> {
  return { action: [action], version: ['1'] }
}

interface Person {
  readonly visitor: Visitor
  readonly pages: readonly string[]
  readonly forms: readonly Form[]
  readonly costly: readonly Form[]
  readonly tokens: readonly string[]
}

/** The owner of a workspace in which there is one of everything, and all that they are shown. */
async function createPerson(installation: Installation): Promise<Person> {
  const { host, claimcheck } = installation
  const visitor = await Visitor.owner(host, 'fuzz')
  const workspace = await visitor.workspaceId()
  await Visitor.joining(host, workspace, 'member', 'fuzz-member')
  const { key } = await claimcheck.keys.create(workspace, 'fuzz')
  await connect(claimcheck, workspace, 'mailbox', { token: 'a-token' })
  const client = new Client(host, workspace, key)
  await client.submit()
  await client.submit({ params: { see: 'absent' } })
  const invitation = await claimcheck.accounts.inviteToken(workspace, 'member', null)
  const application = new Application()
  const { access_token, refresh_token } = await application.tokens(visitor)
  const consent = await application.ask(visitor)
  const inside = await crawl(visitor, '/console')
  const more = [
    consent,
    `/console/join/${invitation}`,
    '/console/w/none/claims',
    '/console/setup/none',
    '/console/reset/none',
  ]
  const outside = new Visitor(host)
  const forms = [...inside.forms]
  for (const path of more) forms.push(...formsOf((await visitor.get(path)).html, path))
  for (const path of ['/console/sign-in', `/console/join/${invitation}`])
    forms.push(...formsOf((await outside.get(path)).html, path))
  const sendable = forms.filter(({ action }) => action !== '')
  const isCostly = ({ action, fields }: Form) =>
    COSTLY_ACTION.test(action) || fields.some(([name]) => COSTLY_FIELD.test(name))
  return {
    visitor,
    pages: [...inside.pages, ...more],
    forms: sendable.filter((form) => !isCostly(form)),
    costly: sendable.filter(isCostly),
    tokens: [access_token, refresh_token],
  }
}

function cookieOf({ cookies }: Visitor): string {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
}

const LIKELY: readonly (readonly [name: RegExp, value: string])[] = [
  [/password/, PASSWORD],
  [/email/, 'somebody@example.com'],
  [/claimed_at|deadline|from|to$/, '2026-01-01T00:00'],
  [/credential/, '{"id":"x","response":{}}'],
]

function formRequest({ visitor, forms, costly }: Person, url: string, random: Random): FuzzRequest {
  const form = random.pick(random.chance(0.02) ? costly : forms)
  const typed = form.fields.map(
    ([name, value]) => [name, value || LIKELY.find(([like]) => like.test(name))?.[1] || 'x'] as const,
  )
  const changed = changedPairs(typed, random)
  // Without it nothing else of the form is read.
  const fields = random.chance(0.9)
    ? [...changed.filter(([name]) => name !== '_csrf'), ['_csrf', visitor.csrf ?? ''] as const]
    : changed
  const signedIn = random.chance(0.9) ? { cookie: cookieOf(visitor) } : {}
  if (form.method === 'GET') {
    const path = form.action.split('?')[0] + queryText(changed, random)
    return {
      method: changedMethod('GET', random),
      path: changedPath(path, random),
      headers: changedHeaders(signedIn, random),
    }
  }
  const headers = { ...signedIn, origin: url, 'content-type': changedType(FORM_TYPE, random) }
  return {
    method: changedMethod('POST', random),
    path: changedPath(form.action, random),
    headers: changedHeaders(headers, random),
    body: Buffer.from(formText(fields)),
  }
}

function pageRequest({ visitor, pages }: Person, random: Random): FuzzRequest {
  const [pathname = '', query = ''] = random.pick(pages).split('?')
  const pairs = [...new URLSearchParams(query)]
  const path = pathname + queryText(changedPairs(pairs, random), random)
  const cookie = random.chance(0.9) ? { cookie: cookieOf(visitor) } : {}
  return {
    method: changedMethod('GET', random),
    path: changedPath(path, random),
    headers: changedHeaders(cookie, random),
  }
}

/** Of every route, also of those that no page leads to. */
function routeRequest(visitor: Visitor, url: string, { ids }: ApiValues, random: Random): FuzzRequest {
  const route = random.pick(servedRoutes())
  const known = {
    ...ids,
    file: ids.receipt_id!.flatMap((id) => [id, `${id}.svg`, `${id}.json`, `${id}.icon.svg`]),
    index: ['0', '1'],
  }
  const path = route.url.replace(/:(\w+)|\*/g, (_, name = 'rest') => {
    const values = known[name as keyof typeof known]
    return values && random.chance(0.7) ? random.pick(values) : escaped(nastyText(random), random)
  })
  const headers: Record<string, string> = { accept: random.pick(['*/*', 'text/html', 'application/json']) }
  if (random.chance(0.5)) headers.cookie = cookieOf(visitor)
  if (route.method === 'POST') Object.assign(headers, { origin: url, 'content-type': changedType(FORM_TYPE, random) })
  const pairs = changedPairs(
    random.pick([
      [],
      [
        ['leaf', '0'],
        ['size', '1'],
      ],
      [
        ['first', '1'],
        ['second', '1'],
      ],
    ]),
    random,
  )
  return {
    method: changedMethod(route.method, random),
    path: changedPath(path + queryText(pairs, random), random),
    headers: changedHeaders(headers, random),
    ...(route.method === 'POST' ? { body: Buffer.from(formText([...pairs, ['_csrf', visitor.csrf ?? '']])) } : {}),
  }
}
