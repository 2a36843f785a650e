/** What is reported of a commit's checks, a row for each rule. */
import { Value } from '@claimcheck/core/plugin'
import codehost from '@claimcheck/plugin-codehost'
import type { Check, FoundChecks } from '@claimcheck/plugin-codehost/provider'
import t from 'tap'
import { acting, MINUTE, NOON, type Row } from './acting.ts'
import { logger } from './context.ts'

const LATE = 6 * MINUTE
const HOUR = 60 * MINUTE
const SHA = 'a'.repeat(40)
const BUILD = { checks: [{ name: 'build', by: 'github-actions' }] }
const BOTH = { checks: [...BUILD.checks, { name: 'lint', by: 'github-actions' }] }

const check = (change: Partial<Check> = {}): Check => ({
  ...{ name: 'build', by: ['github-actions', 'workflow:ci.yml', 'app:github-actions'] },
  ...{ isRunByHost: true, outcome: 'passed' },
  ...change,
})
const lint = (change: Partial<Check> = {}) => check({ name: 'lint', ...change })
const posted = (change: Partial<Check> = {}) =>
  check({ by: ['account-id:7', 'account:agent'], isRunByHost: false, ...change })
const counts = (counted: Partial<Record<'passed' | 'failed' | 'pending' | 'skipped' | 'missing', number>>) => ({
  ...{ commit_found: true, passed: 0, failed: 0, pending: 0, skipped: 0, missing: 0 },
  ...counted,
})
const MAY = { mark: 'may_have_been' }
const LOG = { stays: [] }

