import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { proveConsistency, proveInclusion, verifyConsistency, verifyInclusion } from '@claimcheck/core/log'
import { SHA256_TREE, tileReader } from '@claimcheck/server/features/log/log-rows'
import { createStoredLog, type LogView, type StoredLog } from '@claimcheck/server/features/log/stored-log'
import { readsOfReplica } from '@claimcheck/server/storage/replica'
import type { Reads, Storage } from '@claimcheck/server/storage/storage'
import t, { type Test } from 'tap'
import { openSqlite } from '../../../../test/support/storage.ts'
import { createLog, grow, LOG_ID } from '../../support/grown-log.ts'

async function openHost(t: Test, folder: string): Promise<Storage> {
  const storage = await openSqlite(join(folder, 'claimcheck.db'))
  t.teardown(() => storage.close())
  return storage
}

async function openLog(t: Test): Promise<Storage> {
  const storage = await openHost(t, t.testdir())
  await createLog(storage)
  return storage
}

function storedLog({ log }: Reads): StoredLog {
  return createStoredLog(log, async () => (await log.anchoredState())!)
}

/** What of the view's proofs does not hold, or is not what the stored hashes say without any memory. */
async function wrongProofs(view: LogView, stored: Reads['log']): Promise<string[]> {
  const { treeSize, rootHash } = view.state
  const read = tileReader(stored, LOG_ID)
  const wrong: string[] = []
  const around = [0, 1, 254, 255, 256, 257, 511, 512, treeSize - 257, treeSize - 256, treeSize - 2, treeSize - 1]
  const leaves = [...new Set(around)].filter((leaf) => leaf >= 0 && leaf < treeSize)

  for (const leafIndex of leaves) {
    const { leafHash, path } = await view.proveInclusion(leafIndex, treeSize)
    const plain = await proveInclusion(leafIndex, treeSize, read, SHA256_TREE)
    const holds = verifyInclusion({ leafIndex, treeSize, leafHash, rootHash, path }, SHA256_TREE)
    if (!holds || !same(path, plain.path)) wrong.push(`${leafIndex} of ${treeSize}`)

    const older = leafIndex + 1
    const then = await view.proveInclusion(leafIndex, older)
    const plainThen = await proveInclusion(leafIndex, older, read, SHA256_TREE)
    if (!same([then.rootHash, ...then.path], [plainThen.rootHash, ...plainThen.path])) wrong.push(`last of ${older}`)

    const grown = await view.proveConsistency(older, treeSize)
    const plainGrown = await proveConsistency(older, treeSize, read, SHA256_TREE)
    const grew = verifyConsistency({ first: older, second: treeSize, ...grown, secondRoot: rootHash }, SHA256_TREE)
    if (!grew || !same(grown.path, plainGrown.path)) wrong.push(`${older} to ${treeSize}`)
  }
  return wrong
}

t.test('a host proves what another has appended, at the size that was committed last', async (t) => {
  const folder = t.testdir()
  const appending = await openHost(t, folder)
  const reading = await openHost(t, folder)
  await createLog(appending)
  const logs = [appending, reading].map(({ read }) => ({ rows: read.log, log: storedLog(read) }))
  let treeSize = 0
  // Across the borders of tiles one by one, and in steps that are followed and steps that are not.
  for (const count of [1, 253, 1, 1, 1, 254, 1, 1, 1, 512, 513, 700, 40]) {
    await grow(appending, count)
    treeSize += count
    for (const { rows, log } of logs) {
      const view = await log.view()
      t.equal(view.state.treeSize, treeSize)
      t.strictSame(await wrongProofs(view, rows), [])
    }
  }
})

t.test('a reader of a growing log gets none smaller than was there before, and proofs of that size', async (t) => {
  const storage = await openLog(t)
  const log = storedLog(storage.read)
  let committed = 0
  const asked: Promise<void>[] = []
  let smallest = 0
  for (let round = 0; round < 30; round++) {
    const growing = grow(storage, 37)
    const before = committed
    asked.push(
      log.view().then(async (view) => {
        t.ok(view.state.treeSize >= before && view.state.treeSize >= smallest)
        smallest = view.state.treeSize
        t.strictSame(view.state.treeSize === 0 ? [] : await wrongProofs(view, storage.read.log), [])
      }),
    )
    await growing
    committed += 37
  }
  await Promise.all(asked)
})

