import { createMemoryRefreshes } from '@claimcheck/core/hosting'
import { DestinationError, defineVerifier } from '@claimcheck/core/plugin'
import type { CheckRecord, Observation } from '@claimcheck/core/rules'
import { createCheckRunner } from '@claimcheck/server/features/claims/check'
import { createSources } from '@claimcheck/server/features/workspaces/sources'
import { createOutbound } from '@claimcheck/server/outbound/outbound'
import { createRateLimitBudgets } from '@claimcheck/server/outbound/rate-limit-budget'
import t from 'tap'
import { claimNumber } from '../../support/claim-row.ts'
import { profile } from '../../support/profile.ts'
import { heardAt, registryOf, SILENT } from '../../support/registry.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const END_OF_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

const claim = claimNumber(1, {
  clientClaimId: 'claim-1',
  agentId: 'agent-1',
  action: profile.action,
  params: {},
  deadlineAt: NOON + 2000,
  submittedAt: NOON,
  claimDigest: '',
  profileAction: profile.action,
})

/** What is recorded of a check that ends like this. */
async function recorded(see: () => Observation, now: () => number = () => NOON): Promise<CheckRecord> {
  const anonymousSource = () => ({ provider: 'test', baseUrl: 'https://example.com' })
  const check = heardAt('https://example.com', async () => see())
  const verifier = defineVerifier({ profile, providers: [], anonymousSource, check: check as never })
  const outbound = createOutbound({ allowPrivate: [] })
  const runner = createCheckRunner({
    activity: { connectionRead() {} },
    registry: registryOf({ verifiers: [verifier] }),
    connections: { openById: async () => undefined, refreshesOf: createMemoryRefreshes },
    outbound,
    budgets: createRateLimitBudgets({ now }),
    now,
    sources: createSources({ config: { sources: {} } }),
    clock: { heard() {}, turn: () => 0, setSince: () => 0 },
    logger: SILENT,
    config: { checks: { timeoutMs: 1000, firstAnswerMs: 1000, concurrency: 1, closingMs: 1000, graceMs: 1000 } },
  })
  const record = await runner.check(claim, [], 'looking')
  await outbound.close()
  return record
}

const refusing = (retryAfterMs: unknown) => () => {
  throw new DestinationError('rate_limited', { retryAfterMs: retryAfterMs as number })
}

t.test('a destination is not asked before the time that it named, however it named it', async (t) => {
  for (const [retryAfterMs, retryAt] of [
    [1, NOON + 1],
    [1500, NOON + 1500],
    [0.25, NOON + 1],
    [1e23, END_OF_TIME],
    [Number.POSITIVE_INFINITY, END_OF_TIME],
    [0, undefined],
    [-5, undefined],
    [Number.NaN, undefined],
    ['5', undefined],
  ]) {
    const record = await recorded(refusing(retryAfterMs))
    t.same('failure' in record && record.failure, { code: 'rate_limited', ...(retryAt ? { retryAt } : {}) })
  }
})

t.test('no check is answered before it was sent, also when the clock is set back meanwhile', async (t) => {
  for (const see of [() => ({ kind: 'absent', facts: {} }) as const, refusing(0)]) {
    const times = [NOON, NOON - 60_000]
    const { sentAt, answeredAt } = await recorded(see, () => times.shift() ?? NOON - 60_000)
    t.same([sentAt, answeredAt], [NOON, NOON])
  }
})

t.test('a difference in what is no required field is nonsense, whatever objects inherit', async (t) => {
  for (const field of ['constructor', 'toString', '__proto__', 'target', '']) {
    const record = await recorded(() => ({ kind: 'present', facts: {}, differs: [field] }))
    t.match(record, { failure: { code: 'verifier_error' } }, field)
  }
  t.match(await recorded(() => ({ kind: 'present', facts: {}, differs: ['content'] })), { observation: {} })
})
