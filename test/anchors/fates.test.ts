import { createMeters } from '@claimcheck/server/base/meters'
import { anchorMetrics } from '@claimcheck/server/features/anchoring/metrics'
import { createMetrics } from '@claimcheck/server/host/metrics'
import t, { type Test } from 'tap'
import { createWorld, type HostOfOne, NOON, type World } from './fixture.ts'

const STUCK_AFTER_MS = 10_000

async function start(t: Test): Promise<World & { readonly one: HostOfOne }> {
  const world = await createWorld(t, 'sqlite')
  await world.grow(3)
  return Object.assign(world, { one: await world.host() })
}

async function steps(t: Test, host: HostOfOne, expected: readonly string[]): Promise<void> {
  for (const [index, outcome] of expected.entries()) {
    t.equal(await host.step(), outcome, `step ${index + 1} of ${expected.join(', ')}`)
  }
}

async function newest({ storage }: World) {
  return (await storage.read.anchors.recent(1))[0]!
}

/** Planned, signed and sent. */
const SENT = ['moved', 'moved', 'waiting']

t.test('an anchor is published when its block is final, and no moment before', async (t) => {
  const world = await start(t)
  const landed = () => world.storage.read.anchors.landed('log', Number.MAX_SAFE_INTEGER, 9)
  const states = ['signed', 'sent', 'sent']
  for (const state of states) {
    await world.one.step()
    t.match(await newest(world), { state })
    t.strictSame(await landed(), [])
  }
  world.chain.mine()
  await steps(t, world.one, ['moved', 'waiting'])
  t.match(await newest(world), { state: 'mined', landing: null })
  t.strictSame(await landed(), [])
  world.chain.mine(2)
  await steps(t, world.one, ['moved', 'nothing'])
  t.match(await newest(world), { state: 'final', problem: null })
  const [anchor] = await landed()
  t.match(anchor, { chain: 'scripted:1', scheme: 'eas', treeSize: 3, blockNumber: 1 })
  t.ok(world.chain.isFinal(anchor!.uid))
})

const metricsOf = (services: Parameters<typeof anchorMetrics>[0]) =>
  createMetrics([{ name: 'anchoring', metrics: anchorMetrics }], {
    ...services,
    meters: createMeters(),
    logger: { error: () => t.fail('a reading fails') },
  })

t.test('monitoring is told how far the log is anchored, and what the anchor under way waits for', async (t) => {
  const world = await start(t)
  const { text } = metricsOf({ anchoring: world.one.anchoring, storage: world.storage })
  world.chain.fail('sign', 'fee_ceiling')
  t.equal(await world.one.step(), 'blocked')
  t.match(await text(), 'claimcheck_anchor_open{state="planned",problem="fee_ceiling"} 1\n')
  t.match(await text(), 'claimcheck_anchoring_problem{problem="fee_ceiling"} 1\n')
  await steps(t, world.one, SENT)
  world.chain.mine(3)
  await steps(t, world.one, ['moved', 'nothing'])
  const told = await text()
  t.match(told, 'claimcheck_log_anchored_tree_size 3\n')
  t.notMatch(told, 'claimcheck_anchor_open{')
  t.notMatch(told, 'claimcheck_anchoring_problem{')
  t.match(told, 'claimcheck_anchors_dropped_total 0\n')
})

t.test('monitoring is told what keeps a host from its chain while nothing is to be anchored', async (t) => {
  const world = await createWorld(t, 'sqlite')
  const { anchoring, logged } = await world.host()
  const { text } = metricsOf({ anchoring, storage: world.storage })
  const { signal } = new AbortController()
  world.chain.fail('account', 'wrong_chain')
  await anchoring.examine(signal)
  t.match(await text(), 'claimcheck_anchoring_problem{problem="wrong_chain"} 1\n')
  t.match(logged, [{ level: 'warn', problem: 'wrong_chain' }])
  await anchoring.examine(signal)
  t.notMatch(await text(), 'claimcheck_anchoring_problem{')
})

