/** Judges what a check made of a fault: right is an error that says why, or what it truly saw without the struck answer. */
import { isDestinationError } from '../contract/destination-error.ts'
import { type Mark, type Observation, showsClaimed } from '../evidence.ts'
import type { ActionProfile } from '../profile.ts'
import type { ExpectedError } from './faults.ts'
import { type Outcome, thrownText } from './host.ts'
import { described, isSame, observationProblem, sayTheSame } from './observation.ts'

interface CheckContext {
  readonly profile: ActionProfile
  /** The observation of the same check without the fault. */
  readonly seen: Observation
}

interface FaultContext extends CheckContext {
  /** Tells whether the check sent no other request. */
  readonly isOnly: boolean
  /** Tells whether the fault is a 404 that means absence. */
  readonly tellsAbsence: boolean
  readonly isExtra: boolean
  /** Tells whether the host, not the plugin, reads the route's answers. */
  readonly isExchange: boolean
}

/** Judges what a check made of a fault. @returns what the plugin did wrong */
export function judgeFault(fault: ExpectedError, outcome: Outcome, judged: FaultContext): string | undefined {
  const { right, says, bodyOnly } = fault
  const { observation, readTooMuch } = outcome
  if (!observation) return judgeError(fault, outcome.error, judged)
  const where = `where the destination gave ${says}`
  const wrong = observationProblem(judged.profile, observation)
  if (wrong) return `${wrong.problem}, ${where}`
  if (mayGoOn(observation, judged, bodyOnly === true && !readTooMuch)) return undefined
  return `says \`${described(observation)}\`, ${where}: throw a DestinationError \`${right[0]}\``
}

function judgeError(
  { right, says, retryAfterMs }: ExpectedError,
  error: unknown,
  { tellsAbsence, isExchange }: FaultContext,
): string | undefined {
  if (!isDestinationError(error)) return `throws ${thrownText(error)}, which is no DestinationError, for ${says}`
  if (isExchange || tellsAbsence) return undefined
  if (!right.includes(error.code)) return `throws \`${error.code}\` for ${says}, which is \`${right[0]}\``
  if (retryAfterMs === undefined || error.retryAfterMs === retryAfterMs) return undefined
  return `gives retryAfterMs ${error.retryAfterMs} for ${says}: the destination asks for ${retryAfterMs}`
}

/** Tells whether an observation is right beside a fault. @param isUnread true if the check need not have read what the fault broke */
function mayGoOn(
  observation: Observation,
  { seen, isOnly, tellsAbsence, isExtra }: FaultContext,
  isUnread: boolean,
): boolean {
  if (tellsAbsence) return true
  if (!sayTheSame(observation, seen)) return false
  if (isUnread && observation.mark === seen.mark) return true
  if (isExtra) return blameRank(observation.mark) <= blameRank(seen.mark)
  // Another answer showed that the outcome is there, which stays true.
  if (showsClaimed(seen)) return !isOnly
  // An absence that blames nobody is as good as an error.
  return observation.mark === 'may_have_been'
}

/** Rank of a mark by how far it goes towards blame. */
function blameRank(mark: Mark | undefined): number {
  if (mark === 'may_have_been') return 0
  return mark === undefined ? 1 : 2
}

/** Judges a check whose destination's clock is off: it changes nothing of what is there, nor of what the destination's log says. */
export function judgeClock(outcome: Outcome, { profile, seen }: CheckContext): string | undefined {
  const { observation } = outcome
  const where = 'where only the clock of the destination is an hour ahead'
  const wrong = formProblem(outcome, profile, where)
  if (wrong !== undefined || !observation) return wrong
  if (!sayTheSame(observation, seen))
    return `says \`${described(observation)}\` in place of \`${described(seen)}\`, ${where}`
  if (observation.mark !== seen.mark && observation.mark !== 'may_have_been') {
    return `marks it ${observation.mark}, ${where}`
  }
  if (!isSame(observation.stays, seen.stays)) return `gives other stays, ${where}: give the times of the log alone`
  return undefined
}

/** Judges what a check made of a stale replica's answer. @param before the check's observation of the earlier situation, without an `Age` */
export function judgeStale(outcome: Outcome, { profile, seen }: CheckContext, before: Observation): string | undefined {
  const where = 'where a replica gave an answer from before, with an Age'
  const wrong = formProblem(outcome, profile, where)
  if (wrong !== undefined || !outcome.observation) return wrong
  const { mark } = outcome.observation
  if (mark === 'final' && seen.mark !== 'final') return `marks it final, ${where}`
  if (mark === 'never_before' && seen.mark !== mark && before.mark !== mark) return `marks it never_before, ${where}`
  return undefined
}

/** Finds what is wrong by the contract alone. @returns a problem of the observation or the thrown error */
function formProblem({ observation, error }: Outcome, profile: ActionProfile, where: string): string | undefined {
  const problem = observation
    ? observationProblem(profile, observation)?.problem
    : !isDestinationError(error) && `throws ${thrownText(error)}, which is no DestinationError`
  return problem ? `${problem}, ${where}` : undefined
}
