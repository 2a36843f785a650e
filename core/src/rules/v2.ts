/**
 * Verdict rules, version 2. As version 1, and: what the looks saw outweighs a stay that a log tells afterwards; without a log, blame needs looks
 * so close together that the receipt can say how long the outcome may have been there between two; and a fresh claim is one that intake found fresh.
 */
import { type CheckRecord, isRead, type Mark, markOf, type ReadRecord, showsOutcome } from '../evidence.ts'
import type { Rules } from '../profile.ts'
import type { ClaimTimes } from '../verdict.ts'
import { boundsOf, everyStay, type StaysOf } from './appearance.ts'
import type { Looks, Version } from './decision.ts'
import { freshnessOf, isFreshBy } from './freshness.ts'
import { CONFIRMATION_MS, isPrompt, PROMPT_MS, seenIn, shownAt, toleranceEnd } from './moments.ts'

/** Milliseconds between looks beyond which they blame nobody, where there is no log. */
export const LARGEST_GAP_MS = 30_000

/** Milliseconds by which a replica may lag behind what its log will tell. */
const LAG_MS = 60_000

export const RULES_2: Version = {
  largestJumpMs: 10_000,
  jumpMs,
  leastLooks: 2,
  believedStays,
  wasLookedFor,
  largestGapMs,
}

/**
 * The largest jump of a clock: of ours against a monotonic one, or of either, if the destination's was ahead of ours for certain at one read, and
 * behind it at another.
 */
function jumpMs(reads: readonly ReadRecord[]): number {
  const ahead = reads.map(({ clockAheadMs = 0 }) => Math.max(clockAheadMs, 0))
  // A cache repeats the date of the answer that it holds, which makes the destination's clock seem behind.
  const behind = reads.map(({ clockAheadMs = 0, ageMs = 0 }) => Math.max(-clockAheadMs - ageMs, 0))
  const [mostAhead, mostBehind] = [Math.max(...ahead), Math.max(...behind)]
  const turned = mostAhead > 0 && mostBehind > 0 ? mostAhead + mostBehind : 0
  return Math.max(turned, ...reads.map(({ clockSetMs = 0 }) => clockSetMs))
}

/** Selects the stays that no looks contradict, and that begin before the answer that tells of them. */
function believedStays(reads: readonly ReadRecord[]): StaysOf {
  const without = reads.filter((read) => !showsOutcome(read) && read.observation.mark !== 'unsettled')
  return (read) =>
    everyStay(read).filter((stay) => {
      const [{ from, until }] = boundsOf(read, [stay]) as [ReturnType<typeof boundsOf>[number]]
      return from <= read.answeredAt && !(stay.removed === undefined && isContradicted(until, read, without))
    })
}

/**
 * Tells whether two reads that agree did not show the outcome long after it began, and before the answer that tells of that beginning. A deleted
 * run leaves such stays, when an earlier run remains.
 */
function isContradicted(begunUntil: number, told: ReadRecord, without: readonly ReadRecord[]): boolean {
  // The sendings of the first and the last read that saw the same: hostile documents would have too many pairs.
  const extents = new Map<string, readonly [first: number, last: number]>()
  return without.some((read) => {
    if (shownAt(read) < begunUntil + LAG_MS || read.sentAt > told.answeredAt) return false
    const seen = seenIn(read)
    const [first, last] = extents.get(seen) ?? [read.sentAt, read.sentAt]
    extents.set(seen, [Math.min(first, read.sentAt), Math.max(last, read.sentAt)])
    return Math.max(last, read.sentAt) - Math.min(first, read.sentAt) >= CONFIRMATION_MS
  })
}

function wasLookedFor(looks: Looks): boolean {
  const { claim, reads } = looks
  return isFresh(looks) && reads.some((read) => isPrompt(read, claim)) && largestGapMs(looks) <= LARGEST_GAP_MS
}

/** Tells whether intake found the claim fresh, and its times do not contradict that. */
function isFresh({ rules, claim }: Pick<Looks, 'rules' | 'claim'>): boolean {
  return isFreshBy(freshnessOf(rules, claim)) && (!claim.freshBy || isFreshBy(claim.freshBy))
}

/**
 * Tells whether further looks can lead to blame where there is no log: so far none shows the outcome or tells of a log or a record, and none came
 * too late. False by rules of version 1, which need no such looks.
 */
export function mayStillBlame(rules: Rules, claim: ClaimTimes, checks: readonly CheckRecord[]): boolean {
  const inTimeUntil = toleranceEnd(rules, claim)
  const now = checks.at(-1)!.answeredAt
  if (rules.rulesVersion === 1 || now >= inTimeUntil || !isFresh({ rules, claim })) return false
  const reads = checks.filter(isRead)
  if (reads.some((read) => showsOutcome(read) || read.observation.stays !== undefined || SAYS_MORE.has(markOf(read)!)))
    return false
  const isPromptYet = reads.some((read) => isPrompt(read, claim)) || now <= claim.submittedAt + PROMPT_MS
  return isPromptYet && largestGapMs({ claim, reads, inTimeUntil: now }) <= LARGEST_GAP_MS
}

const SAYS_MORE: ReadonlySet<Mark> = new Set(['final', 'never_before', 'may_have_been'])

/**
 * The longest time, from the claim to the end of the tolerance, in which the outcome can have been there without a read that showed it: from the
 * moment that the answer of one look is at least as new as, to the answer of the next. So an answer that may be old leaves its age open, too.
 */
export function largestGapMs({ claim, reads, inTimeUntil }: Omit<Looks, 'rules'>): number {
  let from = Math.min(claim.claimedAt, claim.submittedAt)
  let largest = 0
  for (const read of reads) {
    if (showsOutcome(read) || read.observation.mark === 'unsettled' || shownAt(read) < from) continue
    largest = Math.max(largest, Math.min(read.answeredAt, inTimeUntil) - from)
    from = Math.min(shownAt(read), inTimeUntil)
  }
  return Math.max(largest, inTimeUntil - from)
}