t.test(
  'the next is planned when the interval is over and the log has grown, and refers to the one before',
  async (t) => {
    const world = await start(t)
    await steps(t, world.one, SENT)
    world.chain.mine(3)
    await steps(t, world.one, ['moved', 'nothing'])
    world.now += 60_000
    t.equal(await world.one.step(), 'nothing', 'the same root')
    await world.grow(1)
    t.equal(await world.one.step(), 'moved')
    const [second, first] = await world.storage.read.anchors.recent(2)
    t.match(second, { treeSize: 4, previousId: first!.id })
    world.chain.mine(1)
    await steps(t, world.one, SENT.slice(1))
    world.chain.mine(3)
    await steps(t, world.one, ['moved'])
    await world.grow(1)
    t.equal(await world.one.step(), 'nothing', 'the interval is not over')
    t.match(await world.one.anchoring.take({ atOnce: true }), { treeSize: 5, state: 'planned' })
  },
)

t.test('a reorg that moves the transaction gives it another uid, and that one is published', async (t) => {
  const world = await start(t)
  await steps(t, world.one, SENT)
  world.chain.mine()
  await steps(t, world.one, ['moved', 'waiting'])
  world.chain.reorg()
  await steps(t, world.one, ['moved', 'waiting'])
  t.match(await newest(world), { state: 'sent' })
  world.chain.mine(3)
  await steps(t, world.one, ['moved', 'nothing'])
  const { landing } = await newest(world)
  t.ok(world.chain.isFinal(landing!.uid))
})

t.test('a transaction that a reorg removes, or that nodes forget, is sent again, and is the same', async (t) => {
  const world = await start(t)
  await steps(t, world.one, SENT)
  world.chain.mine()
  await steps(t, world.one, ['moved'])
  world.chain.reorg({ forget: true })
  await steps(t, world.one, ['moved', 'waiting'])
  t.equal(world.chain.state.pool.length, 1)
  world.chain.forget()
  await steps(t, world.one, ['waiting'])
  t.equal(world.chain.state.pool.length, 1)
  world.chain.mine(3)
  await steps(t, world.one, ['moved', 'nothing'])
  t.equal(new Set(world.chain.state.sent).size, 1)
  t.equal(world.chain.attested.length, 1)
})

t.test(
  'one that is stuck is signed again with the same nonce and higher fees, and only one of them lands',
  async (t) => {
    const world = await start(t)
    await steps(t, world.one, SENT)
    world.now += STUCK_AFTER_MS - 1
    await steps(t, world.one, ['waiting'])
    world.now += 1
    await steps(t, world.one, ['moved', 'moved', 'waiting'])
    const { signed, state } = await newest(world)
    t.equal(state, 'sent')
    t.equal(signed.length, 2)
    t.equal(signed[0]!.nonce, signed[1]!.nonce)
    t.ok(Number(signed[1]!.maxFee) > Number(signed[0]!.maxFee))
    world.chain.mine(3)
    await steps(t, world.one, ['moved', 'nothing'])
    t.equal(world.chain.attested.length, 1)
  },
)

t.test('the first of several may land after all', async (t) => {
  const world = await start(t)
  await steps(t, world.one, SENT)
  world.now += STUCK_AFTER_MS
  await steps(t, world.one, ['moved'])
  world.chain.mine(3)
  await steps(t, world.one, ['moved', 'nothing'])
  t.match(await newest(world), { state: 'final', landing: { txHash: (await newest(world)).signed[0]!.txHash } })
})

t.test(
  'where fees are above the ceiling, what was sent goes on, and the problem is told until it is over',
  async (t) => {
    const world = await start(t)
    await steps(t, world.one, SENT)
    world.now += STUCK_AFTER_MS
    world.chain.forget()
    world.chain.fail('sign', 'fee_ceiling')
    await steps(t, world.one, ['blocked'])
    t.match(await newest(world), { state: 'sent', problem: 'fee_ceiling' })
    t.equal(world.chain.state.pool.length, 1, 'it was sent again')
    world.chain.mine(3)
    await steps(t, world.one, ['moved'])
    t.match(await newest(world), { state: 'final', problem: null })
  },
)

