/** Finds when an outcome appeared, by the destination's log and by the issuer's reads. */
import { type Instant, type Interval, type ReadRecord, type Stay, showsOutcome } from '../evidence.ts'

/** Milliseconds by which a destination's clock may be off before it says nothing about when. */
const LARGEST_CLOCK_OFFSET_MS = 24 * 60 * 60_000

/** A stay, its times widened by the largest error of the destination's clock. */
interface Bounds {
  readonly from: Instant
  readonly until: Instant
  /** The earliest moment at which the outcome may have been removed. Infinity while it is there. */
  readonly removedFrom: Instant
  readonly removedUntil: Instant
  readonly removedWhole: boolean
}

export interface Window {
  /** The claim's time, or the submission if it is earlier, because a client's clock may be ahead. */
  readonly claimedAt: Instant
  /** Milliseconds before `claimedAt` in which an outcome may have come and gone again, and still be what was claimed. */
  readonly removedWithinMs: number
  /** The last moment at which an outcome is in time: the end of the tolerance. */
  readonly inTimeUntil: Instant
}

export interface Account {
  /** The interval in which the outcome appeared: `contradictory` if the evidence excludes itself, undefined if nothing shows that it appeared. */
  readonly interval: Interval | 'contradictory' | undefined
  /** The last read that shows the outcome, itself or in the destination's log; undefined if none does. */
  readonly shownBy: ReadRecord | undefined
  /** Tells whether the destination has a log of the outcome that can be read. */
  readonly hasLog: boolean
  /** Tells whether the destination's log lists the outcome. */
  readonly isListed: boolean
  /** Tells whether the log shows a stay that may have been in time and may be what was claimed, though neither is certain. It forbids blame. */
  readonly mayHaveBeenInTime: boolean
}

/** Selects stays that a read tells. */
export type StaysOf = (read: ReadRecord) => readonly Stay[]

export const everyStay: StaysOf = ({ observation }) => observation.stays ?? []

/**
 * Finds when the outcome appeared, by all reads of a claim.
 * @param staysOf selects the stays that are believed. The others verify nothing and bound nothing; they still forbid blame.
 */
export function accountOf(reads: readonly ReadRecord[], window: Window, staysOf: StaysOf = everyStay): Account {
  const listed = reads.flatMap((read) => {
    const first = boundsOf(read, staysOf(read))
      .filter((stay) => Number.isFinite(stay.until) && counts(stay, window))
      .reduce<Bounds | undefined>(
        (earliest, stay) => (earliest && earliest.until <= stay.until ? earliest : stay),
        undefined,
      )
    return first ? [{ read, from: first.from, until: first.until }] : []
  })
  const remembered = reads.findLast((read) => boundsOf(read).some((stay) => isRemembered(stay, window)))
  const shown = reads.filter(showsOutcome)
  return {
    interval: intervalOf(reads, shown, listed),
    shownBy: latest([shown.at(-1), listed.at(-1)?.read]) ?? remembered,
    hasLog: reads.some(({ observation }) => observation.stays !== undefined),
    isListed: listed.length > 0,
    mayHaveBeenInTime: reads.some((read) => {
      const believed = staysOf(read)
      return everyStay(read).some((stay) => {
        const [bounds] = boundsOf(read, [stay])
        return mayCount(bounds!, window) && !(believed.includes(stay) && counts(bounds!, window))
      })
    }),
  }
}

/** The bounds of stays. Without a `Date` of the destination, its times have no bounds, and give no point. */
export function boundsOf(read: ReadRecord, stays = everyStay(read)): Bounds[] {
  const { clockOffsetMs, dated = false } = read
  const offset = dated && clockOffsetMs <= LARGEST_CLOCK_OFFSET_MS ? clockOffsetMs : Number.POSITIVE_INFINITY
  return stays.map(({ appeared, removed, removedWhole = false }: Stay) => ({
    from: (appeared.notBefore ?? Number.NEGATIVE_INFINITY) - offset,
    until: appeared.notAfter + offset,
    removedFrom: removed ? (removed.notBefore ?? Number.NEGATIVE_INFINITY) - offset : Number.POSITIVE_INFINITY,
    removedUntil: removed ? removed.notAfter + offset : Number.POSITIVE_INFINITY,
    removedWhole,
  }))
}

