// Test run: end-to-end, slow, alone
/** The service behind each proxy of `server/docs/proxy.md`, with the configuration that the page links. */
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Installation } from '../support/installation.ts'
import { MODERN, request } from '../support/mcp.ts'
import { NAME, PROXIES, RunningProxy } from './proxy.ts'

const REFUSALS = 3
const FORGED = '203.0.113.9'
/** What a proxy makes of a health check's answer. */
const SETTLE_MS = 200

interface Behind {
  readonly proxy: RunningProxy
  readonly key: string
  /** What the host that can only be read was asked, but for its health. */
  readonly askedOfReader: readonly string[]
}

/** As a host on a read-only database answers. */
async function startReader(t: Test) {
  const asked: string[] = []
  const health = new EventEmitter()
  const server = createServer(({ method, url }, response) => {
    const isRead = method === 'GET' && url !== '/readyz'
    if (!url!.startsWith('/readyz')) asked.push(`${method} ${url}`)
    response.writeHead(isRead ? 200 : 503).end(() => health.emit(url!))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  t.teardown(stop)
  return { asked, stop, health, address: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

for (const one of PROXIES) {
  const skip = one.program === undefined && `${one.name} is not installed`
  t.test(`behind ${one.name}`, { skip }, async (t) => {
    const installation = await Installation.during(t, {
      env: { PUBLIC_URL: `https://${NAME}`, TRUST_PROXY: '127.0.0.1' },
      file: { rate_limits: { refusals: REFUSALS } },
    })
    const { key } = await installation.client('acme')
    const reader = await startReader(t)
    const known = one.asksHealth ? once(reader.health, '/readyz') : undefined
    const proxy = await RunningProxy.start(one, [new URL(installation.url).host, reader.address])
    t.teardown(() => proxy.stop())
    await known
    await setTimeout(SETTLE_MS)
    const behind: Behind = { proxy, key, askedOfReader: reader.asked }
    await t.test('http leads to https', (t) => redirects(t, behind))
    await t.test('claims go to a host that can store them', (t) => routes(t, behind, one.asksHealth))
    reader.stop()
    await t.test('a host that is gone is passed over', async (t) => {
      for (let number = 0; number < 6; number++) t.equal((await submit(behind, `alone-${number}`)).status, 202)
    })
    await t.test('a client is known by its address, and by nothing that it writes', (t) => knowsClients(t, behind))
    await t.test('the service says what is too large', (t) => limitsBodies(t, behind))
    await t.test('a stream is passed on while it is open', (t) => streams(t, behind))
    await t.test('where no host can store, all are read', (t) => readsOn(t, one))
  })
}

async function redirects(t: Test, { proxy }: Behind): Promise<void> {
  t.strictSame(await proxy.redirect('/docs?a=1'), { status: 308, location: `https://${NAME}/docs?a=1` })
}

async function routes(t: Test, behind: Behind, asksHealth: boolean): Promise<unknown> {
  const { proxy, askedOfReader } = behind
  for (let number = 0; number < 6; number++) {
    const answer = await submit(behind, `routed-${number}`)
    t.equal(answer.status, 202, answer.text)
  }
  for (let number = 0; number < 6; number++) t.equal((await proxy.ask('/v1/log/head')).status, 200)
  const posts = askedOfReader.filter((line) => line.startsWith('POST'))
  const reads = askedOfReader.filter((line) => line === 'GET /v1/log/head')
  t.ok(reads.length > 0, 'the other host is read')
  if (!asksHealth) return t.ok(posts.length > 0, 'a claim that it cannot store was repeated at the other one')
  t.strictSame(posts, [], 'and asked nothing that it cannot do')
}

async function readsOn(t: Test, one: (typeof PROXIES)[number]): Promise<void> {
  const readers = [await startReader(t), await startReader(t)] as const
  const proxy = await RunningProxy.start(one, [readers[0].address, readers[1].address])
  t.teardown(() => proxy.stop())
  t.equal((await submit({ proxy, key: 'none' }, 'refused')).status, 503)
  t.equal((await proxy.ask('/readyz')).status, 503)
  for (let number = 0; number < 6; number++) t.equal((await proxy.ask('/v1/log/head')).status, 200)
  for (const { asked } of readers) t.ok(asked.includes('GET /v1/log/head'))
}

async function knowsClients(t: Test, { proxy }: Behind): Promise<void> {
  const refused = async (from: string) => {
    const headers = { authorization: 'Bearer svc_sk_wrong', 'x-forwarded-for': FORGED }
    return (await proxy.ask('/v1/whoami', { headers, from })).status
  }
  const statuses: number[] = []
  // Refusals are counted by the minute, and a new one may begin between them.
  while (statuses.at(-1) !== 429 && statuses.length <= 2 * REFUSALS) statuses.push(await refused('127.0.0.2'))
  t.ok(statuses.length > REFUSALS, `${statuses}`)
  t.equal(statuses.at(-1), 429, 'what it forged changes nothing')
  t.equal(await refused('127.0.0.3'), 401, 'and another client is another one')
}

async function limitsBodies(t: Test, behind: Behind): Promise<void> {
  const large = await submit(behind, 'a'.repeat(70_000))
  t.equal(large.status, 413)
  t.match(large.headers['content-type'], /json/)
}

async function streams(t: Test, { proxy, key }: Behind): Promise<void> {
  const answer = await proxy.ask('/mcp', {
    method: 'POST',
    isStream: true,
    body: JSON.stringify(request('subscriptions/listen', { notifications: {} })),
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN,
      'mcp-method': 'subscriptions/listen',
    },
  })
  t.equal(answer.status, 200, answer.text)
  t.match(answer.headers['content-type'], /event-stream/)
  t.match(answer.text, /data:/)
}

function submit({ proxy, key }: Pick<Behind, 'proxy' | 'key'>, id: string) {
  const claim = {
    client_claim_id: id,
    agent_id: 'agent-1',
    action: 'test.outcome.reach',
    target: 'somewhere',
    params: { see: 'present' },
    claimed_at: new Date().toISOString(),
  }
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return proxy.ask('/v1/claims', { method: 'POST', headers, body: JSON.stringify(claim) })
}
