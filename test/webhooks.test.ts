// Test run: slow
/** Webhooks as their receivers see them: real processes that hang, lie, ask for time, and are killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { NO_FILTERS, type WebhookFilters } from '@claimcheck/server/storage/webhooks'
import { transform } from 'esbuild'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { serve } from '../server/test/support/loopback.ts'
import { readPage } from './docs/markdown.ts'
import { freePort } from './support/free-port.ts'
import { sharedInstallation } from './support/installation.ts'
import { Receiver } from './support/receiver.ts'

const shared = sharedInstallation({ file: { webhooks: { allow_private: ['127.0.0.1'] } } })

/** A workspace with webhooks. */
async function begin(name: string) {
  const { claimcheck } = await shared()
  const client = await (await shared()).client(name)
  const { webhooks } = claimcheck
  const add = (url: string, filters: Partial<WebhookFilters> = {}) =>
    webhooks.add(client.workspaceId, { format: 'standard', url, filters: { ...NO_FILTERS, ...filters } })
  /** The deliveries, once this holds of them. */
  async function deliveries(holds: (all: { state: string; fault: string | null; attempts: number }[]) => boolean) {
    for (const end = Date.now() + 20_000; ; await setTimeout(50)) {
      const all = (await client.get('/v1/webhooks/deliveries')).body.deliveries
      if (holds(all)) return all
      if (Date.now() > end) throw new Error(JSON.stringify(all, null, 1))
    }
  }
  return { client, webhooks, add, deliveries }
}

