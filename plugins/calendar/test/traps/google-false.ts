/** Claims of events at Google that were not made, or not there, and those of which Google shows too little. */
import { AT, CALENDAR, ELSEWHEN, type Given, ID, idOf, OTHER_CALENDAR, UID } from './agenda.ts'
import { CALENDAR_READONLY } from './google-api.ts'
import {
  agenda,
  claimOf,
  DAY,
  FAILED,
  FAILED_MAYBE,
  HOUR,
  MINUTE,
  OTHER,
  OTHER_UNTOLD,
  type Row,
  rowsOf,
  UNKNOWABLE,
} from './row.ts'

const row = rowsOf('google_calendar')
const params = claimOf({ uid: UID })
const byId = claimOf({ uid: undefined, event_id: ID })
const made = (given: Given = {}, afterMs = 0) => ({ google: { agenda: agenda().insert(afterMs, given) } })
const other = () => agenda().insert(-DAY, { id: idOf('another') })
const SERIES: Given = { recurrence: ['RRULE:FREQ=DAILY;COUNT=5'] }
const TUESDAY = { start: '2026-03-17T14:00:00Z', end: '2026-03-17T14:30:00Z' }
const instanceOf = (day: string): Given => ({ id: `${ID}_${day}T140000Z`, iCalUID: UID, recurringEventId: ID })

const NEVER: readonly Row[] = [
  row(FAILED, 'never made, by its UID', 'the list of a readable calendar is whole', () => ({
    google: { agenda: other() },
    params,
  })),
  row(FAILED_MAYBE, 'never made, by its id', 'a 404 of the event, and a calendar that is readable', () => ({
    google: { agenda: other() },
    params: byId,
  })),
  row(FAILED, 'never made, read with the wider scope', 'the list of a readable calendar is whole', () => ({
    google: { agenda: other(), scopes: [CALENDAR_READONLY] },
    params,
  })),
  row(FAILED_MAYBE, 'never made, read by a reader', 'details of private events are hidden from readers', () => ({
    google: { agenda: other(), roles: { [CALENDAR]: 'reader' } },
    params,
  })),
  row(FAILED, 'never made, behind empty pages', 'all pages are the list', () => ({
    google: { agenda: other(), emptyPages: 2 },
    params,
  })),
  row(FAILED, 'made in another calendar of the user', 'the claim names a calendar', () => ({
    google: {
      agenda: agenda().insert(0, { calendar: OTHER_CALENDAR }),
      roles: { [CALENDAR]: 'owner', [OTHER_CALENDAR]: 'owner' },
    },
    params,
  })),
  row(FAILED_MAYBE, 'a UID in another case', 'iCalUID is compared as it is', () => ({
    ...made({ iCalUID: UID.toUpperCase() }),
    params,
  })),
  row(FAILED, 'the id is claimed as the UID', 'the id and the iCalUID are not identical', () => ({
    ...made(),
    params: claimOf({ uid: ID }),
  })),
  row(FAILED_MAYBE, 'deleted five days ago', 'a cancelled event is a deleted one', () => ({
    google: {
      agenda: agenda()
        .insert(-9 * DAY)
        .cancel(-5 * DAY),
    },
    params,
  })),
  row(FAILED_MAYBE, 'deleted five days ago, by its id', 'events.get answers 200 for a deleted event', () => ({
    google: {
      agenda: agenda()
        .insert(-9 * DAY)
        .cancel(-5 * DAY),
    },
    params: byId,
  })),
  row(
    FAILED_MAYBE,
    'deleted five days ago, with no more than an id left',
    'deleted events are only certain to have their id',
    () => ({
      google: {
        agenda: agenda()
          .insert(-9 * DAY)
          .cancel(-5 * DAY),
        roles: { [CALENDAR]: 'reader' },
      },
      params: byId,
    }),
  ),
  row(
    FAILED_MAYBE,
    'deleted an hour ago, and making it again was refused',
    'googleapis 1811: 409, the identifier exists',
    () => ({
      google: { agenda: agenda().insert(-DAY).cancel(-HOUR) },
      params: byId,
    }),
  ),
  row(FAILED_MAYBE, 'moved to another calendar an hour ago', 'a bare cancelled event is left behind', () => ({
    google: {
      agenda: agenda().insert(-DAY).move(-HOUR, CALENDAR, OTHER_CALENDAR),
      roles: { [CALENDAR]: 'owner', [OTHER_CALENDAR]: 'owner' },
    },
    params,
  })),
  row(
    FAILED_MAYBE,
    'one instance that was cancelled an hour ago, by its id',
    'a cancelled exception is no event',
    () => ({
      google: {
        agenda: agenda()
          .insert(-DAY, SERIES)
          .insert(-DAY, { ...instanceOf('20260317'), originalStartTime: ELSEWHEN.start })
          .cancel(-HOUR, `${ID}_20260317T140000Z`),
      },
      params: claimOf({ uid: undefined, event_id: `${ID}_20260317T140000Z`, ...TUESDAY }),
    }),
  ),
  row(
    ['unknowable', 'unverifiable'],
    'a cancelled instance alone, by the UID of its series',
    'the guest of one instance was invited, and then no more',
    () => ({
      google: {
        agenda: agenda().insert(-HOUR, {
          ...instanceOf('20260316'),
          organizer: OTHER_CALENDAR,
          originalStartTime: AT.start,
          status: 'cancelled',
        }),
      },
      params,
    }),
  ),
  row(
    ['never', 'failed', 'unverifiable'],
    'an id of an instance that the series does not have',
    'the series ends before',
    () => ({
      ...made(SERIES),
      params: claimOf({ uid: undefined, event_id: `${ID}_20270101T140000Z`, start: undefined, end: undefined }),
    }),
  ),
  ...(
    ['google:primary', 'google:', `google:${CALENDAR}/events`, `google:${CALENDAR}?x=`, 'google:../users/me'] as const
  ).map((target) =>
    row(
      ['never', 'refused', 'unverifiable', 'failed'],
      `the target ${target}`,
      'it names no calendar for others',
      () => ({ ...made(), params, target }),
    ),
  ),
  ...([`../${ID}`, `${ID}/instances`, `${ID}?x=1`, ID.toUpperCase()] as const).map((event_id) =>
    row(
      ['never', 'refused', 'unverifiable', 'failed'],
      `the id ${event_id} is claimed`,
      'ids are of base32hex',
      () => ({
        ...made(),
        params: claimOf({ uid: undefined, event_id }),
      }),
    ),
  ),
  ...([`x&iCalUID=${UID}`, `${UID}&showDeleted=false`, `${UID} `, '*'] as const).map((uid) =>
    row(
      ['never', 'failed', 'unverifiable', 'refused'],
      `the UID ${uid} is claimed`,
      'a UID is text, and no part of an address',
      () => ({
        ...made(),
        params: claimOf({ uid }),
      }),
    ),
  ),
  row(['never', 'refused', 'unverifiable'], 'neither a UID nor an id is claimed', 'one of both is needed', () => ({
    ...made(),
    params: claimOf({ uid: undefined }),
  })),
]

