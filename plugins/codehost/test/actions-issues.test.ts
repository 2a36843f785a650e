/** What is reported of an issue that was closed, a row for each rule. */
import type { FoundIssue, Held, Issue, Log } from '@claimcheck/plugin-codehost/provider'
import t from 'tap'
import { ABSENT, absent, acting, at, differing, MINUTE, NOON, PRESENT, present, type Row, row } from './acting.ts'

const LATE = 6 * MINUTE
/** After the tolerance. */
const AT_THE_END = 12 * MINUTE
const MAY = { mark: 'may_have_been' }
const PLANNED = { reason: 'completed' }

const closed = (change: Partial<Issue> = {}) => ({
  issue: { state: 'closed', reason: 'completed', closedAt: at(NOON), ...change } satisfies Issue as Issue,
})
const open = (log?: Log<Held>) => ({ issue: { state: 'open', ...closings(log) } satisfies Issue as Issue })
const closings = (log: Log<Held> | undefined) => (log === undefined ? {} : { closings: async () => log })
const SEEN_OPEN = [[0, { facts: { state: 'open' } }]] as const

const ROWS: readonly Row<FoundIssue>[] = [
  row(
    'closed',
    closed(),
    present({ stays: [{ appeared: at(NOON) }], facts: { state: 'closed', closed_as: 'completed' } }),
  ),
  row('closed, at a host whose time somebody can choose', { issue: { state: 'closed' } }, PRESENT),
  row(
    'closed long before',
    closed({ closedAt: at(NOON - 60 * MINUTE) }),
    present({ stays: [{ appeared: at(NOON - 60 * MINUTE) }], facts: { preexisting: true } }),
  ),
  row(
    'closed too late: it may have been closed before, and opened again',
    closed({ closedAt: at(NOON + 11 * MINUTE) }),
    present({ stays: [{ appeared: { notAfter: NOON + 11 * MINUTE + 999 } }] }),
    { afterMs: AT_THE_END },
  ),
  row(
    'closed too late, and by the log of the host before, too',
    closed({
      closedAt: at(NOON + 11 * MINUTE),
      ...closings([{ since: at(NOON), until: at(NOON + MINUTE) }, { since: at(NOON + 11 * MINUTE) }]),
    }),
    present({ stays: [{ appeared: at(NOON), removed: at(NOON + MINUTE) }, { appeared: at(NOON + 11 * MINUTE) }] }),
    { afterMs: AT_THE_END },
  ),
  row(
    'closed too late, and before more often than can be told',
    closed({
      closedAt: at(NOON + 11 * MINUTE),
      ...closings(
        Array.from({ length: 9 }, (_, index) => {
          const since = NOON + index * 1000 + (index === 8 ? 11 * MINUTE : 0)
          return { since: at(since), ...(index === 8 ? {} : { until: at(since + 500) }) }
        }),
      ),
    }),
    present({
      stays: Array.from({ length: 8 }, (_, index) => {
        const since = NOON + (index + 1) * 1000 + (index === 7 ? 11 * MINUTE : 0)
        return { appeared: { notAfter: since + 999 }, ...(index === 7 ? {} : { removed: at(since + 500) }) }
      }),
    }),
    { afterMs: AT_THE_END },
  ),
  row(
    'closed too late, and the log of the host is cut',
    closed({ closedAt: at(NOON + 11 * MINUTE), ...closings('cut') }),
    present({ stays: [{ appeared: { notAfter: NOON + 11 * MINUTE + 999 } }] }),
    { afterMs: AT_THE_END },
  ),
  row(
    'closed for the claimed reason, and the log tells since when',
    closed(closings([{ since: at(NOON), value: 'completed' }])),
    present({ stays: [{ appeared: at(NOON) }] }),
    { params: PLANNED, afterMs: AT_THE_END },
  ),
  row(
    'closed for the claimed reason, and before for one that the log does not tell',
    closed(
      closings([
        { since: at(NOON), until: at(NOON + MINUTE) },
        { since: at(NOON + MINUTE), value: 'completed' },
      ]),
    ),
    present({ stays: [{ appeared: { notAfter: NOON + MINUTE + 999 } }] }),
    { params: PLANNED, afterMs: AT_THE_END },
  ),
  row('closed for the claimed reason, and no log tells since when', closed(closings('cut')), PRESENT, {
    params: PLANNED,
    afterMs: AT_THE_END,
  }),
  row('closed for the claimed reason: since when it has that, it does not tell', closed(), PRESENT, {
    params: PLANNED,
  }),
  row(
    'closed for another reason, at a host without a log',
    closed({ reason: 'not_planned' }),
    differing('reason', { facts: { closed_as: 'not_planned' } }),
    { params: PLANNED },
  ),
  row(
    'closed for another reason, and by the log never for the claimed one',
    closed({ reason: 'not_planned', ...closings([{ since: at(NOON), value: 'not_planned' }]) }),
    differing('reason', { stays: [] }),
    { params: PLANNED },
  ),
  row(
    'closed for another reason, and by the log before for one that it does not tell',
    closed({
      reason: 'not_planned',
      ...closings([
        { since: at(NOON), until: at(NOON + 1000) },
        { since: at(NOON + 1000), value: 'not_planned' },
      ]),
    }),
    differing('reason', MAY),
    { params: PLANNED },
  ),
  row(
    'closed for another reason, and by the log before for the claimed one',
    closed({
      reason: 'not_planned',
      ...closings([
        { since: at(NOON), until: at(NOON + 2000), value: 'completed' },
        { since: at(NOON + 2000), value: 'not_planned' },
      ]),
    }),
    differing('reason', { stays: [{ appeared: at(NOON), removed: at(NOON + 2000) }], ...MAY }),
    { params: PLANNED },
  ),
  row(
    'closed for another reason than at an earlier look, at a host without a log',
    closed({ reason: 'not_planned' }),
    differing('reason', MAY),
    {
      params: PLANNED,
      afterMs: LATE,
      earlier: [[0, { kind: 'present', differs: ['reason'], facts: { state: 'closed', closed_as: 'duplicate' } }]],
    },
  ),
  row(
    'closed at a host that records no reason',
    { issue: { state: 'closed', closedAt: at(NOON) } },
    differing('reason', MAY),
    { params: PLANNED },
  ),
  row('open, at a host without a log', open(), absent({ facts: { state: 'open' } })),
  row('open, at a late look', open(), ABSENT, { afterMs: LATE }),
  row('open, and by the log never closed', open([]), absent({ stays: [] }), { afterMs: LATE }),
  row('open, and the log is cut: later looks read on', open('cut'), absent()),
  row('open, and opened again, at times that somebody could choose', open([{}]), absent(MAY)),
  row(
    'open, and opened again since the claim',
    open([{ since: at(NOON), until: at(NOON + MINUTE), value: 'completed' }]),
    absent({ stays: [{ appeared: at(NOON), removed: at(NOON + MINUTE) }], ...MAY }),
    { params: PLANNED, afterMs: LATE },
  ),
  row(
    'open, and was closed for another reason',
    open([{ since: at(NOON), until: at(NOON + MINUTE), value: 'duplicate' }]),
    absent({ stays: [] }),
    { params: PLANNED, afterMs: LATE },
  ),
  row('open still, while nothing hangs on the log', open('cut'), ABSENT, { afterMs: LATE, earlier: SEEN_OPEN }),
  row('open, where an earlier look saw it closed for another reason', open(), absent(MAY), {
    params: PLANNED,
    afterMs: LATE,
    earlier: [[0, { kind: 'present', differs: ['reason'], facts: { state: 'closed', closed_as: 'not_planned' } }]],
  }),
  row('there is none, and never was', { issue: undefined, mark: 'never_before' }, absent({ mark: 'never_before' }), {
    afterMs: LATE,
  }),
  row('it was deleted', { issue: undefined, mark: 'may_have_been' }, absent(MAY)),
]

t.test('an issue that was closed', async (t) => {
  const observe = acting<FoundIssue>('codehost.issue.close', 'issue', { number: 7 })
  for (const row of ROWS) await observe(t, row)
})
