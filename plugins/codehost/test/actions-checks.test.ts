/** What is reported of a commit's checks, a row for each rule. */
import { Value } from '@claimcheck/core/plugin'
import codehost from '@claimcheck/plugin-codehost'
import type { Check, FoundChecks, Report } from '@claimcheck/plugin-codehost/provider'
import t from 'tap'
import { ABSENT, absent, acting, differing, MINUTE, NOON, PRESENT, present, type Row, row } from './acting.ts'
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
const ours = (change: Partial<Check> = {}) => posted({ name: 'claimcheck/codehost.commit.push', ...change })
const counts = (counted: Partial<Record<'passed' | 'failed' | 'pending' | 'skipped' | 'missing', number>>) => ({
  ...{ commit_found: true, passed: 0, failed: 0, pending: 0, skipped: 0, missing: 0 },
  ...counted,
})
const MAY = { mark: 'may_have_been' }
const LOG = { stays: [] }

const NAMED: readonly Row<FoundChecks>[] = [
  row(
    'the named one passed, and no other counts',
    { checks: [check(), lint({ outcome: 'failed' })] },
    present({ facts: { ...counts({ passed: 1 }), counted: 1, reported_by: 'github-actions' } }),
    { params: BUILD },
  ),
  row('a file in other letters is another file', { checks: [check()] }, absent(LOG), {
    params: { checks: [{ name: 'build', by: 'workflow:CI.yml' }] },
  }),
  row('an account in other letters', { checks: [posted()] }, PRESENT, {
    params: { checks: [{ name: 'build', by: 'account:Agent' }] },
  }),
  row(
    'a name in other letters is another name',
    { checks: [check()] },
    absent({ ...LOG, facts: counts({ missing: 1 }) }),
    { params: { checks: [{ name: 'Build', by: 'github-actions' }] } },
  ),
  row('the name alone, by another source', { checks: [posted()] }, absent({ ...LOG, facts: counts({ missing: 1 }) }), {
    params: BUILD,
  }),
  row(
    'an account that is called like the app',
    { checks: [posted({ by: ['account-id:7', 'account:github-actions'] })] },
    absent({ ...LOG, facts: counts({ missing: 1 }) }),
    { params: BUILD },
  ),
  row(
    'an account that has the number of the app',
    { checks: [posted({ by: ['account-id:15368', 'account:agent'] })] },
    absent({ ...LOG, facts: counts({ missing: 1 }) }),
    { params: { checks: [{ name: 'build', by: 'app-id:15368' }] } },
  ),
  row(
    'posted by the account that the claim names',
    { checks: [posted()] },
    present({ facts: { reported_by: 'account-id:7' } }),
    { params: { checks: [{ name: 'build', by: 'account:agent' }] } },
  ),
  row(
    'two of the name and source, of which one failed',
    { checks: [check(), check({ outcome: 'failed', passedBefore: false })] },
    differing('checks', { ...LOG, facts: counts({ passed: 1, failed: 1 }) }),
    { params: BUILD },
  ),
  row('one that the claim names twice counts once', { checks: [check()] }, present({ facts: counts({ passed: 1 }) }), {
    params: { checks: [...BUILD.checks, { name: 'build', by: 'workflow:ci.yml' }] },
  }),
  row(
    'skipped is not passed, where it is named',
    { checks: [check({ outcome: 'skipped', passedBefore: false })] },
    differing('checks', { ...LOG, facts: counts({ skipped: 1 }) }),
    { params: BUILD },
  ),
  row(
    'failed, and never passed before, by what the host keeps of its runs',
    { checks: [check({ outcome: 'failed', passedBefore: false })] },
    differing('checks', LOG),
    { params: BUILD, afterMs: LATE },
  ),
  row(
    'failed, and passed before',
    { checks: [check({ outcome: 'failed', passedBefore: true })] },
    differing('checks', MAY),
    { params: BUILD },
  ),
  row(
    'a job failed, at a host that tells no earlier runs, at a prompt look',
    { checks: [check({ outcome: 'failed' })] },
    differing('checks', LOG),
    { params: BUILD },
  ),
  row(
    'a job failed, at a host that tells no earlier runs, at a late look',
    { checks: [check({ outcome: 'failed' })] },
    differing('checks'),
    { params: BUILD, afterMs: LATE },
  ),
  row(
    'two failed, of which one never passed: they never passed together',
    { checks: [check({ outcome: 'failed', passedBefore: true }), lint({ outcome: 'failed', passedBefore: false })] },
    differing('checks', { ...LOG, facts: counts({ failed: 2 }) }),
    { params: BOTH },
  ),
  row(
    'it runs',
    { checks: [check({ outcome: 'pending', passedBefore: false })] },
    absent({ ...LOG, facts: { ...counts({ pending: 1 }), under_way: true } }),
    { params: BUILD },
  ),
  row('it passed, and runs again', { checks: [check({ outcome: 'pending', passedBefore: true })] }, absent(MAY), {
    params: BUILD,
  }),
  row(
    'one failed and one runs: that is no mismatch yet',
    { checks: [check({ outcome: 'failed', passedBefore: false }), lint({ outcome: 'pending', passedBefore: false })] },
    absent({ ...LOG, facts: counts({ failed: 1, pending: 1 }) }),
    { params: BOTH },
  ),
  row(
    'one is not there, and nothing runs that could bring it',
    { checks: [check()] },
    absent({ ...LOG, facts: { ...counts({ passed: 1, missing: 1 }), under_way: undefined } }),
    { params: BOTH },
  ),
  row(
    'one is not there yet',
    { checks: [check()], isGrowing: true },
    absent({ ...LOG, facts: { ...counts({ passed: 1, missing: 1 }), under_way: true } }),
    { params: BOTH },
  ),
  row(
    'one is not there, and was not before',
    { checks: [check()] },
    absent({ ...LOG, facts: counts({ passed: 1, missing: 1 }) }),
    { params: BOTH, afterMs: LATE, earlier: [[0, { facts: counts({ pending: 1, missing: 1 }) }]] },
  ),
  row('one is not there at a late look, and nobody can delete one', { checks: [check()] }, absent(LOG), {
    params: BOTH,
    afterMs: LATE,
  }),
  row(
    'one is not there at a late look, and its run may have been deleted',
    { checks: [check()], canBeDeleted: true },
    ABSENT,
    { params: BOTH, afterMs: LATE },
  ),
  row(
    'failed in its place, since before the window',
    { checks: [posted({ outcome: 'failed', changedAt: { notAfter: NOON - 5 * MINUTE - 1 } })] },
    differing('checks', LOG),
    { params: { checks: [{ name: 'build', by: 'account:agent' }] }, afterMs: LATE },
  ),
  row(
    'two are red, of which one has been since before the window: they never passed together',
    { checks: [5 * MINUTE + 1, 0].map((ago) => posted({ outcome: 'failed', changedAt: { notAfter: NOON - ago } })) },
    differing('checks', LOG),
    { params: { checks: [{ name: 'build', by: 'account:agent' }] }, afterMs: LATE },
  ),
  row(
    'failed in its place, within the window',
    { checks: [posted({ outcome: 'failed', changedAt: { notAfter: NOON - 5 * MINUTE } })] },
    differing('checks'),
    { params: { checks: [{ name: 'build', by: 'account:agent' }] } },
  ),
  row('one is gone that an earlier look showed', { checks: [check()] }, absent(MAY), {
    params: BOTH,
    afterMs: LATE,
    earlier: [[0, { facts: counts({ pending: 2 }) }]],
  }),
  row(
    'all tell when they ended: the last one counts, as an upper bound',
    {
      checks: [check({ endedAt: { notAfter: NOON - 5 } }), lint({ endedAt: { notBefore: NOON, notAfter: NOON + 1 } })],
    },
    present({ stays: [{ appeared: { notAfter: NOON + 1 } }] }),
    { params: BOTH },
  ),
  row('one does not tell when it ended', { checks: [check({ endedAt: { notAfter: NOON } }), lint()] }, PRESENT, {
    params: BOTH,
  }),
  row(
    'more reporters than a receipt lists, and one whose name is no identifier',
    { checks: [...'abcdefgh'].map((name) => posted({ name, by: [name === 'h' ? 'key:ä b' : `key:${name}`] })) },
    present({ facts: { reported_by: 'key:a, key:b, key:c, key:d, key:e, key:f, others' } }),
    { params: { checks: [...'abcdefg'].map((name) => ({ name, by: `key:${name}` })) } },
  ),
]

