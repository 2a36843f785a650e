/** The gate: who pays for a request and how much, what is refused, and what is answered then. Threats S5 and S7 of `security.md`. */
import { setTimeout } from 'node:timers/promises'
import type { RouteGroup } from '@claimcheck/server/http/app'
import { COSTS, type CostClass } from '@claimcheck/server/http/costs'
import { type Counters, createCounters } from '@claimcheck/server/http/counters'
import { StorageError } from '@claimcheck/server/storage/storage'
import t, { type Test } from 'tap'
import { exchange, KEY, OTHER_KEY, startApp, UNLIMITED, WORKSPACE } from './support/server.ts'

type Started = Awaited<ReturnType<typeof startApp>>
type Over = NonNullable<Parameters<typeof startApp>[0]>

const MINUTE_MS = 60_000
/** So long a test may take. */
const ROOM_MS = 10_000
const RECEIPT = COSTS.receipt.tokens
const LOG = COSTS.log.tokens
const READ = COSTS.read.tokens

/** Tokens of networks are counted by the clock of the host. */
async function start(t: Test, limits: Partial<typeof UNLIMITED>, over: Over = {}): Promise<Started> {
  const left = MINUTE_MS - (Date.now() % MINUTE_MS)
  if (left < ROOM_MS) await setTimeout(left)
  const app = await startApp({ rateLimits: { ...UNLIMITED, ...limits }, ...over })
  t.teardown(app.close)
  return app
}

async function statuses(app: Started, path: string, count: number, options: Parameters<Started['ask']>[1] = {}) {
  const seen: number[] = []
  for (let asked = 0; asked < count; asked++) seen.push((await app.ask(path, options)).status)
  return seen
}

t.test('a network pays for every route by its class, whatever comes of the request', async (t) => {
  const app = await start(t, { network: 2 * RECEIPT + LOG })
  t.same(await statuses(app, '/v1/receipts/rcpt_1', 2), [404, 404])
  t.same(await statuses(app, '/v1/log/head', 2), [200, 429])
})

t.test('what a refused request would have cost is left for cheaper ones', async (t) => {
  const app = await start(t, { network: 2 * LOG + 1 })
  t.same(await statuses(app, '/v1/log/entries?limit=0', 1), [422], 'a request that is not valid counts')
  t.same(await statuses(app, '/v1/log/head', 2), [200, 429])
  t.same(await statuses(app, '/no-such', 2), [404, 429])
  for (const path of [
    '/v1/log/anchors',
    '/.well-known/poaw-keys.json',
    '/v1/receipts/rcpt_1',
    '/no-such',
    '/%zz',
    '/metrics',
  ])
    t.same(await statuses(app, path, 1), [429], path)
})

t.test('who has asked for nothing may ask once for what costs more than the limit', async (t) => {
  const app = await start(t, { network: 1 })
  t.same(await statuses(app, '/v1/log/head', 2), [200, 429])
})

t.test('another key has its own tokens', async (t) => {
  const app = await start(t, { key: READ })
  t.same(await statuses(app, '/v1/whoami', 2, { key: KEY }), [200, 429])
  t.same(await statuses(app, '/v1/whoami', 1, { key: OTHER_KEY }), [200])
})

t.test('with a credential the key, its workspace and its account pay, and the network nothing', async (t) => {
  for (const limit of ['key', 'workspace', 'account'] as const) {
    const app = await start(t, { [limit]: 2 * READ, network: 2 })
    t.same(await statuses(app, '/v1/whoami', 1, { key: KEY }), [200])
    t.same(await statuses(app, '/v1/connections', 2, { key: KEY }), [200, 429], limit)
    t.same(await statuses(app, '/v1/whoami', 3), [401, 401, 429], 'without one each takes one of the network')
    const limited = app.lines.filter(({ message }) => message === 'a client is over its rate limit')
    t.match(
      limited.map(({ fields }) => fields),
      [{ limit, client: limit === 'key' ? 'key_1' : WORKSPACE }],
    )
  }
})

t.test('the tightest limit is the one that an answer tells of', async (t) => {
  const app = await start(t, { key: 100, workspace: 50, account: 200 })
  const { headers } = await app.ask('/v1/whoami', { key: KEY })
  t.match(headers, { 'ratelimit-policy': '"workspace";q=50;w=60', 'ratelimit-remaining': String(50 - READ) })
})

