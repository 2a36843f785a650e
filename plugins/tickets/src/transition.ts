/** Compares an issue's history, as a tracker showed it, with a claim, and reports what that says. */
import {
  type CheckContext,
  type Claim,
  clockBehindMs,
  DestinationError,
  type Instant,
  isLongBefore,
  type LogTime,
  type Mark,
  type Observation,
  type PreviousRead,
  type Stay,
  windowStart,
} from '@claimcheck/core/plugin'
import { type Arrival, arrivalsOf, type Change, type Doubt, type Issue } from './history.ts'
import { type Facts, type Params, profile } from './profile.ts'
import type { Reads } from './reads.ts'

/** Reads the issue of a claim at one tracker. @throws DestinationError `forbidden` for one that it does not show: an absence may be hidden */
export type ReadIssue = (claim: Claim<Params>, context: CheckContext, reads: Reads) => Promise<Issue>

/** Limit of the stays of one observation. */
const MOST_STAYS = 8

/** The time between a change and the first look in which nobody is expected to file the status under another category. */
const REFILED_MS = 15 * 60_000

/** Reports an issue. @throws DestinationError `ambiguous_claim` for another issue than earlier, or a category that was changed */
export function report(
  issue: Issue,
  claim: Claim<Params>,
  { previous, now }: Pick<CheckContext, 'previous' | 'now'>,
  reads: Reads,
): Observation<Facts> {
  requireSame(issue, claim.params, previous)
  const behindMs = clockBehindMs(reads.headers(), now())
  // By the tracker's own clock, which its history is dated by: without its time, any entry may be of the window.
  const from = windowStart(claim, profile.removedWithinMs) - Math.max(behindMs ?? Number.POSITIVE_INFINITY, 0)
  const unwatchedUntil = (previous[0]?.sentAt ?? now()) - REFILED_MS
  const { arrivals, doubts, isThere } = arrivalsOf(
    issue,
    claim.params,
    (at) => at.notAfter >= from && at.notAfter < unwatchedUntil,
  )
  // An issue that is elsewhere now left by a change that the history does not tell.
  const isTold = ({ left, isOpen }: Arrival) => !isOpen && (left !== undefined || isThere === true)
  const open = [...doubts, ...arrivals.filter((one) => !isTold(one)).map(doubtOf)]
  const meant = arrivals.filter((one) => isTold(one) && one.differs.length === 0)
  const inWindow = meant.filter(({ left }) => reaches(left, from))
  const openNow = open.filter(({ until }) => reaches(until, from))
  const stays = inWindow.slice(0, MOST_STAYS).map((one) => stayOf(one, openNow))
  const isHere = ({ left }: Arrival) => isThere === true && left === undefined
  const current = meant.find(isHere) ?? arrivals.findLast(isHere)
  const clock = { now: now(), clockBehindMs: behindMs }
  const factsAt = (arrival: Arrival | undefined) => factsOf(issue, arrival?.change, claim, clock)

  if (current && meant.includes(current)) return { kind: 'present', differs: [], facts: factsAt(inWindow[0]), stays }
  reads.refuseOldCopy()
  const mark = markOf({ isOpen: openNow.length > 0, isNever: meant.length === 0 && open.length === 0 })
  if (current && isTold(current))
    return { kind: 'present', differs: current.differs, facts: factsAt(current), stays, ...mark }
  return { kind: 'absent', facts: factsAt(inWindow[0]), stays, ...mark }
}

function markOf({ isOpen, isNever }: { readonly isOpen: boolean; readonly isNever: boolean }): {
  readonly mark?: Mark
} {
  if (isOpen) return { mark: 'may_have_been' }
  return isNever ? { mark: 'never_before' } : {}
}

/** Requires the issue of earlier reads, and its category: who changes the category of a status changes what all histories seem to say. */
function requireSame({ id, categoryOf }: Issue, params: Params, previous: readonly PreviousRead[]): void {
  for (const { observation } of previous) {
    const { issue_id, status, category } = observation.facts as Facts
    const now = params.category && status && category ? categoryOf(status) : undefined
    const isOther = issue_id !== undefined && issue_id !== id
    if (isOther || (now !== undefined && now !== category)) throw new DestinationError('ambiguous_claim')
  }
}

function doubtOf({ change, left }: Arrival): Doubt {
  return { since: change.at, until: left }
}

/** Tells whether what ends at a time may have lasted until a moment. @param end undefined for what goes on */
function reaches(end: LogTime | undefined, moment: Instant): boolean {
  return end === undefined || end.notAfter >= moment
}

/** The stay that begins with an arrival. The issue's leaving does not undo that it came. */
function stayOf({ change: { at }, left }: Arrival, doubts: readonly Doubt[]): Stay {
  // A change that is in doubt may have been the claimed one, and earlier.
  const isFirst = doubts.every(({ since }) => (since.notBefore ?? since.notAfter) > at.notAfter)
  const appeared = isFirst ? at : { notAfter: at.notAfter }
  return { appeared, ...(left && { removed: left, removedWhole: true }) }
}

function factsOf(
  { id, key, status, categoryOf }: Issue,
  change: Change | undefined,
  { claimedAt }: Claim<Params>,
  clock: { readonly clockBehindMs: number | undefined },
): Facts {
  const category = categoryOf(status)
  const isOld = isLongBefore(change?.at, clock, { claimedAt, inTimeUntil: claimedAt + profile.toleranceMs })
  return {
    issue_id: id,
    key,
    status,
    ...(category && { category }),
    ...(change && { changed_at: new Date(change.at.notBefore ?? change.at.notAfter).toISOString() }),
    ...(change?.from !== undefined && { from: change.from }),
    ...(change?.by !== undefined && { by: change.by }),
    ...(isOld && { preexisting: true as const }),
  }
}