// Of claims that name none. All has been green, and quiet, since noon.
const ALIAS = 'github.checks.pass'
const RUN = { file: 'ci.yml', event: 'push', ref: 'default' } as const
const BEGUN = { begun: [RUN], refs: ['default'], owners: [] } as const
const reportedBefore =
  (...reports: readonly Report[]) =>
  async () => ({ ...BEGUN, commits: [{ refs: ['default'], reports } as const] })
const onlyOnce = reportedBefore(RUN)
const quiet = (checks: readonly Check[], more: Partial<FoundChecks> = {}) => ({
  checks,
  changedAt: { notBefore: NOON - 999, notAfter: NOON },
  comparable: onlyOnce,
  ...more,
})
const green = (counted: number, passed = counted) => ({ facts: { settling: true, counted, passed } })
const OPEN = absent({ mark: 'unsettled' })
const SETTLED = present({ stays: [{ appeared: { notAfter: NOON } }] })

const ALL: readonly Row<FoundChecks>[] = [
  row(
    'all passed, at a first look',
    quiet([check(), lint()]),
    { ...OPEN, facts: { ...counts({ passed: 2 }), counted: 2, settling: true, under_way: true } },
    { afterMs: LATE },
  ),
  row(
    'all passed, at two looks a minute apart',
    quiet([check(), lint(), posted({ name: 'scan' })]),
    {
      ...SETTLED,
      facts: { ...counts({ passed: 3 }), counted: 3, reported_by: 'account-id:7, github-actions', settling: undefined },
    },
    { afterMs: LATE, earlier: [[LATE - MINUTE, green(3)]] },
  ),
  row('all passed, at two looks less than a minute apart', quiet([check()]), OPEN, {
    afterMs: LATE,
    earlier: [[LATE - MINUTE + 1, green(1)]],
  }),
  row('more passed than at the look a minute before', quiet([check(), lint()]), OPEN, {
    afterMs: LATE,
    earlier: [[LATE - MINUTE, green(1)]],
  }),
  row('something ran between the two looks', quiet([check()]), OPEN, {
    afterMs: LATE,
    earlier: [
      [LATE - 2 * MINUTE, green(1)],
      [LATE - MINUTE / 2, { facts: counts({ pending: 1 }) }],
    ],
  }),
  row(
    'the host heard of one less than a minute ago',
    quiet([check()], { changedAt: { notAfter: NOON + LATE - MINUTE + 1 } }),
    { ...OPEN, facts: { under_way: true } },
    { afterMs: LATE, earlier: [[LATE - MINUTE, green(1)]] },
  ),
  row(
    'the same, by a clock that is behind ours',
    { ...quiet([check()], { changedAt: { notAfter: NOON + LATE - 2 * MINUTE } }), clockBehindMs: 2 * MINUTE } as never,
    OPEN,
    { afterMs: LATE, earlier: [[LATE - MINUTE, green(1)]] },
  ),
  row('a host without times: the two looks count', { checks: [check()], comparable: onlyOnce }, PRESENT, {
    afterMs: LATE,
    earlier: [[LATE - MINUTE, green(1)]],
  }),
  row(
    'nothing is comparable: the claim has to name the checks, and no look is to come soon',
    { checks: [check({ name: 'Unit tests' }), lint(), posted({ name: 'ä/\ud800' })] },
    {
      ...OPEN,
      facts: { unnamed: true, settling: true, seen: 'Unit%20tests, lint, others', under_way: undefined },
    },
  ),
  row('nothing is comparable, and it stays green', { checks: [check()] }, OPEN, {
    afterMs: LATE,
    earlier: [[LATE - MINUTE, green(1)]],
  }),
  row(
    'a run by hand founds no green',
    { checks: [check({ isByHand: true })], comparable: onlyOnce },
    { ...OPEN, facts: { settling: true, under_way: undefined } },
    { afterMs: LATE, earlier: [[LATE - MINUTE, green(1)]] },
  ),
  row(
    'what need not come is awaited until the tolerance ends',
    quiet([check()], { comparable: reportedBefore({ by: 'app-id:7', name: 'e2e' }) }),
    SETTLED,
    { afterMs: HOUR + MINUTE, earlier: [[HOUR, green(1)]] },
  ),
  row(
    'somebody who reported on a comparable commit has not reported yet: time alone does not settle it',
    quiet([check()], { comparable: reportedBefore(RUN, { by: 'app-id:77', name: 'e2e' }) }),
    absent({ mark: 'unsettled', facts: { awaited: 1, settling: true, under_way: undefined } }),
    { afterMs: LATE, earlier: [[LATE - MINUTE, green(1)]] },
  ),
  row('settled before: it stays so', quiet([check()]), SETTLED, {
    afterMs: LATE,
    earlier: [
      [LATE - MINUTE, green(1)],
      [LATE - 1, { kind: 'present', differs: [], facts: { ...counts({ passed: 1 }), counted: 1 } }],
    ],
  }),
  row('settled after the tolerance: the host tells that it passed in time', quiet([check()]), SETTLED, {
    afterMs: HOUR + MINUTE,
    earlier: [[HOUR, green(1)]],
  }),
  row(
    'what is skipped does not count against the rest',
    quiet([check(), lint({ outcome: 'skipped' })]),
    { ...SETTLED, facts: counts({ passed: 1, skipped: 1 }) },
    { afterMs: LATE, earlier: [[LATE - MINUTE, green(2, 1)]] },
  ),
  row(
    'all skipped is not passed',
    quiet([check({ outcome: 'skipped' })]),
    absent({ ...MAY, facts: counts({ skipped: 1 }) }),
  ),
  row(
    'green, but posted by who never reported before',
    quiet([posted()], { comparable: onlyOnce }),
    { ...OPEN, facts: { ...counts({ passed: 1 }), under_way: undefined } },
    { afterMs: LATE, earlier: [[LATE - MINUTE, green(1)]] },
  ),
  row(
    'green, by who reported on comparable commits, too: outside CI',
    quiet([posted()], { comparable: reportedBefore({ by: 'account-id:7', name: posted().name }) }),
    { ...SETTLED, facts: { reported_by: 'account-id:7' } },
    { afterMs: LATE, earlier: [[LATE - MINUTE, green(1)]] },
  ),
  row(
    'skipped by the host, and posted as green',
    quiet([check({ outcome: 'skipped' }), posted({ name: 'scan' })]),
    OPEN,
    { afterMs: LATE, earlier: [[LATE - MINUTE, green(2, 1)]] },
  ),
  row('none at all', { checks: [] }, absent({ ...LOG, facts: counts({}) })),
  row('none at all, at a late look', { checks: [] }, ABSENT, { afterMs: LATE }),
  row(
    'one failed at a prompt look',
    { checks: [check(), lint({ outcome: 'failed', passedBefore: false })] },
    differing('sha', LOG),
  ),
  row(
    'one failed: it may be newer than the claim, and the host has no log of that',
    { checks: [check(), lint({ outcome: 'failed', passedBefore: false })] },
    differing('sha', { facts: counts({ passed: 1, failed: 1 }) }),
    { afterMs: LATE },
  ),
  row(
    'one passed before, and failed',
    { checks: [check({ outcome: 'failed', passedBefore: true })] },
    differing('sha', MAY),
  ),
  row(
    'a posted one failed',
    { checks: [check(), posted({ name: 'scan', outcome: 'failed', passedBefore: false })] },
    differing('sha', LOG),
  ),
  // The host does not tell who posted one of our own reports.
  row(
    'what may be our own report founds no green',
    { checks: [ours()] },
    absent({ ...MAY, facts: counts({ skipped: 1 }) }),
  ),
  row(
    'what may be our own report does not count against the rest',
    quiet([check(), ours({ name: 'Claimcheck' })]),
    { ...SETTLED, facts: counts({ passed: 1, skipped: 1 }) },
    { afterMs: LATE, earlier: [[LATE - MINUTE, green(2, 1)]] },
  ),
  row(
    'a failed one of ours, or of who took its name, blames nobody',
    { checks: [check(), ours({ outcome: 'failed', passedBefore: false })] },
    differing('sha', { ...MAY, facts: counts({ passed: 1, failed: 1 }) }),
  ),
  row(
    'a pending one of ours blames nobody',
    { checks: [check(), ours({ outcome: 'pending', passedBefore: false })] },
    absent({ ...MAY, facts: counts({ passed: 1, pending: 1 }) }),
  ),
  row(
    'whoever takes the name does not hide what failed',
    { checks: [ours({ outcome: 'failed' }), lint({ outcome: 'failed', passedBefore: false })] },
    differing('sha', LOG),
  ),
  row(
    'a name that only begins alike is none of ours',
    { checks: [check(), ours({ name: 'claimcheck-lint', outcome: 'failed', passedBefore: false })] },
    differing('sha', LOG),
  ),
  // Under the name that existing clients use.
  row('the other name: settled, too', quiet([check()]), { ...OPEN, facts: { settling: true } }, { as: ALIAS }),
  row('the other name: settled in time', quiet([check()]), SETTLED, {
    as: ALIAS,
    afterMs: LATE,
    earlier: [[LATE - MINUTE, green(1)]],
  }),
  row('the other name: settled after the tolerance, and passed in time', quiet([check()]), SETTLED, {
    as: ALIAS,
    afterMs: HOUR + MINUTE,
    earlier: [[HOUR, green(1)]],
  }),
  row(
    'the other name is never late',
    quiet([check()], { changedAt: { notAfter: NOON + HOUR + MINUTE } }),
    absent({ ...MAY, facts: { ...counts({ passed: 1 }), settling: undefined } }),
    { as: ALIAS, afterMs: HOUR + 3 * MINUTE, earlier: [[HOUR + MINUTE, green(1)]] },
  ),
  // The commit.
  row(
    'no such commit',
    { checks: undefined, mark: 'never_before' },
    absent({ mark: 'never_before', facts: { commit_found: false } }),
  ),
  row(
    'a commit that is gone',
    { checks: undefined, mark: 'may_have_been' },
    absent({ ...MAY, facts: { commit_found: false } }),
    { params: BUILD },
  ),
]

t.test('who reports a check is named with its kind', async (t) => {
  const { verifiers = [] } = await codehost.setup({ logger }, {})
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

t.test('our own reports can be no claim', async (t) => {
  const verifier = acting<FoundChecks>('codehost.checks.pass', 'checks', { sha: SHA })
  for (const name of ['claimcheck', 'Claimcheck', 'claimcheck/codehost.commit.push']) {
    const params = { checks: [...BUILD.checks, { name, by: 'account-id:7' }] }
    const found = { checks: [check(), ours({ name })] }
    await t.rejects(verifier(t, row(name, found, PRESENT, { params })), { code: 'unsupported_target' })
  }
})