t.test('a limited answer says when to come back, and every answer how much is left', async (t) => {
  const app = await start(t, { network: RECEIPT })
  const first = await app.ask('/v1/receipts/rcpt_1')
  t.match(first.headers, {
    'ratelimit-limit': String(RECEIPT),
    'ratelimit-remaining': '0',
    'ratelimit-reset': /^\d+$/,
    'ratelimit-policy': `"network";q=${RECEIPT};w=60`,
    ratelimit: /^"network";r=0;t=\d+$/,
  })
  t.notOk('retry-after' in first.headers)
  const second = await app.ask('/v1/receipts/rcpt_1')
  t.match(second, { status: 429, json: { detail: String } })
  t.match(second.headers, {
    'retry-after': /^[1-9]\d*$/,
    'cache-control': 'no-store',
    'access-control-allow-origin': '*',
    'access-control-expose-headers': /retry-after/,
  })
  t.ok(Number(second.headers['retry-after']) <= 60)
})

t.test('a refusal that was held says how long is left when it arrives', async (t) => {
  const counters = createCounters({ storage: { shared: undefined }, now: Date.now })
  const app = await start(t, { network: 1, refusals: 1 }, { counters })
  await statuses(app, '/v1/whoami', 2, { key: 'guess' })
  await Promise.all(Array.from({ length: 102 }, () => app.ask('/no-such')))
  for (const [path, options] of [
    ['/no-such', {}],
    ['/v1/whoami', { key: 'guess' }],
  ] as const) {
    const tooLong = async () => {
      const { status, headers } = await app.ask(path, options)
      t.equal(status, 429, path)
      return 1000 * Number(headers['retry-after']) - (MINUTE_MS - (Date.now() % MINUTE_MS))
    }
    const all = await Promise.all(Array.from({ length: 10 }, tooLong))
    t.ok(Math.max(...all) < 1500, `${path}: at most a second more than is left, and the way here`)
  }
})

t.test('a network that goes on after a hundred refusals waits for each further one', async (t) => {
  const app = await start(t, { network: 1 })
  const asked = await Promise.all(Array.from({ length: 101 }, () => app.ask('/no-such')))
  t.equal(asked.filter(({ status }) => status === 429).length, 100)
  const before = performance.now()
  t.same(await statuses(app, '/no-such', 1), [429])
  t.ok(performance.now() - before > 900)
  const pipelined = 'GET /no-such HTTP/1.1\r\nHost: localhost\r\n\r\n'
  t.equal(await exchange(app.port, pipelined.repeat(20)), '', 'who does not wait for answers gets none')
})

t.test('an account that goes on after a hundred refusals waits for each further one, and no other does', async (t) => {
  const app = await start(t, { key: READ })
  const took = async (key: string, status: number) => {
    const before = performance.now()
    t.same(await statuses(app, '/v1/whoami', 1, { key }), [status])
    return performance.now() - before
  }
  const asked = await Promise.all(Array.from({ length: 101 }, () => app.ask('/v1/whoami', { key: KEY })))
  t.equal(asked.filter(({ status }) => status === 429).length, 100)
  t.ok((await took(KEY, 429)) > 900)
  t.ok((await took(OTHER_KEY, 200)) < 900)
  t.ok((await took(OTHER_KEY, 429)) < 900)
})

t.test('what a network asks for at once waits beyond a tenth of its tokens, and is served', async (t) => {
  const app = await start(t, { network: 5000 })
  const took = async () => {
    const before = performance.now()
    t.equal((await app.ask('/v1/log/head')).status, 200)
    return performance.now() - before
  }
  const all = await Promise.all(Array.from({ length: 200 }, took))
  t.ok(Math.max(...all) > 900, 'the last ones after a second or two')
  t.ok(Math.min(...all) < 900)
})

/** A route for which an account pays where the request names one. */
function paidBy(cost: CostClass, path = '/paid'): RouteGroup {
  return {
    scope: 'own',
    cost,
    add(app, gate) {
      app.addHook('preHandler', async (request, reply) => {
        const { account } = request.headers
        if (account !== undefined) await gate.admit(request, reply, { account: String(account) })
      })
      app.get(path, { config: { needsSession: true } }, async () => 'paid')
    },
  }
}

t.test('who pays themselves is not made to wait for what the network asks for at once', async (t) => {
  const app = await start(t, { network: 5000, account: 200_000 }, { more: [paidBy('page')] })
  const before = performance.now()
  const seen = await statuses(app, '/paid', 120, { headers: { account: 'acc_1' } })
  t.ok(seen.every((status) => status === 200))
  t.ok(performance.now() - before < 3000, 'many times the 500 tokens that the network has a second')
  t.match((await app.ask('/paid')).headers, { 'ratelimit-remaining': String(5000 - COSTS.page.tokens) })
})

t.test('an account that asks for everything at once has turns, and another one need not wait', async (t) => {
  const perSecond = (20 / 3) * COSTS.page.tokens
  const app = await start(t, { account: 60 * perSecond }, { more: [paidBy('page')] })
  const took = async (account: string) => {
    const before = performance.now()
    t.equal((await app.ask('/paid', { headers: { account } })).status, 200)
    return performance.now() - before
  }
  // Of 30 pages it has 13 at once, and the rest over two and a half seconds.
  const all = Promise.all(Array.from({ length: 30 }, () => took('acc_1')))
  await setTimeout(200)
  t.ok((await took('acc_2')) < 1000)
  const longest = Math.max(...(await all))
  t.ok(longest > 2000, `${longest} ms`)
})