/**
 * Tells whether the claim can mean a stay. One that was forced away before the claim may be pushed again and is not meant; one that went with
 * its whole branch ("merged, done") is, if it came within the window.
 */
function counts({ from, removedFrom, removedWhole }: Bounds, { claimedAt, removedWithinMs }: Window): boolean {
  return removedFrom >= claimedAt || (removedWhole && from >= claimedAt - removedWithinMs)
}

/** Tells whether the claim may mean a stay, like `counts`, but with every doubt taken in favour of the agent. */
function mayCount({ from, until, removedUntil, removedWhole }: Bounds, window: Window): boolean {
  const { claimedAt, removedWithinMs, inTimeUntil } = window
  if (from > inTimeUntil) return false
  return removedUntil >= claimedAt || (removedWhole && until >= claimedAt - removedWithinMs)
}

/** Tells whether a stay is so recent that its end must not be blamed on the agent. */
function isRemembered({ removedUntil }: Bounds, { claimedAt, removedWithinMs }: Window): boolean {
  return removedUntil >= claimedAt - removedWithinMs
}

function intervalOf(
  reads: readonly ReadRecord[],
  shown: readonly ReadRecord[],
  points: readonly Pick<Bounds, 'from' | 'until'>[],
): Account['interval'] {
  const answers = shown.map(({ answeredAt }) => answeredAt)
  if (answers.length === 0 && points.length === 0) return undefined
  const pointFrom = Math.max(...points.map(({ from }) => from))
  const pointUntil = Math.min(...points.map(({ until }) => until))
  const notAfter = Math.min(...answers, pointUntil)
  // The points contradict the reads if they exclude each other, or lie after an answer that showed the outcome.
  if (points.length > 0 && pointFrom > notAfter) return 'contradictory'

  const unseenFrom = unseenUntil(reads)
  if (points.length === 0 && unseenFrom > notAfter) return 'contradictory'
  // The log outweighs the reads, which a stale replica may have answered.
  const isPlaced = Number.isFinite(pointFrom)
  const readFrom = unseenFrom > notAfter ? Number.NEGATIVE_INFINITY : unseenFrom
  const notBefore = isPlaced ? pointFrom : readFrom
  return {
    notAfter,
    source: points.length > 0 ? 'destination' : 'observation',
    ...(Number.isFinite(notBefore) ? { notBefore } : {}),
  }
}

/**
 * The time until which reads did not show the outcome. Only reads before the first that showed it count, because later absence means that it
 * went, not that it had not come. They are before it in order, so that a clock that was set back shows as a contradiction.
 */
function unseenUntil(reads: readonly ReadRecord[]): Instant {
  const first = reads.findIndex(showsOutcome)
  const before = (first === -1 ? [] : reads.slice(0, first)).filter(
    ({ observation }) => observation.mark !== 'unsettled',
  )
  const forgotten = before.findIndex(({ observation }) => observation.mark === 'may_have_been')
  // After the destination has forgotten once, only its record says that it was not there.
  const unseen = before.filter(({ observation: { mark } }, index) =>
    forgotten === -1 || index < forgotten ? true : mark === 'never_before',
  )
  return Math.max(...unseen.map(({ sentAt, ageMs = 0 }) => sentAt - ageMs))
}

function latest(reads: readonly (ReadRecord | undefined)[]): ReadRecord | undefined {
  const known = reads.filter((read) => read !== undefined)
  return known.reduce<ReadRecord | undefined>(
    (one, other) => (one && one.sentAt >= other.sentAt ? one : other),
    undefined,
  )
}
