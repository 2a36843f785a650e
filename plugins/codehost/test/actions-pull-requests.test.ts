/** What is reported of pull requests that were opened or merged, a row for each rule. */
import type { FoundPullRequest, Held, Log, PullRequest, PullRequestField } from '@claimcheck/plugin-codehost/provider'
import t from 'tap'
import { acting, at, MINUTE, NOON, type Row } from './acting.ts'

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
  {
    name: 'it is there',
    found: found(),
    sees: { kind: 'present', stays: OPENED, facts: { state: 'open', base: 'main', head_sha: HEAD, draft: false } },
  },
  { name: 'it was closed since', found: found({ state: 'closed' }), sees: { kind: 'present', stays: OPENED } },
  {
    name: 'a host that tells no time',
    found: { pullRequest: { state: 'open', base: 'main' } },
    sees: { kind: 'present' },
  },
  {
    name: 'it has the claimed base and head, and does not tell since when',
    found: found(),
    params: { base: 'main', head_sha: HEAD },
    sees: { kind: 'present' },
  },
  { name: 'the base alone is claimed', found: found(), params: { base: 'main' }, sees: { kind: 'present' } },
  {
    name: 'opened long before',
    found: found({ openedAt: at(NOON - 60 * MINUTE) }),
    sees: { kind: 'present', stays: [{ appeared: at(NOON - 60 * MINUTE) }], facts: { preexisting: true } },
  },
  {
    name: 'it has the claimed base and head, and the log tells since when',
    found: found(
      logs({ base: [{ value: 'main', since: at(NOON - MINUTE) }], head_sha: [{ value: HEAD, since: at(NOON) }] }),
    ),
    params: { base: 'main', head_sha: HEAD },
    afterMs: AT_THE_END,
    sees: { kind: 'present', stays: [{ appeared: at(NOON) }] },
  },
  {
    name: 'it has the claimed base since a time before which it had one that is not told',
    found: found(
      logs({
        base: [
          { since: at(NOON - MINUTE), until: at(NOON) },
          { value: 'main', since: at(NOON) },
        ],
      }),
    ),
    params: { base: 'main' },
    afterMs: AT_THE_END,
    sees: { kind: 'present', stays: [{ appeared: { notAfter: NOON + 999 } }] },
  },
  {
    name: 'it has the claimed base, and the log is cut',
    found: found(logs({ base: 'cut' })),
    params: { base: 'main' },
    afterMs: AT_THE_END,
    sees: { kind: 'present' },
  },
  {
    name: 'it has the claimed base in time: the log is not read',
    found: found(logs({ base: [{ value: 'main', since: at(NOON) }] })),
    params: { base: 'main' },
    afterMs: LATE,
    sees: { kind: 'present' },
  },
  {
    name: 'another base, at a host without a log',
    found: found({ base: 'develop' }),
    params: { base: 'main' },
    sees: { kind: 'present', differs: ['base'], facts: { base: 'develop' } },
  },
  {
    name: 'another base, and by the log never the claimed one',
    found: found({ base: 'develop', ...logs({ base: [{ value: 'develop', since: at(NOON - MINUTE) }] }) }),
    params: { base: 'main' },
    sees: { kind: 'present', differs: ['base'], stays: [] },
  },
  {
    name: 'another base, after one that the log does not tell',
    found: found({ base: 'develop', ...logs({ base: [{ until: at(NOON) }, { value: 'develop', since: at(NOON) }] }) }),
    params: { base: 'main' },
    sees: { kind: 'present', differs: ['base'], mark: 'may_have_been' },
  },
  {
    name: 'another base, never the claimed one, and a head that may have been as claimed',
    found: found({ base: 'develop', ...logs({ base: [{ value: 'develop', since: at(NOON) }], head_sha: 'cut' }) }),
    params: { base: 'main', head_sha: OTHER },
    sees: { kind: 'present', differs: ['base', 'head_sha'], stays: [] },
  },
  {
    name: 'another head, at a host without a log',
    found: found(),
    params: { head_sha: OTHER },
    sees: { kind: 'present', differs: ['head_sha'] },
  },
  {
    name: 'another head, and the log is cut',
    found: found(logs({ head_sha: 'cut' })),
    params: { head_sha: OTHER },
    sees: { kind: 'present', differs: ['head_sha'], mark: 'may_have_been' },
  },
  {
    name: 'another head, and before the beginning of the claimed one',
    found: found(
      logs({
        head_sha: [
          { value: OTHER.slice(0, 12), since: at(NOON - MINUTE), until: at(NOON) },
          { value: HEAD, since: at(NOON) },
        ],
      }),
    ),
    params: { head_sha: OTHER },
    sees: { kind: 'present', differs: ['head_sha'], mark: 'may_have_been' },
  },
  {
    name: 'another head, and by the log the claimed one for a time',
    found: found(
      logs({
        head_sha: [
          { value: OTHER, since: at(NOON - 5 * MINUTE), until: at(NOON + 3000) },
          { value: HEAD, since: at(NOON + 3000) },
        ],
      }),
    ),
    params: { head_sha: OTHER },
    afterMs: 4000,
    sees: {
      kind: 'present',
      differs: ['head_sha'],
      stays: [{ appeared: at(NOON - MINUTE), removed: at(NOON + 3000) }],
      mark: 'may_have_been',
    },
  },
  {
    name: 'another head, and by the log the claimed one on its branch before it was opened',
    found: found(
      logs({
        head_sha: [
          { value: OTHER, since: at(NOON - 5 * MINUTE), until: at(NOON - 2 * MINUTE) },
          { value: HEAD, since: at(NOON - 2 * MINUTE) },
        ],
      }),
    ),
    params: { head_sha: OTHER },
    sees: { kind: 'present', differs: ['head_sha'], mark: 'may_have_been' },
  },
  {
    name: 'another head than at an earlier look, while nothing hangs on the log',
    found: found(logs({ head_sha: 'cut' })),
    params: { head_sha: OTHER },
    afterMs: LATE,
    earlier: [[0, { facts: { base: 'main', head_sha: MERGE } }]],
    sees: { kind: 'present', differs: ['head_sha'] },
  },
  {
    name: 'another head still, after a prompt look',
    found: found(),
    params: { head_sha: OTHER },
    afterMs: LATE,
    earlier: [[0, { facts: { base: 'main', head_sha: HEAD } }]],
    sees: { kind: 'present', differs: ['head_sha'] },
  },
  {
    name: 'a head that moved between two looks',
    found: found(),
    params: { head_sha: OTHER },
    afterMs: LATE,
    earlier: [[0, { facts: { base: 'main', head_sha: MERGE } }]],
    sees: { kind: 'present', differs: ['head_sha'], mark: 'may_have_been' },
  },
  {
    name: 'another head, where an earlier look showed none',
    found: found(),
    params: { head_sha: OTHER },
    afterMs: LATE,
    earlier: [[0, { mark: 'never_before' }]],
    sees: { kind: 'present', differs: ['head_sha'], mark: 'may_have_been' },
  },
  {
    name: 'a base that changed between two looks',
    found: found({ base: 'develop' }),
    params: { base: 'main' },
    afterMs: LATE,
    earlier: [[0, { facts: { base: 'next', head_sha: HEAD } }]],
    sees: { kind: 'present', differs: ['base'], mark: 'may_have_been' },
  },
  {
    name: 'a head that the host has forgotten',
    found: { pullRequest: { state: 'closed', base: 'main' } },
    params: { head_sha: HEAD },
    sees: { kind: 'present', differs: ['head_sha'], mark: 'may_have_been' },
  },
  {
    name: 'a base whose name cannot be a fact',
    found: found({ base: 'a b' }),
    params: { base: 'main' },
    sees: { kind: 'present', differs: ['base'], facts: { base: undefined } as never },
  },
  {
    name: 'there is none, and never was',
    found: { pullRequest: undefined, mark: 'never_before' },
    sees: { kind: 'absent', mark: 'never_before' },
  },
  {
    name: 'there is none, and may have been',
    found: { pullRequest: undefined, mark: 'may_have_been' },
    sees: { kind: 'absent', mark: 'may_have_been' },
  },
]