t.test('however many accounts one member makes, others who share the allowance do not wait for them', async (t) => {
  const perSecond = (20 / 3) * COSTS.page.tokens
  const app = await start(t, { account: 60 * perSecond }, { more: [paidBy('page')] })
  const took = async (account: string) => {
    const before = performance.now()
    t.equal((await app.ask('/paid', { headers: { account } })).status, 200)
    return performance.now() - before
  }
  const accounts = ['acc_1/bob', ...Array.from({ length: 29 }, (_, index) => `acc_1/bob/acc_${index}`)]
  const all = Promise.all(accounts.map(took))
  await setTimeout(200)
  for (const neighbour of ['acc_1', 'acc_1/cyn', 'acc_1/dan/eve']) {
    const ms = await took(neighbour)
    t.ok(ms < 1000, `${neighbour}: ${ms} ms`)
  }
  const longest = Math.max(...(await all))
  t.ok(longest > 2500, `${longest} ms`)
})

t.test('where all tokens of an allowance are used, a neighbour has its part', async (t) => {
  const app = await start(t, { account: 10 * READ }, { more: [paidBy('read')] })
  const pages = async (account: string) =>
    (await statuses(app, '/paid', 20, { headers: { account } })).filter((status) => status === 200).length
  t.equal(await pages('acc_1/bob'), 10)
  t.equal(await pages('acc_1/bob/two'), 0, 'another account of the same is none')
  t.equal(await pages('acc_1/cyn'), 5)
  t.equal(await pages('acc_1'), 3)
})

t.test('a request that would wait for longer than clients do is refused, and counts for nothing', async (t) => {
  const app = await start(t, { account: 15 * COSTS.export.tokens }, { more: [paidBy('export')] })
  const ask = (account: string) => app.ask('/paid', { headers: { account } })
  // Each takes four seconds of its tokens, of which two are free: the sixth waits for 18 seconds, the seventh would wait for 22.
  const waiting = Array.from({ length: 6 }, () => ask('acc_1'))
  await setTimeout(100)
  for (let count = 0; count < 10; count++) {
    const { status, headers, json } = await ask('acc_1')
    t.equal(status, 429)
    t.match(json, { detail: /^too many requests of your account wait for their turn: try again in 2[12] seconds$/ })
    t.match(headers, { 'retry-after': /^2[12]$/ })
  }
  t.equal((await ask('acc_2')).status, 200, 'another account need not wait')
  app.app.server.closeAllConnections()
  t.equal((await Promise.allSettled(waiting)).length, 6)
})

t.test('who pays themselves and has no limit is shown none, not what the network has left', async (t) => {
  const app = await start(t, { network: 5000 }, { more: [paidBy('page')] })
  for (const [path, options] of [
    ['/paid', { headers: { account: 'acc_1' } }],
    ['/v1/whoami', { key: KEY }],
  ] as const) {
    const { status, headers } = await app.ask(path, options)
    t.equal(status, 200)
    t.strictSame(
      Object.keys(headers).filter((name) => name.startsWith('ratelimit')),
      [],
      path,
    )
  }
})

t.test('where a session is needed the network pays for a page, and the account for all', async (t) => {
  const app = await start(t, { network: 5000, account: 5000 }, { more: [paidBy('export'), paidBy('small', '/less')] })
  const ofNetwork = { 'ratelimit-policy': /^"network"/, 'ratelimit-remaining': String(5000 - COSTS.page.tokens) }
  t.match((await app.ask('/paid')).headers, ofNetwork)
  const ofAccount = { 'ratelimit-policy': /^"account"/, 'ratelimit-remaining': String(5000 - COSTS.export.tokens) }
  t.match((await app.ask('/paid', { headers: { account: 'acc_1' } })).headers, ofAccount)
  const { headers } = await app.ask('/less')
  t.equal(headers['ratelimit-remaining'], String(5000 - COSTS.page.tokens - 1), 'what it paid was returned, no more')
})

t.test('after too many refused credentials no credential of the network is looked at', async (t) => {
  const app = await start(t, { refusals: 3 })
  t.same(await statuses(app, '/v1/whoami', 5, { key: 'guess' }), [401, 401, 401, 429, 429])
  t.equal(app.keys.asked.length, 3)
  const good = await app.ask('/v1/whoami', { key: KEY })
  t.equal(good.status, 429, 'not even a good one')
  t.match(good.headers, { 'retry-after': /^\d+$/ })
  t.equal((await app.ask('/v1/whoami')).status, 401, 'a request without a credential is told what it lacks')
})

