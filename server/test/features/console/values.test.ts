import { relative } from '@claimcheck/server/web/parts/values'
import t from 'tap'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

t.test('times are told as the nearest count of their largest unit', async (t) => {
  const rows: [ms: number, future: string, past: string][] = [
    [0, 'now', 'now'],
    [499, 'now', 'now'],
    [SECOND, 'in 1 sec.', '1 sec. ago'],
    [MINUTE - SECOND, 'in 59 sec.', '59 sec. ago'],
    [MINUTE - 1, 'in 1 min.', '1 min. ago'],
    [HOUR - MINUTE, 'in 59 min.', '59 min. ago'],
    [HOUR - SECOND, 'in 1 hr.', '1 hr. ago'],
    [2 * HOUR - SECOND, 'in 2 hr.', '2 hr. ago'],
    [DAY - HOUR, 'in 23 hr.', '23 hr. ago'],
    [DAY - SECOND, 'in 1 day', '1 day ago'],
    [7 * DAY - 1, 'in 7 days', '7 days ago'],
    [7 * DAY - 5 * SECOND, 'in 7 days', '7 days ago'],
    [7 * DAY + HOUR, 'in 7 days', '7 days ago'],
  ]
  for (const [ms, future, past] of rows) {
    t.equal(relative(ms), future)
    t.equal(relative(-ms), past)
  }
})
