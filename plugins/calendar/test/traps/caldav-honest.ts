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
import { claimOf, DAY, diaryAt, HOUR, NAME, type Row, rowsOf, TRUE, TRUE_MAYBE, WORK, written } from './row.ts'

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

  // Rows about the place of the object, and its reader.
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
  row(TRUE, 'a series on Mondays', 'its first event is of its rule', () => ({
    ...put(
      calendarOf(
        zoneOf('Europe/Berlin'),
        eventOf({
          times: inZone('Europe/Berlin', '20260316T150000', '20260316T153000'),
          lines: ['RRULE:FREQ=WEEKLY;COUNT=6;BYDAY=MO'],
        }),
      ),
    ),
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

export const CALDAV_HONEST: readonly Row[] = [...PLAIN, ...CONTENT]
