/** Checks of many claims in one go, of a plugin in this process and of one in a process of its own. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { withoutSecretValues } from '@claimcheck/core/hosting'
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import { createOutbound } from '@claimcheck/server/outbound/outbound'
import { connectedBy } from '@claimcheck/server/plugins/connected'
import { loadPlugins } from '@claimcheck/server/plugins/plugins'
import t, { type Test } from 'tap'
import { shortened } from '../../../test/support/extent.ts'
import { SILENT } from '../support/registry.ts'
import { installedPlugin, TOKEN } from './isolation/world.ts'

const CONNECTION = { id: 'conn_1', provider: 'lists', options: {} }
const HOUR_MS = 3_600_000

/** Counts its reads. Each takes so long. */
async function listServer(t: Test, delayMs: () => number) {
  let reads = 0
  const server = createServer(async ({ headers, method }, response) => {
    if (method === 'GET') reads++
    const read = reads
    await setTimeout(delayMs())
    response.writeHead(headers.authorization === `Bearer ${TOKEN}` ? 200 : 401, {
      'content-type': 'application/json',
      date: new Date(Date.now() + HOUR_MS).toUTCString(),
      age: '7',
    })
    response.end(JSON.stringify({ read, names: ['there'] }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, reads: () => reads }
}

interface Asked {
  readonly fault?: string
  readonly target?: string
  readonly limitMs?: number
  readonly token?: string
  readonly share?: string
}

async function start(t: Test, trusted: boolean, delayMs: () => number = () => 5) {
  const { url, reads } = await listServer(t, delayMs)
  const { folder, use } = installedPlugin(t, 'build/server/test/plugins/isolation/lists.js')
  const logger = { ...SILENT, child: () => logger }
  const registry = await loadPlugins(
    { plugins: [{ use, with: {}, trusted }], pluginDir: folder, dataDir: `${folder}/data` },
    { logger, now: Date.now },
  )
  const outbound = createOutbound({ allowPrivate: [new URL(url).host] })
  const [plugin] = registry.plugins
  t.teardown(() => Promise.all([plugin!.parts.close(), outbound.close()]))
  const { verifier } = registry.verifierFor('test.list.have')!
  const type = registry.connectionType('lists')!

  /** What the check returns, its readings, and how many reads had begun before it. */
  async function check({ fault, target = 'there', limitMs = 20_000, token = TOKEN, share = 'ws_1' }: Asked = {}) {
    const timer = new AbortController()
    const startedAt = Date.now()
    const before = reads()
    const connection = { ...CONNECTION, options: { base_url: url, token } }
    const { secrets } = withoutSecretValues(type, connection.options)
    const { reach, limits } = verifier
    const connected = connectedBy(type, connection)
    const guard = { timer, now: Date.now, origin: url, connected, reach, secrets, limits }
    const requests = outbound.forCheck(guard)
    const params = fault === undefined ? {} : { fault }
    const claim = {
      action: 'test.list.have',
      target,
      params,
      claimedAt: startedAt,
      deadlineAt: startedAt + HOUR_MS,
      submittedAt: startedAt,
    }
    // As the service ends a check.
    const ending = globalThis.setTimeout(() => timer.abort(), limitMs)
    try {
      const tenant = { workspaceId: share, payer: share }
      const seen = await verifier.check({ claim, connection, previous: [], requests, timer, tenant, origin: url })
      return { seen: seen as { kind: string; facts: { read: number; together: number } }, before, startedAt, requests }
    } catch (error) {
      const { name, code } = error as { name: string; code?: string }
      return { failed: code ?? name, before, startedAt, requests }
    } finally {
      clearTimeout(ending)
    }
  }
  const many = (asked: readonly Asked[]) => Promise.all(asked.map(check))
  /** `there`, or why not. */
  const told = async (asked: readonly Asked[]) =>
    (await many(asked)).map(({ seen, failed }) => failed ?? (seen?.facts ? seen.kind : 'no facts'))
  return { check, many, told, reads, plugin: plugin! }
}

const skip = (await isolationProblem()) ?? false
const PLAIN: Asked = {}
for (const trusted of [true, false]) {
  const where = trusted ? 'in this process' : 'in a process of its own'
  const options = { skip: trusted ? false : skip }

  t.test(`a hundred claims take few reads (${where})`, options, async (t) => {
    const { many, reads } = await start(t, trusted)
    const targets = Array.from({ length: 100 }, (_, index) => ({ target: index % 2 ? 'there' : 'away' }))
    const seen = await many(targets)
    t.strictSame(
      seen.map(({ seen }) => seen?.kind),
      targets.map(({ target }) => (target === 'there' ? 'present' : 'absent')),
    )
    t.equal(reads(), 1)
    for (const { requests, startedAt } of seen) {
      const { sentAt, ahead, ageMs } = requests.readings()
      t.ok(sentAt! >= startedAt && ageMs === 7000 && ahead!.most > HOUR_MS - 5000, 'each has the clock of the read')
    }
    await many([...targets, ...targets, PLAIN])
    t.equal(reads(), 4, 'a batch has a hundred at most')
  })

  t.test(`no claim gets an answer that was asked for before it (${where})`, options, async (t) => {
    const { check, reads } = await start(t, trusted, () => Math.random() * 20)
    const later = async () => {
      await setTimeout(Math.random() * 400)
      return check()
    }
    const all = await Promise.all(Array.from({ length: 300 }, later))
    for (const { seen, before } of all)
      if (!(seen!.facts.read > before)) t.fail(`${seen!.facts.read} is not after ${before}`)
    t.ok(reads() < 100, `${reads()} reads`)
    t.ok(all.some(({ seen }) => seen!.facts.together > 1))
  })

  t.test(`other credentials and other shares have batches of their own (${where})`, options, async (t) => {
    const { told, reads } = await start(t, trusted)
    t.strictSame(await told([PLAIN, { token: 'another' }, { share: 'ws_2' }]), ['present', 'unauthorized', 'present'])
    t.equal(reads(), 3)
  })

  const faults: [fault: string, own: string, others: string][] = [
    ['cannot tell', 'forbidden', 'present'],
    ['breaks its entry', 'no facts', 'present'],
    ['breaks', trusted ? 'TypeError' : 'Error', 'present'],
    ['forgets one', 'TypeError', 'TypeError'],
    ['returns no list', 'TypeError', 'TypeError'],
    ['fails for all', 'unavailable', 'unavailable'],
    ['asks elsewhere', 'present', 'present'],
  ]
  // In this process they cost nothing; otherwise each starts one.
  for (const [fault, own, others] of trusted ? faults : shortened(faults)) {
    t.test(`where a claim ${fault}, the others are told ${others} (${where})`, options, async (t) => {
      const { told } = await start(t, trusted)
      t.strictSame(await told([PLAIN, { fault }, PLAIN]), [others, own, others])
    })
  }

  t.test(`a claim whose limits end the batch ends itself alone (${where})`, options, async (t) => {
    const { told, reads } = await start(t, trusted)
    const limited = { fault: 'waits', limitMs: 200 }
    t.strictSame(await told([limited, PLAIN, { fault: 'cannot tell' }]), ['timeout', 'present', 'forbidden'])
    t.equal(reads(), 1)
  })
}

t.test('a claim that ends the process of its plugin takes no other one with it', { skip }, async (t) => {
  const { told, plugin } = await start(t, false)
  const asked = [PLAIN, PLAIN, { fault: 'ends the process' }, PLAIN, PLAIN, PLAIN]
  t.strictSame(
    await told(asked),
    asked.map(({ fault }) => (fault ? 'PluginEndedError' : 'present')),
  )
  t.ok(plugin.parts.state().restarts <= 6, `${plugin.parts.state().restarts} restarts`)
})
