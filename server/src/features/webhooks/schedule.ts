/** The rules for trying again. */
import type { Instant } from '@claimcheck/core/rules'
import type { DeliveryRow, TriedDelivery } from '../../storage/webhooks.ts'
import type { Try } from './sender.ts'

const HOUR_MS = 60 * 60_000
const SHORTEST_GAP_MS = 5000
const LONGEST_GAP_MS = 6 * HOUR_MS
/** The growth of gaps: each is so many times as long as all tries took until then, as 5 s, 25 s, 2.5 min, 15 min, 1.5 h, 6 h. */
const GROWTH = 5
/** The part of a gap by which it may be longer or shorter, so that not all come back at one moment. */
const JITTER = 0.2
/** The time after the first try in which a delivery is tried again. */
export const GIVE_UP_MS = 72 * HOUR_MS

/** The longest time for which a receiver may ask to be left alone. */
export const LONGEST_QUIET_MS = LONGEST_GAP_MS

/** The time within which deliveries that are like one another are told in one message. */
export const LIKE_MS = HOUR_MS

/** Says when a new delivery is due. @param last the time when the last one like it is or was due, if there is any */
export function dueAfter(last: Instant | undefined, at: Instant): Instant {
  if (last === undefined || last <= at - LIKE_MS) return at
  return last > at ? last : last + LIKE_MS
}

/** Applies a try to a delivery. @param random between 0 and 1 */
export function afterTry(
  row: DeliveryRow,
  { status, durationMs, fault, retryAfterMs = 0 }: Try,
  at: Instant,
  random = Math.random(),
): TriedDelivery {
  const { id, attempts } = row
  const firstAt = row.firstAt ?? at
  const tried = { id, attempts: attempts + 1, firstAt, leasedUntil: null, triedAt: at, status, durationMs, fault }
  if (fault === null) return { ...tried, state: 'delivered', dueAt: at }
  const gap = Math.min(Math.max((at - firstAt) * GROWTH, SHORTEST_GAP_MS), LONGEST_GAP_MS)
  const jittered = gap * (1 + JITTER * (2 * random - 1))
  const dueAt = Math.round(at + Math.max(jittered, Math.min(retryAfterMs, LONGEST_QUIET_MS)))
  const isLast = fault === 'rejected' || dueAt - firstAt > GIVE_UP_MS
  return { ...tried, state: isLast ? 'failed' : 'waiting', dueAt: isLast ? at : dueAt }
}

/** Ends a delivery whose event is no longer stored. It counts no try. */
export function expired(row: DeliveryRow): TriedDelivery {
  return { ...row, state: 'failed', leasedUntil: null, fault: 'expired' }
}
