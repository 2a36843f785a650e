/** What is reported of pull requests that were opened or merged, a row for each rule. */
import type { FoundPullRequest, Held, Log, PullRequest, PullRequestField } from '@claimcheck/plugin-codehost/provider'
import t from 'tap'
import { absent, acting, at, differing, MINUTE, NOON, PRESENT, present, type Row, row } from './acting.ts'

const HEAD = 'a'.repeat(40)
const OTHER = 'b'.repeat(40)
const MERGE = 'c'.repeat(40)
const LATE = 6 * MINUTE
/** After the tolerance. */
const AT_THE_END = 12 * MINUTE

const open: PullRequest = { state: 'open', base: 'main', head: HEAD, openedAt: at(NOON - MINUTE), isDraft: false }
const found = (change: Partial<PullRequest> = {}) => ({ pullRequest: { ...open, ...change } })
const logs = (told: Partial<Record<PullRequestField, Log<Held>>>) => ({
  log: async (field: PullRequestField) => told[field],
})
const OPENED = [{ appeared: at(NOON - MINUTE) }]

const OPENINGS: readonly Row<FoundPullRequest>[] = [
  row(
    'it is there',
    found(),
    present({ stays: OPENED, facts: { state: 'open', base: 'main', head_sha: HEAD, draft: false } }),
  ),
  row('it was closed since', found({ state: 'closed' }), present({ stays: OPENED })),
  row('a host that tells no time', { pullRequest: { state: 'open', base: 'main' } }, PRESENT),
  row('it has the claimed base and head, and does not tell since when', found(), PRESENT, {
    params: { base: 'main', head_sha: HEAD },
  }),
  row('the base alone is claimed', found(), PRESENT, { params: { base: 'main' } }),
  row(
    'opened long before',
    found({ openedAt: at(NOON - 60 * MINUTE) }),
    present({ stays: [{ appeared: at(NOON - 60 * MINUTE) }], facts: { preexisting: true } }),
  ),
  row(
    'it has the claimed base and head, and the log tells since when',
    found(logs({ base: [{ value: 'main', since: at(NOON - MINUTE) }], head_sha: [{ value: HEAD, since: at(NOON) }] })),
    present({ stays: [{ appeared: at(NOON) }] }),
    { params: { base: 'main', head_sha: HEAD }, afterMs: AT_THE_END },
  ),
  row(
    'it has the claimed base since a time before which it had one that is not told',
    found(
      logs({
        base: [
          { since: at(NOON - MINUTE), until: at(NOON) },
          { value: 'main', since: at(NOON) },
        ],
      }),
    ),
    present({ stays: [{ appeared: { notAfter: NOON + 999 } }] }),
    { params: { base: 'main' }, afterMs: AT_THE_END },
  ),
  row('it has the claimed base, and the log is cut', found(logs({ base: 'cut' })), PRESENT, {
    params: { base: 'main' },
    afterMs: AT_THE_END,
  }),
  row(
    'it has the claimed base in time: the log is not read',
    found(logs({ base: [{ value: 'main', since: at(NOON) }] })),
    PRESENT,
    { params: { base: 'main' }, afterMs: LATE },
  ),
  row(
    'another base, at a host without a log',
    found({ base: 'develop' }),
    differing('base', { facts: { base: 'develop' } }),
    { params: { base: 'main' } },
  ),
  row(
    'another base, and by the log never the claimed one',
    found({ base: 'develop', ...logs({ base: [{ value: 'develop', since: at(NOON - MINUTE) }] }) }),
    differing('base', { stays: [] }),
    { params: { base: 'main' } },
  ),
  row(
    'another base, after one that the log does not tell',
    found({ base: 'develop', ...logs({ base: [{ until: at(NOON) }, { value: 'develop', since: at(NOON) }] }) }),
    differing('base', { mark: 'may_have_been' }),
    { params: { base: 'main' } },
  ),
  row(
    'another base, never the claimed one, and a head that may have been as claimed',
    found({ base: 'develop', ...logs({ base: [{ value: 'develop', since: at(NOON) }], head_sha: 'cut' }) }),
    differing(['base', 'head_sha'], { stays: [] }),
    { params: { base: 'main', head_sha: OTHER } },
  ),
  row('another head, at a host without a log', found(), differing('head_sha'), { params: { head_sha: OTHER } }),
  row(
    'another head, and the log is cut: later looks read on',
    found(logs({ head_sha: 'cut' })),
    differing('head_sha'),
    { params: { head_sha: OTHER } },
  ),
  row(
    'another head, and before the beginning of the claimed one',
    found(
      logs({
        head_sha: [
          { value: OTHER.slice(0, 12), since: at(NOON - MINUTE), until: at(NOON) },
          { value: HEAD, since: at(NOON) },
        ],
      }),
    ),
    differing('head_sha', { mark: 'may_have_been' }),
    { params: { head_sha: OTHER } },
  ),
  row(
    'another head, and by the log the claimed one for a time',
    found(
      logs({
        head_sha: [
          { value: OTHER, since: at(NOON - 5 * MINUTE), until: at(NOON + 3000) },
          { value: HEAD, since: at(NOON + 3000) },
        ],
      }),
    ),
    differing('head_sha', {
      stays: [{ appeared: at(NOON - MINUTE), removed: at(NOON + 3000) }],
      mark: 'may_have_been',
    }),
    { params: { head_sha: OTHER }, afterMs: 4000 },
  ),
  row(
    'another head, and by the log the claimed one on its branch before it was opened',
    found(
      logs({
        head_sha: [
          { value: OTHER, since: at(NOON - 5 * MINUTE), until: at(NOON - 2 * MINUTE) },
          { value: HEAD, since: at(NOON - 2 * MINUTE) },
        ],
      }),
    ),
    differing('head_sha', { mark: 'may_have_been' }),
    { params: { head_sha: OTHER } },
  ),
  row(
    'another head than at an earlier look, while nothing hangs on the log',
    found(logs({ head_sha: 'cut' })),
    differing('head_sha'),
    { params: { head_sha: OTHER }, afterMs: LATE, earlier: [[0, { facts: { base: 'main', head_sha: MERGE } }]] },
  ),
  row('another head still, after a prompt look', found(), differing('head_sha'), {
    params: { head_sha: OTHER },
    afterMs: LATE,
    earlier: [[0, { facts: { base: 'main', head_sha: HEAD } }]],
  }),
  row('a head that moved between two looks', found(), differing('head_sha', { mark: 'may_have_been' }), {
    params: { head_sha: OTHER },
    afterMs: LATE,
    earlier: [[0, { facts: { base: 'main', head_sha: MERGE } }]],
  }),
  row('another head, where an earlier look showed none', found(), differing('head_sha', { mark: 'may_have_been' }), {
    params: { head_sha: OTHER },
    afterMs: LATE,
    earlier: [[0, { mark: 'never_before' }]],
  }),
  row(
    'a base that changed between two looks',
    found({ base: 'develop' }),
    differing('base', { mark: 'may_have_been' }),
    { params: { base: 'main' }, afterMs: LATE, earlier: [[0, { facts: { base: 'next', head_sha: HEAD } }]] },
  ),
  row(
    'a head that the host has forgotten',
    { pullRequest: { state: 'closed', base: 'main' } },
    differing('head_sha', { mark: 'may_have_been' }),
    { params: { head_sha: HEAD } },
  ),
  row(
    'a base whose name cannot be a fact',
    found({ base: 'a b' }),
    differing('base', { facts: { base: undefined } as never }),
    { params: { base: 'main' } },
  ),
  row(
    'there is none, and never was',
    { pullRequest: undefined, mark: 'never_before' },
    absent({ mark: 'never_before' }),
  ),
  row(
    'there is none, and may have been',
    { pullRequest: undefined, mark: 'may_have_been' },
    absent({ mark: 'may_have_been' }),
  ),
]

