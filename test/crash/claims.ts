/** Claims of every kind, and for each the verdicts that are true of it. */

import type { ClaimRequest } from '@claimcheck/core/api'
import type { VerdictValue } from '@claimcheck/core/rules'
import type { Random } from './random.ts'

export interface PlannedClaim {
  readonly claim: ClaimRequest
  /** What was interrupted may be unverifiable; anything else that is not here would be a lie. */
  readonly truths: readonly VerdictValue[]
}

interface Situation {
  readonly params: NonNullable<ClaimRequest['params']>
  readonly truths: readonly VerdictValue[]
  /** When the tolerance ends and when the deadline is, from now; without, there is time. */
  readonly ends?: readonly [toleranceMs: number, deadlineMs: number]
}

/** Of the scripted verifier. */
const TOLERANCE_MS = 10 * 60_000

const SITUATIONS: readonly ((random: Random, now: number) => Situation)[] = [
  ({ between }) => short({ see: 'absent' }, ['failed', 'unverifiable'], between(100, 1500), between(300, 2000)),
  ({ between }) => short({ see: 'differs' }, ['mismatch', 'unverifiable'], between(100, 1500), between(300, 2000)),
  ({ pick, between }) =>
    short({ see: pick(['unavailable', 'hang', 'throw']) }, ['unverifiable'], between(100, 500), between(200, 1000)),
  ({ between }, now) =>
    short(appearing(now + between(100, 900)), ['verified', 'unverifiable'], 1000, between(500, 2000)),
  ({ between }, now) => short(appearing(now + between(700, 1500)), ['late', 'unverifiable'], 500, 2000),
]

/** Of something that is there at once: no interruption makes anything else of it. */
export function presentClaim(id: string): PlannedClaim {
  return plan(id, { params: { see: 'present' }, truths: ['verified'] }, Date.now())
}

/** Most are of something that is there at once. */
export function anyClaim(id: string, random: Random): PlannedClaim {
  const now = Date.now()
  return random.chance(0.7) ? presentClaim(id) : plan(id, random.pick(SITUATIONS)(random, now), now)
}

/** Of a check that takes its whole time, and a deadline that is over by then. */
export function hangingClaim(id: string): PlannedClaim {
  // The check is not cut: it takes all the time that a check may take, before the deadline.
  return plan(id, short({ see: 'hang' }, ['unverifiable'], 200, 3500), Date.now())
}

function plan(id: string, { params, truths, ends }: Situation, now: number): PlannedClaim {
  const at = (instant: number) => new Date(instant).toISOString()
  const times = ends
    ? { claimed_at: at(now + ends[0] - TOLERANCE_MS), deadline_at: at(now + ends[1]) }
    : { claimed_at: at(now) }
  const claim = { client_claim_id: id, agent_id: 'agent', action: 'test.outcome.reach', target: 'somewhere', params }
  return { claim: { ...claim, ...times }, truths }
}

function short(
  params: NonNullable<ClaimRequest['params']>,
  truths: readonly VerdictValue[],
  toleranceMs: number,
  moreMs: number,
): Situation {
  return { params, truths, ends: [toleranceMs, toleranceMs + moreMs] }
}

function appearing(at: number): NonNullable<ClaimRequest['params']> {
  return { see: 'absent', later: { at, see: 'present' } }
}
