/** Judges what a check made of a fault: right is an error that says why, or what it truly saw without the struck answer. */
import { isDestinationError } from '../contract/destination-error.ts'
import type { Mark, Observation } from '../evidence.ts'
import type { ActionProfile } from '../profile.ts'
import type { ExpectedError } from './faults.ts'
import { errorCode, type Outcome, thrownText } from './host.ts'
import { described, isSame, observationProblem, sayTheSame, showsClaimed } from './observation.ts'

interface FaultContext {
  readonly profile: ActionProfile
  /** The observation of the same check without the fault. */
  readonly seen: Observation
  /** Tells whether the check sent no other request. */
  readonly isOnly: boolean
  /** Tells whether a 404 of the route means absence. */
  readonly tellsAbsence: boolean
  readonly isExtra: boolean
  /** Tells whether the host, not the plugin, reads the route's answers. */
  readonly isExchange: boolean
}

/** Judges what a check made of a fault. @returns what the plugin did wrong */
export function judgeFault(fault: ExpectedError, outcome: Outcome, judged: FaultContext): string | undefined {
  const { right } = fault
  if (!outcome.observation) return judgeError(fault, outcome.error, judged)
  const { observation } = outcome
  const wrong = observationProblem(judged.profile, observation)
  if (wrong) return `${wrong.problem}, where the destination gave ${fault.says}`
  if (mayGoOn(fault, observation, outcome, judged)) return undefined
  return `says \`${described(observation)}\`, where the destination gave ${fault.says}: throw a DestinationError \`${right[0]}\``
}

function judgeError(
  fault: ExpectedError,
  error: unknown,
  { tellsAbsence, isExchange }: FaultContext,
): string | undefined {
  if (!isDestinationError(error)) return `throws ${thrownText(error)}, which is no DestinationError, for ${fault.says}`
  if (isExchange) return undefined
  const { code, retryAfterMs } = error
  if (fault.name === 'fault.404' && tellsAbsence) return undefined
  if (!fault.right.includes(code)) return `throws \`${code}\` for ${fault.says}, which is \`${fault.right[0]}\``
  if (fault.retryAfterMs !== undefined && retryAfterMs !== fault.retryAfterMs) {
    return `gives retryAfterMs ${retryAfterMs} for ${fault.says}: the destination asks for ${fault.retryAfterMs}`
  }
  return undefined
}

function mayGoOn(fault: ExpectedError, observation: Observation, outcome: Outcome, judged: FaultContext): boolean {
  const { seen, isOnly, tellsAbsence, isExtra } = judged
  if (fault.name === 'fault.404' && tellsAbsence) return true
  if (!sayTheSame(observation, seen)) return false
  if (fault.bodyOnly && !outcome.readTooMuch && observation.mark === seen.mark) return true
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
export function judgeClock(
  outcome: Outcome,
  { profile, seen }: Pick<FaultContext, 'profile' | 'seen'>,
): string | undefined {
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
export function judgeStale(
  outcome: Outcome,
  { profile, seen }: Pick<FaultContext, 'profile' | 'seen'>,
  before: Observation,
): string | undefined {
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
  if (observation) {
    const wrong = observationProblem(profile, observation)
    return wrong && `${wrong.problem}, ${where}`
  }
  return errorCode(error) ? undefined : `throws ${thrownText(error)}, which is no DestinationError, ${where}`
}