for (const [name, code, strike] of [
  ['nonce somebody else took', 'nonce_taken', (world: World) => world.chain.takeNonce()],
  ['call reverts', 'reverted', (world: World) => world.chain.revertNext()],
] as const) {
  t.test(
    `one whose ${name} is dropped when that is final, and the newest root is planned after the interval`,
    async (t) => {
      const world = await start(t)
      await steps(t, world.one, SENT)
      strike(world)
      world.chain.mine()
      await world.grow(2)
      world.now += 60_000
      for (let looks = 0; looks < 3; looks++) await world.one.step()
      t.match(await newest(world), { id: 1 }, 'it may land yet')
      world.chain.mine(2)
      t.equal(await world.one.step(), 'moved')
      t.match(await newest(world), { state: 'dropped', problem: code, landing: null })
      t.match(world.one.logged.at(-1), { level: 'warn', state: 'dropped' })
      t.equal(await world.storage.read.anchors.droppedCount(), 1)
      await steps(t, world.one, ['moved', 'moved', 'waiting'])
      t.match(await newest(world), { treeSize: 5, state: 'sent', previousId: null })
      world.chain.mine(3)
      await steps(t, world.one, ['moved', 'nothing'])
      t.strictSame(world.chain.attested, ['log 5'])
    },
  )
}

t.test('what hinders is recorded with its code, told, and tried again; it changes nothing else', async (t) => {
  const world = await start(t)
  for (const [method, code] of [
    ['prepare', 'rpc_unavailable'],
    ['prepare', 'no_code'],
    ['sign', 'insufficient_balance'],
  ] as const) {
    world.chain.fail(method, code, 5000)
    const anchor = await world.one.anchoring.take()
    const signal = new AbortController().signal
    t.match(await world.one.anchoring.advance(anchor!, signal), { outcome: 'blocked', retryAfterMs: 5000 })
    t.match(await newest(world), { state: 'planned', problem: code, signed: [] })
    t.match(world.one.logged.at(-1), { problem: code, reason: `scripted: ${code}` })
  }
  await steps(t, world.one, ['moved'])
  world.chain.fail('send', 'rate_limited')
  await steps(t, world.one, ['blocked', 'moved'])
  world.chain.fail('look', 'unexpected_response')
  await steps(t, world.one, ['blocked'])
  t.match(await newest(world), { state: 'sent', problem: 'unexpected_response' })
  await steps(t, world.one, ['waiting'])
  t.match(await newest(world), { state: 'sent', problem: null })
})

t.test('a node that asks for days of rest is asked again after a quarter of an hour', async (t) => {
  const world = await start(t)
  world.chain.fail('prepare', 'rate_limited', 10 ** 12)
  const anchor = await world.one.anchoring.take()
  const advance = await world.one.anchoring.advance(anchor!, new AbortController().signal)
  t.strictSame(advance, { outcome: 'blocked', problem: 'rate_limited', retryAfterMs: 900_000 })
})

t.test(
  'what was sent by a host that could not store that is seen where it is, even if it can not be sent',
  async (t) => {
    const world = await start(t)
    await steps(t, world.one, ['moved'])
    const anchor = await newest(world)
    world.chain.send(anchor.signed[0]!)
    world.chain.mine(3)
    world.chain.fail('send', 'insufficient_balance')
    await steps(t, world.one, ['moved', 'nothing'])
    t.match(await newest(world), { state: 'final', problem: null, sentAt: NOON })
  },
)

t.test('an anchorer that fails in its own way is told by where, and not by what it said', async (t) => {
  const world = await start(t)
  const { anchorer } = world.one.anchoring
  const anchor = (await world.one.anchoring.take())!
  Object.assign(anchorer, {
    sign: async () => {
      throw new TypeError('the key is s3cret')
    },
  })
  t.match(await world.one.anchoring.advance(anchor, new AbortController().signal), { outcome: 'blocked' })
  t.match(await newest(world), { problem: 'anchorer_error' })
  t.notMatch(JSON.stringify(world.one.logged), /s3cret/)
})

