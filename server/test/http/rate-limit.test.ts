/** The limits of requests: what each counts, and what it answers beyond. Threat S5 of `security.md`. */
import type { Counters } from '@claimcheck/server/http/counters'
import { StorageError } from '@claimcheck/server/storage/storage'
import t from 'tap'
import { KEY, OTHER_KEY, startApp, UNLIMITED } from './support/server.ts'

type Started = Awaited<ReturnType<typeof startApp>>

async function statuses(app: Started, path: string, count: number, options: Parameters<Started['ask']>[1] = {}) {
  const seen: number[] = []
  for (let asked = 0; asked < count; asked++) seen.push((await app.ask(path, options)).status)
  return seen
}

t.test('receipts are limited by address', async (t) => {
  const app = await startApp({ rateLimits: { ...UNLIMITED, receipts: 2 } })
  t.teardown(app.close)
  t.same(await statuses(app, '/v1/receipts/rcpt_1', 3), [404, 404, 429])
  t.equal((await app.ask('/v1/log/entries')).status, 200, 'and nothing else is')
})

t.test('the log and the key document are limited together by address', async (t) => {
  const app = await startApp({ rateLimits: { ...UNLIMITED, log: 2 } })
  t.teardown(app.close)
  t.same(await statuses(app, '/v1/log/head', 1), [200])
  t.same(await statuses(app, '/v1/log/entries?limit=0', 1), [422], 'a request that is not valid counts')
  for (const path of ['/v1/log/anchors', '/.well-known/poaw-keys.json'])
    t.same(await statuses(app, path, 1), [429], path)
})

t.test('keyed routes are limited by key', async (t) => {
  const app = await startApp({ rateLimits: { ...UNLIMITED, key: 2 } })
  t.teardown(app.close)
  t.same(await statuses(app, '/v1/whoami', 1, { key: KEY }), [200])
  t.same(await statuses(app, '/v1/connections', 2, { key: KEY }), [200, 429])
  t.same(await statuses(app, '/v1/whoami', 1, { key: OTHER_KEY }), [200], 'another key has its own')
  const limited = app.lines.filter(({ message }) => message === 'a client is over its rate limit')
  t.strictSame(
    limited.map(({ fields }) => fields),
    [{ limit: 'key', client: 'key_1' }],
  )
})

t.test('a limited answer says when to come back, and every answer how much is left', async (t) => {
  const app = await startApp({ rateLimits: { ...UNLIMITED, receipts: 1 } })
  t.teardown(app.close)
  const first = await app.ask('/v1/receipts/rcpt_1')
  t.match(first.headers, {
    'ratelimit-limit': '1',
    'ratelimit-remaining': '0',
    'ratelimit-reset': /^\d+$/,
    'ratelimit-policy': '"receipts";q=1;w=60',
    ratelimit: /^"receipts";r=0;t=\d+$/,
  })
  t.notOk('retry-after' in first.headers)
  const second = await app.ask('/v1/receipts/rcpt_1')
  t.match(second, { status: 429, json: { detail: String } })
  t.match(second.headers, { 'retry-after': /^[1-9]\d*$/, 'cache-control': 'no-store' })
  t.ok(Number(second.headers['retry-after']) <= 60)
})

t.test('after too many refused credentials no credential of the address is looked at', async (t) => {
  const app = await startApp({ rateLimits: { ...UNLIMITED, refusals: 3 } })
  t.teardown(app.close)
  t.same(await statuses(app, '/v1/whoami', 5, { key: 'guess' }), [401, 401, 401, 429, 429])
  t.equal(app.keys.asked.length, 3)
  const good = await app.ask('/v1/whoami', { key: KEY })
  t.equal(good.status, 429, 'not even a good one')
  t.match(good.headers, { 'retry-after': /^\d+$/ })
  t.equal((await app.ask('/v1/whoami')).status, 401, 'a request without a credential is told what it lacks')
})

t.test('refused credentials that come together are counted one by one', async (t) => {
  const app = await startApp({ rateLimits: { ...UNLIMITED, refusals: 3 } })
  t.teardown(app.close)
  const answers = await Promise.all(Array.from({ length: 10 }, () => app.ask('/v1/whoami', { key: 'guess' })))
  t.equal(answers.filter(({ status }) => status === 401).length, 3)
  t.equal(answers.filter(({ status }) => status === 429).length, 7)
})