const mergedPull: PullRequest = { ...open, state: 'merged', mergedAt: at(NOON), mergeCommit: MERGE }
const merged = (isOnBase: boolean | 'gone', change: Partial<PullRequest> = {}) => ({
  pullRequest: { ...mergedPull, isOnBase: async () => isOnBase, ...change },
})
const withoutHead = ({ head: _, ...rest }: PullRequest): PullRequest => rest
const ON_BASE = { state: 'merged', merge_commit: MERGE, merge_commit_on_base: true }

const MERGES: readonly Row<FoundPullRequest>[] = [
  {
    name: 'merged, and on the base',
    found: merged(true),
    params: { base: 'main', head_sha: HEAD, merge_commit: MERGE },
    sees: { kind: 'present', stays: [{ appeared: at(NOON) }], facts: ON_BASE },
  },
  {
    name: 'merged at a time that the host wrote down later',
    found: merged(true, { mergedAt: { notAfter: NOON } }),
    sees: { kind: 'present', stays: [{ appeared: { notAfter: NOON } }] },
  },
  {
    name: 'merged long before',
    found: merged(true, { mergedAt: at(NOON - 60 * MINUTE) }),
    sees: { kind: 'present', stays: [{ appeared: at(NOON - 60 * MINUTE) }], facts: { preexisting: true } },
  },
  { name: 'open', found: found(), sees: { kind: 'absent', mark: 'never_before', facts: { state: 'open' } } },
  {
    name: 'open at a late look: no merge is taken back',
    found: found(),
    afterMs: LATE,
    sees: { kind: 'absent', mark: 'never_before' },
  },
  {
    name: 'closed without a merge',
    found: found({ state: 'closed' }),
    sees: { kind: 'absent', mark: 'never_before', facts: { state: 'closed' } },
  },
  {
    name: 'the test merge of an open one',
    found: found({ mergeCommit: MERGE }),
    params: { merge_commit: MERGE },
    sees: { kind: 'absent', mark: 'never_before' },
  },
  {
    name: 'merged, and gone from the base',
    found: merged(false),
    sees: { kind: 'absent', mark: 'may_have_been', facts: { merge_commit: MERGE, merge_commit_on_base: false } },
  },
  {
    name: 'merged, by a host that does not say with which commit',
    found: { pullRequest: { ...open, state: 'merged', mergedAt: at(NOON) } },
    sees: { kind: 'absent', mark: 'may_have_been' },
  },
  {
    name: 'merged into another base, at a late look: it cannot have changed',
    found: merged(true, { base: 'develop' }),
    params: { base: 'main' },
    afterMs: LATE,
    sees: { kind: 'present', differs: ['base'], mark: 'final', facts: { base: 'develop' } },
  },
  {
    name: 'with another head',
    found: merged(true),
    params: { head_sha: OTHER },
    sees: { kind: 'present', differs: ['head_sha'], mark: 'final' },
  },
  {
    name: 'with another merge commit',
    found: merged(true),
    params: { merge_commit: OTHER },
    sees: { kind: 'present', differs: ['merge_commit'], mark: 'final' },
  },
  {
    name: 'merged by the host into a base that is gone',
    found: merged('gone'),
    params: { base: 'main', merge_commit: MERGE },
    sees: {
      kind: 'present',
      stays: [{ appeared: at(NOON) }],
      facts: { state: 'merged', merge_commit: MERGE, merge_commit_on_base: undefined } as never,
    },
  },
  {
    name: 'with a head that the host has forgotten',
    found: { pullRequest: { ...withoutHead(mergedPull), isOnBase: async () => true } },
    params: { head_sha: HEAD },
    sees: { kind: 'present', differs: ['head_sha'], mark: 'may_have_been' },
  },
  {
    name: 'there is none',
    found: { pullRequest: undefined, mark: 'never_before' },
    sees: { kind: 'absent', mark: 'never_before' },
  },
]

t.test('a pull request that was opened', async (t) => {
  const observe = acting<FoundPullRequest>('codehost.pull_request.open', 'pullRequest', { number: 5 })
  for (const row of OPENINGS) await observe(t, row)
})

t.test('a pull request that was merged', async (t) => {
  const observe = acting<FoundPullRequest>('codehost.pull_request.merge', 'pullRequest', { number: 5 })
  for (const row of MERGES) await observe(t, row)
})