t.test('a call that does not end is left when its signal is aborted', async (t) => {
  const world = await start(t)
  const anchor = (await world.one.anchoring.take())!
  Object.assign(world.one.anchoring.anchorer, { prepare: () => new Promise(() => {}) })
  const reason = new Error('over')
  await t.rejects(world.one.anchoring.advance(anchor, AbortSignal.abort(reason)), reason)
})

t.test('an anchor of another account or chain is dropped while nothing is signed for it', async (t) => {
  const world = await start(t)
  for (const options of [{ account: '0xother' }, { chain: 'scripted:2' }]) {
    const anchor = await world.one.anchoring.take({ atOnce: true })
    t.match(anchor, { state: 'planned' })
    const other = await world.host(options)
    await steps(t, other, ['moved'])
    t.match(await newest(world), { state: 'dropped', problem: 'anchorer_changed', treeSize: 3 })
    t.notOk(other.made.includes('look'))
  }
})

t.test('an anchor of an account whose key is lost is sent and lands all the same', async (t) => {
  const world = await start(t)
  await steps(t, world.one, ['moved'])
  const other = await world.host({ account: '0xother' })
  await steps(t, other, ['moved', 'waiting'])
  world.chain.mine(3)
  await steps(t, other, ['moved', 'nothing'])
  t.match(await newest(world), { state: 'final', attester: '0xaccount' })
  await world.grow(1)
  world.now += 60_000
  await steps(t, other, SENT)
  world.chain.mine(3)
  await steps(t, other, ['moved'])
  const addresses = (await world.storage.read.anchors.identities()).map(({ attester }) => attester)
  t.strictSame(addresses, ['0xaccount', '0xother'])
})

t.test(
  'an anchor of an account whose key is lost is never signed again, and dropped when its nonce is used',
  async (t) => {
    const world = await start(t)
    await steps(t, world.one, SENT)
    const other = await world.host({ account: '0xother' })
    world.now += STUCK_AFTER_MS
    await steps(t, other, ['blocked'])
    t.match(await newest(world), { state: 'sent', problem: 'anchorer_changed', signed: { length: 1 } })
    world.chain.takeNonce()
    world.chain.mine(3)
    await steps(t, other, ['moved'])
    t.match(await newest(world), { state: 'dropped', problem: 'nonce_taken' })
  },
)

t.test('an anchor that was sent on another chain waits until that is configured again', async (t) => {
  const world = await start(t)
  await steps(t, world.one, SENT)
  const other = await world.host({ chain: 'scripted:2' })
  await steps(t, other, ['blocked'])
  t.match(await newest(world), { state: 'sent', problem: 'anchorer_changed' })
  world.chain.mine(3)
  await steps(t, world.one, ['moved'])
  t.match(await newest(world), { state: 'final' })
})

t.test(
  'a log that begins anew has anchors of its own, after what is under way for the old one has landed',
  async (t) => {
    const world = await start(t)
    await steps(t, world.one, SENT)
    await beginNext(world.storage)
    world.now += 60_000
    world.chain.mine(3)
    await steps(t, world.one, ['moved', 'moved'])
    t.match(await newest(world), { logId: 'next', treeSize: 3, previousId: null })
  },
)

t.test('an anchor that was planned for a log that has ended is dropped before anything is paid', async (t) => {
  const world = await start(t)
  await world.one.anchoring.take()
  await beginNext(world.storage)
  await steps(t, world.one, ['moved'])
  t.match(await newest(world), { logId: 'log', state: 'dropped', problem: 'log_ended' })
  await steps(t, world.one, SENT)
  world.chain.mine(3)
  await steps(t, world.one, ['moved'])
  t.strictSame(world.chain.attested, ['next 3'])
})

/** Ends the log, and begins another with as many leaves. */
async function beginNext(storage: World['storage']): Promise<void> {
  await storage.write(async (tx) => {
    const log = (await tx.log.lock())!
    await tx.log.end(log.logId, NOON)
    await tx.log.create({ ...log, logId: 'next', name: 'next', number: 0, signed: '{}' })
  })
}