const NAMED: readonly Row<FoundChecks>[] = [
  {
    name: 'the named one passed, and no other counts',
    found: { checks: [check(), lint({ outcome: 'failed' })] },
    params: BUILD,
    sees: { kind: 'present', facts: { ...counts({ passed: 1 }), counted: 1, reported_by: 'github-actions' } },
  },
  {
    name: 'a source in other letters',
    found: { checks: [check()] },
    params: { checks: [{ name: 'build', by: 'workflow:CI.yml' }] },
    sees: { kind: 'present' },
  },
  {
    name: 'a name in other letters is another name',
    found: { checks: [check()] },
    params: { checks: [{ name: 'Build', by: 'github-actions' }] },
    sees: { kind: 'absent', ...LOG, facts: counts({ missing: 1 }) },
  },
  {
    name: 'the name alone, by another source',
    found: { checks: [posted()] },
    params: BUILD,
    sees: { kind: 'absent', ...LOG, facts: counts({ missing: 1 }) },
  },
  {
    name: 'an account that is called like the app',
    found: { checks: [posted({ by: ['account-id:7', 'account:github-actions'] })] },
    params: BUILD,
    sees: { kind: 'absent', ...LOG, facts: counts({ missing: 1 }) },
  },
  {
    name: 'an account that has the number of the app',
    found: { checks: [posted({ by: ['account-id:15368', 'account:agent'] })] },
    params: { checks: [{ name: 'build', by: 'app-id:15368' }] },
    sees: { kind: 'absent', ...LOG, facts: counts({ missing: 1 }) },
  },
  {
    name: 'posted by the account that the claim names',
    found: { checks: [posted()] },
    params: { checks: [{ name: 'build', by: 'account:agent' }] },
    sees: { kind: 'present', facts: { reported_by: 'account-id:7' } },
  },
  {
    name: 'two of the name and source, of which one failed',
    found: { checks: [check(), check({ outcome: 'failed', passedBefore: false })] },
    params: BUILD,
    sees: { kind: 'present', differs: ['checks'], ...LOG, facts: counts({ passed: 1, failed: 1 }) },
  },
  {
    name: 'one that the claim names twice counts once',
    found: { checks: [check()] },
    params: { checks: [...BUILD.checks, { name: 'build', by: 'workflow:ci.yml' }] },
    sees: { kind: 'present', facts: counts({ passed: 1 }) },
  },
  {
    name: 'skipped is not passed, where it is named',
    found: { checks: [check({ outcome: 'skipped', passedBefore: false })] },
    params: BUILD,
    sees: { kind: 'present', differs: ['checks'], ...LOG, facts: counts({ skipped: 1 }) },
  },
  {
    name: 'failed, and never passed before, by what the host keeps of its runs',
    found: { checks: [check({ outcome: 'failed', passedBefore: false })] },
    params: BUILD,
    afterMs: LATE,
    sees: { kind: 'present', differs: ['checks'], ...LOG },
  },
  {
    name: 'failed, and passed before',
    found: { checks: [check({ outcome: 'failed', passedBefore: true })] },
    params: BUILD,
    sees: { kind: 'present', differs: ['checks'], ...MAY },
  },
  {
    name: 'a job failed, at a host that tells no earlier runs, at a prompt look',
    found: { checks: [check({ outcome: 'failed' })] },
    params: BUILD,
    sees: { kind: 'present', differs: ['checks'], ...LOG },
  },
  {
    name: 'a job failed, at a host that tells no earlier runs, at a late look',
    found: { checks: [check({ outcome: 'failed' })] },
    params: BUILD,
    afterMs: LATE,
    sees: { kind: 'present', differs: ['checks'] },
  },
  {
    name: 'two failed, of which one never passed: they never passed together',
    found: {
      checks: [check({ outcome: 'failed', passedBefore: true }), lint({ outcome: 'failed', passedBefore: false })],
    },
    params: BOTH,
    sees: { kind: 'present', differs: ['checks'], ...LOG, facts: counts({ failed: 2 }) },
  },
  {
    name: 'it runs',
    found: { checks: [check({ outcome: 'pending', passedBefore: false })] },
    params: BUILD,
    sees: { kind: 'absent', ...LOG, facts: { ...counts({ pending: 1 }), under_way: true } },
  },
  {
    name: 'it passed, and runs again',
    found: { checks: [check({ outcome: 'pending', passedBefore: true })] },
    params: BUILD,
    sees: { kind: 'absent', ...MAY },
  },
  {
    name: 'one failed and one runs: that is no mismatch yet',
    found: {
      checks: [check({ outcome: 'failed', passedBefore: false }), lint({ outcome: 'pending', passedBefore: false })],
    },
    params: BOTH,
    sees: { kind: 'absent', ...LOG, facts: counts({ failed: 1, pending: 1 }) },
  },
  {
    name: 'one is not there, and nothing runs that could bring it',
    found: { checks: [check()] },
    params: BOTH,
    sees: { kind: 'absent', ...LOG, facts: { ...counts({ passed: 1, missing: 1 }), under_way: undefined } },
  },
  {
    name: 'one is not there yet',
    found: { checks: [check()], isGrowing: true },
    params: BOTH,
    sees: { kind: 'absent', ...LOG, facts: { ...counts({ passed: 1, missing: 1 }), under_way: true } },
  },
  {
    name: 'one is not there, and was not before',
    found: { checks: [check()] },
    params: BOTH,
    afterMs: LATE,
    earlier: [[0, { facts: counts({ pending: 1, missing: 1 }) }]],
    sees: { kind: 'absent', ...LOG, facts: counts({ passed: 1, missing: 1 }) },
  },
  {
    name: 'one is not there at a late look, and nobody can delete one',
    found: { checks: [check()] },
    params: BOTH,
    afterMs: LATE,
    sees: { kind: 'absent', ...LOG },
  },
  {
    name: 'one is not there at a late look, and its run may have been deleted',
    found: { checks: [check()], canBeDeleted: true },
    params: BOTH,
    afterMs: LATE,
    sees: { kind: 'absent' },
  },
  {
    name: 'failed in its place, since before the window',
    found: { checks: [posted({ outcome: 'failed', changedAt: { notAfter: NOON - 5 * MINUTE - 1 } })] },
    params: { checks: [{ name: 'build', by: 'account:agent' }] },
    afterMs: LATE,
    sees: { kind: 'present', differs: ['checks'], ...LOG },
  },
  {
    name: 'two are red, of which one has been since before the window: they never passed together',
    found: {
      checks: [5 * MINUTE + 1, 0].map((ago) => posted({ outcome: 'failed', changedAt: { notAfter: NOON - ago } })),
    },
    params: { checks: [{ name: 'build', by: 'account:agent' }] },
    afterMs: LATE,
    sees: { kind: 'present', differs: ['checks'], ...LOG },
  },
  {
    name: 'failed in its place, within the window',
    found: { checks: [posted({ outcome: 'failed', changedAt: { notAfter: NOON - 5 * MINUTE } })] },
    params: { checks: [{ name: 'build', by: 'account:agent' }] },
    sees: { kind: 'present', differs: ['checks'] },
  },
  {
    name: 'one is gone that an earlier look showed',
    found: { checks: [check()] },
    params: BOTH,
    afterMs: LATE,
    earlier: [[0, { facts: counts({ pending: 2 }) }]],
    sees: { kind: 'absent', ...MAY },
  },
  {
    name: 'all tell when they ended: the last one counts, as an upper bound',
    found: {
      checks: [check({ endedAt: { notAfter: NOON - 5 } }), lint({ endedAt: { notBefore: NOON, notAfter: NOON + 1 } })],
    },
    params: BOTH,
    sees: { kind: 'present', stays: [{ appeared: { notAfter: NOON + 1 } }] },
  },
  {
    name: 'one does not tell when it ended',
    found: { checks: [check({ endedAt: { notAfter: NOON } }), lint()] },
    params: BOTH,
    sees: { kind: 'present' },
  },
  {
    name: 'more reporters than a receipt lists, and one whose name is no identifier',
    found: { checks: [...'abcdefgh'].map((name) => posted({ name, by: [name === 'h' ? 'key:ä b' : `key:${name}`] })) },
    params: { checks: [...'abcdefg'].map((name) => ({ name, by: `key:${name}` })) },
    sees: { kind: 'present', facts: { reported_by: 'key:a, key:b, key:c, key:d, key:e, key:f, others' } },
  },
]

