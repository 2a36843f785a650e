/** Compares an event, as a calendar showed it, with a claim, and reports what that says. */
import {
  type CheckContext,
  type Claim,
  clockBehindMs,
  DestinationError,
  type Instant,
  isLongBefore,
  type Mark,
  type Observation,
  type Stay,
} from '@claimcheck/core/plugin'
import { type Facts, isUid, type Params, profile } from './profile.ts'

export interface CalendarEvent {
  readonly uid: string
  /** The id at Google. */
  readonly id?: string
  /** The start and end in the form of facts; undefined where they cannot be compared with a claim, as of a series without its first event. */
  readonly starts: string | undefined
  readonly ends: string | undefined
  readonly status: string
  readonly isRecurring: boolean
  /** Tells whether it is one occurrence of a series that replaces what the series says of it. */
  readonly isInstance: boolean
  /** Tells whether the calendar is the event's organizer, where the place says so. */
  readonly isOrganizers?: boolean
  /** The place's own record of the event, where it has one. */
  readonly record?: EventRecord
}

/** Times of an event by the clock of its place. */
export interface EventRecord {
  /** The time at which it was made; undefined where an import may have brought another one. */
  readonly madeAt: Instant | undefined
  /** The last change of the event, its making included, which also ends its deletion and its move from another calendar. */
  readonly changedUntil: Instant
  /** Tells whether it is as it was made. */
  readonly wasNeverChanged: boolean
}

/** The answer of a calendar to the ids of a claim. */
export interface Found {
  readonly events: readonly CalendarEvent[]
  /** The reason why the event is not among them, where the calendar tells one. `occurrence`: single events of a series were cancelled. */
  readonly missing?: 'deleted' | 'hidden' | 'occurrence' | undefined
  /** The headers of an answer, for the clock of the place. */
  readonly headers?: Headers
}

/** Finds the events of a claim at one kind of place. It requires that the place hides no such event if there is none. */
export type FindEvents = (claim: Claim<Params>, context: CheckContext) => Promise<Found>

/** @throws DestinationError `ambiguous_claim` for two events of one UID */
export function report(
  found: Found,
  claim: Claim<Params>,
  { previous, now }: Pick<CheckContext, 'previous' | 'now'>,
): Observation<Facts> {
  const standing = found.events.filter(({ status }) => status !== 'cancelled')
  const [event, ...others] = standing.filter(({ isInstance }) => !isInstance || claim.params.event_id !== undefined)
  if (others.length > 0) throw new DestinationError('ambiguous_claim')
  if (!event) return reportMissing(found, standing)

  const { facts, differs } = compare(event, claim.params)
  if (differs.length > 0)
    return { kind: 'present', differs, facts, ...evidenceAgainst(event, differs, found, claim, { previous, now }) }
  const stay = stayOf(event, claim, { previous, now })
  return { kind: 'present', differs: [], facts, ...(stay && { stays: [stay] }) }
}

/** Reports that the event itself is not there: occurrences without their series, one that was cancelled, deleted or hidden, or nothing of it. */
function reportMissing({ events, missing }: Found, standing: readonly CalendarEvent[]): Observation<Facts> {
  const [instance] = standing
  if (instance) return { kind: 'absent', facts: { ...idsOf(instance), is_recurring: true }, mark: 'may_have_been' }
  const [cancelled] = events
  if (!cancelled && missing === undefined) return { kind: 'absent', facts: {} }
  const facts: Facts = {
    ...(cancelled && idsOf(cancelled)),
    ...((cancelled ?? missing === 'deleted') && { status: 'cancelled' }),
    ...(missing === 'occurrence' && { is_recurring: true }),
  }
  return { kind: 'absent', facts, mark: 'may_have_been' }
}

/** The ids of an event, without a UID that is no claim's. */
function idsOf({ uid, id }: CalendarEvent): Facts {
  return { ...(isUid(uid) && { uid }), ...(id !== undefined && { event_id: id }) }
}

function compare(event: CalendarEvent, { uid, event_id, start, end }: Params) {
  const { starts, ends, status, isRecurring, isOrganizers, record } = event
  const differences = {
    uid: uid !== undefined && uid !== event.uid,
    event_id: event_id !== undefined && event_id !== event.id,
    start: start !== undefined && start !== starts,
    end: end !== undefined && end !== ends,
  }
  const facts: Facts = {
    ...idsOf(event),
    ...(starts !== undefined && { starts, all_day: starts.length === 10 }),
    ...(ends !== undefined && { ends }),
    status: status === 'tentative' ? 'tentative' : 'confirmed',
    is_recurring: isRecurring,
    ...(record?.madeAt !== undefined && { created: new Date(record.madeAt).toISOString() }),
    ...(isOrganizers !== undefined && { organizer_is_calendar: isOrganizers }),
  }
  return { facts, differs: Object.entries(differences).flatMap(([name, isOther]) => (isOther ? [name] : [])) }
}

/** The place's evidence on whether an event that is not as claimed was so before. */
function evidenceAgainst(
  { starts, ends, record }: CalendarEvent,
  differs: readonly string[],
  { headers }: Found,
  { claimedAt, params }: Claim<Params>,
  { previous, now }: Pick<CheckContext, 'previous' | 'now'>,
): { readonly mark?: Mark; readonly stays?: readonly Stay[] } {
  // An id keeps its UID.
  if (differs.includes('uid')) return { mark: 'final' }
  // A time that is not known may be the claimed one.
  const isOpen = [
    [params.start, starts],
    [params.end, ends],
  ].some(([said, seen]) => said !== undefined && seen === undefined)
  if (isOpen) return { mark: 'may_have_been' }
  if (!record) return {}
  if (record.wasNeverChanged) return { mark: 'never_before' }
  const clock = { clockBehindMs: headers && clockBehindMs(headers, now()) }
  const wasLongSo = isLongBefore({ notAfter: record.changedUntil }, clock, {
    claimedAt,
    inTimeUntil: claimedAt + profile.toleranceMs,
  })
  if (wasLongSo) return { stays: [] }
  // It was changed, perhaps from the claimed times, and no read saw it before.
  return previous.length === 0 ? { mark: 'may_have_been' } : {}
}

/**
 * The stay of an event that is as claimed, by the place's record: left out where it leaves open whether it came in time, so that the reads decide.
 */
function stayOf(
  { record }: CalendarEvent,
  { claimedAt }: Claim<Params>,
  { previous, now }: Pick<CheckContext, 'previous' | 'now'>,
): Stay | undefined {
  const inTimeUntil = claimedAt + profile.toleranceMs
  // A read in time needs no other evidence.
  if (!record || now() <= inTimeUntil) return undefined
  const { madeAt, changedUntil: notAfter } = record
  // An event that was never changed until an earlier read was not as claimed before that read.
  const other = previous.findLast(({ observation }) => observation.mark === 'never_before')
  const from = madeAt === undefined ? undefined : Math.min(Math.max(madeAt, other?.sentAt ?? madeAt), notAfter)
  const isLate = from !== undefined && from > inTimeUntil
  if (notAfter > inTimeUntil && !isLate) return undefined
  return { appeared: { notAfter, ...(from !== undefined && { notBefore: from }) } }
}
