/** What is reported of a release that was published, a row for each rule. */
import type { FoundRelease, Release } from '@claimcheck/plugin-codehost/provider'
import t from 'tap'
import { ABSENT, absent, acting, at, differing, MINUTE, NOON, PRESENT, present, type Row, row } from './acting.ts'

const COMMIT = 'a'.repeat(40)
const OTHER = 'b'.repeat(40)
const LATE = 6 * MINUTE
const MAY = { mark: 'may_have_been' }

const release: Release = { commit: COMMIT, isPrerelease: false, publishedAt: at(NOON), assets: ['app.zip'] }
const found = (change: Partial<Release> = {}) => ({ release: { ...release, ...change } })
const { commit: _, ...withoutTag } = release

const ROWS: readonly Row<FoundRelease>[] = [
  row(
    'published: it may have been published before, and deleted',
    found(),
    present({ stays: [{ appeared: { notAfter: NOON + 999 } }], facts: { commit: COMMIT, prerelease: false } }),
  ),
  row(
    'at a host whose time its author can choose',
    { release: { isPrerelease: true, assets: [] } },
    present({ facts: { prerelease: true } }),
  ),
  row(
    'published long before',
    found({ publishedAt: at(NOON - 60 * MINUTE) }),
    present({ stays: [{ appeared: { notAfter: NOON - 60 * MINUTE + 999 } }], facts: { preexisting: true } }),
  ),
  row('of the claimed commit: since when, it does not tell', found(), PRESENT, { params: { commit: COMMIT } }),
  row(
    'with the claimed files, and more: since when, it does not tell',
    found({ assets: ['app.zip', 'app.tar.gz'] }),
    present({ facts: { assets_missing: 0 } }),
    { params: { assets: ['app.tar.gz'] } },
  ),
  row('whose tag is gone', { release: withoutTag }, present({ stays: [{ appeared: { notAfter: NOON + 999 } }] })),
  row(
    'none, and no such tag, which the repository itself tells',
    { release: undefined, tagAgeMs: 2000 },
    absent({ ageMs: 2000 }),
  ),
  row(
    'of another commit and without a file, where the repository itself tells the commit',
    { ...found(), tagAgeMs: 2000 },
    differing(['commit', 'assets'], { ageMs: 2000 }),
    { params: { commit: OTHER, assets: ['app.tar.gz'] } },
  ),
  row(
    'without a file, where the repository itself tells the commit',
    { ...found(), tagAgeMs: 2000 },
    differing('assets'),
    { params: { commit: COMMIT, assets: ['app.tar.gz'] } },
  ),
  row(
    'as claimed, where the repository itself tells the commit',
    { ...found(), tagAgeMs: 2000 },
    present({ differs: [] }),
    { params: { commit: COMMIT } },
  ),
  row('of another commit, at a prompt look', found(), differing('commit', { facts: { commit: COMMIT } }), {
    params: { commit: OTHER },
  }),
  row('of another commit still, after a prompt look', found(), differing('commit'), {
    params: { commit: OTHER },
    afterMs: LATE,
    earlier: [[0, { kind: 'present', differs: ['commit'], facts: { commit: COMMIT } }]],
  }),
  row('whose tag moved between two looks', found(), differing('commit', MAY), {
    params: { commit: OTHER },
    afterMs: LATE,
    earlier: [[0, { kind: 'present', differs: ['commit'], facts: { commit: 'c'.repeat(40) } }]],
  }),
  row(
    'of another commit, where an earlier look showed no release: the tag may have moved on',
    found(),
    differing('commit', MAY),
    { params: { commit: OTHER }, afterMs: LATE, earlier: [[0, {}]] },
  ),
  row('whose tag, with the claimed commit, is gone', { release: withoutTag }, differing('commit', MAY), {
    params: { commit: COMMIT },
  }),
  row('without a claimed file', found(), differing('assets', { facts: { assets_missing: 1 } }), {
    params: { assets: ['app.zip', 'app.tar.gz'] },
  }),
  row('none, at a prompt look', { release: undefined }, ABSENT),
  row('none, at a late look', { release: undefined }, ABSENT, { afterMs: LATE }),
  row('none still, after a prompt look', { release: undefined }, ABSENT, { afterMs: LATE, earlier: [[0, {}]] }),
  row('none, where an earlier look saw one that was not as claimed', { release: undefined }, absent(MAY), {
    params: { commit: OTHER },
    afterMs: LATE,
    earlier: [[0, { kind: 'present', differs: ['commit'], facts: { commit: COMMIT } }]],
  }),
  row(
    'none, by a host that knows more of it',
    { release: undefined, mark: 'never_before' },
    absent({ mark: 'never_before' }),
    { afterMs: LATE },
  ),
]

t.test('a release that was published', async (t) => {
  const observe = acting<FoundRelease>('codehost.release.publish', 'release', { tag: 'v1.0.0' })
  for (const row of ROWS) await observe(t, row)
})
