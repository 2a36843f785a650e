import { OTHER_TIMES, objectOf } from './icalendar.ts'
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

const untouched = objectOf()

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

export const CALDAV_MOMENTS: readonly Row[] = [...MOMENTS]
