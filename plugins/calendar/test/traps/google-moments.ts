/** Claims of events at Google by the time at which they were made, in time and late, seen by looks and by the times that Google tells. */
import { AT, CALENDAR, ELSEWHEN, type Given, ID, idOf, importedIdOf, OTHER_CALENDAR, UID } from './agenda.ts'
import {
  agenda,
  claimOf,
  DAY,
  HOUR,
  LATE,
  LATE_UNTOLD,
  MINUTE,
  type Row,
  rowsOf,
  SECOND,
  TRUE,
  TRUE_MAYBE,
} from './row.ts'

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

const MOMENTS: readonly Row[] = [
  row(TRUE, 'made after 90 seconds', 'it came within the tolerance', () => ({ ...made({}, 90 * SECOND), params })),
  row(TRUE, 'changed after five minutes into what is claimed', 'it became so within the tolerance', () => ({
    google: {
      agenda: agenda()
        .insert(0, ELSEWHEN)
        .patch(5 * MINUTE, AT),
    },
    params,
  })),
  row(TRUE, 'changed after five minutes into another', 'it was seen before', () => ({
    google: {
      agenda: agenda()
        .insert(0)
        .patch(5 * MINUTE, ELSEWHEN),
    },
    params,
  })),
  row(TRUE, 'deleted after five minutes', 'it was seen before', () => ({
    google: {
      agenda: agenda()
        .insert(0)
        .cancel(5 * MINUTE),
    },
    params,
  })),
  row(TRUE, 'deleted, and made again with another id and the same UID', 'the UID is in the calendar', () => ({
    google: {
      agenda: agenda()
        .insert(-HOUR)
        .cancel(-30 * MINUTE)
        .insert(0, { id: idOf('again'), iCalUID: UID }),
    },
    params,
  })),
  row(TRUE, 'restored at the claimed time', 'status confirmed brings a deleted event back', () => ({
    google: {
      agenda: agenda()
        .insert(-HOUR)
        .cancel(-30 * MINUTE)
        .restore(0),
    },
    params,
  })),
  row(TRUE_MAYBE, 'there for a week already', 'the claim says that it is in the calendar', () => ({
    ...made({}, -7 * DAY),
    params,
  })),
  row(
    TRUE,
    'made in time, submitted after half an hour',
    'created and updated are the server\u2019s, and say the same',
    () => ({
      ...made(),
      params,
      submittedMs: 30 * MINUTE,
    }),
  ),
  row(
    TRUE,
    'changed in time, submitted after half an hour',
    'updated is the server\u2019s: nothing changed since',
    () => ({
      google: {
        agenda: agenda()
          .insert(0, ELSEWHEN)
          .patch(2 * MINUTE, AT),
      },
      params,
      submittedMs: 30 * MINUTE,
    }),
  ),
  row(
    TRUE_MAYBE,
    'made in time, answered by a guest after 20 minutes, submitted then',
    'updated moves with each answer',
    () => ({
      google: {
        agenda: agenda()
          .insert(0)
          .patch(20 * MINUTE, { extra: { attendeesOmitted: true } }),
      },
      params,
      submittedMs: 30 * MINUTE,
    }),
  ),
  row(
    TRUE_MAYBE,
    'imported in time, submitted after half an hour',
    'what created means for copies is not documented',
    () => ({
      ...made(imported('1900-01-01T12:00:00.000Z')),
      params: claimOf({ uid: IMPORTED_UID }),
      submittedMs: 30 * MINUTE,
    }),
  ),

  // Late ones.
  row(LATE, 'made after twelve minutes', 'the looks before did not show it', () => ({
    ...made({}, 12 * MINUTE),
    params,
  })),
  row(LATE, 'made after twelve minutes, by its id', 'the looks before did not show it', () => ({
    ...made({}, 12 * MINUTE),
    params: byId,
  })),
  row(
    ['late', 'late', 'unverifiable'],
    'made after 20 minutes, submitted then',
    'created is the server\u2019s',
    () => ({
      ...made({}, 20 * MINUTE),
      params,
      submittedMs: 21 * MINUTE,
    }),
  ),
  row(LATE, 'changed after 14 minutes into what is claimed', 'the looks before showed other times', () => ({
    google: {
      agenda: agenda()
        .insert(0, ELSEWHEN)
        .patch(14 * MINUTE, AT),
    },
    params,
  })),
  ...(
    [
      [
        'moved in',
        () =>
          agenda()
            .insert(0, { calendar: OTHER_CALENDAR })
            .move(14 * MINUTE, OTHER_CALENDAR, CALENDAR),
      ],
      [
        'invited',
        () =>
          agenda()
            .insert(0, { calendar: OTHER_CALENDAR })
            .invite(14 * MINUTE, OTHER_CALENDAR, CALENDAR),
      ],
      [
        'restored',
        () =>
          agenda()
            .insert(-HOUR)
            .cancel(-30 * MINUTE)
            .restore(14 * MINUTE),
      ],
    ] as const
  ).map(([title, events]) =>
    row(
      ['late', 'late', 'unverifiable'],
      `${title} after 14 minutes`,
      'created is of before it was in this calendar',
      () => ({
        google: { agenda: events() },
        params,
      }),
    ),
  ),
  row(
    ['late', 'late', 'unverifiable'],
    'imported after 14 minutes, created in 1900',
    'created is no time of this calendar',
    () => ({
      google: { agenda: agenda().insert(14 * MINUTE, imported('1900-01-01T12:00:00.000Z')) },
      params: claimOf({ uid: IMPORTED_UID }),
    }),
  ),
  ...(
    [
      [
        'moved in',
        () =>
          agenda()
            .insert(0, { calendar: OTHER_CALENDAR })
            .move(20 * MINUTE, OTHER_CALENDAR, CALENDAR),
      ],
      [
        'invited',
        () =>
          agenda()
            .insert(0, { calendar: OTHER_CALENDAR })
            .invite(20 * MINUTE, OTHER_CALENDAR, CALENDAR),
      ],
      [
        'restored',
        () =>
          agenda()
            .insert(-HOUR)
            .cancel(-30 * MINUTE)
            .restore(20 * MINUTE),
      ],
      [
        'changed into what is claimed',
        () =>
          agenda()
            .insert(0, ELSEWHEN)
            .patch(20 * MINUTE, AT),
      ],
      [
        'deleted and restored',
        () =>
          agenda()
            .insert(-DAY, ELSEWHEN)
            .cancel(-HOUR)
            .restore(10)
            .patch(20 * MINUTE, AT),
      ],
    ] as const
  ).map(([title, events]) =>
    row(
      LATE_UNTOLD,
      `${title} after 20 minutes, submitted then`,
      'created is in time, and the event was not there so',
      () => ({
        google: { agenda: events() },
        params,
        submittedMs: 21 * MINUTE,
      }),
    ),
  ),
  row(
    LATE_UNTOLD,
    'imported after 20 minutes, created in 1900, submitted then',
    'created is no time of this calendar',
    () => ({
      google: { agenda: agenda().insert(20 * MINUTE, imported('1900-01-01T12:00:00.000Z')) },
      params: claimOf({ uid: IMPORTED_UID }),
      submittedMs: 21 * MINUTE,
    }),
  ),
  row(
    LATE_UNTOLD,
    'an invitation by mail after 20 minutes, made by its sender in time, submitted then',
    'a copy has the time of the original',
    () => ({
      google: { agenda: agenda().insert(20 * MINUTE, imported('2026-03-11T09:30:00.000Z')) },
      params: claimOf({ uid: IMPORTED_UID }),
      submittedMs: 21 * MINUTE,
    }),
  ),
]

export const GOOGLE_MOMENTS: readonly Row[] = [...MOMENTS]