// Of claims that name none. All has been green, and quiet, since noon.
const ALIAS = 'github.checks.pass'
const quiet = (checks: readonly Check[], more: Partial<FoundChecks> = {}) => ({
  checks,
  changedAt: { notBefore: NOON - 999, notAfter: NOON },
  reportersBefore: async () => ['app:github-actions'],
  ...more,
})
const green = (counted: number, passed = counted) => ({ facts: { settling: true, counted, passed } })
const OPEN = { kind: 'absent', ...MAY } as const
const SETTLED = { kind: 'present', stays: [{ appeared: { notAfter: NOON } }] } as const

const ALL: readonly Row<FoundChecks>[] = [
  {
    name: 'all passed, at a first look',
    found: quiet([check(), lint()]),
    afterMs: LATE,
    sees: { ...OPEN, facts: { ...counts({ passed: 2 }), counted: 2, settling: true, under_way: true } },
  },
  {
    name: 'all passed, at two looks a minute apart',
    found: quiet([check(), lint(), posted({ name: 'scan' })]),
    afterMs: LATE,
    earlier: [[LATE - MINUTE, green(3)]],
    sees: {
      ...SETTLED,
      facts: { ...counts({ passed: 3 }), counted: 3, reported_by: 'account-id:7, github-actions', settling: undefined },
    },
  },
  {
    name: 'all passed, at two looks less than a minute apart',
    found: quiet([check()]),
    afterMs: LATE,
    earlier: [[LATE - MINUTE + 1, green(1)]],
    sees: OPEN,
  },
  {
    name: 'more passed than at the look a minute before',
    found: quiet([check(), lint()]),
    afterMs: LATE,
    earlier: [[LATE - MINUTE, green(1)]],
    sees: OPEN,
  },
  {
    name: 'something ran between the two looks',
    found: quiet([check()]),
    afterMs: LATE,
    earlier: [
      [LATE - 2 * MINUTE, green(1)],
      [LATE - MINUTE / 2, { facts: counts({ pending: 1 }) }],
    ],
    sees: OPEN,
  },
  {
    name: 'the host heard of one less than a minute ago',
    found: quiet([check()], { changedAt: { notAfter: NOON + LATE - MINUTE + 1 } }),
    afterMs: LATE,
    earlier: [[LATE - MINUTE, green(1)]],
    sees: { ...OPEN, facts: { under_way: true } },
  },
  {
    name: 'the same, by a clock that is behind ours',
    found: {
      ...quiet([check()], { changedAt: { notAfter: NOON + LATE - 2 * MINUTE } }),
      clockBehindMs: 2 * MINUTE,
    } as never,
    afterMs: LATE,
    earlier: [[LATE - MINUTE, green(1)]],
    sees: OPEN,
  },
  {
    name: 'a host without times: the two looks count',
    found: { checks: [check()] },
    afterMs: LATE,
    earlier: [[LATE - MINUTE, green(1)]],
    sees: { kind: 'present' },
  },
  {
    name: 'somebody who reported on a parent has not reported yet: time alone does not settle it',
    found: quiet([check()], { reportersBefore: async () => ['app:github-actions', 'app-id:77'] }),
    afterMs: LATE,
    earlier: [[LATE - MINUTE, green(1)]],
    sees: { kind: 'absent', mark: 'unsettled', facts: { awaited: 1, settling: true, under_way: undefined } },
  },
  {
    name: 'settled before: it stays so',
    found: quiet([check()]),
    afterMs: LATE,
    earlier: [
      [LATE - MINUTE, green(1)],
      [LATE - 1, { kind: 'present', differs: [], facts: { ...counts({ passed: 1 }), counted: 1 } }],
    ],
    sees: SETTLED,
  },
  {
    name: 'settled after the tolerance: the host tells that it passed in time',
    found: quiet([check()]),
    afterMs: HOUR + MINUTE,
    earlier: [[HOUR, green(1)]],
    sees: SETTLED,
  },
  {
    name: 'what is skipped does not count against the rest',
    found: quiet([check(), lint({ outcome: 'skipped' })]),
    afterMs: LATE,
    earlier: [[LATE - MINUTE, green(2, 1)]],
    sees: { ...SETTLED, facts: counts({ passed: 1, skipped: 1 }) },
  },
  {
    name: 'all skipped is not passed',
    found: quiet([check({ outcome: 'skipped' })]),
    sees: { kind: 'absent', ...MAY, facts: counts({ skipped: 1 }) },
  },
  {
    name: 'green, but posted by who never reported before',
    found: quiet([posted()], { reportersBefore: async () => [] }),
    afterMs: LATE,
    earlier: [[LATE - MINUTE, green(1)]],
    sees: { ...OPEN, facts: { ...counts({ passed: 1 }), under_way: undefined } },
  },
  {
    name: 'green, by who reported on the parents, too: outside CI',
    found: quiet([posted()], { reportersBefore: async () => ['account-id:7'] }),
    afterMs: LATE,
    earlier: [[LATE - MINUTE, green(1)]],
    sees: { ...SETTLED, facts: { reported_by: 'account-id:7' } },
  },
  {
    name: 'skipped by the host, and posted as green',
    found: quiet([check({ outcome: 'skipped' }), posted({ name: 'scan' })]),
    afterMs: LATE,
    earlier: [[LATE - MINUTE, green(2, 1)]],
    sees: OPEN,
  },
  { name: 'none at all', found: { checks: [] }, sees: { kind: 'absent', ...LOG, facts: counts({}) } },
  { name: 'none at all, at a late look', found: { checks: [] }, afterMs: LATE, sees: { kind: 'absent' } },
  {
    name: 'one failed at a prompt look',
    found: { checks: [check(), lint({ outcome: 'failed', passedBefore: false })] },
    sees: { kind: 'present', differs: ['sha'], ...LOG },
  },
  {
    name: 'one failed: it may be newer than the claim, and the host has no log of that',
    found: { checks: [check(), lint({ outcome: 'failed', passedBefore: false })] },
    afterMs: LATE,
    sees: { kind: 'present', differs: ['sha'], facts: counts({ passed: 1, failed: 1 }) },
  },
  {
    name: 'one passed before, and failed',
    found: { checks: [check({ outcome: 'failed', passedBefore: true })] },
    sees: { kind: 'present', differs: ['sha'], ...MAY },
  },
  {
    name: 'a posted one failed',
    found: { checks: [check(), posted({ name: 'scan', outcome: 'failed', passedBefore: false })] },
    sees: { kind: 'present', differs: ['sha'], ...LOG },
  },
  // Under the name that existing clients use.
  {
    name: 'the other name: settled, too',
    as: ALIAS,
    found: quiet([check()]),
    sees: { ...OPEN, facts: { settling: true } },
  },
  {
    name: 'the other name: settled in time',
    as: ALIAS,
    found: quiet([check()]),
    afterMs: LATE,
    earlier: [[LATE - MINUTE, green(1)]],
    sees: SETTLED,
  },
  {
    name: 'the other name: settled after the tolerance, and passed in time',
    as: ALIAS,
    found: quiet([check()]),
    afterMs: HOUR + MINUTE,
    earlier: [[HOUR, green(1)]],
    sees: SETTLED,
  },
  {
    name: 'the other name is never late',
    as: ALIAS,
    found: quiet([check()], { changedAt: { notAfter: NOON + HOUR + MINUTE } }),
    afterMs: HOUR + 3 * MINUTE,
    earlier: [[HOUR + MINUTE, green(1)]],
    sees: { kind: 'absent', ...MAY, facts: { ...counts({ passed: 1 }), settling: undefined } },
  },
  // The commit.
  {
    name: 'no such commit',
    found: { checks: undefined, mark: 'never_before' },
    sees: { kind: 'absent', mark: 'never_before', facts: { commit_found: false } },
  },
  {
    name: 'a commit that is gone',
    found: { checks: undefined, mark: 'may_have_been' },
    params: BUILD,
    sees: { kind: 'absent', ...MAY, facts: { commit_found: false } },
  },
]

