/** What is reported of an issue that was closed, a row for each rule. */
import type { FoundIssue, Issue } from '@claimcheck/plugin-codehost/provider'
import t from 'tap'
import { acting, at, MINUTE, NOON, type Row } from './acting.ts'

const LATE = 6 * MINUTE
const MAY = { mark: 'may_have_been' }
const PLANNED = { reason: 'completed' }

const closed = (change: Partial<Issue> = {}) => ({
  issue: { state: 'closed', reason: 'completed', closedAt: at(NOON), ...change } satisfies Issue as Issue,
})
const open = (wasClosed?: boolean) => ({
  issue: { state: 'open', ...(wasClosed === undefined ? {} : { wasClosed }) } satisfies Issue as Issue,
})
const AT_LAST = { stays: [{ appeared: { notAfter: NOON + 999 } }] }
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
    name: 'closed, at a late look: it may have been closed before, and opened again',
    found: closed(),
    afterMs: LATE,
    sees: { kind: 'present', ...AT_LAST },
  },
  {
    name: 'closed, at a late look, and by the record of the host never opened again',
    found: closed({ wasClosed: false }),
    afterMs: LATE,
    sees: { kind: 'present', stays: [{ appeared: at(NOON) }] },
  },
  {
    name: 'closed, opened again, and closed once more',
    found: closed({ wasClosed: true }),
    afterMs: LATE,
    earlier: SEEN_OPEN,
    sees: { kind: 'present', ...AT_LAST },
  },
  {
    name: 'closed for the claimed reason: since when it has that, it does not tell',
    found: closed(),
    params: PLANNED,
    sees: { kind: 'present' },
  },
  {
    name: 'closed for another reason, at a prompt look',
    found: closed({ reason: 'not_planned' }),
    params: PLANNED,
    sees: { kind: 'present', differs: ['reason'], facts: { closed_as: 'not_planned' } },
  },
  {
    name: 'closed for another reason, at a late look',
    found: closed({ reason: 'not_planned', wasClosed: false }),
    params: PLANNED,
    afterMs: LATE,
    sees: { kind: 'present', differs: ['reason'], ...MAY },
  },
  {
    name: 'closed for another reason, the second time',
    found: closed({ reason: 'not_planned', wasClosed: true }),
    params: PLANNED,
    afterMs: LATE,
    earlier: SEEN_OPEN,
    sees: { kind: 'present', differs: ['reason'], ...MAY },
  },
  {
    name: 'closed at a host that records no reason',
    found: { issue: { state: 'closed', closedAt: at(NOON) } },
    params: PLANNED,
    sees: { kind: 'present', differs: ['reason'], ...MAY },
  },
  { name: 'open, at a prompt look', found: open(), sees: { kind: 'absent', facts: { state: 'open' } } },
  {
    name: 'open, at a late look, at a host that keeps no record',
    found: open(),
    afterMs: LATE,
    sees: { kind: 'absent', ...MAY },
  },
  {
    name: 'open, at a late look, and by the record of the host never closed',
    found: open(false),
    afterMs: LATE,
    sees: { kind: 'absent' },
  },
  { name: 'open, and opened again since the claim', found: open(true), sees: { kind: 'absent', ...MAY } },
  {
    name: 'open still, after a prompt look',
    found: open(),
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
  {
    name: 'it was deleted',
    found: { issue: undefined, mark: 'may_have_been' },
    sees: { kind: 'absent', ...MAY },
  },
]

t.test('an issue that was closed', async (t) => {
  const observe = acting<FoundIssue>('codehost.issue.close', 'issue', { number: 7 })
  for (const row of ROWS) await observe(t, row)
})
