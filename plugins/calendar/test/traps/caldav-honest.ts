/** Claims of events on CalDAV servers that were made, in circumstances that are common, and of those that were made late. */
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
  HOUR,
  instead,
  LATE,
  MINUTE,
  NAME,
  PLAN,
  type Row,
  rowsOf,
  SECOND,
  TRUE,
  TRUE_MAYBE,
  WORK,
  written,
} from './row.ts'
import { CUT, DOWN, MAINTENANCE } from './troubles.ts'

const row = rowsOf('caldav')
const params = claimOf()
const long = `040000008200E00074C5B7101A82E00800000000${'B03915CCC856D701'.repeat(4)}10000000`

/** An object in the usual calendar. */
const put = (content: string, kind: Kind = 'radicale') => ({ caldav: { kind, diary: written(content, { kind }) } })
const untouched = objectOf()
const series = eventOf({ lines: ['RRULE:FREQ=WEEKLY;COUNT=6'] })
const exception = eventOf({ times: OTHER_TIMES, lines: ['RECURRENCE-ID:20260323T140000Z'] })

/** A calendar of so many other events, among which the claimed one is the last. */
function crowded(count: number, uidOf: (index: number) => string, kind: Kind = 'radicale') {
  const diary = diaryAt(kind)
  for (let index = 0; index < count; index++)
    diary.put(-HOUR, calendarAt(kind), `${index}.ics`, objectOf({ uid: uidOf(index), times: OTHER_TIMES }))
  return diary.put(0, calendarAt(kind), 'last.ics', untouched)
}