t.test('good credentials and missing ones use up no refusals', async (t) => {
  const app = await startApp({ rateLimits: { ...UNLIMITED, refusals: 1 } })
  t.teardown(app.close)
  t.same(await statuses(app, '/v1/whoami', 3, { key: KEY }), [200, 200, 200])
  t.same(await statuses(app, '/v1/whoami', 3), [401, 401, 401])
})

t.test('limits of 0 are off', async (t) => {
  const app = await startApp({ rateLimits: UNLIMITED })
  t.teardown(app.close)
  const { headers } = await app.ask('/v1/log/entries')
  t.same(
    Object.keys(headers).filter((name) => name.startsWith('ratelimit')),
    [],
  )
})

t.test('the client is who connects, unless a trusted proxy names it', async (t) => {
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

  const direct = await startApp({ rateLimits: { ...UNLIMITED, receipts: 1 } })
  t.teardown(direct.close)
  t.equal((await direct.ask('/v1/receipts/rcpt_1', from('192.0.2.1'))).status, 404)
  t.equal((await direct.ask('/v1/receipts/rcpt_1', from('192.0.2.2'))).status, 429)

  const behindProxy = await startApp({ rateLimits: { ...UNLIMITED, receipts: 1 }, trustProxy: ['127.0.0.1'] })
  t.teardown(behindProxy.close)
  t.equal((await behindProxy.ask('/v1/receipts/rcpt_1', from('192.0.2.1'))).status, 404)
  t.equal((await behindProxy.ask('/v1/receipts/rcpt_1', from('192.0.2.1'))).status, 429)
  t.equal((await behindProxy.ask('/v1/receipts/rcpt_1', from('192.0.2.2'))).status, 404)
  t.equal((await behindProxy.ask('/v1/receipts/rcpt_1', from('not an address'))).status, 404)
  t.equal(
    (await behindProxy.ask('/v1/receipts/rcpt_1', from('192.0.2.9, 192.0.2.1'))).status,
    429,
    'what the client adds is not believed',
  )
})

t.test('IPv6 addresses are counted by their /64', async (t) => {
  const app = await startApp({ rateLimits: { ...UNLIMITED, receipts: 1 }, trustProxy: ['127.0.0.1'] })
  t.teardown(app.close)
  const rows: [string, number][] = [
    ['2001:db8:0:1::1', 404],
    ['2001:db8:0:1:ffff::2', 429],
    ['2001:db8:0:2::1', 404],
    ['192.0.2.7', 404],
    ['::ffff:192.0.2.7', 429],
  ]
  for (const [address, status] of rows) {
    const answer = await app.ask('/v1/receipts/rcpt_1', { headers: { 'x-forwarded-for': address } })
    t.equal(answer.status, status, address)
  }
})

t.test('health, readiness, metrics and descriptions are limited together by address, on each host', async (t) => {
  const app = await startApp({ rateLimits: { ...UNLIMITED, service: 4 } })
  t.teardown(app.close)
  for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json']) t.same(await statuses(app, path, 1), [200])
  for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json']) {
    const { status, headers } = await app.ask(path)
    t.equal(status, 429, path)
    t.match(headers, { 'retry-after': /^\d+$/ })
  }
  t.same(await statuses(app, '/v1/log/head', 1), [200], 'and nothing else is')
})

t.test('where requests cannot be counted none passes', async (t) => {
  const fail = async () => {
    throw new StorageError('unavailable', 'no database')
  }
  const counters: Counters = { add: fail, last: () => ({ count: 0, leftMs: 1 }) }
  const app = await startApp({
    rateLimits: { key: 1, receipts: 1, log: 1, refusals: 1, oauth: 1, service: 9 },
    counters,
  })
  t.teardown(app.close)
  for (const path of ['/v1/whoami', '/v1/connections', '/v1/receipts/rcpt_1', '/v1/log/head']) {
    const { status, headers } = await app.ask(path, { key: KEY })
    t.equal(status, 503, path)
    t.match(headers, { 'retry-after': /^[1-9]\d*$/, 'cache-control': 'no-store' })
  }
  t.equal((await app.ask('/healthz')).status, 200, 'but what each host counts by itself')
})
