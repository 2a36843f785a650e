// Test run: slow
import t from 'tap'
import { createWorld, DIALECTS, type HostOfOne, type World } from './fixture.ts'

/** Until the newest root is final, with a block whenever the chain is waited for. */
async function drive(world: World, host: HostOfOne): Promise<void> {
  for (;;) {
    const outcome = await host.step()
    if (outcome === 'nothing') return
    if (outcome === 'waiting') world.chain.mine()
  }
}

async function storedHashes({ storage }: World): Promise<Set<string>> {
  const anchors = await storage.read.anchors.recent(1000)
  return new Set(anchors.flatMap(({ signed }) => signed.map(({ txHash }) => txHash)))
}

for (const dialect of DIALECTS) {
  t.test(
    `on ${dialect}, a host may end at any instruction of an anchor, and another takes it up from there`,
    async (t) => {
      const world = await createWorld(t, dialect)
      let size = 0
      let crashAt = 1
      for (let isWhole = false; !isWhole; crashAt++) {
        world.now += 60_000
        await world.grow(1)
        size += 1
        const struck = await world.host({ crashAt })
        isWhole = await drive(world, struck).then(
          () => true,
          () => false,
        )
        await struck.close()
        const stored = await storedHashes(world)
        const unstored = [...new Set(world.chain.state.sent)].filter((hash) => !stored.has(hash))
        t.strictSame(unstored, [], `before instruction ${crashAt}: what was sent was stored before`)
        const successor = await world.host()
        await drive(world, successor)
        await successor.close()
      }
      t.ok(crashAt > 15, `${crashAt} instructions`)

      const { chain, storage } = world
      const logId = (await storage.read.log.state())!.logId
      t.strictSame(
        chain.attested,
        Array.from({ length: size }, (_, index) => `${logId} ${index + 1}`),
        'each root once, in order',
      )
      t.equal(new Set(chain.state.sent).size, size, 'one transaction for each was sent, however often')
      const anchors = (await storage.read.anchors.landed(logId, Number.MAX_SAFE_INTEGER, 1000)).reverse()
      t.equal(anchors.length, size)
      t.ok(anchors.every(({ uid }) => chain.isFinal(uid)))
      const refs = chain.state.mined.map(({ of }) => of?.refUid)
      t.strictSame(refs, [null, ...anchors.slice(0, -1).map(({ uid }) => uid)], 'each refers to the one before')
    },
  )
}
