/** What is reported of an issue that was closed, a row for each rule. */
import type { Closing, FoundIssue, Issue, Log } from '@claimcheck/plugin-codehost/provider'
import t from 'tap'
import { acting, at, MINUTE, NOON, type Row } from './acting.ts'

const LATE = 6 * MINUTE
/** After the tolerance. */
const AT_THE_END = 12 * MINUTE
const MAY = { mark: 'may_have_been' }
const PLANNED = { reason: 'completed' }

const closed = (change: Partial<Issue> = {}) => ({
  issue: { state: 'closed', reason: 'completed', closedAt: at(NOON), ...change } satisfies Issue as Issue,
})
const open = (log?: Log<Closing>) => ({ issue: { state: 'open', ...closings(log) } satisfies Issue as Issue })
const closings = (log: Log<Closing> | undefined) => (log === undefined ? {} : { closings: async () => log })
const SEEN_OPEN = [[0, { facts: { state: 'open' } }]] as const

const ROWS: readonly Row<FoundIssue>[] = [
  {
    name: 'closed',
    found: closed(),
    sees: { kind: 'present', stays: [{ appeared: at(NOON) }], facts: { state: 'closed', closed_as: 'completed' } },
  },
  {
    name: 'closed, at a host whose time somebody can choose',
    found: { issue: { state: 'closed' } },
    sees: { kind: 'present' },
  },
  {
    name: 'closed long before',
    found: closed({ closedAt: at(NOON - 60 * MINUTE) }),
    sees: { kind: 'present', stays: [{ appeared: at(NOON - 60 * MINUTE) }], facts: { preexisting: true } },
  },
  {
    name: 'closed too late: it may have been closed before, and opened again',
    found: closed({ closedAt: at(NOON + 11 * MINUTE) }),
    afterMs: AT_THE_END,
    sees: { kind: 'present', stays: [{ appeared: { notAfter: NOON + 11 * MINUTE + 999 } }] },
  },
  {
    name: 'closed too late, and by the log of the host before, too',
    found: closed({
      closedAt: at(NOON + 11 * MINUTE),
      ...closings([{ since: at(NOON), until: at(NOON + MINUTE) }, { since: at(NOON + 11 * MINUTE) }]),
    }),
    afterMs: AT_THE_END,
    sees: {
      kind: 'present',
      stays: [{ appeared: at(NOON), removed: at(NOON + MINUTE) }, { appeared: at(NOON + 11 * MINUTE) }],
    },
  },
  {
    name: 'closed too late, and before more often than can be told',
    found: closed({
      closedAt: at(NOON + 11 * MINUTE),
      ...closings(
        Array.from({ length: 9 }, (_, index) => {
          const since = NOON + index * 1000 + (index === 8 ? 11 * MINUTE : 0)
          return { since: at(since), ...(index === 8 ? {} : { until: at(since + 500) }) }
        }),
      ),
    }),
    afterMs: AT_THE_END,
    sees: {
      kind: 'present',
      stays: Array.from({ length: 8 }, (_, index) => {
        const since = NOON + (index + 1) * 1000 + (index === 7 ? 11 * MINUTE : 0)
        return { appeared: { notAfter: since + 999 }, ...(index === 7 ? {} : { removed: at(since + 500) }) }
      }),
    },
  },
  {
    name: 'closed too late, and the log of the host is cut',
    found: closed({ closedAt: at(NOON + 11 * MINUTE), ...closings('cut') }),
    afterMs: AT_THE_END,
    sees: { kind: 'present', stays: [{ appeared: { notAfter: NOON + 11 * MINUTE + 999 } }] },
  },
  {
    name: 'closed for the claimed reason, and the log tells since when',
    found: closed(closings([{ since: at(NOON), reason: 'completed' }])),
    params: PLANNED,
    afterMs: AT_THE_END,
    sees: { kind: 'present', stays: [{ appeared: at(NOON) }] },
  },
  {
    name: 'closed for the claimed reason, and before for one that the log does not tell',
    found: closed(
      closings([
        { since: at(NOON), until: at(NOON + MINUTE) },
        { since: at(NOON + MINUTE), reason: 'completed' },
      ]),
    ),
    params: PLANNED,
    afterMs: AT_THE_END,
    sees: { kind: 'present', stays: [{ appeared: { notAfter: NOON + MINUTE + 999 } }] },
  },
  {
    name: 'closed for the claimed reason, and no log tells since when',
    found: closed(closings('cut')),
    params: PLANNED,
    afterMs: AT_THE_END,
    sees: { kind: 'present' },
  },
  {
    name: 'closed for the claimed reason: since when it has that, it does not tell',
    found: closed(),
    params: PLANNED,
    sees: { kind: 'present' },
  },
  {
    name: 'closed for another reason, at a host without a log',
    found: closed({ reason: 'not_planned' }),
    params: PLANNED,
    sees: { kind: 'present', differs: ['reason'], facts: { closed_as: 'not_planned' } },
  },
  {
    name: 'closed for another reason, and by the log never for the claimed one',
    found: closed({ reason: 'not_planned', ...closings([{ since: at(NOON), reason: 'not_planned' }]) }),
    params: PLANNED,
    sees: { kind: 'present', differs: ['reason'], stays: [] },
  },
  {
    name: 'closed for another reason, and by the log before for one that it does not tell',
    found: closed({
      reason: 'not_planned',
      ...closings([
        { since: at(NOON), until: at(NOON + 1000) },
        { since: at(NOON + 1000), reason: 'not_planned' },
      ]),
    }),
    params: PLANNED,
    sees: { kind: 'present', differs: ['reason'], ...MAY },
  },
  {
    name: 'closed for another reason, and by the log before for the claimed one',
    found: closed({
      reason: 'not_planned',
      ...closings([
        { since: at(NOON), until: at(NOON + 2000), reason: 'completed' },
        { since: at(NOON + 2000), reason: 'not_planned' },
      ]),
    }),
    params: PLANNED,
    sees: { kind: 'present', differs: ['reason'], stays: [{ appeared: at(NOON), removed: at(NOON + 2000) }], ...MAY },
  },
  {
    name: 'closed for another reason than at an earlier look, at a host without a log',
    found: closed({ reason: 'not_planned' }),
    params: PLANNED,
    afterMs: LATE,
    earlier: [[0, { kind: 'present', differs: ['reason'], facts: { state: 'closed', closed_as: 'duplicate' } }]],
    sees: { kind: 'present', differs: ['reason'], ...MAY },
  },
  {
    name: 'closed at a host that records no reason',
    found: { issue: { state: 'closed', closedAt: at(NOON) } },
    params: PLANNED,
    sees: { kind: 'present', differs: ['reason'], ...MAY },
  },
  { name: 'open, at a host without a log', found: open(), sees: { kind: 'absent', facts: { state: 'open' } } },
  { name: 'open, at a late look', found: open(), afterMs: LATE, sees: { kind: 'absent' } },
  { name: 'open, and by the log never closed', found: open([]), afterMs: LATE, sees: { kind: 'absent', stays: [] } },
  { name: 'open, and the log is cut', found: open('cut'), sees: { kind: 'absent', ...MAY } },
  {
    name: 'open, and opened again, at times that somebody could choose',
    found: open([{}]),
    sees: { kind: 'absent', ...MAY },
  },
  {
    name: 'open, and opened again since the claim',
    found: open([{ since: at(NOON), until: at(NOON + MINUTE), reason: 'completed' }]),
    params: PLANNED,
    afterMs: LATE,
    sees: { kind: 'absent', stays: [{ appeared: at(NOON), removed: at(NOON + MINUTE) }], ...MAY },
  },
  {
    name: 'open, and was closed for another reason',
    found: open([{ since: at(NOON), until: at(NOON + MINUTE), reason: 'duplicate' }]),
    params: PLANNED,
    afterMs: LATE,
    sees: { kind: 'absent', stays: [] },
  },
  {
    name: 'open still, while nothing hangs on the log',
    found: open('cut'),
    afterMs: LATE,
    earlier: SEEN_OPEN,
    sees: { kind: 'absent' },
  },
  {
    name: 'open, where an earlier look saw it closed for another reason',
    found: open(),
    params: PLANNED,
    afterMs: LATE,
    earlier: [[0, { kind: 'present', differs: ['reason'], facts: { state: 'closed', closed_as: 'not_planned' } }]],
    sees: { kind: 'absent', ...MAY },
  },
  {
    name: 'there is none, and never was',
    found: { issue: undefined, mark: 'never_before' },
    afterMs: LATE,
    sees: { kind: 'absent', mark: 'never_before' },
  },
  { name: 'it was deleted', found: { issue: undefined, mark: 'may_have_been' }, sees: { kind: 'absent', ...MAY } },
]

t.test('an issue that was closed', async (t) => {
  const observe = acting<FoundIssue>('codehost.issue.close', 'issue', { number: 7 })
  for (const row of ROWS) await observe(t, row)
})