const PLAIN: readonly Row[] = [
  ...(['radicale', 'sabre', 'apple'] as const).map((kind) =>
    row(TRUE, `an event at ${kind}`, 'it is there, as claimed', () => ({
      ...put(untouched, kind),
      params,
      facts: { status: 'confirmed', all_day: false, is_recurring: false },
    })),
  ),
  row(TRUE, 'the UID alone is claimed', 'the claim says nothing of times', () => ({
    ...put(objectOf({ times: OTHER_TIMES })),
    params: claimOf({ start: undefined, end: undefined }),
  })),
  row(TRUE, 'the start alone is claimed', 'the claim says nothing of the end', () => ({
    ...put(objectOf({ times: [TIMES[0]!, 'DTEND:20260316T160000Z'] })),
    params: claimOf({ end: undefined }),
  })),
  row(TRUE, 'a tentative event', 'RFC 5545 3.8.1.11: it is in the calendar', () => ({
    ...put(objectOf({ lines: ['STATUS:TENTATIVE'] })),
    params,
    facts: { status: 'tentative' },
  })),
  row(TRUE, 'the copy of an attendee', 'the calendar has the event, whoever organizes it', () => ({
    ...put(
      objectOf({
        lines: ['ORGANIZER:mailto:boss@other.example', `ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:${ATTENDEE}`],
      }),
    ),
    params,
  })),

  // Where it lies, and who reads it.
  ...(
    [
      ['20260311T093000Z-17.ics', 'a name of the time'],
      ['C7614CFF-3549-4A00-9152-D25CC1FE077D.ics', 'the UID in capitals, as Apple writes it'],
      [`${OTHER_UID}.ics`, 'the UID of another event'],
      ['Nora & Ann (1).ics', 'a name that has to be escaped'],
      ['event', 'a name without an ending'],
    ] as const
  ).map(([name, what]) =>
    row(TRUE, `under ${what}`, 'RFC 4791 5.3.2: the name of an object says nothing of its UID', () => ({
      caldav: { diary: written(untouched, { name }) },
      params,
    })),
  ),
  row(
    TRUE,
    'beside another event under the name of its UID',
    'suitenumerique/messages 752: names are not UIDs',
    () => ({
      caldav: {
        diary: diaryAt()
          .put(-DAY, WORK, NAME, objectOf({ uid: OTHER_UID, times: OTHER_TIMES }))
          .put(0, WORK, 'two.ics', untouched),
      },
      params,
    }),
  ),
  ...(['team plan', 'a@b', 'équipe'] as const).map((name) =>
    row(TRUE, `in the calendar ${name}`, 'the target is encoded as the server tells it', () => {
      const path = calendarAt('radicale', name)
      const diary = diaryAt().make(-DAY, path).put(0, path, NAME, untouched)
      const target = `caldav:dav.example.com/ann/${encodeURIComponent(name).replace('%40', '@')}`
      return { caldav: { diary }, params, target }
    }),
  ),
  row(
    ['in time', 'verified', 'unverifiable', 'refused'],
    'in a calendar whose path Nextcloud tells with %40',
    'sabre/dav escapes @, and %40 and @ are one address',
    () => {
      const path = calendarAt('sabre', 'ann@acme')
      const diary = diaryAt('sabre').make(-DAY, path).put(0, path, NAME, untouched)
      const target = 'caldav:dav.example.com/remote.php/dav/calendars/ann/ann@acme'
      return { caldav: { kind: 'sabre', diary }, params, target }
    },
  ),
  ...['caldav:dav.example.com/ann/work/', 'caldav:DAV.Example.com/ann/work', 'caldav:dav.example.com:443/ann/work'].map(
    (target) =>
      row(TRUE, `the target ${target}`, 'it is another form of the same address', () => ({
        ...put(untouched),
        params,
        target,
      })),
  ),
  ...(['radicale', 'sabre', 'apple'] as const).map((kind) =>
    row(TRUE, `shared with the auditor who reads it at ${kind}`, 'who may read may see it', () => ({
      caldav: { kind, diary: written(untouched, { kind }), shares: { [calendarAt(kind)]: 'read' }, isAuditor: true },
      params,
    })),
  ),
  row(TRUE, 'confidential, in a shared calendar', 'Nextcloud shows its times to others, and the word Busy', () => ({
    caldav: {
      ...{ kind: 'sabre', hidesPrivate: true, isAuditor: true, shares: { [calendarAt('sabre')]: 'read' } },
      diary: written(objectOf({ lines: ['CLASS:CONFIDENTIAL'] }), { kind: 'sabre' }),
    },
    params,
  })),
  row(TRUE, 'private, read by the owner', 'nothing is hidden from the owner', () => ({
    caldav: {
      kind: 'sabre',
      hidesPrivate: true,
      diary: written(objectOf({ lines: ['CLASS:PRIVATE'] }), { kind: 'sabre' }),
    },
    params,
  })),
  row(TRUE, 'at a server that tells no owner', 'RFC 3744 asks for that property, and CalDAV servers lack it', () => ({
    caldav: { diary: written(), lacks: ['owner', 'current-user-principal', 'current-user-privilege-set'] },
    params,
  })),
  row(TRUE, 'beside events whose UIDs contain the claimed one', 'RFC 4791 9.7.5: text-match finds substrings', () => ({
    caldav: { diary: crowded(6, (index) => `${UID}-${index}`) },
    params,
  })),
  row(
    TRUE,
    'beside one whose UID differs in case',
    'RFC 4791 7.5: without a collation, case does not matter to the filter',
    () => ({
      caldav: { diary: crowded(1, () => UID.toUpperCase()) },
      params,
    }),
  ),
  row(
    TRUE,
    'among 300 events, at a server that skips the filter',
    'python-caldav 72: Google returns the whole collection',
    () => ({
      caldav: { uidFilter: 'all', diary: crowded(300, (index) => `other-${index}@acme.example`) },
      params,
    }),
  ),
  row(TRUE_MAYBE, 'at a server that finds nothing by UID', 'caldav4j 65: Yandex knows no filter by UID', () => ({
    caldav: { uidFilter: 'nothing', diary: written() },
    params,
  })),
  row(TRUE_MAYBE, 'at a server that refuses the filter', 'RFC 4791 7.8: CALDAV:supported-filter', () => ({
    caldav: { kind: 'sabre', uidFilter: 'refused', diary: written(untouched, { kind: 'sabre' }) },
    params,
  })),
]

