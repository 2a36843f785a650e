/** Claims of events on CalDAV servers that were not made, or not there, and those of which the server shows too little. */
import { calendarAt, type Kind } from './caldav-server.ts'
import { ATTENDEE, calendarOf, eventOf, OTHER_TIMES, OTHER_UID, objectOf, UID } from './icalendar.ts'
import {
  claimOf,
  DAY,
  diaryAt,
  FAILED,
  FAILED_MAYBE,
  HOUR,
  instead,
  LATE_UNTOLD,
  MINUTE,
  NAME,
  NOT_DONE,
  OTHER,
  OTHER_UNTOLD,
  PLAN,
  type Row,
  rowsOf,
  SECOND,
  TRUE_MAYBE,
  TRUE_UNTOLD,
  UNTOLD,
  WORK,
  written,
} from './row.ts'
import type { Answer } from './server.ts'
import { CUT, DOWN, EMPTY, FILTERED, MAINTENANCE, NOTHING, SIGN_IN } from './troubles.ts'

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

/** It came about, and what the server shows later does not say when, or that. */
const LOST: readonly Row[] = [
  ...(
    [
      ['removed after three minutes', () => written().remove(3 * MINUTE, WORK, NAME)],
      ['changed after three minutes', () => written().put(3 * MINUTE, WORK, NAME, elsewhen)],
      ['moved away after three minutes', () => written().move(3 * MINUTE, [WORK, NAME], [PLAN, NAME])],
      ['in a calendar that was removed after three minutes', () => written().drop(3 * MINUTE, WORK)],
      [
        'in a calendar that was removed and made again',
        () =>
          written()
            .drop(3 * MINUTE, WORK)
            .make(4 * MINUTE, WORK),
      ],
      [
        'cleared by the upload of a calendar',
        () =>
          written()
            .remove(3 * MINUTE, WORK, NAME)
            .put(3 * MINUTE, WORK, 'z.ics', objectOf({ uid: OTHER_UID })),
      ],
    ] as const
  ).map(([title, diary]) =>
    row(TRUE_UNTOLD, `${title}, submitted after eight`, 'nothing shows what was before', () => ({
      caldav: { diary: diary() },
      params,
      submittedMs: 8 * MINUTE,
    })),
  ),
  row(
    ['in time', 'unverifiable', 'verified'],
    'cancelled after three minutes, submitted after eight',
    'it was there before it was cancelled',
    () => ({
      caldav: { diary: written().put(3 * MINUTE, WORK, NAME, objectOf({ lines: ['STATUS:CANCELLED'] })) },
      params,
      submittedMs: 8 * MINUTE,
    }),
  ),
  row(
    ['in time', 'unverifiable', 'failed'],
    'removed before the first look',
    'what came and went between reads leaves no trace',
    () => ({
      caldav: { diary: written().remove(500, WORK, NAME) },
      params,
    }),
  ),
  row(
    ['in time', 'unverifiable', 'mismatch', 'failed'],
    'changed before the first look',
    'what came and went between reads leaves no trace',
    () => ({
      caldav: { diary: written().put(500, WORK, NAME, elsewhen) },
      params,
    }),
  ),
  row(
    TRUE_UNTOLD,
    'changed after three minutes, while the server was down',
    'it was so in time, and nobody saw it',
    () => ({
      caldav: { diary: written().put(3 * MINUTE, WORK, NAME, elsewhen) },
      params,
      instead: instead(DOWN, { untilMs: 5 * MINUTE }),
    }),
  ),
  row(TRUE_UNTOLD, 'changed after 20 minutes, submitted then', 'Last-Modified is of the change', () => ({
    caldav: { diary: written().put(20 * MINUTE, WORK, NAME, elsewhen) },
    params,
    submittedMs: 21 * MINUTE,
  })),
  row(
    ['in time', 'unverifiable', 'verified'],
    'annotated after 20 minutes, submitted then',
    'Last-Modified is of the annotation',
    () => ({
      caldav: { diary: written().put(20 * MINUTE, WORK, NAME, objectOf({ lines: ['DESCRIPTION:More'] })) },
      params,
      submittedMs: 21 * MINUTE,
    }),
  ),

  // Late, and the server shows times before.
  row(LATE_UNTOLD, 'put after 20 minutes, submitted then', 'nobody looked before', () => ({
    caldav: { diary: written(untouched, { afterMs: 20 * MINUTE }) },
    params,
    submittedMs: 21 * MINUTE,
  })),
  row(
    LATE_UNTOLD,
    'put after 20 minutes, dated as claimed by its author, submitted then',
    'CREATED is the author\u2019s',
    () => ({
      caldav: {
        diary: written(objectOf({ lines: ['CREATED:20260311T093000Z', 'LAST-MODIFIED:20260311T093000Z'] }), {
          afterMs: 20 * MINUTE,
        }),
      },
      params,
      submittedMs: 21 * MINUTE,
    }),
  ),
  row(
    LATE_UNTOLD,
    'moved in after 20 minutes, submitted then',
    'Radicale renames the file: Last-Modified is of before the move',
    () => ({
      caldav: {
        diary: diaryAt()
          .put(0, PLAN, NAME, untouched)
          .move(20 * MINUTE, [PLAN, NAME], [WORK, NAME]),
      },
      params,
      submittedMs: 21 * MINUTE,
    }),
  ),
  row(
    LATE_UNTOLD,
    'restored after 20 minutes with its old time, submitted then',
    'a backup keeps the times of files',
    () => ({
      caldav: {
        diary: written(untouched, { afterMs: -HOUR })
          .remove(-30 * MINUTE, WORK, NAME)
          .put(20 * MINUTE, WORK, NAME, untouched, -HOUR),
      },
      params,
      submittedMs: 21 * MINUTE,
    }),
  ),
  row(LATE_UNTOLD, 'changed into what is claimed after 20 minutes, submitted then', 'it was otherwise before', () => ({
    caldav: { diary: written(elsewhen).put(20 * MINUTE, WORK, NAME, untouched) },
    params,
    submittedMs: 21 * MINUTE,
  })),
]

