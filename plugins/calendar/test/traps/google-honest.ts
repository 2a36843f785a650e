/** Claims of events at Google that were made, in circumstances that are common, and of those that were made late. */
import { AT, CALENDAR, CREATOR, ELSEWHEN, type Given, ID, importedIdOf, OTHER_CALENDAR, UID } from './agenda.ts'
import { CALENDAR_READONLY } from './google-api.ts'
import { agenda, claimOf, DAY, HOUR, instead, MINUTE, type Row, rowsOf, SECOND, TRUE, TRUE_MAYBE } from './row.ts'
import { BACKEND_ERROR, DOWN, QUOTA_EXCEEDED, RATE_LIMITED, TOO_MANY, USER_RATE_LIMITED } from './troubles.ts'

const row = rowsOf('google_calendar')
const params = claimOf({ uid: UID })
const byId = claimOf({ uid: undefined, event_id: ID })
const made = (given: Given = {}, afterMs = 0) => ({ google: { agenda: agenda().insert(afterMs, given) } })

const IMPORTED_UID = '040000008200E00074C5B7101A82E008@outlook.example'
/** An event that events.import made: with the organizer and the UID of elsewhere, and an id that is made of the UID. */
const imported = (created: Given['created']): Given => ({
  id: importedIdOf(IMPORTED_UID),
  iCalUID: IMPORTED_UID,
  organizer: 'boss@partner.example',
  created,
  extra: { privateCopy: true },
})
const SERIES: Given = { recurrence: ['RRULE:FREQ=DAILY;COUNT=5'] }
const FIRST = `${ID}_20260316T140000Z`
/** A series, with exceptions that the list shows before it. */
function exceptions(count: number) {
  const events = agenda()
  for (let index = 0; index < count; index++)
    events.insert(-DAY, {
      ...ELSEWHEN,
      ...{ id: `${ID}_202604${String(index + 10)}T140000Z`, iCalUID: UID, recurringEventId: ID },
      originalStartTime: { dateTime: `2026-04-${index + 10}T16:00:00+02:00`, timeZone: 'Europe/Berlin' },
    })
  return events
}

