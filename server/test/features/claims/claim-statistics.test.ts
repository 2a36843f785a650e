import { join } from 'node:path'
import type { ClaimChoice } from '@claimcheck/server/features/claims/claim-choice'
import { createClaimStatistics, sumOf } from '@claimcheck/server/features/claims/claim-statistics'
import type { ClaimRow } from '@claimcheck/server/storage/claim-row'
import t, { type Test } from 'tap'
import { openSqlite } from '../../../../test/support/storage.ts'
import { claimNumber } from '../../support/claim-row.ts'

const HOUR_MS = 60 * 60_000
const DAY_MS = 24 * HOUR_MS
const NOON = Date.UTC(2026, 8, 25, 12)

async function opened(t: Test) {
  const storage = await openSqlite(join(t.testdir(), 'claimcheck.db'))
  t.teardown(() => storage.close())
  await storage.write(async (tx) => {
    for (const id of ['ws_1', 'ws_2']) await tx.workspaces.insert({ id, name: id.replace('ws_', 'w'), createdAt: NOON })
  })
  let number = 0
  const add = (submittedAt: number, over: Partial<ClaimRow> = {}) =>
    storage.write((tx) => tx.claims.insertNew([claimNumber(++number, { submittedAt, ...over })]))
  const clock = { now: NOON + 30 * 60_000 }
  return { storage, add, clock, counts: createClaimStatistics({ storage, now: () => clock.now }) }
}

t.test('the actions of a workspace are those that its claims have', async (t) => {
  const { add, counts, clock } = await opened(t)
  t.strictSame(await counts.actions('ws_1'), [])
  await add(NOON, { action: 'b.c.d' })
  await add(NOON, { action: 'a.b.c' })
  await add(NOON, { action: 'a.b.c' })
  await add(NOON, { action: 'x.y.z', workspaceId: 'ws_2' })
  t.strictSame(await counts.actions('ws_1'), ['a.b.c', 'b.c.d'])
  await add(NOON, { action: 'c.d.e' })
  clock.now += 10_000
  t.strictSame(await counts.actions('ws_1'), ['a.b.c', 'b.c.d', 'c.d.e'])
})

t.test('claims are counted by their verdict in the hour, and the day, that they were submitted in', async (t) => {
  const { add, counts } = await opened(t)
  const decided = (verdict: ClaimRow['verdict']) => ({ state: 'decided', verdict }) as const
  await add(NOON + 1, decided('verified'))
  await add(NOON, decided('verified'))
  await add(NOON + 1000)
  await add(NOON - 1, decided('late'))
  await add(NOON - 23 * HOUR_MS, decided('failed'))
  await add(NOON - 23 * HOUR_MS - 1, decided('mismatch'))
  await add(NOON - 29 * DAY_MS, decided('unverifiable'))
  await add(NOON - 30 * DAY_MS, decided('unverifiable'))
  await add(NOON, { workspaceId: 'ws_2' })

  const { stretches: day } = await counts.count('ws_1', 'day')
  t.equal(day.length, 24)
  t.strictSame(day.at(-1), { start: NOON, counts: { verified: 2, queued: 1 } })
  t.strictSame(day.at(-2), { start: NOON - HOUR_MS, counts: { late: 1 } })
  t.strictSame(day[0], { start: NOON - 23 * HOUR_MS, counts: { failed: 1 } })
  t.strictSame(day[1]!.counts, {}, 'an hour without claims is there, too')

  const { stretches: month } = await counts.count('ws_1', 'month')
  t.equal(month.length, 30)
  t.strictSame(month.at(-1)!.counts, { verified: 2, late: 1, queued: 1 })
  t.strictSame(month.at(-2)!.counts, { failed: 1, mismatch: 1 })
  t.strictSame(month[0], { start: NOON - 12 * HOUR_MS - 29 * DAY_MS, counts: { unverifiable: 1 } })
})

t.test('the database is asked once for what many look at, and again some seconds later', async (t) => {
  const { storage, add, clock } = await opened(t)
  let asked = 0
  const claims = {
    ...storage.read.claims,
    counts: (...given: Parameters<typeof storage.read.claims.counts>) => {
      asked++
      return storage.read.claims.counts(...given)
    },
  }
  const counts = createClaimStatistics({ storage: { read: { claims } }, now: () => clock.now })
  const now = async () => (await counts.count('ws_1', 'day')).stretches.at(-1)!.counts.queued ?? 0
  t.equal(await now(), 0)
  await add(NOON)
  t.equal(await now(), 1, 'nothing is not kept: the first claim shows at once')
  await add(NOON)
  t.strictSame(await Promise.all([now(), now(), now()]), [1, 1, 1])
  t.equal(asked, 2)
  clock.now += 10_000
  t.strictSame(await Promise.all([now(), now(), now()]), [2, 2, 2])
  t.equal(asked, 3)
})

t.test('a count that failed is tried again', async (t) => {
  const { storage, add, clock } = await opened(t)
  await add(NOON)
  let fails = true
  const claims = {
    ...storage.read.claims,
    counts: async (...given: Parameters<typeof storage.read.claims.counts>) => {
      if (fails) throw new Error('the database is away')
      return storage.read.claims.counts(...given)
    },
  }
  const counts = createClaimStatistics({ storage: { read: { claims } }, now: () => clock.now })
  await t.rejects(counts.count('ws_1', 'day'))
  fails = false
  t.strictSame((await counts.count('ws_1', 'day')).stretches.at(-1)!.counts, { queued: 1 })
})

