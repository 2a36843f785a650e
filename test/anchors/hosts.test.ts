import { setTimeout } from 'node:timers/promises'
import { createAnchorWorker } from '@claimcheck/server/features/anchoring/anchor-worker'
import { createLease, LeaseLost } from '@claimcheck/server/host/lease'
import t, { type Test } from 'tap'
import { createWorld, DIALECTS, type HostOfOne, type World } from './fixture.ts'

async function until(test: () => Promise<boolean> | boolean, withinMs = 10_000): Promise<void> {
  const end = Date.now() + withinMs
  while (!(await test())) {
    if (Date.now() > end) throw new Error(`not within ${withinMs} ms`)
    await setTimeout(20)
  }
}

function startWorker(t: Test, { anchoring, storage }: HostOfOne) {
  const worker = createAnchorWorker({ anchoring, storage, logger: { error() {}, warn() {} } })
  worker.start()
  t.teardown(() => worker.stop())
  return worker
}

async function isFinal({ storage }: World, treeSize: number): Promise<boolean> {
  const [anchor] = await storage.read.anchors.landed('log', Number.MAX_SAFE_INTEGER, 1)
  return anchor?.treeSize === treeSize
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, a lease has one holder, until it lets go or its time is over`, async (t) => {
    const { storage } = await createWorld(t, dialect)
    const take = (holder: string, forMs: number) => storage.write((tx) => tx.leases.take('anchoring', holder, forMs))
    t.equal(await take('one', 60_000), true)
    t.equal(await take('other', 60_000), false)
    t.equal(await take('one', 50), true, 'its own it takes again, and for as long as it says')
    await setTimeout(60)
    t.equal(await take('other', 60_000), true)
    t.equal(await take('one', 60_000), false)
    await storage.write((tx) => tx.leases.release('anchoring', 'one'))
    t.equal(await take('one', 60_000), false, 'nobody lets go of what another holds')
    await storage.write((tx) => tx.leases.release('anchoring', 'other'))
    t.equal(await take('one', 60_000), true)
  })

  t.test(`on ${dialect}, of many that try at once one gets the lease`, async (t) => {
    const { storage } = await createWorld(t, dialect)
    const tries = Array.from({ length: 20 }, (_, host) =>
      storage.write((tx) => tx.leases.take('anchoring', `host ${host}`, 60_000)),
    )
    t.equal((await Promise.all(tries)).filter(Boolean).length, 1)
  })

  t.test(`on ${dialect}, hosts that all work without a lease still send one transaction for a root`, async (t) => {
    const world = await createWorld(t, dialect)
    const hosts = await Promise.all([1, 2, 3].map(() => world.host({ isMining: true })))
    for (let round = 1; round <= 8; round++) {
      await world.grow(1)
      world.now += 60_000
      while (!(await isFinal(world, round))) await Promise.all(hosts.map((host) => host.step()))
    }
    t.strictSame(
      world.chain.attested,
      Array.from({ length: 8 }, (_, index) => `log ${index + 1}`),
    )
    t.equal(new Set(world.chain.state.sent).size, 8)
  })

  t.test(`on ${dialect}, one host anchors, and when it stops another goes on at once`, async (t) => {
    const world = await createWorld(t, dialect)
    const [one, other] = [await world.host(), await world.host()]
    await world.grow(1)
    const worker = startWorker(t, one)
    await until(async () => (await world.storage.read.anchors.open())?.state === 'sent')
    startWorker(t, other)
    await setTimeout(1500)
    t.notOk(other.made.includes('look'), 'while the first has the lease')
    await worker.stop()
    world.chain.mine(3)
    await until(() => isFinal(world, 1))
    t.ok(other.made.includes('look'))
    t.notOk(other.made.includes('sign'))
    t.strictSame(world.chain.attested, ['log 1'])
  })
}

t.test('a host that loses the lease learns of it, and a host that has it keeps it as long as it works', async (t) => {
  const { storage } = await createWorld(t, 'sqlite')
  // A busy machine may hold this thread for longer than a shorter lease lasts.
  const renewMs = 300
  const lease = createLease('anchoring', { storage, renewMs })
  const other = createLease('anchoring', { storage, renewMs })
  await lease.hold(async (lost) => {
    await setTimeout(10 * renewMs)
    t.equal(lost.aborted, false, 'three times as long as an unrenewed lease lasts')
    t.equal(await other.hold(async () => 'worked'), undefined)
    await storage.write((tx) => tx.leases.take('anchoring', 'nobody', 0))
    t.equal(lost.aborted, false)
  })
  await lease.release()
  await lease.hold(async (lost) => {
    await lease.release()
    await storage.write((tx) => tx.leases.take('anchoring', 'thief', 60_000))
    await until(() => lost.aborted)
    t.ok(lost.reason instanceof LeaseLost)
  })
})

t.test('a worker whose chain fails pauses longer each time, and not less than it was asked to', async (t) => {
  const world = await createWorld(t, 'sqlite')
  await world.grow(1)
  const host = await world.host({ isMining: true, intervalMs: 1 })
  for (let failure = 0; failure < 3; failure++) world.chain.fail('prepare', 'rate_limited', failure === 2 ? 700 : 0)
  const startedAt = performance.now()
  startWorker(t, host)
  await until(() => isFinal(world, 1))
  const tookMs = performance.now() - startedAt
  t.ok(tookMs >= 200 + 400 + 700, `${tookMs} ms`)
  t.equal(host.logged.filter(({ problem }) => problem === 'rate_limited').length, 3)
})

t.test('a worker outlives a database that is away, and goes on from what is stored', async (t) => {
  const world = await createWorld(t, 'sqlite')
  await world.grow(1)
  const host = await world.host({ isMining: true, intervalMs: 1 })
  let isAway = true
  const write: typeof host.storage.write = async (work) => {
    if (isAway) throw new Error('away')
    return host.storage.write(work)
  }
  startWorker(t, { ...host, storage: { ...host.storage, write } })
  await setTimeout(100)
  isAway = false
  await until(() => isFinal(world, 1))
  t.strictSame(world.chain.attested, ['log 1'])
})

t.test('a host that cannot anchor leaves that to one that can', async (t) => {
  for (const [name, options, problem] of [
    ['read-only', { isReadOnly: true }, null],
    ['of another chain', { chain: 'scripted:2' }, 'anchorer_changed'],
  ] as const) {
    await t.test(name, async (t) => {
      const world = await createWorld(t, 'sqlite')
      await world.grow(1)
      const able = await world.host({ isMining: true })
      await able.step()
      const unable = await world.host(options)
      startWorker(t, unable)
      await until(async () => unable.made.some((statement) => statement.includes('leases')))
      if (problem) await until(async () => (await world.storage.read.anchors.open())?.problem === problem)
      startWorker(t, able)
      // Sooner than a lease runs out.
      await until(() => isFinal(world, 1), 8000)
      t.notOk(unable.made.includes('send'))
    })
  }
})