const mergedPull: PullRequest = { ...open, state: 'merged', mergedAt: at(NOON), mergeCommit: MERGE }
const merged = (isOnBase: boolean | 'gone', change: Partial<PullRequest> = {}) => ({
  pullRequest: { ...mergedPull, isOnBase: async () => isOnBase, ...change },
})
const withoutHead = ({ head: _, ...rest }: PullRequest): PullRequest => rest
const ON_BASE = { state: 'merged', merge_commit: MERGE, merge_commit_on_base: true }

const MERGES: readonly Row<FoundPullRequest>[] = [
  row('merged, and on the base', merged(true), present({ stays: [{ appeared: at(NOON) }], facts: ON_BASE }), {
    params: { base: 'main', head_sha: HEAD, merge_commit: MERGE },
  }),
  row(
    'merged at a time that the host wrote down later',
    merged(true, { mergedAt: { notAfter: NOON } }),
    present({ stays: [{ appeared: { notAfter: NOON } }] }),
  ),
  row(
    'merged long before',
    merged(true, { mergedAt: at(NOON - 60 * MINUTE) }),
    present({ stays: [{ appeared: at(NOON - 60 * MINUTE) }], facts: { preexisting: true } }),
  ),
  row('open', found(), absent({ mark: 'never_before', facts: { state: 'open' } })),
  row('open at a late look: no merge is taken back', found(), absent({ mark: 'never_before' }), { afterMs: LATE }),
  row(
    'closed without a merge',
    found({ state: 'closed' }),
    absent({ mark: 'never_before', facts: { state: 'closed' } }),
  ),
  row('the test merge of an open one', found({ mergeCommit: MERGE }), absent({ mark: 'never_before' }), {
    params: { merge_commit: MERGE },
  }),
  row(
    'merged, and gone from the base',
    merged(false),
    absent({ mark: 'may_have_been', facts: { merge_commit: MERGE, merge_commit_on_base: false } }),
  ),
  row(
    'merged, by a host that does not say with which commit',
    { pullRequest: { ...open, state: 'merged', mergedAt: at(NOON) } },
    absent({ mark: 'may_have_been' }),
  ),
  row(
    'merged into another base, at a late look: it cannot have changed',
    merged(true, { base: 'develop' }),
    differing('base', { mark: 'final', facts: { base: 'develop' } }),
    { params: { base: 'main' }, afterMs: LATE },
  ),
  row('with another head', merged(true), differing('head_sha', { mark: 'final' }), { params: { head_sha: OTHER } }),
  row('with another merge commit', merged(true), differing('merge_commit', { mark: 'final' }), {
    params: { merge_commit: OTHER },
  }),
  row(
    'merged by the host into a base that is gone',
    merged('gone'),
    present({
      stays: [{ appeared: at(NOON) }],
      facts: { state: 'merged', merge_commit: MERGE, merge_commit_on_base: undefined } as never,
    }),
    { params: { base: 'main', merge_commit: MERGE } },
  ),
  row(
    'with a head that the host has forgotten',
    { pullRequest: { ...withoutHead(mergedPull), isOnBase: async () => true } },
    differing('head_sha', { mark: 'may_have_been' }),
    { params: { head_sha: HEAD } },
  ),
  row('there is none', { pullRequest: undefined, mark: 'never_before' }, absent({ mark: 'never_before' })),
]

t.test('a pull request that was opened', async (t) => {
  const observe = acting<FoundPullRequest>('codehost.pull_request.open', 'pullRequest', { number: 5 })
  for (const row of OPENINGS) await observe(t, row)
})

t.test('a pull request that was merged', async (t) => {
  const observe = acting<FoundPullRequest>('codehost.pull_request.merge', 'pullRequest', { number: 5 })
  for (const row of MERGES) await observe(t, row)
})
