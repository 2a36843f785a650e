import t, { type Test } from 'tap'
import type { Dialect } from '../support/database.ts'
import { createWorld, DIALECTS, type HostOfOne, type World } from './fixture.ts'

async function start(t: Test, dialect: Dialect): Promise<World & { readonly one: HostOfOne }> {
  const world = await createWorld(t, dialect)
  await world.grow(3)
  return Object.assign(world, { one: await world.host() })
}

/** As after a backup from then: the plan is there, and nothing of what followed. */
async function backToPlanned({ storage }: World): Promise<void> {
  const anchor = (await storage.read.anchors.recent(1))[0]!
  const before = { ...anchor, state: 'planned', signed: [], sentAt: null, landing: null, problem: null } as const
  await storage.write((tx) => tx.anchors.replace(anchor, before))
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, a restored plan whose root is on the chain already is taken from there`, async (t) => {
    const world = await start(t, dialect)
    for (const outcome of ['moved', 'moved']) t.equal(await world.one.step(), outcome)
    world.chain.mine(3)
    await backToPlanned(world)
    for (const outcome of ['moved', 'nothing']) t.equal(await world.one.step(), outcome)
    const [anchor] = await world.storage.read.anchors.recent(1)
    t.match(anchor, { state: 'final', signed: [], landing: { txHash: world.chain.state.sent[0]! } })
    t.strictSame(world.chain.attested, ['log 3'])
    t.equal(world.chain.state.signed.length, 1)
  })
}

t.test('what is found in a block that is replaced is made anew, with the nonce that it had', async (t) => {
  const world = await start(t, 'sqlite')
  for (const outcome of ['moved', 'moved']) t.equal(await world.one.step(), outcome)
  world.chain.mine()
  await backToPlanned(world)
  for (const outcome of ['moved', 'waiting']) t.equal(await world.one.step(), outcome)
  t.match((await world.storage.read.anchors.recent(1))[0], { state: 'mined', signed: [] })
  world.chain.reorg()
  for (const outcome of ['moved', 'moved', 'moved']) t.equal(await world.one.step(), outcome)
  world.chain.mine(3)
  for (const outcome of ['moved', 'nothing']) t.equal(await world.one.step(), outcome)
  t.strictSame(world.chain.attested, ['log 3'])
})

t.test('a host that may not sign looks after what is there, and neither signs nor sends', async (t) => {
  const world = await start(t, 'sqlite')
  const other = await world.host({ isReadOnly: true })
  await t.rejects(other.step(), { code: 'read_only' }, 'it plans nothing')
  await world.one.anchoring.take()
  await t.rejects(other.step(), { code: 'read_only' }, 'planned')
  await world.one.step()
  await t.rejects(other.step(), { code: 'read_only' }, 'signed')
  await world.one.step()
  t.equal(await other.step(), 'waiting')
  world.now += 10_000
  await t.rejects(other.step(), { code: 'read_only' }, 'stuck')
  world.chain.mine(3)
  t.equal(await other.step(), 'moved')
  t.match((await world.storage.read.anchors.recent(1))[0], { state: 'final' })
  for (const call of ['prepare', 'sign', 'send']) t.notOk(other.made.includes(call), call)
})
