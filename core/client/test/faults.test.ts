// Test run: slow
/** What the network and what stands before the service do to a client. */
import { inspect } from 'node:util'
import {
  type ApiError,
  AuthenticationError,
  ClaimcheckError,
  ConnectionError,
  createClient,
  ForbiddenError,
  GoneError,
  InvalidRequestError,
  NotFoundError,
  RateLimitedError,
  ServiceUnavailableError,
  TimeoutError,
  UnexpectedAnswerError,
} from '@claimcheck/client'
import t from 'tap'
import { sharedInstallation } from '../../../test/support/installation.ts'
import { type Fault, FaultServer } from './fault-server.ts'

const shared = sharedInstallation()
const KEY = 'svc_sk_0123456789'
const CLAIM = { agent_id: 'a', action: 'test.outcome.reach', target: 'here', params: { see: 'present' } }
const AWAY: Fault = { status: 503, headers: { 'retry-after': '0' }, body: '{"detail":"away"}' }
const WHOAMI: Fault = { status: 200, body: '{"workspace_id":"ws_1"}' }
const QUEUED = {
  claim_id: 'clm_1',
  agent_id: 'a',
  action: 'test.outcome.reach',
  target: 'here',
  submitted_at: '2026-01-01T00:00:00Z',
  deadline_at: '2100-01-01T00:00:00Z',
  attempts: 1,
  state: 'queued',
  verdict: null,
  reason_code: null,
  receipt_id: null,
  next_check_at: null,
}
let workspaces = 0

async function inFrontOfTheService(faults: readonly Fault[], options: object = {}) {
  const installation = await shared()
  const { key } = await installation.client(`faults ${++workspaces}`)
  const server = await FaultServer.start(faults, installation.url)
  return { server, client: createClient({ baseUrl: server.url, key, ...options }) }
}

async function alone(faults: readonly Fault[], options: object = {}) {
  const server = await FaultServer.start(faults)
  return { server, client: createClient({ baseUrl: server.url, key: KEY, ...options }) }
}

async function thrown(work: Promise<unknown>): Promise<ClaimcheckError & Partial<ApiError>> {
  const error: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (error instanceof ClaimcheckError) return error
  throw new Error(`it threw ${inspect(error)}`)
}

const recovered: [what: string, fault: Fault, options?: object][] = [
  ['its answer is lost', 'lose'],
  ['its answer is cut off', 'cut'],
  ['its answer comes too late', 'late', { timeoutMs: 400 }],
  ['the connection breaks before it arrives', 'drop'],
  ['a proxy answers in its place', { status: 502, body: '<html>Bad gateway</html>' }],
  ['a proxy answers in its place, in an encoding of its own', { status: 502, body: Buffer.from([0xe9, 0xff]) }],
  ['the service is away', AWAY],
  ['it took too long for a proxy', { status: 504 }],
  ['it took too long to arrive', { status: 408 }],
  ['it came too early', { status: 425 }],
]

t.test('each try says how long ago it was done, by a monotonic clock, and the rest of the claim stays', async (t) => {
  const answer = { status: 202, body: JSON.stringify({ ...QUEUED, created: true }) }
  const { server, client } = await alone([AWAY, answer, answer, answer, answer, answer])
  const { claimed_at } = await client.submit(CLAIM).then(() => JSON.parse(server.asked[0]!.body))
  const [first, second] = server.asked.map(({ body }) => JSON.parse(body))
  t.ok(first.claimed_ago_ms >= 0 && first.claimed_ago_ms < 5000)
  t.ok(second.claimed_ago_ms >= first.claimed_ago_ms)
  t.strictSame({ ...second, claimed_ago_ms: 0 }, { ...first, claimed_ago_ms: 0 })
  const prepared = client.prepare({ ...CLAIM, claimed_ago_ms: 60_000 })
  t.notOk('claimed_ago_ms' in prepared, 'what is kept for another process does not say so')
  t.ok(Date.parse(claimed_at) - Date.parse(prepared.claimed_at) >= 50_000, 'and is dated back')
  await client.submit(prepared)
  t.ok(JSON.parse(server.asked[2]!.body).claimed_ago_ms >= 60_000)
  const slept = client.prepare({ ...CLAIM, claimed_ago_ms: 0 })
  await client.submit(Object.assign(slept, { claimed_at: new Date(Date.now() - 3_600_000).toISOString() }))
  t.ok(JSON.parse(server.asked[3]!.body).claimed_ago_ms >= 3_600_000, 'also after a sleep')
  await client.submit({ ...CLAIM, claimed_at: new Date() })
  t.equal(JSON.parse(server.asked[4]!.body).claimed_ago_ms, undefined, 'nor does what was not measured')
})