t.test('a choice is counted alone, up to its end, and only among its newest claims', async (t) => {
  const { add, counts } = await opened(t)
  const verified = { state: 'decided', verdict: 'verified' } as const
  for (let number = 0; number < 5; number++) await add(NOON - number, { ...verified, agentId: 'busy' })
  await add(NOON - 2 * DAY_MS, { ...verified, target: 'elsewhere' })
  await add(NOON, { agentId: 'busy', workspaceId: 'ws_2' })
  const totals = async (choice: ClaimChoice, most?: number) => {
    const { stretches, cutShort } = await counts.count('ws_1', 'month', choice, most)
    return [stretches.reduce((sum, one) => sum + sumOf(one.counts), 0), cutShort]
  }
  t.strictSame(await totals({}), [6, false])
  t.strictSame(await totals({ agentId: 'busy' }), [5, false])
  t.strictSame(await totals({ agentId: 'busy' }, 3), [3, true])
  t.strictSame(await totals({ target: 'elsewhere' }), [1, false])
  t.strictSame(await totals({ target: 'elsewhere' }, 3), [0, true], 'it is older than the newest three')
  t.strictSame(await totals({ target: 'elsewhere', until: NOON - DAY_MS }, 3), [1, false])
  t.strictSame(await totals({ since: NOON - DAY_MS }), [5, false])
  t.strictSame(await totals({ search: 'ELSE' }), [1, false])

  const { stretches } = await counts.count('ws_1', 'day', { until: NOON - DAY_MS })
  t.equal(stretches.at(-1)!.start, NOON - DAY_MS - HOUR_MS, 'the last stretch is the last of the choice')
})

t.test('what an agent claimed is counted by action, the most claimed first', async (t) => {
  const { add, counts } = await opened(t)
  await add(NOON, { agentId: 'one', action: 'a.b.c' })
  await add(NOON, { agentId: 'one', action: 'b.c.d', state: 'decided', verdict: 'failed' })
  await add(NOON, { agentId: 'one', action: 'b.c.d', state: 'decided', verdict: 'verified' })
  await add(NOON - 31 * DAY_MS, { agentId: 'one', action: 'old.b.c' })
  await add(NOON, { agentId: 'other', action: 'b.c.d' })
  t.strictSame(await counts.countActions('ws_1', 'one'), {
    actions: [
      { action: 'b.c.d', counts: { failed: 1, verified: 1 } },
      { action: 'a.b.c', counts: { queued: 1 } },
    ],
    cutShort: false,
  })
})

t.test('a day is counted once when it is over and all of its claims are decided', async (t) => {
  const { storage, add, clock } = await opened(t)
  const asked: (readonly [since: number, until: number])[] = []
  const claims = {
    ...storage.read.claims,
    counts: (...given: Parameters<typeof storage.read.claims.counts>) => {
      asked.push([given[0].since!, given[0].until!])
      return storage.read.claims.counts(...given)
    },
  }
  const counts = createClaimStatistics({ storage: { read: { claims } }, now: () => clock.now })
  const midnight = NOON - 12 * HOUR_MS
  const verified = { state: 'decided', verdict: 'verified' } as const
  await add(NOON - 20 * DAY_MS)
  await add(NOON - 2 * DAY_MS, verified)
  await add(NOON, verified)
  const days = async () => {
    asked.length = 0
    return (await counts.count('ws_1', 'month')).stretches
  }
  const cold = await days()
  t.strictSame(asked, [[midnight - 29 * DAY_MS, midnight + DAY_MS]])
  clock.now += 60_000
  t.strictSame(await days(), cold)
  const waiting = midnight - 20 * DAY_MS
  t.strictSame(asked, [
    [waiting, waiting + DAY_MS],
    [midnight, midnight + DAY_MS],
  ])

  clock.now = midnight + DAY_MS + 59 * 60_000
  await days()
  t.strictSame(
    asked.at(-1),
    [midnight, midnight + 2 * DAY_MS],
    'a claim that was submitted before midnight may still be stored',
  )
  clock.now += 60_000
  await days()
  await add(NOON, verified)
  clock.now += 60_000
  t.strictSame(
    (await days()).at(-2),
    { start: midnight, counts: { verified: 1 } },
    'what comes later than that is not seen',
  )
  t.strictSame(asked.at(-1), [midnight + DAY_MS, midnight + 2 * DAY_MS])
})

t.test('what is remembered of a workspace is what counting it anew finds', async (t) => {
  const { storage, add, clock, counts } = await opened(t)
  let random = 7
  const next = (below: number) => {
    random = (random * 48_271) % 2_147_483_647
    return random % below
  }
  const verdicts = ['verified', 'late', 'failed'] as const
  for (let round = 0; round < 60; round++) {
    clock.now += next(5 * HOUR_MS)
    const workspaceId = next(4) === 0 ? 'ws_2' : 'ws_1'
    const submittedAt = clock.now - next(60_000)
    if (next(3) === 0) await add(submittedAt, { workspaceId })
    else await add(submittedAt, { workspaceId, state: 'decided', verdict: verdicts[next(3)]! })
    const anew = createClaimStatistics({ storage, now: () => clock.now })
    for (const span of ['day', 'month'] as const) {
      clock.now += 60_000
      t.strictSame(await counts.count('ws_1', span), await anew.count('ws_1', span), `${span}, round ${round}`)
    }
  }
})
