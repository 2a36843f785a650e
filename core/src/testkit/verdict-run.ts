/** The verdict on a case's claim by the rules, over all the checks that a claim in that situation gets. */
import type { Claim } from '../contract/verifier.ts'
import { type CheckRecord, isRead, type Observation, type ReadRecord } from '../evidence.ts'
import { clockOffset } from '../hosting/readings.ts'
import type { ActionProfile } from '../profile.ts'
import { type Contradiction, contradictionOf, expectedOf } from '../rules/consistency.ts'
import { decide } from '../rules/decide.ts'
import { nextCheck } from '../schedule.ts'
import { CLOSING, type Verdict } from '../verdict.ts'
import type { KitClock } from './clock.ts'
import { errorCode, type Outcome } from './host.ts'
import { observationProblem, type Wrong } from './observation.ts'

interface VerdictRun {
  readonly profile: ActionProfile
  readonly claim: Claim
  readonly submittedAt: number
  readonly clock: KitClock
  check(previous: CheckRecord[]): Promise<Outcome>
  /** Brings the situation to what it is at the clock's time. */
  reach(): Promise<void>
}

/** Number of looks in 100 minutes, one every 15 s. */
export const MOST_CHECKS = 400

/** undefined: the rules came to none within `MOST_CHECKS`. */
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
    records.push(recordOf(outcome, { profile, claim }, sentAt, Math.max(sentAt, clock.now())))
    const decision = decide(profile, times, records, clock.now())
    if (decision) return decision.verdict
  }
  return undefined
}

/** What a check is of. */
export interface Asked {
  readonly profile: ActionProfile
  readonly claim: Pick<Claim, 'target' | 'params'>
}

/** @returns the check as a host records it */
export function recordOf(outcome: Outcome, asked: Asked, sentAt: number, answeredAt: number): CheckRecord {
  const { observation, error } = outcome
  const read = observation && readOf(outcome, observation, asked, sentAt, answeredAt)
  if (read && !contradictionIn(read, asked)) return read
  return {
    sentAt,
    answeredAt,
    failure: { code: errorCode(error) ?? 'verifier_error', ...retryAt(error, answeredAt) },
  }
}

/** @returns what is wrong with an observation by the contract, or beside its claim, which a host records as `verifier_error` */
export function wrongIn(outcome: Outcome, asked: Asked, sentAt: number, answeredAt: number): Wrong | undefined {
  const { observation } = outcome
  const wrong = observationProblem(asked.profile, observation)
  if (wrong || !observation) return wrong
  const read = readOf(outcome, observation, asked, sentAt, answeredAt)
  const contradicted = read && contradictionIn(read, asked)
  return contradicted && { name: CONTRADICTED[contradicted.of], problem: `contradicts itself: ${contradicted.problem}` }
}

const CONTRADICTED: Readonly<Record<Contradiction['of'], Wrong['name']>> = {
  order: 'observation.form',
  answers: 'observation.form',
  age_ms: 'observation.form',
  stays: 'observation.stays',
  mark: 'observation.mark',
  differs: 'observation.differs',
  'observation.facts': 'observation.facts',
}

function contradictionIn(read: ReadRecord, { profile, claim }: Asked): Contradiction | undefined {
  return contradictionOf(read, claim, expectedOf(profile), profile.rulesVersion, read.observation.facts)
}

/** Undefined for what is no observation, or was read nowhere. */
function readOf(
  { readings, answers }: Outcome,
  observation: Observation,
  { profile }: Asked,
  sentAt: number,
  answeredAt: number,
): ReadRecord | undefined {
  if (observationProblem(profile, observation) || answers === 0) return undefined
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