const OTHERWISE: readonly Row[] = [
  row(OTHER, 'at other times', 'it is not at the claimed times, from the first look on', () => ({
    ...made(ELSEWHEN),
    params,
  })),
  row(OTHER, 'at other times, by its id', 'it is not at the claimed times, from the first look on', () => ({
    ...made(ELSEWHEN),
    params: byId,
  })),
  row(OTHER, 'with another end', 'it is not as claimed', () => ({
    ...made({ end: { dateTime: '2026-03-16T16:00:00+01:00' } }),
    params,
  })),
  row(OTHER, 'an hour off, as the offset was forgotten', 'Google tells local times with their offset', () => ({
    ...made(),
    params: claimOf({ uid: UID, start: '2026-03-16T15:00:00Z', end: '2026-03-16T15:30:00Z' }),
  })),
  row(OTHER, 'there for a week at other times, as changing it was refused', 'it never was as claimed', () => ({
    ...made(ELSEWHEN, -7 * DAY),
    params,
  })),
  row(
    OTHER_UNTOLD,
    'at other times, never changed, submitted after 20 minutes',
    'updated is created: it never was otherwise',
    () => ({
      ...made(ELSEWHEN),
      params,
      submittedMs: 20 * MINUTE,
    }),
  ),
  row(OTHER_UNTOLD, 'a day, claimed with its last day as the end', 'end.date is exclusive', () => ({
    ...made({ start: { date: '2026-03-16' }, end: { date: '2026-03-17' } }),
    params: claimOf({ uid: UID, start: '2026-03-16', end: '2026-03-16' }),
  })),
  row(OTHER_UNTOLD, 'a day, claimed from midnight to midnight', 'a day is no two instants', () => ({
    ...made({ start: { date: '2026-03-16' }, end: { date: '2026-03-17' } }),
    params: claimOf({ uid: UID, start: '2026-03-16T00:00:00+01:00', end: '2026-03-17T00:00:00+01:00' }),
  })),
  row(OTHER_UNTOLD, 'from midnight to midnight, claimed as a day', 'two instants are no day', () => ({
    ...made({ start: { dateTime: '2026-03-16T00:00:00+01:00' }, end: { dateTime: '2026-03-17T00:00:00+01:00' } }),
    params: claimOf({ uid: UID, start: '2026-03-16', end: '2026-03-17' }),
  })),
  row(
    ['other', 'mismatch', 'failed', 'unverifiable'],
    'the UID of one event and the id of another',
    'both have to be of one event',
    () => ({
      google: {
        agenda: agenda()
          .insert(-DAY, { ...ELSEWHEN, id: idOf('another') })
          .insert(0),
      },
      params: claimOf({ uid: UID, event_id: idOf('another') }),
    }),
  ),
  row(
    ['other', 'mismatch', 'failed', 'unverifiable'],
    'the id of an event, and the UID of none',
    'both have to be of one event',
    () => ({
      ...made(),
      params: claimOf({ uid: 'another@google.com', event_id: ID }),
    }),
  ),
  row(OTHER_UNTOLD, 'a series, claimed at its second instance', 'the event starts with the first', () => ({
    ...made(SERIES),
    params: claimOf({ uid: UID, ...TUESDAY }),
  })),
  row(
    OTHER_UNTOLD,
    'a series, claimed at the time of an exception',
    'an exception shares the iCalUID, and is one instance',
    () => ({
      google: {
        agenda: agenda()
          .insert(0, { ...SERIES, ...ELSEWHEN })
          .insert(0, { ...AT, ...instanceOf('20260318') }),
      },
      params,
    }),
  ),
  row(
    OTHER_UNTOLD,
    'a series, claimed at the time of an exception that the list shows first',
    'the order of the list is unspecified',
    () => ({
      google: {
        agenda: agenda()
          .insert(0, { ...AT, ...instanceOf('20260318') })
          .insert(0, { ...SERIES, ...ELSEWHEN }),
      },
      params,
    }),
  ),
  row(
    OTHER_UNTOLD,
    'an exception alone, whose series is in another calendar',
    'the guest of one instance has no series',
    () => ({
      ...made({ ...ELSEWHEN, ...instanceOf('20260316'), organizer: OTHER_CALENDAR, originalStartTime: AT.start }),
      params,
    }),
  ),
  row(OTHER, 'a private event at other times, to a reader', 'a reader sees the times of private events', () => ({
    google: {
      agenda: agenda().insert(0, { ...ELSEWHEN, extra: { visibility: 'private' } }),
      roles: { [CALENDAR]: 'reader' },
    },
    params: byId,
  })),
]