/** The server does not show it. */
const HIDDEN: readonly Row[] = [
  row(TRUE_UNTOLD, 'private, in a shared calendar', 'Nextcloud hides private events from others', () => ({
    caldav: {
      ...{ kind: 'sabre', hidesPrivate: true, isAuditor: true, shares: { [SABRE]: 'read' } },
      diary: written(objectOf({ lines: ['CLASS:PRIVATE'] }), { kind: 'sabre' }),
    },
    params,
  })),
  row(
    TRUE_UNTOLD,
    'private, in a calendar shared for writing',
    'Nextcloud hides private events from all others',
    () => ({
      caldav: {
        ...{ kind: 'sabre', hidesPrivate: true, isAuditor: true, shares: { [SABRE]: 'write' } },
        diary: written(objectOf({ lines: ['CLASS:PRIVATE'] }), { kind: 'sabre' }),
      },
      params,
    }),
  ),
  row(TRUE_UNTOLD, 'private, in a shared calendar whose owner is not told', 'who reads need not be the owner', () => ({
    caldav: {
      ...{ kind: 'sabre', hidesPrivate: true, isAuditor: true, shares: { [SABRE]: 'read' } },
      lacks: ['owner', 'current-user-principal', 'current-user-privilege-set'],
      diary: written(objectOf({ lines: ['CLASS:PRIVATE'] }), { kind: 'sabre' }),
    },
    params,
  })),
  ...(['radicale', 'sabre'] as const).flatMap((kind) => [
    row(TRUE_UNTOLD, `there, and not shared with who reads at ${kind}`, '403 and 404 hide', () => ({
      caldav: { kind, isAuditor: true, diary: written(untouched, { kind }) },
      params,
    })),
    row(NOT_DONE, `never put, and not shared with who reads at ${kind}`, '403 and 404 hide', () => ({
      caldav: { kind, isAuditor: true, diary: diaryAt(kind) },
      params,
    })),
  ]),
  row(
    TRUE_UNTOLD,
    'there, shared for the times of its events alone',
    'RFC 4791 6.1.1: read-free-busy shows no event',
    () => ({
      caldav: { isAuditor: true, shares: { [WORK]: 'free-busy' }, diary: written() },
      params,
    }),
  ),
  row(
    NOT_DONE,
    'never put, shared for the times of its events alone',
    'RFC 4791 6.1.1: read-free-busy shows no event',
    () => ({
      caldav: { isAuditor: true, shares: { [WORK]: 'free-busy' }, diary: diaryAt() },
      params,
    }),
  ),
  row(TRUE_UNTOLD, 'there, and the password is old', 'a refusal is no absence', () => ({
    caldav: { diary: written() },
    params,
    connection: { password: 'another-password' },
  })),
  row(NOT_DONE, 'never put, and the password is old', 'a refusal is no absence', () => ({
    caldav: { diary: diaryAt() },
    params,
    connection: { password: 'another-password' },
  })),
  ...([true, false] as const).map((isThere) =>
    row(
      isThere ? ['in time', 'unverifiable', 'verified'] : NOT_DONE,
      `${isThere ? 'there' : 'never put'}, beyond what one report shows`,
      'RFC 4791 7.8: 507 says that there is more',
      () => {
        const diary = diaryAt('sabre')
        for (let index = 0; index < 20; index++) diary.put(-HOUR, SABRE, `${index}.ics`, objectOf({ uid: `o${index}` }))
        return {
          caldav: {
            kind: 'sabre',
            uidFilter: 'all',
            mostItems: 10,
            diary: isThere ? diary.put(0, SABRE, 'z.ics', untouched) : diary,
          },
          params,
        }
      },
    ),
  ),
  ...([true, false] as const).map((isThere) =>
    row(
      isThere ? TRUE_UNTOLD : NOT_DONE,
      `${isThere ? 'there' : 'never put'}, and a cache answers an hour old report`,
      'Age says that the answer is old',
      () => ({
        caldav: { diary: isThere ? written() : busy() },
        params,
        instead: instead({ ...NOTHING, headers: { ...NOTHING.headers, age: '3600' } }, { on: /^REPORT/ }),
      }),
    ),
  ),
  row(TRUE_MAYBE, 'there, and the properties of the calendar are refused', 'the report shows it', () => ({
    caldav: { diary: written() },
    params,
    instead: instead({ status: 403, body: 'Forbidden' }, { on: /^PROPFIND/ }),
  })),
  row(NOT_DONE, 'never put, and the properties of the calendar are refused', 'nothing tells that all is shown', () => ({
    caldav: { diary: busy() },
    params,
    instead: instead({ status: 403, body: 'Forbidden' }, { on: /^PROPFIND/ }),
  })),
  row(
    TRUE_UNTOLD,
    'there, and reports are forbidden by a proxy',
    'a web server lets GET and POST through, and PROPFIND',
    () => ({
      caldav: { diary: written(untouched, { name: 'x.ics' }) },
      params,
      instead: instead({ status: 405, body: '<html><body>405 Not Allowed</body></html>' }, { on: /^REPORT/ }),
    }),
  ),
  ...(
    [
      [DOWN, 'the server down'],
      [MAINTENANCE, 'the server in maintenance'],
      [SIGN_IN, 'the page of a proxy'],
      [FILTERED, 'a filter that finds no page'],
      [EMPTY, 'an empty object'],
      [CUT, 'answers that are cut off'],
      [{ status: 207, body: '', headers: { 'content-type': 'application/xml' } }, 'an empty answer'],
      [
        { status: 301, body: '', headers: { location: 'https://p12-caldav.example.net/ann/work/' } },
        'a redirect to another host',
      ],
    ] satisfies readonly (readonly [Answer, string])[]
  ).flatMap(([answer, what]) => [
    row(TRUE_UNTOLD, `there, and ${what} for the whole life`, 'it tells neither presence nor absence', () => ({
      caldav: { diary: written() },
      params,
      instead: instead(answer),
    })),
    row(NOT_DONE, `never put, and ${what} to reports`, 'it tells neither presence nor absence', () => ({
      caldav: { diary: diaryAt() },
      params,
      instead: instead(answer, { on: /^REPORT/ }),
    })),
  ]),
  row(TRUE_UNTOLD, 'the object answers 403 within a report', 'a status in the answer is of that object', () => ({
    caldav: { diary: written() },
    params,
    instead: instead(
      {
        status: 207,
        headers: NOTHING.headers!,
        body: `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:"><d:response><d:href>${WORK}/${NAME}</d:href><d:status>HTTP/1.1 403 Forbidden</d:status></d:response></d:multistatus>`,
      },
      { on: /^(?:REPORT|GET)/ },
    ),
  })),
  row(TRUE_UNTOLD, 'the content of the object is missing from a report', 'a propstat of 500 says nothing', () => ({
    caldav: { diary: written() },
    params,
    instead: instead(
      {
        status: 207,
        headers: NOTHING.headers!,
        body: `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:response><d:href>${WORK}/${NAME}</d:href><d:propstat><d:prop><c:calendar-data/></d:prop><d:status>HTTP/1.1 500 Internal Server Error</d:status></d:propstat></d:response></d:multistatus>`,
      },
      { on: /^(?:REPORT|GET)/ },
    ),
  })),
  row(NOT_DONE, 'never put, and a replica that stands still for ten seconds', 'the looks are of before', () => ({
    caldav: { diary: busy() },
    params,
    lag: { byMs: 10 * SECOND, untilMs: DAY },
  })),
]

export const CALDAV_FALSE: readonly Row[] = [...NEVER, ...OTHERWISE, ...LOST, ...HIDDEN]
