/** What is reported of pull requests that were opened or merged, a row for each rule. */
import type { FoundPullRequest, PullRequest } from '@claimcheck/plugin-codehost/provider'
import t from 'tap'
import { acting, at, MINUTE, NOON, type Row } from './acting.ts'

const HEAD = 'a'.repeat(40)
const OTHER = 'b'.repeat(40)
const MERGE = 'c'.repeat(40)
const LATE = 6 * MINUTE

const open: PullRequest = { state: 'open', base: 'main', head: HEAD, openedAt: at(NOON - MINUTE), isDraft: false }
const found = (change: Partial<PullRequest> = {}) => ({ pullRequest: { ...open, ...change } })
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
    name: 'another base, at a prompt look',
    found: found({ base: 'develop' }),
    params: { base: 'main' },
    sees: { kind: 'present', differs: ['base'], facts: { base: 'develop' } },
  },
  {
    name: 'another head, at a prompt look',
    found: found(),
    params: { head_sha: OTHER },
    sees: { kind: 'present', differs: ['head_sha'] },
  },
  {
    name: 'another head, at a late look',
    found: found(),
    params: { head_sha: OTHER },
    afterMs: LATE,
    sees: { kind: 'present', differs: ['head_sha'], mark: 'may_have_been' },
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
const merged = (isOnBase: boolean, change: Partial<PullRequest> = {}) => ({
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
    sees: { kind: 'present', differs: ['base'], facts: { base: 'develop' } },
  },
  {
    name: 'with another head',
    found: merged(true),
    params: { head_sha: OTHER },
    sees: { kind: 'present', differs: ['head_sha'] },
  },
  {
    name: 'with another merge commit',
    found: merged(true),
    params: { merge_commit: OTHER },
    sees: { kind: 'present', differs: ['merge_commit'] },
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
