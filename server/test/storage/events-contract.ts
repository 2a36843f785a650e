/** The promises of storage about events, on every database. */
import type { NewEvent } from '@claimcheck/server/storage/events'
import type { OpenedStorage } from '@claimcheck/server/storage/pools'
import type { Test } from 'tap'
import type { Dialect } from '../../../test/support/database.ts'
import type { TestStorageOptions } from '../../../test/support/storage.ts'
import { newDatabase, opened } from '../support/databases.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const DAY_MS = 24 * 60 * 60_000

function event(workspaceId: string, subject: string, at = NOON): NewEvent {
  return { workspaceId, type: 'claim.decided', at, subject, detail: null }
}

const record = (storage: OpenedStorage, ...events: readonly NewEvent[]) =>
  storage.write(async (tx) => {
    for (const event of events) tx.events.record(event)
  })

export function testEvents(t: Test, dialect: Dialect, options: TestStorageOptions = {}): void {
  async function begin(t: Test): Promise<OpenedStorage> {
    const storage = await opened(t, await newDatabase(t, dialect), options)
    await storage.write(async (tx) => {
      for (const id of ['ws_1', 'ws_2']) await tx.workspaces.insert({ id, name: id, createdAt: NOON })
    })
    return storage
  }
  const numbersOf = async (storage: OpenedStorage, workspaceId: string, after = 0, limit = 100) =>
    (await storage.read.events.after(workspaceId, after, limit)).map(({ number, subject }) => `${number} ${subject}`)

  t.test(
    'events of a workspace are numbered one after the other, in the order in which a transaction records them',
    async (t) => {
      const storage = await begin(t)
      await record(storage, event('ws_1', 'a'), event('ws_2', 'b'), event('ws_1', 'c'))
      await record(storage, event('ws_1', 'd'))
      t.strictSame(await numbersOf(storage, 'ws_1'), ['1 a', '2 c', '3 d'])
      t.strictSame(await numbersOf(storage, 'ws_2'), ['1 b'])
      t.strictSame(await numbersOf(storage, 'ws_1', 1, 1), ['2 c'])
      t.strictSame([...(await storage.read.events.last(['ws_1', 'ws_2', 'ws_3']))].sort(), [
        ['ws_1', 3],
        ['ws_2', 1],
      ])
    },
  )

  t.test('transactions that record at the same time give no number twice and leave out none', async (t) => {
    const storage = await begin(t)
    const writers = Array.from({ length: 40 }, (_, index) =>
      record(storage, event('ws_2', `${index}`), event('ws_1', `${index}`), event('ws_1', `${index}`)),
    )
    await Promise.all(writers)
    const numbers = (await storage.read.events.after('ws_1', 0, 1000)).map(({ number }) => number)
    t.strictSame(
      numbers,
      Array.from({ length: 80 }, (_, index) => index + 1),
    )
  })

  t.test('a transaction that fails leaves no event and no gap, and tells nobody', async (t) => {
    const storage = await begin(t)
    const told: string[][] = []
    storage.onEvents((workspaceIds) => told.push([...workspaceIds]))
    const failing = storage.write(async (tx) => {
      tx.events.record(event('ws_1', 'lost'))
      throw new Error('on purpose')
    })
    await t.rejects(failing, { message: 'on purpose' })
    await record(storage, event('ws_1', 'stays'))
    t.strictSame(await numbersOf(storage, 'ws_1'), ['1 stays'])
    t.strictSame(told, [['ws_1']])
  })

  t.test('old events are removed from the oldest on, and numbers go on', async (t) => {
    const storage = await begin(t)
    await record(
      storage,
      event('ws_1', 'a', NOON - DAY_MS),
      event('ws_1', 'b', NOON),
      event('ws_1', 'c', NOON - DAY_MS),
    )
    t.equal(await storage.write((tx) => tx.events.removeBefore('ws_1', NOON)), false)
    t.strictSame(
      await numbersOf(storage, 'ws_1'),
      ['2 b', '3 c'],
      'a later one with an older time waits for those before it',
    )
    await storage.write((tx) => tx.events.removeBefore('ws_1', NOON + 1))
    t.strictSame(await numbersOf(storage, 'ws_1'), [])
    await record(storage, event('ws_1', 'd'))
    t.strictSame(await numbersOf(storage, 'ws_1'), ['4 d'])
  })

  t.test('after a restore numbers jump', async (t) => {
    const storage = await begin(t)
    await record(storage, event('ws_1', 'a'))
    await storage.write((tx) => tx.events.jump(NOON))
    await record(storage, event('ws_1', 'b'), event('ws_2', 'c'))
    t.strictSame(await numbersOf(storage, 'ws_1'), ['1 a', `${NOON + 2} b`])
    t.strictSame(await numbersOf(storage, 'ws_2'), [`${NOON + 1} c`], 'also where the backup has no event')
  })
}
