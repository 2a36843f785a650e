import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createEventFeed } from '@claimcheck/server/features/events/feed'
import type { Storage } from '@claimcheck/server/storage/storage'
import t, { type Test } from 'tap'
import { openSqlite } from '../../../../test/support/storage.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const SOON_MS = 5000

/** Two hosts of one database, and a feed of the first. */
async function open(t: Test) {
  const file = join(t.testdir(), 'claimcheck.db')
  const [own, other] = [await openSqlite(file), await openSqlite(file)]
  const feed = createEventFeed({
    storage: own,
    logger: { warn: (...words: unknown[]) => void t.fail(words.join(' ')) },
  })
  feed.start()
  t.teardown(async () => {
    await feed.stop()
    for (const storage of [own, other]) await storage.close()
  })
  await own.write(async (tx) => {
    for (const id of ['ws_1', 'ws_2']) await tx.workspaces.insert({ id, name: id, createdAt: NOON })
  })
  return { own, other, feed }
}

const record = (storage: Storage, workspaceId: string) =>
  storage.write(async (tx) => {
    tx.events.record({ workspaceId, type: 'claim.decided', at: NOON, subject: 'clm_1', detail: null })
  })

function counter() {
  const waiting: (() => void)[] = []
  const counted = { calls: 0 }
  return {
    counted,
    call: () => {
      counted.calls++
      for (const done of waiting.splice(0)) done()
    },
    /** Resolves with the next call; rejects when there is none soon. */
    next: () =>
      Promise.race([
        new Promise<void>((done) => waiting.push(done)),
        setTimeout(SOON_MS, undefined, { ref: false }).then(() => Promise.reject(new Error('no call'))),
      ]),
  }
}

t.test('who subscribes is called at once after a write of this host, and soon after one of another', async (t) => {
  const { own, other, feed } = await open(t)
  const { call, next, counted } = counter()
  feed.subscribe('ws_1', call)
  await next()
  t.pass('the first poll calls, whatever came before')
  const { calls } = counted
  await record(own, 'ws_1')
  t.equal(counted.calls, calls + 1, 'before the write returns')
  await next()
  const called = next()
  await record(other, 'ws_1')
  await called
  t.pass('another host wrote')
})

t.test('nobody is called for another workspace, nor after the end', async (t) => {
  const { own, feed } = await open(t)
  const { call, next, counted } = counter()
  const end = feed.subscribe('ws_1', call)
  await next()
  await record(own, 'ws_2')
  t.equal(counted.calls, 1)
  end()
  await record(own, 'ws_1')
  t.equal(counted.calls, 1)
})