t.test('a view goes on proving at its size when the log has grown', async (t) => {
  const storage = await openLog(t)
  const log = storedLog(storage.read)
  await grow(storage, 300)
  const view = await log.view()
  await grow(storage, 900)
  await log.view()
  t.equal(view.state.treeSize, 300)
  t.strictSame(await wrongProofs(view, storage.read.log), [])
})

t.test('a database that was put back and went on otherwise is proven as it is now', async (t) => {
  const folder = t.testdir({ first: {}, second: {} })
  const first = await openHost(t, join(folder, 'first'))
  const second = await openHost(t, join(folder, 'second'))
  for (const storage of [first, second]) {
    await createLog(storage)
    await grow(storage, 200)
  }
  await grow(first, 800, { name: 'lost' })
  await grow(second, 700, { name: 'new' })
  let { read } = first
  const rows = new Proxy(read.log, { get: (_, name: keyof typeof read.log) => read.log[name] })
  const log = createStoredLog(rows, async () => (await read.log.anchoredState())!)
  t.strictSame(await wrongProofs(await log.view(), read.log), [])
  read = second.read
  const view = await log.view()
  t.equal(view.state.treeSize, 900)
  t.strictSame(await wrongProofs(view, read.log), [])
  await grow(second, 300, { name: 'new' })
  t.strictSame(await wrongProofs(await log.view(), read.log), [])
})

t.test('a replica that went on otherwise leaves nothing behind', async (t) => {
  const folder = t.testdir({ primary: {}, replica: {} })
  const primary = await openHost(t, join(folder, 'primary'))
  const replica = await openHost(t, join(folder, 'replica'))
  for (const storage of [primary, replica]) {
    await createLog(storage)
    await grow(storage, 300)
  }
  const { published, isReplicaAway } = readsOfReplica(primary.read, replica.read)
  const log = createStoredLog(published, async () => (await primary.read.log.anchoredState())!)
  await grow(primary, 400, { name: 'new' })
  const view = await log.view()
  t.strictSame([view.state.treeSize, isReplicaAway()], [700, false])
  await grow(replica, 600, { name: 'lost' })
  // Within the time that a look at it holds for.
  await view.proveInclusion(300, 700)
  await setTimeout(2_100)
  t.strictSame(await wrongProofs(view, primary.read.log), [], 'none of its tiles is kept')
  t.ok(isReplicaAway())
})

t.test('what a replica has otherwise is read at the primary', async (t) => {
  const folder = t.testdir({ primary: {}, replica: {} })
  const primary = await openHost(t, join(folder, 'primary'))
  const replica = await openHost(t, join(folder, 'replica'))
  for (const storage of [primary, replica]) await createLog(storage)
  const { published, isReplicaAway } = readsOfReplica(primary.read, replica.read)
  const log = createStoredLog(published, async () => (await primary.read.log.anchoredState())!)
  await log.view()
  await published.leaves(LOG_ID, 0, 0)
  await grow(primary, 700, { name: 'new' })
  await grow(replica, 800, { name: 'lost' })
  t.notOk(isReplicaAway())
  t.strictSame(await wrongProofs(await log.view(), primary.read.log), [])
  t.ok(isReplicaAway())
})

t.test('a size that the log has not come to has no proof', async (t) => {
  const storage = await openLog(t)
  await grow(storage, 300)
  const view = await storedLog(storage.read).view()
  await t.rejects(view.proveInclusion(299, 301), { code: 'short_tile' })
  await t.rejects(view.proveInclusion(300, 300), RangeError)
  await t.rejects(view.proveConsistency(300, 600), { code: 'short_tile' })
})

t.test('where the stored tiles do not make up the newest root, nothing is proven', async (t) => {
  const storage = await openLog(t)
  await grow(storage, 600)
  const { read } = storage
  const state = async () => (await read.log.anchoredState())!
  const other = async () => ({ ...(await state()), rootHash: SHA256_TREE.leaf(Buffer.from('other')) })
  await t.rejects(createStoredLog(read.log, other).view(), Error)

  const missing = createStoredLog({ ...read.log, fullTiles: async () => [] }, state)
  await t.rejects((await missing.view()).proveInclusion(0, 600), Error)
})

function same(actual: readonly Uint8Array[], expected: readonly Uint8Array[]): boolean {
  return actual.length === expected.length && actual.every((hash, index) => Buffer.from(hash).equals(expected[index]!))
}
