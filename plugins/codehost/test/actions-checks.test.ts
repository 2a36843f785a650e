/** What is reported of a commit's checks, a row for each rule. */
import type { Check, FoundChecks } from '@claimcheck/plugin-codehost/provider'
import t from 'tap'
import { acting, MINUTE, NOON, type Row } from './acting.ts'

const LATE = 6 * MINUTE
const SHA = 'a'.repeat(40)
const BUILD = { checks: [{ name: 'build', by: 'ci' }] }
const BOTH = { checks: [...BUILD.checks, { name: 'lint', by: 'ci' }] }

const check = (change: Partial<Check> = {}): Check => ({
  ...{ name: 'build', by: ['ci', 'ci.yml'], isRunByHost: true, outcome: 'passed' },
  ...change,
})
const lint = (change: Partial<Check> = {}) => check({ name: 'lint', ...change })
const posted = (change: Partial<Check> = {}) => check({ by: ['agent'], isRunByHost: false, ...change })
const counts = (counted: Partial<Record<'passed' | 'failed' | 'pending' | 'skipped' | 'missing', number>>) => ({
  ...{ commit_found: true, passed: 0, failed: 0, pending: 0, skipped: 0, missing: 0 },
  ...counted,
})
const MAY = { mark: 'may_have_been' }