/** A series whose only event was taken out, so that no calendar shows one. */
const EMPTIED: readonly Row[] = (
  [
    ['by its rule', agenda().insert(0, { recurrence: ['RRULE:FREQ=DAILY;COUNT=1', 'EXDATE:20260316T140000Z'] })],
    ['as its rule is of another day', agenda().insert(0, { recurrence: ['RRULE:FREQ=WEEKLY;BYDAY=TU'] })],
    [
      'in its zone',
      agenda().insert(0, { recurrence: ['RRULE:FREQ=DAILY', 'EXDATE;TZID=Europe/Berlin:20260316T150000'] }),
    ],
    [
      'as one that was cancelled',
      agenda()
        .insert(0, { recurrence: ['RRULE:FREQ=DAILY;COUNT=1'] })
        .insert(0, { ...AT, ...instanceOf('20260316'), originalStartTime: AT.start, status: 'cancelled' }),
    ],
  ] as const
).flatMap(([how, events]) =>
  [params, byId].map((one) =>
    row(
      UNKNOWABLE,
      `a series without its first event, ${how}${one === byId ? ', by its id' : ''}`,
      'nothing takes place at the start of the series',
      () => ({ google: { agenda: events }, params: one }),
    ),
  ),
)

export const GOOGLE_FALSE: readonly Row[] = [...NEVER, ...OTHERWISE, ...EMPTIED]
