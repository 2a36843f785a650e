/** Decides a case's claim by the rules, over all the checks that the schedule makes of it, and records outcomes as a host does. */
import type { Claim } from '../contract/verifier.ts'
import { type CheckRecord, isRead, type Observation, type ReadRecord } from '../evidence.ts'
import { heldToIdentity } from '../hosting/identity.ts'
import { clockReading, withToldTime } from '../hosting/readings.ts'
import type { ActionProfile } from '../profile.ts'
import { type Contradiction, contradictionOf, expectedOf } from '../rules/consistency.ts'
import { decide } from '../rules/decide.ts'
import { nextCheck } from '../schedule.ts'
import { CLOSING, type Verdict } from '../verdict.ts'
import type { KitClock } from './clock.ts'
import { errorCode, type Outcome } from './host.ts'
import { type ObservationProblem, observationProblem } from './observation.ts'

/** Number of looks in 100 minutes, one every 15 s. */
export const MOST_CHECKS = 400

/**
 * Decides a case's claim.
 * @param reach brings the situation to what it is at the clock's time
 * @returns undefined if the rules come to no verdict within `MOST_CHECKS`
 */
export async function verdictOf({
  profile,
  claim,
  clock,
  check,
  reach,
}: {
  readonly profile: ActionProfile
  readonly claim: Claim
  readonly clock: KitClock
  check(previous: CheckRecord[], identity: string | undefined): Promise<Outcome>
  reach(): Promise<void>
}): Promise<Verdict | undefined> {
  const records: CheckRecord[] = []
  let identity: string | undefined
  while (records.length < MOST_CHECKS) {
    const { at } = nextCheck(profile, claim, records, CLOSING)
    clock.set(Math.max(at, (records.at(-1)?.answeredAt ?? claim.submittedAt) + 1))
    await reach()
    const sentAt = clock.now()
    const outcome = await check(records, identity)
    identity ??= outcome.observation?.identity
    records.push(recordOf(outcome, { profile, claim }, sentAt, Math.max(sentAt, clock.now())))
    const decision = decide(profile, claim, records, clock.now())
    if (decision) return decision.verdict
  }
  return undefined
}

interface CheckSubject {
  readonly profile: ActionProfile
  readonly claim: Pick<Claim, 'target' | 'params'>
}

/** Records a check as a host does: a contradictory read is a failed check. */
export function recordOf(outcome: Outcome, asked: CheckSubject, sentAt: number, answeredAt: number): CheckRecord {
  const { observation, error } = outcome
  const read = observation && readOf(outcome, observation, asked, sentAt, answeredAt)
  if (read && !contradictionIn(read, asked)) {
    const held = holdTo(outcome, read.observation)
    return held ? { ...read, observation: held } : { sentAt, answeredAt, failure: { code: 'ambiguous_claim' } }
  }
  return {
    sentAt,
    answeredAt,
    failure: { code: errorCode(error) ?? 'verifier_error', ...retryAt(error, answeredAt) },
  }
}

/** Holds a read to the identity of its connection as a host does, or to the one that it tells where the kit knows none yet. */
function holdTo(
  { isIdentified, identity }: Pick<Outcome, 'isIdentified' | 'identity'>,
  observation: Observation,
): Observation | undefined {
  const { identity: told, ...seen } = observation
  if (!isIdentified) return seen
  const text = identity ?? told
  return heldToIdentity(observation, text === undefined ? undefined : { text, since: 0 }, 0)
}

/**
 * Finds what is wrong with a check.
 * @returns the fault of an observation, by the contract or beside its claim, which a host records as `verifier_error`
 */
export function wrongIn(
  outcome: Outcome,
  asked: CheckSubject,
  sentAt: number,
  answeredAt: number,
): ObservationProblem | undefined {
  const { observation } = outcome
  const wrong = observationProblem(asked.profile, observation)
  if (wrong || !observation) return wrong
  const read = readOf(outcome, observation, asked, sentAt, answeredAt)
  const contradicted = read && contradictionIn(read, asked)
  return contradicted && { name: CONTRADICTED[contradicted.of], problem: `contradicts itself: ${contradicted.problem}` }
}

const CONTRADICTED: Readonly<Record<Contradiction['of'], ObservationProblem['name']>> = {
  order: 'observation.form',
  answers: 'observation.form',
  age_ms: 'observation.form',
  clock_ahead_ms: 'observation.form',
  stays: 'observation.stays',
  mark: 'observation.mark',
  differs: 'observation.differs',
  'observation.facts': 'observation.facts',
}

function contradictionIn(read: ReadRecord, { profile, claim }: CheckSubject): Contradiction | undefined {
  return contradictionOf(read, claim, expectedOf(profile), profile.rulesVersion, read.observation.facts)
}

/** The record of a read; undefined if it is not an observation, or was read nowhere. */
function readOf(
  { readings, answers }: Outcome,
  observation: Observation,
  { profile }: CheckSubject,
  sentAt: number,
  answeredAt: number,
): ReadRecord | undefined {
  if (observationProblem(profile, observation) || answers === 0) return undefined
  const { clock, ...seen } = observation
  return {
    sentAt,
    answeredAt,
    observation: seen,
    ...clockReading(withToldTime(readings, clock, { sentAt, answeredAt })),
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
