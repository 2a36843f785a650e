/** Claims of events on CalDAV servers that were not made, or not there, and those of which the server shows too little. */
import { calendarAt, type Kind } from './caldav-server.ts'
import {
  ATTENDEE,
  calendarOf,
  eventOf,
  inZone,
  OTHER_TIMES,
  OTHER_UID,
  objectOf,
  TIMES,
  UID,
  zoneOf,
} from './icalendar.ts'
import {
  claimOf,
  DAY,
  diaryAt,
  FAILED,
  FAILED_MAYBE,
  MINUTE,
  NAME,
  NOT_DONE,
  OTHER,
  OTHER_UNTOLD,
  PLAN,
  type Row,
  rowsOf,
  TRUE_MAYBE,
  UNKNOWABLE,
  UNTOLD,
  WORK,
  written,
} from './row.ts'

const row = rowsOf('caldav')
const params = claimOf()
const untouched = objectOf()
const elsewhen = objectOf({ times: OTHER_TIMES })
const SABRE = calendarAt('sabre')

/** A calendar with another event, so that it is not empty. */
const busy = (kind: Kind = 'radicale') =>
  diaryAt(kind).put(-DAY, calendarAt(kind), 'other.ics', objectOf({ uid: OTHER_UID }))
/** An object of another event, which has the claimed UID somewhere in it. */
const mentions = (...lines: readonly string[]) => objectOf({ uid: OTHER_UID, lines })