for (const [what, fault, options] of recovered) {
  t.test(`a claim is made once when ${what}`, async (t) => {
    const { server, client } = await inFrontOfTheService([fault], options)
    const submitted = await client.submit(CLAIM)
    t.equal(submitted.verdict, 'verified')
    t.equal(server.asked.length, 2)
    const [first, second] = server.asked.map(({ body }) => ({ ...JSON.parse(body), claimed_ago_ms: 0 }))
    t.strictSame(first, second, 'the same claim, with the same id')
    const reached = ['lose', 'cut', 'late'].includes(fault as string)
    t.equal(submitted.created, !reached, reached ? 'it was there already' : 'it was not there before')
    const claims = []
    for await (const { claim_id } of client.list()) claims.push(claim_id)
    t.strictSame(claims, [submitted.claim_id])
  })
}

t.test('the client waits as long as the service asks: for seconds, or until a time by its clock', async (t) => {
  const date = Date.parse('2030-01-01T00:00:00Z')
  const until = { date: new Date(date).toUTCString(), 'retry-after': new Date(date + 1000).toUTCString() }
  const { server, client } = await inFrontOfTheService([
    { status: 429, headers: { 'retry-after': '1' } },
    { status: 503, headers: until },
  ])
  const startedAt = performance.now()
  await client.submit(CLAIM)
  const elapsedMs = performance.now() - startedAt
  t.ok(elapsedMs >= 2000 && elapsedMs < 30_000, `${elapsedMs} ms`)
  t.equal(server.asked.length, 3)
})

t.test('it does not wait longer than its limit, and throws what the service said', async (t) => {
  const limited = await alone([{ status: 429, headers: { 'retry-after': '3600' }, body: '{"detail":"slow down"}' }])
  const error = await thrown(limited.client.whoami())
  t.ok(error instanceof RateLimitedError)
  t.match(error, { status: 429, detail: 'slow down', retryAfterMs: 3_600_000 })
  t.equal(limited.server.asked.length, 1)

  const away = await alone(Array(20).fill(AWAY), { retryForMs: 700 })
  t.ok((await thrown(away.client.whoami())) instanceof ServiceUnavailableError)
  t.ok(away.server.asked.length >= 2 && away.server.asked.length <= 5, `${away.server.asked.length} tries`)

  const once = await alone([AWAY], { retryForMs: 0 })
  t.match(await thrown(once.client.whoami()), { name: 'ServiceUnavailableError', message: /503: away$/ })
  t.equal(once.server.asked.length, 1)
})

t.test('who waits without an end waits, and not for no time at all', async (t) => {
  const later = { status: 200, body: JSON.stringify(QUEUED) }
  const done = { status: 200, body: JSON.stringify({ ...QUEUED, state: 'decided', verdict: 'verified' }) }
  const { server, client } = await alone([later, later, done], { timeoutMs: Number.POSITIVE_INFINITY })
  t.match(await client.wait('clm_1', { timeoutMs: 2 ** 40 }), { state: 'decided' })
  t.equal(server.asked.length, 3)

  const patient = await alone([{ status: 429, headers: { 'retry-after': '99999999' } }], { retryForMs: 2 ** 50 })
  const signal = AbortSignal.timeout(500)
  await t.rejects(patient.client.whoami({ signal }), { name: 'TimeoutError' })
  t.equal(patient.server.asked.length, 1)
})

t.test('an answer that is not of the service is told at once', async (t) => {
  const html = await alone([{ status: 200, body: '<html>Welcome to the hotel</html>' }])
  const error = await thrown(html.client.submit(CLAIM))
  t.ok(error instanceof UnexpectedAnswerError)
  t.match(error.message, 'is this the address of the service?')
  t.equal(html.server.asked.length, 1)
  const answers: [body: Uint8Array, message: string][] = [
    [Buffer.from([0x22, 0xff, 0x22]), 'answered with no text'],
    // A checker needs the bytes as they are, and this is no JSON.
    [Buffer.from('\ufeff{}'), 'answered with no JSON'],
    [Buffer.alloc(33 * 1024 * 1024, ' '), 'answered with more than 33554432 bytes'],
  ]
  for (const [body, message] of answers) {
    const { client, server } = await alone([{ status: 200, body }])
    const error = await thrown(client.whoami())
    t.ok(error instanceof UnexpectedAnswerError)
    t.match(error.message, message)
    t.equal(server.asked.length, 1)
  }
  // An error that does not come from the service is told in its own words, cut to a line.
  const plain = await alone([{ status: 418, body: `I am a teapot${' '.repeat(5000)}` }])
  t.match(await thrown(plain.client.whoami()), {
    name: 'ApiError',
    status: 418,
    message: /answered 418: I am a teapot/,
  })
})

t.test('a redirect is not followed, so that nobody else gets the key', async (t) => {
  for (const status of [301, 302, 307, 308]) {
    const other = await alone([])
    const { client } = await alone([{ status, headers: { location: `${other.server.url}/v1/claims` } }])
    t.ok((await thrown(client.submit(CLAIM))) instanceof UnexpectedAnswerError)
    t.strictSame(other.server.asked, [])
  }
})