t.test('who reports a check is named with its kind', async (t) => {
  const { verifiers = [] } = await codehost.setup({ logger, now: Date.now }, {})
  const { profile } = verifiers.find(({ profile }) => profile.action === 'codehost.checks.pass')!
  const claimed = (by: string) => Value.Check(profile.params, { sha: SHA, checks: [{ name: 'build', by }] })
  for (const by of [
    ...['github-actions', 'gitlab-ci', 'gitea-actions', 'forgejo-actions', 'bitbucket-pipelines'],
    ...['app:jenkins', 'app-id:15368', 'account:octo-cat', 'account:dependabot[bot]', 'account-id:1', 'key:unit 1'],
    ...['workflow:.github/workflows/ci.yml', 'pipeline:merge_request_event'],
  ]) {
    t.ok(claimed(by), by)
  }
  for (const by of ['jenkins', '15368', '.github/workflows/ci.yml', 'app:', 'app-id:x', 'Account:x', 'user:x', '']) {
    t.notOk(claimed(by), by)
  }
})

t.test('checks that a claim names', async (t) => {
  const observe = acting<FoundChecks>('codehost.checks.pass', 'checks', { sha: SHA })
  for (const row of NAMED) await observe(t, row)
})

t.test('checks of a claim that names none', async (t) => {
  const observe = acting<FoundChecks>('codehost.checks.pass', 'checks', { sha: SHA })
  for (const row of ALL) await observe(t, row)
})