/** Nothing was put, however the calendar is read. */
const NEVER: readonly Row[] = [
  ...(['radicale', 'sabre', 'apple'] as const).map((kind) =>
    row(FAILED, `never put, at ${kind}`, 'the whole calendar is the owner\u2019s to see', () => ({
      caldav: { kind, diary: busy(kind) },
      params,
    })),
  ),
  row(FAILED, 'never put, into an empty calendar', 'an empty calendar answers, too', () => ({
    caldav: { diary: diaryAt() },
    params,
  })),
  row(FAILED, 'put into the calendar beside it', 'the claim names a calendar', () => ({
    caldav: { diary: busy().put(0, PLAN, NAME, untouched) },
    params,
  })),
  row(FAILED, 'never put, and only the UID claimed', 'nothing is there', () => ({
    caldav: { diary: busy() },
    params: claimOf({ start: undefined, end: undefined }),
  })),
  row(FAILED_MAYBE, 'a UID in another case', 'the filter ignores case by default, a UID does not', () => ({
    caldav: { diary: written(objectOf({ uid: UID.toUpperCase() })) },
    params,
  })),
  ...[`${UID}-2`, `a-${UID}`, `${UID}@acme.example`].map((uid) =>
    row(FAILED, `the UID ${uid}`, 'RFC 4791 9.7.5: text-match finds substrings', () => ({
      caldav: { diary: written(objectOf({ uid })) },
      params,
    })),
  ),
  ...(
    [
      ['a description', ['DESCRIPTION:UID:', ` ${UID}`]],
      ['escaped line ends of a description', [`DESCRIPTION:x\\nUID:${UID}\\nDTSTART:20260316T140000Z`]],
      ['a folded line', ['DESCRIPTION:x', ` UID:${UID}`, ' DTSTART:20260316T140000Z']],
      ['a relation', [`RELATED-TO:${UID}`]],
      ['a property of its author', [`X-UID:${UID}`]],
      ['a parameter', [`ATTENDEE;X-NOTE="UID:${UID}":mailto:${ATTENDEE}`]],
      ['an alarm', ['BEGIN:VALARM', `UID:${UID}`, 'ACTION:DISPLAY', 'TRIGGER:-PT15M', 'END:VALARM']],
    ] as const
  ).map(([what, lines]) =>
    row(FAILED, `the UID in ${what} of another event, all of which are shown`, 'that is no UID of an event', () => ({
      caldav: { kind: 'sabre', uidFilter: 'all', diary: written(mentions(...lines), { kind: 'sabre', name: 'o.ics' }) },
      params,
    })),
  ),
  row(FAILED, 'the name of an object is the UID', 'RFC 4791 5.3.2: names say nothing', () => ({
    caldav: { diary: written(objectOf({ uid: OTHER_UID })) },
    params,
  })),
  ...(['VTODO', 'VJOURNAL'] as const).map((name) =>
    row(FAILED, `a ${name} of this UID`, 'it is no event', () => ({
      caldav: { diary: written(objectOf({ name, times: ['DTSTART:20260316T140000Z'] })) },
      params,
    })),
  ),
  row(
    FAILED,
    'an answer in the verbatim text of another event',
    'a server that skips the filter shows all, and CDATA is text',
    () => ({
      caldav: {
        ...{ kind: 'apple', uidFilter: 'all' },
        diary: written(
          objectOf({
            uid: `${UID}-2`,
            lines: [
              `DESCRIPTION:</calendar-data></prop></propstat></response><response><href>/a.ics</href><propstat><prop><calendar-data>BEGIN:VCALENDAR`,
              ` BEGIN:VEVENT`,
            ],
          }),
          { kind: 'apple' },
        ),
      },
      params,
    }),
  ),
  row(FAILED_MAYBE, 'removed yesterday', 'it is not there, and was not at the claimed time', () => ({
    caldav: { diary: written(untouched, { afterMs: -2 * DAY }).remove(-DAY, WORK, NAME) },
    params,
  })),
  row(FAILED_MAYBE, 'never put, at a server that skips the filter', 'all that it has is shown', () => ({
    caldav: { kind: 'sabre', uidFilter: 'all', diary: busy('sabre') },
    params,
  })),
  row(
    NOT_DONE,
    'never put, at a server that finds nothing by UID',
    'caldav4j 65: nothing is its answer to all',
    () => ({
      caldav: { uidFilter: 'nothing', diary: busy() },
      params,
    }),
  ),
  row(NOT_DONE, 'never put, at a server that refuses the filter', 'a refusal is no absence', () => ({
    caldav: { kind: 'sabre', uidFilter: 'refused', diary: busy('sabre') },
    params,
  })),
  row(NOT_DONE, 'never put, at a server that tells no owner', 'others may hide events from who reads', () => ({
    caldav: {
      kind: 'sabre',
      diary: busy('sabre'),
      lacks: ['owner', 'current-user-principal', 'current-user-privilege-set'],
    },
    params,
  })),
  row(NOT_DONE, 'never put, into a calendar of somebody else', 'Nextcloud hides private events from others', () => ({
    caldav: { kind: 'sabre', hidesPrivate: true, isAuditor: true, shares: { [SABRE]: 'read' }, diary: busy('sabre') },
    params,
  })),
  row(NOT_DONE, 'never put, read by an auditor of Radicale', 'nothing tells that this server hides nothing', () => ({
    caldav: { isAuditor: true, shares: { [WORK]: 'read' }, diary: busy() },
    params,
  })),
  row(NOT_DONE, 'a cancelled event, from the beginning', 'STATUS:CANCELLED: nobody will meet', () => ({
    caldav: { diary: written(objectOf({ lines: ['STATUS:CANCELLED'] })) },
    params,
  })),
  ...(
    [
      ['/ann/wrok', 'a calendar that is not there'],
      ['/ann', 'the place of all calendars, which has the event in one of them'],
      [`/ann/work/${NAME}`, 'the object itself'],
    ] as const
  ).map(([path, what]) =>
    row(['never', 'unverifiable', 'failed', 'refused'], `claimed in ${what}`, 'the target is no calendar', () => ({
      caldav: { diary: written() },
      params,
      target: `caldav:dav.example.com${path}`,
    })),
  ),
  row(NOT_DONE, 'claimed in an address book', 'the target is no calendar', () => ({
    caldav: { diary: diaryAt().make(-DAY, '/ann/cards', 'addressbook') },
    params,
    target: 'caldav:dav.example.com/ann/cards',
  })),
  row(NOT_DONE, 'claimed in the bin of removed events, which has it', 'Nextcloud answers reports there, too', () => ({
    caldav: { diary: diaryAt().make(-DAY, '/ann/trash', 'trash').put(0, '/ann/trash', NAME, untouched) },
    params,
    target: 'caldav:dav.example.com/ann/trash',
  })),
  ...['/ann/work/../plan', '/ann/work/%2e%2e/plan', '/ann/plan?x=/ann/work', '/ann/plan#/ann/work'].map((path) =>
    row(['never', 'refused', 'unverifiable'], `the target ${path}`, 'it leads to another calendar', () => ({
      caldav: { diary: diaryAt().put(0, PLAN, NAME, untouched) },
      params,
      target: `caldav:dav.example.com${path}`,
    })),
  ),
  row(UNTOLD, 'a target of another host', 'the connection is for one host', () => ({
    caldav: { diary: written() },
    params,
    target: 'caldav:dav.example.org/ann/work',
  })),
  ...[`${UID}</c:text-match>`, `${UID}"/><x y="`, '', ' '].map((uid) =>
    row(
      ['never', 'failed', 'unverifiable', 'refused'],
      `the UID ${JSON.stringify(uid)} is claimed`,
      'a UID is text, and no part of a query',
      () => ({
        caldav: { diary: written() },
        params: claimOf({ uid }),
      }),
    ),
  ),
]