t.test('the key goes where it is needed, and documents for everybody are read without it', async (t) => {
  const { server, client } = await alone([{ status: 200, body: '{}' }, WHOAMI])
  await client.receipt('rcpt_/..')
  await client.whoami()
  t.strictSame(
    server.asked.map(({ path, authorization }) => [path, authorization]),
    [
      ['/v1/receipts/rcpt_%2F..', undefined],
      ['/v1/whoami', `Bearer ${KEY}`],
    ],
  )
  let tokens = 0
  const renewed = await alone([AWAY, WHOAMI], { key: async () => `token-${++tokens}` })
  await renewed.client.whoami()
  t.strictSame(
    renewed.server.asked.map(({ authorization }) => authorization),
    ['Bearer token-1', 'Bearer token-2'],
  )
})

t.test('no error repeats the key', async (t) => {
  const refused = createClient({ baseUrl: 'http://127.0.0.1:1', key: KEY, retryForMs: 0 })
  const errors = [
    await thrown(refused.whoami()),
    await thrown((await alone([{ status: 401, body: '{"detail":"invalid or missing API key"}' }])).client.whoami()),
    await thrown((await alone(['drop'], { retryForMs: 0 })).client.submit(CLAIM)),
  ]
  for (const error of errors) t.notMatch(inspect(error, { depth: 10, showHidden: true }), KEY)
  t.ok(errors[0] instanceof ConnectionError)
  t.match(errors[0]!.message, /^http:\/\/127\.0\.0\.1:1 cannot be reached: /)
  for (const wrong of [`${KEY}\n`, `${KEY} `, `${KEY}é`, '']) {
    t.throws(() => createClient({ baseUrl: 'http://localhost', key: wrong }), {
      name: 'TypeError',
      message: /^(?!.*svc_sk)/,
    })
  }
})

const statuses: [status: number, expected: new (...args: never) => Error][] = [
  [400, InvalidRequestError],
  [401, AuthenticationError],
  [403, ForbiddenError],
  [404, NotFoundError],
  [410, GoneError],
  [413, InvalidRequestError],
  [415, InvalidRequestError],
  [422, InvalidRequestError],
  [429, RateLimitedError],
  [500, ServiceUnavailableError],
  [503, ServiceUnavailableError],
]

t.test('each status has its error, and is told in the words of the service', async (t) => {
  const { client } = await alone(
    statuses.map(([status]) => ({ status, body: '{"detail":"in words"}' })),
    { retryForMs: 0 },
  )
  for (const [status, expected] of statuses) {
    const error = await thrown(client.whoami())
    t.ok(error instanceof expected, `${status}: ${error.name}`)
    t.match(error, { name: expected.name, status, detail: 'in words', issues: [] })
  }
})

t.test('whatever an error holds, it is an ApiError', async (t) => {
  const bodies = [
    '',
    'null',
    '[]',
    '7',
    '{"detail":null}',
    '{"detail":[null,{},{"loc":7,"msg":{}}]}',
    '{"detail":{"a":1}}',
  ]
  const { client } = await alone(bodies.map((body) => ({ status: 422, body })))
  for (const body of bodies) t.match(await thrown(client.whoami()), { name: 'InvalidRequestError', status: 422 }, body)
})

t.test('a signal ends a call at once, with its own reason', async (t) => {
  const reason = new Error('enough')
  const { client } = await alone([{ status: 503, headers: { 'retry-after': '30' } }])
  const pausing = new AbortController()
  setTimeout(() => pausing.abort(reason), 100)
  await t.rejects(client.whoami({ signal: pausing.signal }), reason)

  const { client: late } = await inFrontOfTheService(['late'])
  const hanging = new AbortController()
  setTimeout(() => hanging.abort(reason), 100)
  await t.rejects(late.whoami({ signal: hanging.signal }), reason)

  const { client: idle, server } = await alone([])
  await t.rejects(idle.whoami({ signal: AbortSignal.abort(reason) }), reason)
  t.strictSame(server.asked, [])

  const { client: slow } = await inFrontOfTheService(['late'], { timeoutMs: 100, retryForMs: 0 })
  t.ok((await thrown(slow.whoami())) instanceof TimeoutError)
})

t.test('an address that is none, or that others could listen to, is refused', async (t) => {
  const wrong = [
    'ftp://a.example',
    'a.example',
    'https://u:p@a.example',
    'https://a.example/?q',
    'https://a.example/#f',
    '',
  ]
  for (const baseUrl of wrong)
    t.throws(() => createClient({ baseUrl }), { name: 'TypeError', message: /^baseUrl must be/ })
  for (const baseUrl of ['http://a.example', 'http://10.0.0.1', 'http://localhost.example', 'http://127.example']) {
    t.throws(() => createClient({ baseUrl }), { message: /could read the key/ }, baseUrl)
    t.doesNotThrow(() => createClient({ baseUrl, allowHttp: true }))
  }
  for (const baseUrl of [
    'https://a.example/',
    'http://localhost:1',
    'http://a.localhost',
    'http://127.0.0.2',
    'http://[::1]:1',
  ]) {
    t.doesNotThrow(() => createClient({ baseUrl }), baseUrl)
  }
  const { server } = await alone([{ status: 200, body: '{}' }])
  await createClient({ baseUrl: `${server.url}/below/` }).keys()
  t.equal(server.asked[0]!.path, '/below/.well-known/poaw-keys.json')
})
