/** Claims of events on CalDAV servers of which too little is shown: what was lost since, what came late with an early date, and what is hidden. */

import type { Answer } from '../../../../test/traps/scripted-server.ts'
import { calendarAt, type Kind } from './caldav-server.ts'
import { OTHER_TIMES, OTHER_UID, objectOf } from './icalendar.ts'
import {
  claimOf,
  DAY,
  diaryAt,
  HOUR,
  instead,
  LATE_UNTOLD,
  MINUTE,
  NAME,
  NOT_DONE,
  PLAN,
  type Row,
  rowsOf,
  SECOND,
  TRUE_MAYBE,
  TRUE_UNTOLD,
  WORK,
  written,
} from './row.ts'
import { CUT, DOWN, EMPTY, FILTERED, MAINTENANCE, NOTHING, SIGN_IN } from './troubles.ts'

const row = rowsOf('caldav')
const params = claimOf()
const untouched = objectOf()
const elsewhen = objectOf({ times: OTHER_TIMES })
const SABRE = calendarAt('sabre')

/** A calendar with another event, so that it is not empty. */
const busy = (kind: Kind = 'radicale') =>
  diaryAt(kind).put(-DAY, calendarAt(kind), 'other.ics', objectOf({ uid: OTHER_UID }))

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
  ...['403 Forbidden', '404 Not Found', '500 Internal Server Error'].flatMap((status) => {
    const body = `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:"><d:response><d:href>${WORK}/</d:href><d:status>HTTP/1.1 ${status}</d:status></d:response></d:multistatus>`
    const refusing = instead({ status: 207, headers: NOTHING.headers!, body }, { on: /^REPORT/ })
    return [
      row(TRUE_UNTOLD, `there, and the calendar answers ${status} within a report`, 'a refusal is no absence', () => ({
        caldav: { diary: written() },
        params,
        instead: refusing,
      })),
      row(NOT_DONE, `never put, and it answers ${status} within a report`, 'a refusal is no absence', () => ({
        caldav: { diary: busy() },
        params,
        instead: refusing,
      })),
    ]
  }),
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

export const CALDAV_HIDDEN: readonly Row[] = [...LOST, ...HIDDEN]