t.test('refused credentials that come together are counted one by one', async (t) => {
  const app = await start(t, { refusals: 3 })
  const answers = await Promise.all(Array.from({ length: 10 }, () => app.ask('/v1/whoami', { key: 'guess' })))
  t.equal(answers.filter(({ status }) => status === 401).length, 3)
  t.equal(answers.filter(({ status }) => status === 429).length, 7)
})

t.test('good credentials and missing ones use up no refusals', async (t) => {
  const app = await start(t, { refusals: 1 })
  t.same(await statuses(app, '/v1/whoami', 3, { key: KEY }), [200, 200, 200])
  t.same(await statuses(app, '/v1/whoami', 3), [401, 401, 401])
})

t.test('limits of 0 are off', async (t) => {
  const app = await start(t, {})
  const { headers } = await app.ask('/v1/log/entries')
  t.same(
    Object.keys(headers).filter((name) => name.startsWith('ratelimit')),
    [],
  )
})

t.test('the client is who connects, unless a trusted proxy names it', async (t) => {
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

  const direct = await start(t, { network: RECEIPT })
  t.equal((await direct.ask('/v1/receipts/rcpt_1', from('192.0.2.1'))).status, 404)
  t.equal((await direct.ask('/v1/receipts/rcpt_1', from('192.0.2.2'))).status, 429)

  const behindProxy = await start(t, { network: RECEIPT }, { trustProxy: ['127.0.0.1'] })
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

t.test('paths that cannot be routed are counted by the same address as all others', async (t) => {
  const app = await start(t, { network: 2 }, { trustProxy: ['127.0.0.1'] })
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
  t.same(await statuses(app, '/%zz', 3, from('192.0.2.1:4711')), [404, 404, 429])
  t.same(await statuses(app, '/%zz', 1, from('192.0.2.2:4711')), [404], 'another network, behind the same proxy')
  t.same(await statuses(app, '/no-such', 1, from('192.0.2.1')), [429], 'the first one has no more for others')
})

t.test('IPv6 addresses are counted by their /64', async (t) => {
  const app = await start(t, { network: RECEIPT }, { trustProxy: ['127.0.0.1'] })
  const rows: [string, number][] = [
    ['2001:db8:0:1::1', 404],
    ['2001:db8:0:1:ffff::2', 429],
    ['2001:db8:0:2::1', 404],
    ['192.0.2.7', 404],
    ['::ffff:192.0.2.7', 429],
    ['::ffff:c000:207', 429],
  ]
  for (const [address, status] of rows) {
    const answer = await app.ask('/v1/receipts/rcpt_1', { headers: { 'x-forwarded-for': address } })
    t.equal(answer.status, status, address)
  }
})

t.test('where requests with a credential cannot be counted none passes, and what needs none is served', async (t) => {
  const fail = async () => {
    throw new StorageError('unavailable', 'no database')
  }
  const counters: Counters = { add: fail, last: () => ({ count: 0, leftMs: 1 }) }
  const app = await start(t, { network: 1000, key: 1000, workspace: 1000, account: 1000, refusals: 1 }, { counters })
  for (const path of ['/v1/whoami', '/v1/connections']) {
    const { status, headers } = await app.ask(path, { key: KEY })
    t.equal(status, 503, path)
    t.match(headers, { 'retry-after': /^[1-9]\d*$/, 'cache-control': 'no-store' })
  }
  for (const path of ['/healthz', '/v1/log/head']) t.equal((await app.ask(path)).status, 200, path)
})

t.test('a service with a route that has no class does not start', async (t) => {
  const group: RouteGroup = {
    scope: 'own',
    cost: 'small',
    add: (app) => void app.get('/free', { config: { cost: undefined } as object }, async () => 'free'),
  }
  await t.rejects(startApp({ more: [group] }), { message: 'routes without a cost: GET /free, HEAD /free' })
})

t.test('fields of queries and cookies are bounded before they are parsed', async (t) => {
  const app = await start(t, {})
  const fields = (count: number) => Array.from({ length: count }, (_, index) => `a${index}=1`)
  t.equal((await app.ask(`/.well-known/poaw-keys.json?${fields(200).join('&')}`)).status, 200)
  t.match(await app.ask(`/.well-known/poaw-keys.json?${fields(201).join('&')}`), {
    status: 400,
    json: { detail: /at most 200 fields/ },
  })
  t.equal((await app.ask(`/.well-known/poaw-keys.json?${'n'.repeat(257)}=1`)).status, 400)
  t.equal((await app.ask(`/.well-known/poaw-keys.json?n=${'v'.repeat(257)}`)).status, 200)
  t.equal((await app.ask('/healthz', { headers: { cookie: fields(200).join('; ') } })).status, 200)
  t.equal((await app.ask('/healthz', { headers: { cookie: fields(201).join('; ') } })).status, 400)
})