const PLAIN: readonly Row[] = [
  row(TRUE, 'an event, by its UID', 'it is there, as claimed', () => ({
    ...made(),
    params,
    facts: { status: 'confirmed', all_day: false, organizer_is_calendar: true, event_id: ID },
  })),
  row(TRUE, 'an event, by its id', 'it is there, as claimed', () => ({ ...made(), params: byId })),
  row(TRUE, 'an event, by both', 'both are of one event', () => ({
    ...made(),
    params: claimOf({ uid: UID, event_id: ID }),
  })),
  row(TRUE, 'the UID alone is claimed', 'the claim says nothing of times', () => ({
    ...made(ELSEWHEN),
    params: claimOf({ uid: UID, start: undefined, end: undefined }),
  })),
  row(TRUE, 'an id of the agent\u2019s own', 'events.insert takes ids of base32hex', () => ({
    ...made({ id: 'release42' }),
    params: claimOf({ uid: undefined, event_id: 'release42' }),
  })),
  row(TRUE, 'a UID of the agent\u2019s own', 'events.insert takes an iCalUID in place of an id', () => ({
    ...made({ iCalUID: 'c7614cff-3549-4a00-9152-d25cc1fe077d' }),
    params: claimOf(),
  })),
  row(TRUE, 'claimed with another offset', 'it is the same instant', () => ({
    ...made(),
    params: claimOf({ uid: UID, start: '2026-03-16T10:00:00-04:00', end: '2026-03-16T19:30:00+05:00' }),
  })),
  row(TRUE, 'told in UTC', 'it is the same instant', () => ({
    ...made({
      start: { dateTime: '2026-03-16T14:00:00Z' },
      end: { dateTime: '2026-03-16T14:30:00Z', timeZone: 'UTC' },
    }),
    params,
  })),
  row(TRUE, 'a series on Tuesdays, told in UTC', 'its rule is about the days of its own zone', () => ({
    ...made({
      start: { dateTime: '2026-03-16T14:00:00Z', timeZone: 'Pacific/Auckland' },
      end: { dateTime: '2026-03-16T14:30:00Z', timeZone: 'Pacific/Auckland' },
      recurrence: ['RRULE:FREQ=WEEKLY;BYDAY=TU'],
    }),
    params,
  })),
  row(TRUE, 'a day', 'start.date and end.date, which is exclusive', () => ({
    ...made({ start: { date: '2026-03-16' }, end: { date: '2026-03-17' } }),
    params: claimOf({ uid: UID, start: '2026-03-16', end: '2026-03-17' }),
    facts: { all_day: true },
  })),
  row(TRUE, 'a tentative event', 'it is in the calendar', () => ({
    ...made({ status: 'tentative' }),
    params,
    facts: { status: 'tentative' },
  })),
  row(TRUE, 'with a description that changed meanwhile', 'its times are as claimed', () => ({
    google: {
      agenda: agenda()
        .insert(0)
        .patch(500, { extra: { description: 'More' } }),
    },
    params,
  })),
  ...(['writer', 'reader'] as const).map((role) =>
    row(TRUE, `read by a ${role}`, 'a reader sees events', () => ({
      google: { agenda: agenda().insert(0), roles: { [CALENDAR]: role } },
      params,
    })),
  ),
  row(TRUE, 'read with the wider scope', 'calendar.readonly holds calendar.events.readonly', () => ({
    google: { agenda: agenda().insert(0), scopes: [CALENDAR_READONLY] },
    params,
  })),
  ...(['de.german#holiday@group.v.calendar.google.com', CREATOR] as const).map((calendar) =>
    row(
      ['in time', 'verified', ...(calendar === CREATOR ? ([] as const) : (['refused'] as const))],
      `in the calendar ${calendar}`,
      'an id is escaped in an address',
      () => ({
        google: { agenda: agenda().insert(0, { calendar }), roles: { [calendar]: 'owner' } },
        params,
        target: `google:${calendar}`,
      }),
    ),
  ),
  row(TRUE_MAYBE, 'private, to a reader', 'a reader sees the times of private events', () => ({
    google: { agenda: agenda().insert(0, { extra: { visibility: 'private' } }), roles: { [CALENDAR]: 'reader' } },
    params: byId,
  })),

  // Copies.
  ...(['0000-12-29T00:00:00.000Z', '1900-01-01T12:00:00.000Z', undefined] as const).flatMap((created) => [
    row(TRUE, `imported, created ${created}`, 'Google tells no time of making for some copies', () => ({
      ...made(imported(created)),
      params: claimOf({ uid: IMPORTED_UID }),
      facts: { organizer_is_calendar: false },
    })),
    row(TRUE, `imported, created ${created}, by its id`, 'ids of imported events begin with an underscore', () => ({
      ...made(imported(created)),
      params: claimOf({ uid: undefined, event_id: importedIdOf(IMPORTED_UID) }),
    })),
  ]),
  row(TRUE, 'an invitation that came after 90 seconds', 'the copy is in the calendar, whoever organizes it', () => ({
    google: {
      agenda: agenda()
        .insert(-DAY, { calendar: OTHER_CALENDAR })
        .invite(90 * SECOND, OTHER_CALENDAR, CALENDAR),
    },
    params,
    facts: { organizer_is_calendar: false },
  })),
  row(TRUE, 'moved in after 90 seconds', 'it came within the tolerance', () => ({
    google: {
      agenda: agenda()
        .insert(-DAY, { calendar: OTHER_CALENDAR })
        .move(90 * SECOND, OTHER_CALENDAR, CALENDAR),
    },
    params,
  })),

  // Series.
  row(TRUE, 'a series, by its first times', 'start is that of the first instance', () => ({
    ...made(SERIES),
    params,
    facts: { is_recurring: true },
  })),
  row(TRUE, 'a series, by its id', 'start is that of the first instance', () => ({ ...made(SERIES), params: byId })),
  row(
    TRUE,
    'a series behind five exceptions',
    'all of a series share one iCalUID, and the order is unspecified',
    () => ({
      google: { agenda: exceptions(5).insert(0, SERIES) },
      params,
    }),
  ),
  row(TRUE, 'a series behind five exceptions, one on a page', 'nextPageToken: there is more', () => ({
    google: { agenda: exceptions(5).insert(0, SERIES), pageSize: 1 },
    params,
  })),
  row(TRUE, 'a series with a cancelled instance', 'a cancelled exception has an id, and no times', () => ({
    google: {
      agenda: agenda()
        .insert(-1, {
          id: `${ID}_20260317T140000Z`,
          iCalUID: UID,
          recurringEventId: ID,
          originalStartTime: ELSEWHEN.start,
          status: 'cancelled',
        })
        .insert(0, SERIES),
    },
    params,
  })),
  row(TRUE_MAYBE, 'one instance of a series, by its id', 'instances have ids of their own', () => ({
    ...made(SERIES),
    params: claimOf({ uid: undefined, event_id: FIRST }),
  })),
  row(TRUE_MAYBE, 'a moved instance of a series, by its id', 'an exception has times of its own', () => ({
    google: {
      agenda: agenda()
        .insert(-HOUR, { ...SERIES, ...ELSEWHEN })
        .insert(0, {
          ...AT,
          id: `${ID}_20260318T090000Z`,
          iCalUID: UID,
          recurringEventId: ID,
          originalStartTime: ELSEWHEN.start,
        }),
    },
    params: claimOf({ uid: undefined, event_id: `${ID}_20260318T090000Z` }),
  })),

  // Pages, lags and quotas.
  row(TRUE, 'behind two pages without an event', 'a page may have none at all, though there is more', () => ({
    google: { agenda: agenda().insert(0), emptyPages: 2 },
    params,
  })),
  row(TRUE, 'in a list that is 30 seconds behind', 'it is shown within the tolerance', () => ({
    google: { agenda: agenda().insert(0), listLagMs: 30 * SECOND },
    params,
  })),
  ...(
    [
      [RATE_LIMITED, 'too many requests with 403'],
      [USER_RATE_LIMITED, 'too many requests of the user'],
      [QUOTA_EXCEEDED, 'a quota that is used up'],
      [TOO_MANY, 'too many requests with 429'],
      [BACKEND_ERROR, 'an error of the backend'],
      [DOWN, 'nothing but errors'],
    ] as const
  ).map(([answer, what]) =>
    row(TRUE, `${what} for three minutes`, 'the guide to errors says to try again', () => ({
      ...made(),
      params,
      instead: instead(answer, { untilMs: 3 * MINUTE, on: /^GET/ }),
    })),
  ),
]

export const GOOGLE_HONEST: readonly Row[] = [...PLAIN]