const CONTENT: readonly Row[] = [
  ...['20010101T000000Z', '20400101T000000Z'].map((stamp) =>
    row(TRUE, `dated ${stamp} by its author`, 'DTSTAMP, CREATED and LAST-MODIFIED are the author\u2019s', () => ({
      ...put(objectOf({ stamp, lines: [`CREATED:${stamp}`, `LAST-MODIFIED:${stamp}`] })),
      params,
    })),
  ),
  row(TRUE, 'a UID of Outlook, on two lines', 'RFC 5545 3.1: long lines are folded', () => ({
    ...put(objectOf({ uid: long })),
    params: claimOf({ uid: long }),
  })),
  row(TRUE, 'a UID with an address', 'RFC 5545 3.8.4.7 has it in this form', () => ({
    ...put(objectOf({ uid: '19960401T080045Z-4000F192713-0052@example.com' })),
    params: claimOf({ uid: '19960401T080045Z-4000F192713-0052@example.com' }),
  })),
  ...(
    [
      ['q&a<7>@acme', 'q&a<7>@acme'],
      ['deploy\\, 7\\; b', 'deploy, 7; b'],
      ['réunion-7', 'réunion-7'],
    ] as const
  ).map(([uid, claimed]) =>
    row(['in time', 'verified', 'refused', 'unverifiable'], `the UID ${claimed}`, 'a UID is any text', () => ({
      ...put(objectOf({ uid })),
      params: claimOf({ uid: claimed }),
    })),
  ),
  row(TRUE, 'properties in small letters', 'RFC 5545 2: names have no case', () => ({
    ...put(
      untouched.replace(/^(UID|DTSTART|DTEND)/gm, (name) => name.toLowerCase()),
      'sabre',
    ),
    params,
  })),
  row(TRUE, 'lines that end with a line feed', 'many clients write so, and servers take it', () => ({
    ...put(untouched.replaceAll('\r\n', '\n'), 'sabre'),
    params,
  })),
  row(TRUE, 'a description that folds, with the words of properties in it', 'a folded line is one line', () => ({
    ...put(
      objectOf({
        lines: [
          `DESCRIPTION:see\\nUID:${OTHER_UID}\\n`,
          ` UID:${OTHER_UID}`,
          '\tDTSTART:20270101T000000Z',
          'LOCATION:Room 7',
        ],
      }),
    ),
    params,
  })),
  row(TRUE, 'a description with the end of a verbatim part', 'XML: ]]> ends it, and is split', () => ({
    ...put(objectOf({ lines: ['DESCRIPTION:a[b[0]]>c and <d>&amp\\;'] }), 'apple'),
    params,
  })),
  row(TRUE, 'an alarm with a UID of its own', 'RFC 9074 4 gives alarms UIDs', () => ({
    ...put(
      objectOf({
        lines: ['BEGIN:VALARM', `UID:${OTHER_UID}`, 'ACTION:DISPLAY', 'TRIGGER:-PT15M', 'DURATION:PT5M', 'END:VALARM'],
      }),
    ),
    params,
  })),
  row(TRUE, 'a parameter in quotes with a colon in it', 'RFC 5545 3.2: quotes may hold : and ;', () => ({
    ...put(
      objectOf({ times: ['DTSTART;X-SAID="at: 9; not DTSTART:20270101T000000Z":20260316T140000Z', TIMES[1]!] }),
      'sabre',
    ),
    params,
  })),
  row(TRUE, 'a series, by its first times', 'DTSTART is that of the first instance', () => ({
    ...put(calendarOf(series)),
    params,
    facts: { is_recurring: true },
  })),
  row(
    TRUE,
    'a series with one instance at another time',
    'RECURRENCE-ID marks an exception, the rest is as it was',
    () => ({
      ...put(calendarOf(series, exception)),
      params,
    }),
  ),
  row(TRUE, 'a series whose exception comes first', 'RFC 5545 puts components into no order', () => ({
    ...put(calendarOf(exception, series)),
    params,
  })),
  row(TRUE, 'a series whose zone comes last', 'RFC 5545 puts components into no order', () => ({
    ...put(
      calendarOf(
        eventOf({ times: inZone('Europe/Berlin', '20260316T150000', '20260316T153000'), lines: ['RRULE:FREQ=DAILY'] }),
        zoneOf('Europe/Berlin'),
      ),
    ),
    params,
  })),
  row(
    TRUE_MAYBE,
    'one instance, to which alone the owner is invited',
    'RFC 4791 4.1 allows exceptions without a series',
    () => ({
      ...put(calendarOf(eventOf({ lines: ['RECURRENCE-ID:20260316T140000Z'] })), 'sabre'),
      params,
    }),
  ),
]

