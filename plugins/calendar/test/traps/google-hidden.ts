/** Claims of events at Google of which too little is shown: what was lost since, and what is hidden. */

import type { Answer } from '../../../../test/traps/scripted-server.ts'
import { CALENDAR, ELSEWHEN, idOf, OTHER_CALENDAR, UID } from './agenda.ts'
import type { Role } from './google-api.ts'
import { agenda, claimOf, DAY, instead, MINUTE, NOT_DONE, type Row, rowsOf, TRUE_UNTOLD } from './row.ts'
import {
  BACKEND_ERROR,
  DENIED,
  DOWN,
  EMPTY,
  FILTERED,
  NOT_FOUND,
  QUOTA_EXCEEDED,
  RATE_LIMITED,
  REVOKED,
  SIGN_IN,
} from './troubles.ts'

const row = rowsOf('google_calendar')
const params = claimOf({ uid: UID })
const other = () => agenda().insert(-DAY, { id: idOf('another') })

const LOST: readonly Row[] = [
  ...(
    [
      [
        'deleted',
        () =>
          agenda()
            .insert(0)
            .cancel(3 * MINUTE),
      ],
      [
        'moved away',
        () =>
          agenda()
            .insert(0)
            .move(3 * MINUTE, CALENDAR, OTHER_CALENDAR),
      ],
      [
        'changed',
        () =>
          agenda()
            .insert(0)
            .patch(3 * MINUTE, ELSEWHEN),
      ],
    ] as const
  ).map(([title, events]) =>
    row(
      ['in time', 'unverifiable', 'verified'],
      `${title} after three minutes, submitted after eight`,
      'it was there in time',
      () => ({
        google: { agenda: events() },
        params,
        submittedMs: 8 * MINUTE,
      }),
    ),
  ),
  row(
    ['in time', 'unverifiable', 'refused'],
    'deleted after three minutes and gone for good, submitted after 45 days',
    'cancelled events eventually disappear',
    () => ({
      google: {
        agenda: agenda()
          .insert(0)
          .cancel(3 * MINUTE)
          .purge(30 * DAY),
      },
      params,
      submittedMs: 45 * DAY,
    }),
  ),
  row(
    ['in time', 'unverifiable', 'verified', 'failed'],
    'deleted before the first look',
    'the cancelled event tells when',
    () => ({
      google: { agenda: agenda().insert(0).cancel(500) },
      params,
    }),
  ),
  row(
    ['in time', 'unverifiable', 'mismatch', 'failed'],
    'changed before the first look',
    'what came and went between reads leaves no trace',
    () => ({
      google: { agenda: agenda().insert(0).patch(500, ELSEWHEN) },
      params,
    }),
  ),
  row(TRUE_UNTOLD, 'changed after three minutes, while nobody could look', 'it was so in time', () => ({
    google: {
      agenda: agenda()
        .insert(0)
        .patch(3 * MINUTE, ELSEWHEN),
    },
    params,
    instead: instead(DOWN, { untilMs: 5 * MINUTE, on: /^GET/ }),
  })),
]

/** Both of what was made and what was not, where Google shows neither. */
function hidden(title: string, why: string, google: object, more: object = {}): readonly Row[] {
  return [
    row(TRUE_UNTOLD, `there, and ${title}`, why, () => ({
      google: { agenda: agenda().insert(0), ...google },
      params,
      ...more,
    })),
    row(NOT_DONE, `never made, and ${title}`, why, () => ({ google: { agenda: other(), ...google }, params, ...more })),
  ]
}

const HIDDEN: readonly Row[] = [
  ...hidden('the calendar is not shared', 'Google answers 404 for what is hidden', { roles: {} }),
  ...hidden('only busy times are shared', 'a freeBusyReader sees no event', {
    roles: { [CALENDAR]: 'freeBusyReader' } satisfies Record<string, Role>,
  }),
  ...hidden('the scope is another', '403 insufficientPermissions', {
    scopes: ['https://www.googleapis.com/auth/calendar.settings.readonly'],
  }),
  ...hidden(
    'the token is revoked',
    'invalid_grant is no absence',
    {},
    { connection: { refresh_token: '1//0g-refresh-of-yesterday' } },
  ),
  ...hidden('no token is given', 'invalid_grant is no absence', {}, { instead: instead(REVOKED, { on: /token$/ }) }),
  ...(
    [
      [DOWN, 'errors'],
      [BACKEND_ERROR, 'errors of the backend'],
      [SIGN_IN, 'the page of a proxy'],
      [FILTERED, 'a filter that finds no page'],
      [EMPTY, 'an empty object'],
      [NOT_FOUND, 'nothing found'],
      [DENIED, 'an API that is not switched on'],
      [RATE_LIMITED, 'too many requests'],
      [QUOTA_EXCEEDED, 'a quota that is used up'],
    ] satisfies readonly (readonly [Answer, string])[]
  ).flatMap(([answer, what]) =>
    hidden(
      `${what} for the whole life`,
      'it tells neither presence nor absence',
      {},
      { instead: instead(answer, { on: /^GET/ }) },
    ),
  ),
]

export const GOOGLE_HIDDEN: readonly Row[] = [...LOST, ...HIDDEN]