const ROWS: readonly Row<FoundChecks>[] = [
  // Named.
  {
    name: 'the named one passed, and no other counts',
    found: { checks: [check(), lint({ outcome: 'failed' })] },
    params: BUILD,
    sees: { kind: 'present', facts: counts({ passed: 1 }) },
  },
  {
    name: 'a source in other letters',
    found: { checks: [check()] },
    params: { checks: [{ name: 'build', by: 'CI.yml' }] },
    sees: { kind: 'present' },
  },
  {
    name: 'a name in other letters is another name',
    found: { checks: [check()] },
    params: { checks: [{ name: 'Build', by: 'ci' }] },
    sees: { kind: 'absent', facts: counts({ missing: 1 }) },
  },
  {
    name: 'the name alone, by another source',
    found: { checks: [posted()] },
    params: BUILD,
    sees: { kind: 'absent', facts: counts({ missing: 1 }) },
  },
  {
    name: 'posted by the account that the claim names',
    found: { checks: [posted()] },
    params: { checks: [{ name: 'build', by: 'agent' }] },
    sees: { kind: 'present' },
  },
  {
    name: 'two of the name and source, of which one failed',
    found: { checks: [check(), check({ outcome: 'failed', passedBefore: false })] },
    params: BUILD,
    sees: { kind: 'present', differs: ['checks'], facts: counts({ passed: 1, failed: 1 }) },
  },
  {
    name: 'one that the claim names twice counts once',
    found: { checks: [check()] },
    params: { checks: [...BUILD.checks, { name: 'build', by: 'ci.yml' }] },
    sees: { kind: 'present', facts: counts({ passed: 1 }) },
  },
  {
    name: 'skipped is not passed, where it is named',
    found: { checks: [check({ outcome: 'skipped', passedBefore: false })] },
    params: BUILD,
    sees: { kind: 'present', differs: ['checks'], facts: counts({ skipped: 1 }) },
  },
  {
    name: 'failed, and never passed before',
    found: { checks: [check({ outcome: 'failed', passedBefore: false })] },
    params: BUILD,
    afterMs: LATE,
    sees: { kind: 'present', differs: ['checks'] },
  },
  {
    name: 'failed, and passed before',
    found: { checks: [check({ outcome: 'failed', passedBefore: true })] },
    params: BUILD,
    sees: { kind: 'present', differs: ['checks'], ...MAY },
  },
  {
    name: 'failed at a prompt look, at a host that tells no earlier runs',
    found: { checks: [check({ outcome: 'failed' })] },
    params: BUILD,
    sees: { kind: 'present', differs: ['checks'] },
  },
  {
    name: 'failed at a late look, at a host that tells no earlier runs',
    found: { checks: [check({ outcome: 'failed' })] },
    params: BUILD,
    afterMs: LATE,
    sees: { kind: 'present', differs: ['checks'], ...MAY },
  },
  {
    name: 'two failed, of which one never passed: they never passed together',
    found: {
      checks: [check({ outcome: 'failed', passedBefore: true }), lint({ outcome: 'failed', passedBefore: false })],
    },
    params: BOTH,
    sees: { kind: 'present', differs: ['checks'], facts: counts({ failed: 2 }) },
  },
  {
    name: 'it runs',
    found: { checks: [check({ outcome: 'pending', passedBefore: false })] },
    params: BUILD,
    sees: { kind: 'absent', facts: counts({ pending: 1 }) },
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
    sees: { kind: 'absent', facts: counts({ failed: 1, pending: 1 }) },
  },
  {
    name: 'one is not there',
    found: { checks: [check()] },
    params: BOTH,
    sees: { kind: 'absent', facts: counts({ passed: 1, missing: 1 }) },
  },
  {
    name: 'one is not there at a late look: its run may have been deleted',
    found: { checks: [check()] },
    params: BOTH,
    afterMs: LATE,
    sees: { kind: 'absent', ...MAY, facts: counts({ passed: 1, missing: 1 }) },
  },
  {
    name: 'one is not there, after a prompt look',
    found: { checks: [check()] },
    params: BOTH,
    afterMs: LATE,
    earlier: [[0, { facts: counts({ pending: 1, missing: 1 }) }]],
    sees: { kind: 'absent', facts: counts({ passed: 1, missing: 1 }) },
  },
  {
    name: 'one is gone that an earlier look showed',
    found: { checks: [check()] },
    params: BOTH,
    afterMs: LATE,
    earlier: [[0, { facts: counts({ pending: 2 }) }]],
    sees: { kind: 'absent', ...MAY },
  },
  // None named.
  {
    name: 'all passed',
    found: { checks: [check(), lint(), posted({ name: 'scan' })] },
    sees: { kind: 'present', facts: counts({ passed: 3 }) },
  },
  {
    name: 'what is skipped does not count against the rest',
    found: { checks: [check(), lint({ outcome: 'skipped' })] },
    sees: { kind: 'present', facts: counts({ passed: 1, skipped: 1 }) },
  },
  {
    name: 'all skipped is not passed',
    found: { checks: [check({ outcome: 'skipped' })] },
    sees: { kind: 'absent', ...MAY, facts: counts({ skipped: 1 }) },
  },
  {
    name: 'green, but posted by who can write',
    found: { checks: [posted()] },
    sees: { kind: 'absent', ...MAY, facts: counts({ passed: 1 }) },
  },
  {
    name: 'skipped by the host, and posted as green',
    found: { checks: [check({ outcome: 'skipped' }), posted({ name: 'scan' })] },
    sees: { kind: 'absent', ...MAY },
  },
  { name: 'none at all', found: { checks: [] }, sees: { kind: 'absent', facts: counts({}) } },
  {
    name: 'one failed, at a prompt look',
    found: { checks: [check(), lint({ outcome: 'failed', passedBefore: false })] },
    sees: { kind: 'present', differs: ['sha'], facts: counts({ passed: 1, failed: 1 }) },
  },
  {
    name: 'one failed, at a late look: it may be newer than the claim',
    found: { checks: [check(), lint({ outcome: 'failed', passedBefore: false })] },
    afterMs: LATE,
    sees: { kind: 'present', differs: ['sha'], ...MAY },
  },
  {
    name: 'a posted one failed',
    found: { checks: [check(), posted({ name: 'scan', outcome: 'failed', passedBefore: false })] },
    sees: { kind: 'present', differs: ['sha'] },
  },
  // When.
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

t.test('checks that passed', async (t) => {
  const observe = acting<FoundChecks>('codehost.checks.pass', 'checks', { sha: SHA })
  for (const row of ROWS) await observe(t, row)
})
