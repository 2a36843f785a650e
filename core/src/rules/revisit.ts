/**
 * Looking again at a decided claim, to tell whether what it verified is still there. There is no second rule book: the looks are judged by the rules
 * that the claim pinned, as if somebody claimed at the beginning of the revisit that the outcome is there. So a change is found only by the evidence
 * that blames: looks apart that agree, from the beginning to a deadline as far away as the claim's was, and a log or a first look at once. It blames
 * nobody all the same: others may change a destination.
 */
import { type CheckRecord, type Instant, isRead, type ReadRecord, showsOutcome } from '../evidence.ts'
import type { Rules } from '../profile.ts'
import { CLOSING, type ClaimTimes, type Closing, type VerdictValue } from '../verdict.ts'
import { decide } from './decide.ts'
import { isApart, largestAge, seenIn, shownAt } from './moments.ts'

/** `cannot_be_told`: the destination could not be read, or what was read is no evidence. */
export const REVISIT_RESULTS = ['still_so', 'changed', 'cannot_be_told'] as const
export type RevisitResult = (typeof REVISIT_RESULTS)[number]

/** The longest time from the first look of a revisit to its deadline, in milliseconds. */
const LONGEST_MS = 60 * 60_000
/** The most looks of one revisit. */
const MOST_LOOKS = 100

/** The question of a revisit: the rules, and the times that stand for the claim's. */
export interface RevisitCase {
  readonly rules: Rules
  readonly claim: ClaimTimes
  /** Tells that the claim had more time to its deadline than a revisit has: an outcome that comes and goes may be there again by then. */
  readonly isShortened: boolean
}

/** The result of a revisit, with the look that it rests on. */
export interface RevisitFinding {
  readonly result: RevisitResult
  readonly basis: CheckRecord
}

/** Tells whether a claim can be looked at again: its verdict says that the outcome was there, and a check saw it there itself. */
export function canBeRevisited(verdict: VerdictValue | null, checks: readonly CheckRecord[]): boolean {
  return (verdict === 'verified' || verdict === 'late') && checks.some(showsOutcome)
}

/**
 * Makes the question of a revisit.
 * @param claim as it was decided
 * @param beganAt just before the first look
 */
export function revisitCase(
  rules: Rules,
  { claimedAt, deadlineAt }: Pick<ClaimTimes, 'claimedAt' | 'deadlineAt'>,
  beganAt: Instant,
): RevisitCase {
  return {
    // Only what is there from the beginning on counts: what was removed just before is gone.
    rules: { ...rules, toleranceMs: 0, removedWithinMs: 0 },
    claim: {
      claimedAt: beganAt,
      submittedAt: beganAt,
      deadlineAt: beganAt + Math.min(deadlineAt - claimedAt, LONGEST_MS),
      freshBy: 'claimed_at',
    },
    isShortened: deadlineAt - claimedAt > LONGEST_MS,
  }
}

/**
 * Finds the result of a revisit, or `undefined` while it is too early. The same looks always give the same result.
 *
 * @param looks every look so far, oldest first: none of the claim's own checks, which tell nothing of now
 * @param now a time not before the last look's
 */
export function revisitFinding(
  { rules, claim, isShortened }: RevisitCase,
  looks: readonly CheckRecord[],
  now: Instant,
  closing: Closing = CLOSING,
): RevisitFinding | undefined {
  const last = looks.at(-1)
  if (last === undefined) return undefined
  if (showsNow(last, claim)) return { result: 'still_so', basis: last }
  const decision = decide(rules, claim, looks, now, closing)
  if (!decision) return looks.length < MOST_LOOKS ? undefined : { result: 'cannot_be_told', basis: last }
  const { verdict, basis } = decision
  if (isBlame(verdict.value) && isRead(basis) && !looks.some(showsOutcome))
    return { result: isShortened ? 'cannot_be_told' : 'changed', basis }
  // An old answer, or the log alone, shows the outcome: the look at the deadline may tell of now.
  const isShown = verdict.value === 'verified' || verdict.value === 'late'
  if (isShown && last.sentAt < claim.deadlineAt + largestAge(rules, looks) && looks.length < MOST_LOOKS)
    return undefined
  return { result: 'cannot_be_told', basis }
}

/** Tells whether a result can only be told with witnesses, and how many: a change needs two, as blame needs two looks. */
export function witnessesOf({ result }: Pick<RevisitFinding, 'result'>): 0 | 1 | 2 {
  return WITNESSES[result]
}

/**
 * Holds a result against further checks of the claim as it was submitted, with its own times and its own checks before them. What only the moved times
 * show or hide is no result, nor is what is seen at another place that has the same name now, or by another plugin.
 *
 * @param own the claim's own checks
 * @param witnesses as many as `witnessesOf` asks for, made after the look that the result rests on
 */
export function witnessed(
  finding: RevisitFinding,
  { claim }: Pick<RevisitCase, 'claim'>,
  own: readonly CheckRecord[],
  witnesses: readonly CheckRecord[],
): RevisitFinding {
  const { result, basis } = finding
  if (result === 'cannot_be_told') return finding
  const first = own.findLast(showsOutcome)
  const isByOthers = [basis, ...witnesses].some(
    (look) => first?.plugin && look.plugin?.package !== first.plugin.package,
  )
  const agrees = (witness: CheckRecord) =>
    isRead(witness) && isRead(basis) && shownAt(witness) >= claim.submittedAt && seesAlike(witness, basis)
  const areApart = result !== 'changed' || (witnesses.length >= 2 && isApart(witnesses[0]!, witnesses.at(-1)!))
  if (witnesses.length >= witnessesOf(finding) && areApart && !isByOthers && witnesses.every(agrees)) return finding
  return { result: 'cannot_be_told', basis: witnesses.find((witness) => !agrees(witness)) ?? basis }
}

const WITNESSES = { still_so: 1, changed: 2, cannot_be_told: 0 } as const

/** Tells whether two reads see the same, and neither may see it too early. */
function seesAlike(one: ReadRecord, other: ReadRecord): boolean {
  if (showsOutcome(one) || showsOutcome(other)) return showsOutcome(one) && showsOutcome(other)
  return one.observation.mark !== 'unsettled' && seenIn(one) === seenIn(other)
}

function showsNow(look: CheckRecord, { submittedAt }: Pick<ClaimTimes, 'submittedAt'>): look is ReadRecord {
  return isRead(look) && showsOutcome(look) && shownAt(look) >= submittedAt
}

function isBlame(value: VerdictValue): boolean {
  return value === 'failed' || value === 'mismatch'
}