/** Something else is there. */
const OTHERWISE: readonly Row[] = [
  row(
    OTHER,
    'there for a week with other times, as putting it was refused',
    'RFC 4791 5.3.2.1: no-uid-conflict',
    () => ({
      caldav: { diary: written(elsewhen, { afterMs: -7 * DAY, name: 'old.ics' }) },
      params,
    }),
  ),
  row(OTHER, 'at other times, dated as claimed by its author', 'only DTSTART and DTEND are its times', () => ({
    caldav: {
      diary: written(objectOf({ times: OTHER_TIMES, lines: ['X-DTSTART:20260316T140000Z', 'DUE:20260316T143000Z'] })),
    },
    params,
  })),
  row(
    OTHER,
    'at other times, with the claimed ones in a quoted parameter',
    'RFC 5545 3.2: a parameter is no value',
    () => ({
      caldav: {
        kind: 'sabre',
        diary: written(
          objectOf({ times: ['DTSTART;X-SAID="DTSTART:20260316T140000Z":20260317T090000Z', 'DTEND:20260317T093000Z'] }),
          { kind: 'sabre' },
        ),
      },
      params,
    }),
  ),
  row(OTHER, 'at other times, with the claimed ones in its alarm', 'an alarm is no event', () => ({
    caldav: {
      diary: written(
        objectOf({
          times: OTHER_TIMES,
          lines: [
            'BEGIN:VALARM',
            'ACTION:DISPLAY',
            'TRIGGER;VALUE=DATE-TIME:20260316T140000Z',
            'X-DTSTART:20260316T140000Z',
            'END:VALARM',
          ],
        }),
      ),
    },
    params,
  })),
  row(
    ['other', 'unverifiable'],
    'at other times, submitted after 20 minutes',
    'it may have been changed since',
    () => ({
      caldav: { diary: written(elsewhen) },
      params,
      submittedMs: 20 * MINUTE,
    }),
  ),
  row(
    ['other', 'unverifiable', 'mismatch', 'failed'],
    'two objects with this UID, neither at these times',
    'Nextcloud kept such before 2021',
    () => ({
      caldav: {
        kind: 'sabre',
        diary: written(elsewhen, { kind: 'sabre' }).put(
          1,
          SABRE,
          'two.ics',
          objectOf({ times: ['DTSTART:20260318T090000Z'] }),
        ),
      },
      params,
    }),
  ),
  row(
    TRUE_MAYBE,
    'two objects with this UID, one of them at these times',
    'a lax server has the claimed one, too',
    () => ({
      caldav: { kind: 'sabre', diary: written(untouched, { kind: 'sabre' }).put(1, SABRE, 'two.ics', elsewhen) },
      params,
    }),
  ),
  row(OTHER_UNTOLD, 'an exception alone, whose series would be at these times', 'the object has no series', () => ({
    caldav: {
      kind: 'sabre',
      diary: written(calendarOf(eventOf({ times: OTHER_TIMES, lines: ['RECURRENCE-ID:20260316T140000Z'] })), {
        kind: 'sabre',
      }),
    },
    params,
  })),
  row(OTHER, 'a confidential event at other times, in a shared calendar', 'Nextcloud shows its times', () => ({
    caldav: {
      ...{ kind: 'sabre', hidesPrivate: true, isAuditor: true, shares: { [SABRE]: 'read' } },
      diary: written(objectOf({ times: OTHER_TIMES, lines: ['CLASS:CONFIDENTIAL'] }), { kind: 'sabre' }),
    },
    params,
  })),
]

