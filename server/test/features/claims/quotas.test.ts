/** The quotas of who pays. Threat A8 of `security.md`. */
import { createMeters } from '@claimcheck/server/base/meters'
import type { QuotaSettings } from '@claimcheck/server/features/claims/config'
import { createQuotas } from '@claimcheck/server/features/claims/quotas'
import { createCounters } from '@claimcheck/server/http/counters'
import t from 'tap'

const NOON = Date.UTC(2026, 8, 25, 12)

function quotasOf(quotas: QuotaSettings) {
  const clock = { now: NOON + 15_000 }
  const queued = { count: 0, reads: 0, fails: false }
  const queuedCounts = async (payer: string, most: number) => {
    queued.reads++
    if (queued.fails) throw new Error('the database is away')
    return [{ payer, workspaceId: payer, count: Math.min(queued.count, most) }]
  }
  const now = () => clock.now
  const counters = createCounters({ storage: { shared: undefined }, now })
  const made = createQuotas({
    storage: { read: { claims: { queuedCounts } } },
    counters,
    config: { quotas },
    now,
    meters: createMeters(),
  })
  const user = (workspaceId: string, payer = workspaceId) => ({ workspaceId, payer })
  return {
    refusal: (workspaceId: string, payer?: string) => made.refusal(user(workspaceId, payer)),
    state: (workspaceId: string) => made.state(user(workspaceId)),
    clock,
    queued,
  }
}

t.test('beyond its claims a minute a workspace is refused until the next minute, and no other is', async (t) => {
  const { refusal, clock } = quotasOf({ claimsPerMinute: 3, waitingClaims: 0 })
  for (let claim = 0; claim < 3; claim++) t.equal(await refusal('a'), undefined)
  t.match(await refusal('a'), { code: 'too_many', message: /at most 3 a minute/, retryAfterMs: 45_000 })
  t.equal(await refusal('b'), undefined)
  clock.now += 45_000
  t.equal(await refusal('a'), undefined)
})

t.test('claims that wait are counted in the database once a second, and those submitted since on top', async (t) => {
  const { refusal, state, clock, queued } = quotasOf({ claimsPerMinute: 0, waitingClaims: 10 })
  queued.count = 8
  const answers = await Promise.all([refusal('a'), refusal('a'), refusal('a')])
  t.match(answers, [
    undefined,
    undefined,
    { code: 'too_many', message: /this workspace may have at most 10 that wait/, retryAfterMs: 10_000 },
  ])
  t.equal(queued.reads, 1)
  queued.count = 5
  t.ok(await refusal('a'), 'as it was a moment ago')
  clock.now += 1000
  t.equal(await refusal('a'), undefined)
  t.equal(queued.reads, 2)
  t.strictSame(await state('a'), { claimsPerMinute: 0, waitingClaims: 10, waiting: 5 })
})

t.test('a count that fails is told, and made again', async (t) => {
  const { refusal, queued } = quotasOf({ claimsPerMinute: 0, waitingClaims: 10 })
  queued.fails = true
  await t.rejects(refusal('a'), /away/)
  queued.fails = false
  t.equal(await refusal('a'), undefined)
})

t.test('0 is no limit', async (t) => {
  const { refusal, state, queued } = quotasOf({ claimsPerMinute: 0, waitingClaims: 0 })
  queued.count = 1_000_000
  t.equal(await refusal('a'), undefined)
  t.equal((await state('a')).waiting, 100_000, 'and it is not counted to the end')
})

t.test('25 workspaces of one account submit as many a minute as it may, and leave others theirs', async (t) => {
  const { refusal, clock } = quotasOf({ claimsPerMinute: 40, waitingClaims: 0 })
  const submit = async (payer: string, workspaces: number) => {
    let accepted = 0
    for (let claim = 0; claim < 500; claim++) {
      const refused = await refusal(`${payer} ${claim % workspaces}`, payer)
      if (refused === undefined) accepted++
    }
    return accepted
  }
  t.equal(await submit('hostile', 25), 40)
  t.equal(await submit('one workspace', 1), 40, 'as many as with one workspace')
  t.match(await refusal('hostile new', 'hostile'), {
    message: /an account, with those that share its allowance, may submit at most 40 a minute/,
  })
  clock.now += 45_000
  t.equal(await submit('hostile', 25), 40, 'again in the next minute')
})

t.test('25 workspaces of one account have as many claims waiting as one account may', async (t) => {
  const { refusal } = quotasOf({ claimsPerMinute: 0, waitingClaims: 40 })
  const submit = async (payer: string, workspaces: number) => {
    const claims = Array.from({ length: 500 }, (_, claim) => refusal(`${payer} ${claim % workspaces}`, payer))
    return (await Promise.all(claims)).filter((refused) => refused === undefined).length
  }
  t.equal(await submit('hostile', 25), 40)
  t.equal(await submit('one workspace', 1), 40, 'as many as with one workspace')
  t.match(await refusal('hostile new', 'hostile'), {
    message: /an account, with .*, may have at most 40 that wait for a decision/,
  })
})