t.test('a decided claim is told at once, signed, and as the API shows it', async (t) => {
  const { client, add } = await begin('told')
  const receiver = await Receiver.during(t)
  const { secret } = await add(`${receiver.url}/ok/?token=mine`)
  // The worker may look at what webhooks there are only once a second.
  await setTimeout(1100)
  const claim = (await client.submit()).body
  const answeredAt = Date.now()
  const [message] = await receiver.until('/ok/?token=mine', 1)
  t.comment(`told ${message!.at - answeredAt} ms after the answer`)
  const { headers, body } = message!
  const event = new Webhook(secret).verify(body, { ...headers }) as { type: string; data: object }
  const { created, ...status } = claim
  t.match(event, { id: '1', type: 'claim.decided', data: status })
  t.match(headers, { 'content-type': 'application/json', 'user-agent': /^claimcheck\//, 'webhook-id': /^msg_/ })
  t.notOk('authorization' in headers)
})

t.test('filters choose what is told', async (t) => {
  const { client, add } = await begin('filtered')
  const receiver = await Receiver.during(t)
  await add(`${receiver.url}/ok/failed`, { verdicts: ['failed'] })
  await add(`${receiver.url}/ok/bot`, { agents: ['bot'], types: ['claim.decided'] })
  await add(`${receiver.url}/ok/all`)
  await client.submit()
  await client.submit({ agent_id: 'bot' })
  await receiver.until('/ok/all', 2)
  await receiver.until('/ok/bot', 1)
  await setTimeout(200)
  t.match(
    receiver.at('/ok/bot').map(({ body }) => JSON.parse(body).data.agent_id),
    ['bot'],
  )
  t.equal(receiver.at('/ok/failed').length, 0)
})

const FAULTS: readonly (readonly [path: string, status: number | null, fault: string])[] = [
  ['/status/500', 500, 'status'],
  ['/status/404', 404, 'status'],
  ['/busy/30', 429, 'status'],
  ['/early/x', null, 'unreachable'],
  ['/nonsense/x', null, 'unreachable'],
  ['/status/304', 304, 'redirect'],
]

t.test('each kind of fault is told, and the answer is not stored', async (t) => {
  const { client, add, deliveries } = await begin('faults')
  const receiver = await Receiver.during(t)
  const ids = new Map<string, string>()
  for (const [path] of FAULTS) ids.set((await add(receiver.url + path)).target.id, path)
  await client.submit()
  const all = await deliveries((rows) => rows.length === FAULTS.length && rows.every(({ attempts }) => attempts > 0))
  for (const [path, status, fault] of FAULTS) {
    const row = all.find(({ webhook }: { webhook: string }) => ids.get(webhook) === path)
    t.match(row, { state: 'waiting', fault, last_try: { status }, next_try_at: /Z$/ }, path)
  }
  const busy = all.find(({ webhook }: { webhook: string }) => ids.get(webhook) === '/busy/30')
  t.ok(Date.parse(busy.next_try_at) - Date.parse(busy.last_try.at) >= 30_000, 'Retry-After is kept')
  t.notMatch(JSON.stringify(all), /"no"|what\?/)
})

t.test('a redirect to what nobody named is not followed', async (t) => {
  const { client, add, deliveries } = await begin('redirects')
  const receiver = await Receiver.during(t)
  let reached = 0
  const trap = await serve(t, (_, response) => {
    reached++
    response.end()
  })
  await add(`${receiver.url}/redirect/${encodeURIComponent(`http://${trap}/`)}`)
  await client.submit()
  t.match(await deliveries((rows) => rows.some(({ attempts }) => attempts > 0)), [{ fault: 'redirect' }])
  t.equal(reached, 0)
})

t.test('huge and endless answers cost nothing, and their status counts', async (t) => {
  const { client, add, deliveries } = await begin('huge')
  const receiver = await Receiver.during(t)
  await add(`${receiver.url}/huge/x`)
  await client.submit()
  const [row] = await deliveries((rows) => rows[0]?.state === 'delivered')
  t.ok(row.last_try.duration_ms < 5000)
  t.equal(receiver.received.length, 1)
})

t.test('410 switches a webhook off, and what happens then waits', async (t) => {
  const { client, webhooks, add, deliveries } = await begin('gone')
  const receiver = await Receiver.during(t)
  await add(`${receiver.url}/status/410`)
  await client.submit()
  t.match(await deliveries((rows) => rows[0]?.fault === 'gone'), [{ state: 'waiting', last_try: { status: 410 } }])
  t.match((await client.get('/v1/webhooks')).body.webhooks, [{ state: 'off', off_reason: 'gone' }])
  t.match(await webhooks.list(client.workspaceId), [{ offReason: 'gone' }])
})

t.test('what happens while a receiver is killed arrives once it is back, each claim', async (t) => {
  const { client, add } = await begin('killed')
  const receiver = await Receiver.during(t)
  await add(`${receiver.url}/ok/x`)
  const claims: string[] = []
  for (let count = 0; count < 30; count++) {
    if (count === 10) await receiver.kill()
    if (count === 20) await receiver.start()
    claims.push((await client.submit()).body.claim_id)
    await setTimeout(20)
  }
  const got = () => new Set(receiver.received.map(({ body }) => JSON.parse(body).data.claim_id))
  for (const end = Date.now() + 60_000; got().size < 30 && Date.now() < end; await setTimeout(100));
  t.strictSame([...got()].toSorted(), claims.toSorted(), 'none is lost')
  t.comment(`${receiver.received.length - 30} came twice`)
})

t.test('a receiver that hangs times out, and holds up no other one', async (t) => {
  const { client, add, deliveries } = await begin('hangs')
  const receiver = await Receiver.during(t)
  await add(`${receiver.url}/ok/x`)
  await add(`${receiver.url}/hang/x`)
  const delays: number[] = []
  for (let count = 0; count < 20; count++) {
    await client.submit()
    const answeredAt = Date.now()
    const last = (await receiver.until('/ok/x', count + 1)).at(-1)!
    delays.push(last.at - answeredAt)
  }
  t.ok(Math.max(...delays) < 3000, `the longest delay is ${Math.max(...delays)} ms`)
  await deliveries((rows) => rows.some(({ fault }) => fault === 'timeout'))
})

/** Programs of the documentation, by the language of their block. */
const PROGRAMS: Readonly<Record<string, (folder: string, text: string) => Promise<readonly [string, string]>>> = {
  ts: async (folder, text) => {
    const { code } = await transform(text, { loader: 'ts', format: 'esm' })
    writeFileSync(join(folder, 'receiver.mjs'), code)
    return [process.execPath, join(folder, 'receiver.mjs')]
  },
  python: async (folder, text) => {
    writeFileSync(join(folder, 'receiver.py'), text)
    return ['python3', join(folder, 'receiver.py')]
  },
}

for (const [language, prepare] of Object.entries(PROGRAMS)) {
  t.test(`the receiver of the documentation in ${language} takes what is signed, and nothing else`, async (t) => {
    const { client, webhooks, add, deliveries } = await begin(`docs in ${language}`)
    // Below the repository, where the library is found.
    const folder = t.testdir()
    mkdirSync(folder, { recursive: true })
    const { blocks } = readPage(readFileSync('server/docs/webhooks.md', 'utf8'))
    const [program, file] = await prepare(folder, blocks.find((block) => block.language === language)!.text)
    const port = await freePort()
    const { target, secret } = await add(`http://127.0.0.1:${port}/`)
    const child = spawn(program, [file], { env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) } })
    t.teardown(() => child.kill('SIGKILL'))
    const line = once(createInterface(child.stdout), 'line')
    const refused = await untilAnswered(`http://127.0.0.1:${port}/`, {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
    })
    t.equal(refused, 400)
    await client.submit()
    const [row] = await deliveries((rows) => rows[0]?.state === 'delivered')
    t.match((await line)[0], row.id)
    await webhooks.rotate(target.id, 60_000)
    const tested = await webhooks.test(target.id, client.workspaceId, BY)
    t.match(tested, { status: 204, fault: null }, 'during a rotation the former secret is good')
    await webhooks.rotate(target.id, 0)
    t.match(await webhooks.test(target.id, client.workspaceId, BY), { status: 400, fault: 'status' })
  })
}

const BY = { actor: { kind: 'command', id: 'test' }, address: null } as const

/** Sends a body until the program listens. */
async function untilAnswered(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  for (const end = Date.now() + 10_000; ; await setTimeout(50)) {
    try {
      return (await fetch(url, { method: 'POST', headers, body: '{}' })).status
    } catch (error) {
      if (Date.now() > end) throw error
    }
  }
}
