/** The verdict on a case's claim by the rules, over all the checks that a claim in that situation gets. */
import type { Claim } from '../contract/verifier.ts'
import { type CheckRecord, isRead } from '../evidence.ts'
import { clockOffset } from '../hosting/readings.ts'
import type { ActionProfile } from '../profile.ts'
import { decide } from '../rules/decide.ts'
import { nextCheck } from '../schedule.ts'
import { CLOSING, type Verdict } from '../verdict.ts'
import type { KitClock } from './clock.ts'
import { errorCode, type Outcome } from './host.ts'
import { observationProblem } from './observation.ts'

interface VerdictRun {
  readonly profile: ActionProfile
  readonly claim: Claim
  readonly submittedAt: number
  readonly clock: KitClock
  check(previous: CheckRecord[]): Promise<Outcome>
  /** Brings the situation to what it is at the clock's time. */
  reach(): Promise<void>
}

const MOST_CHECKS = 400

/** undefined: the rules came to none. */
export async function verdictOf(run: VerdictRun): Promise<Verdict | undefined> {
  const { profile, claim, submittedAt, clock } = run
  const times = { claimedAt: claim.claimedAt, deadlineAt: claim.deadlineAt, submittedAt }
  const records: CheckRecord[] = []
  while (records.length < MOST_CHECKS) {
    const { at } = nextCheck(profile, times, records, CLOSING)
    clock.set(Math.max(at, (records.at(-1)?.answeredAt ?? submittedAt) + 1))
    await run.reach()
    const sentAt = clock.now()
    const outcome = await run.check(records)
    records.push(recordOf(outcome, profile, sentAt, Math.max(sentAt, clock.now())))
    const decision = decide(profile, times, records, clock.now())
    if (decision) return decision.verdict
  }
  return undefined
}

/** @returns the check as a host records it */
export function recordOf(
  { observation, error, readings, answers }: Outcome,
  profile: ActionProfile,
  sentAt: number,
  answeredAt: number,
): CheckRecord {
  if (!observation || observationProblem(profile, observation) || answers === 0) {
    return {
      sentAt,
      answeredAt,
      failure: { code: errorCode(error) ?? 'verifier_error', ...retryAt(error, answeredAt) },
    }
  }
  const offset = clockOffset(readings)
  return {
    sentAt,
    answeredAt,
    observation,
    clockOffsetMs: offset ?? 0,
    dated: offset !== undefined,
    ageMs: Math.max(profile.ageMs ?? 0, observation.ageMs ?? 0) + readings.ageMs,
    answers,
  }
}

function retryAt(error: unknown, now: number) {
  const { retryAfterMs } = (error ?? {}) as { retryAfterMs?: unknown }
  return typeof retryAfterMs === 'number' && retryAfterMs > 0 ? { retryAt: Math.ceil(now + retryAfterMs) } : {}
}

export function previousOf(records: readonly CheckRecord[]) {
  return records.filter(isRead).map(({ sentAt, observation }) => ({ sentAt, observation }))
}