const MOMENTS: readonly Row[] = [
  row(TRUE, 'put after 90 seconds', 'it came within the tolerance', () => ({
    caldav: { diary: written(untouched, { afterMs: 90 * SECOND }) },
    params,
  })),
  row(TRUE, 'put with other times, and changed after five minutes', 'it became so within the tolerance', () => ({
    caldav: { diary: written(objectOf({ times: OTHER_TIMES })).put(5 * MINUTE, WORK, NAME, untouched) },
    params,
  })),
  row(TRUE, 'changed after five minutes into another', 'it was seen before', () => ({
    caldav: { diary: written().put(5 * MINUTE, WORK, NAME, objectOf({ times: OTHER_TIMES })) },
    params,
  })),
  row(TRUE, 'removed after five minutes', 'it was seen before', () => ({
    caldav: { diary: written().remove(5 * MINUTE, WORK, NAME) },
    params,
  })),
  row(TRUE, 'renamed after two minutes, submitted then', 'a name is not the event', () => ({
    caldav: { diary: written().move(2 * MINUTE, [WORK, NAME], [WORK, 'renamed.ics']) },
    params,
    submittedMs: 3 * MINUTE,
  })),
  row(TRUE, 'moved in after two minutes', 'it came within the tolerance', () => ({
    caldav: {
      diary: diaryAt()
        .put(-DAY, PLAN, NAME, untouched)
        .move(2 * MINUTE, [PLAN, NAME], [WORK, NAME]),
    },
    params,
  })),
  row(TRUE, 'removed and put again under another name', 'it is there', () => ({
    caldav: {
      diary: written()
        .remove(20 * SECOND, WORK, NAME)
        .put(40 * SECOND, WORK, 'again.ics', untouched),
    },
    params,
    submittedMs: MINUTE,
  })),
  row(TRUE_MAYBE, 'there for a week already', 'the claim says that it is in the calendar', () => ({
    caldav: { diary: written(untouched, { afterMs: -7 * DAY }) },
    params,
  })),
  row(
    TRUE_MAYBE,
    'untouched, submitted after half an hour',
    'Last-Modified is of the server, though a move keeps it',
    () => ({
      caldav: { diary: written() },
      params,
      submittedMs: 30 * MINUTE,
    }),
  ),
  row(TRUE, 'modified in an hour, by the server', 'a clock of the storage that is ahead says nothing', () => ({
    caldav: { diary: diaryAt().put(0, WORK, NAME, untouched, HOUR) },
    params,
  })),
  row(TRUE, 'restored from a backup with an old time, at once', 'it is there, whatever its file says', () => ({
    caldav: { diary: diaryAt().put(0, WORK, NAME, untouched, -30 * DAY) },
    params,
  })),
  row(TRUE, 'seen through a replica that is 20 seconds behind', 'it is shown within the tolerance', () => ({
    caldav: { diary: written() },
    params,
    lag: { byMs: 20 * SECOND, untilMs: DAY },
  })),
  ...(
    [
      [DOWN, 'down'],
      [MAINTENANCE, 'in maintenance'],
      [CUT, 'with answers that are cut off'],
      [
        { status: 401, body: '', headers: { 'www-authenticate': 'Basic realm="Radicale"' } },
        'without its directory of users',
      ],
    ] as const
  ).map(([answer, what]) =>
    row(TRUE, `the server ${what} for three minutes`, 'it answers within the tolerance', () => ({
      caldav: { diary: written() },
      params,
      instead: instead(answer, { untilMs: 3 * MINUTE }),
    })),
  ),

  // Late ones.
  row(LATE, 'put after twelve minutes', 'the looks before did not show it', () => ({
    caldav: { diary: written(untouched, { afterMs: 12 * MINUTE }) },
    params,
  })),
  row(LATE, 'put after twelve minutes, dated as claimed', 'the dates in an object are the author\u2019s', () => ({
    caldav: {
      diary: written(objectOf({ lines: ['CREATED:20260311T093000Z', 'LAST-MODIFIED:20260311T093000Z'] }), {
        afterMs: 12 * MINUTE,
      }),
    },
    params,
  })),
  row(LATE, 'changed into what is claimed after 14 minutes', 'the looks before showed other times', () => ({
    caldav: { diary: written(objectOf({ times: OTHER_TIMES })).put(14 * MINUTE, WORK, NAME, untouched) },
    params,
  })),
  row(
    ['late', 'late', 'unverifiable'],
    'moved in after twelve minutes',
    'Radicale renames the file, whose time stays',
    () => ({
      caldav: {
        diary: written(untouched, { name: 'x.ics' })
          .move(1, [WORK, 'x.ics'], [PLAN, NAME])
          .move(12 * MINUTE, [PLAN, NAME], [WORK, NAME]),
      },
      params,
    }),
  ),
  row(
    ['late', 'late', 'unverifiable'],
    'restored after twelve minutes, with an old time',
    'a restored file keeps its time',
    () => ({
      caldav: { diary: diaryAt().put(12 * MINUTE, WORK, NAME, untouched, -DAY) },
      params,
    }),
  ),
  row(['late', 'failed'], 'put after the deadline', 'nothing showed it until then', () => ({
    caldav: { diary: written(untouched, { afterMs: 20 * MINUTE }) },
    params,
    deadlineMs: 12 * MINUTE,
  })),
]

export const CALDAV_HONEST: readonly Row[] = [...PLAIN, ...CONTENT, ...MOMENTS]
