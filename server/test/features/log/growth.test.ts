/** The growth of the log by day, from few reads. */
import { createLogGrowth } from '@claimcheck/server/features/log/growth'
import t from 'tap'

const DAY = 86_400_000
const TODAY = Date.parse('2026-09-25T00:00:00Z')

/** A log whose entries have these times. */
function logOf(times: number[]) {
  let reads = 0
  const log = {
    state: async () => ({ logId: 'log', treeSize: times.length }),
    leaves: async (_logId: string, start: number, end: number) => {
      reads++
      return times.slice(start, end).map((issuedAt, offset) => ({ leafIndex: start + offset, issuedAt }))
    },
  }
  const growth = createLogGrowth({ storage: { read: { log } } as never, now: () => TODAY + DAY / 2 })
  return {
    days: (count: number) => growth.days(count),
    reads: () => {
      const made = reads
      reads = 0
      return made
    },
  }
}

t.test('each day has its entries: the first moment of a day belongs to it', async (t) => {
  const times = [TODAY - 9 * DAY, TODAY - 2 * DAY - 1, TODAY - 2 * DAY, TODAY - 2 * DAY, TODAY - 1, TODAY, TODAY + 5]
  const { days } = logOf(times)
  t.strictSame(await days(4), [
    { start: TODAY - 3 * DAY, entries: 1 },
    { start: TODAY - 2 * DAY, entries: 2 },
    { start: TODAY - DAY, entries: 1 },
    { start: TODAY, entries: 2 },
  ])
})

t.test('an empty log did not grow, and one that grows is counted anew', async (t) => {
  const times: number[] = []
  const { days } = logOf(times)
  t.strictSame(await days(1), [{ start: TODAY, entries: 0 }])
  times.push(TODAY - DAY, TODAY + 1, TODAY + 2)
  t.strictSame(await days(2), [
    { start: TODAY - DAY, entries: 1 },
    { start: TODAY, entries: 2 },
  ])
  times.push(TODAY + 3)
  t.equal((await days(2))[1]!.entries, 3)
})

t.test('a large log costs few reads, and fewer the second time', async (t) => {
  const size = 1_000_000
  const { days, reads } = logOf(
    Array.from({ length: size }, (_, index) => TODAY - 40 * DAY + (index * 40 * DAY) / size),
  )
  const found = await days(30)
  t.ok(found.slice(0, -1).every(({ entries }) => entries === 25_000))
  t.ok(reads() <= 30 * 20)
  await days(30)
  t.ok(reads() <= 20)
})