const SERIES = 'RRULE:FREQ=DAILY;COUNT=1'
const SUMMER_IN_WINTER = zoneOf('Europe/Berlin').replaceAll(
  /TZOFFSETTO:\+0([12])00/g,
  (_, hours) => `TZOFFSETTO:+0${3 - Number(hours)}00`,
)
/** An object that readers take in two ways, or an event that no calendar shows. */
const DISGUISED: readonly Row[] = (
  [
    ['a series whose only event is taken out', objectOf({ lines: [SERIES, 'EXDATE:20260316T140000Z'] })],
    [
      'a series whose only event is cancelled',
      calendarOf(
        eventOf({ lines: [SERIES] }),
        eventOf({ lines: ['RECURRENCE-ID:20260316T140000Z', 'STATUS:CANCELLED'] }),
      ),
    ],
    ['a series that ends before it begins', objectOf({ lines: ['RRULE:FREQ=DAILY;UNTIL=20260315T140000Z'] })],
    ['a series whose rule is of another day', objectOf({ lines: ['RRULE:FREQ=WEEKLY;BYDAY=TU,WE'] })],
    [
      'a zone with the offsets of summer in winter',
      calendarOf(SUMMER_IN_WINTER, eventOf({ times: inZone('Europe/Berlin', '20260316T150000', '20260316T153000') })),
    ],
    ['two starts', objectOf({ times: [...TIMES, 'DTSTART:20260317T090000Z'] })],
    ['an end, and a duration of nine hours', objectOf({ times: [...TIMES, 'DURATION:PT9H'] })],
    ['two states', objectOf({ lines: ['STATUS:CONFIRMED', 'STATUS:CANCELLED'] })],
    ['cancelled behind a quote that does not end', objectOf({ lines: ['STATUS;X-SAID="x:CANCELLED'] })],
    [
      'a start with a long s, which has an S as its capital',
      objectOf({ times: ['DT\u017fTART:20260316T140000Z', 'DTEND:20260316T143000Z'] }),
    ],
    [
      'in BST, which is Bangladesh\u2019s time for ICU',
      objectOf({ times: inZone('BST', '20260316T200000', '20260316T203000') }),
    ],
    [
      'two zones of one time',
      objectOf({ times: ['DTSTART;TZID=America/Lima;TZID=Europe/Berlin:20260316T150000', 'DTEND:20260316T143000Z'] }),
    ],
    [
      'two definitions of its zone',
      calendarOf(
        zoneOf('Europe/Berlin'),
        zoneOf('Europe/Berlin', '-0800'),
        eventOf({ times: inZone('Europe/Berlin', '20260316T150000', '20260316T153000') }),
      ),
    ],
  ] as const
).map(([title, content]) =>
  row(UNKNOWABLE, title, 'calendars show it in another way, or not at all', () => ({
    caldav: { kind: 'sabre', diary: written(content, { kind: 'sabre' }) },
    params,
  })),
)

export const CALDAV_FALSE: readonly Row[] = [...NEVER, ...OTHERWISE, ...DISGUISED]
