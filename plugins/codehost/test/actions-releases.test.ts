/** What is reported of a release that was published, a row for each rule. */
import type { FoundRelease, Release } from '@claimcheck/plugin-codehost/provider'
import t from 'tap'
import { acting, at, MINUTE, NOON, type Row } from './acting.ts'

const COMMIT = 'a'.repeat(40)
const OTHER = 'b'.repeat(40)
const LATE = 6 * MINUTE
const MAY = { mark: 'may_have_been' }

const release: Release = { commit: COMMIT, isPrerelease: false, publishedAt: at(NOON), assets: ['app.zip'] }
const found = (change: Partial<Release> = {}) => ({ release: { ...release, ...change } })
const { commit: _, ...withoutTag } = release

const ROWS: readonly Row<FoundRelease>[] = [
  {
    name: 'published: it may have been published before, and deleted',
    found: found(),
    sees: {
      kind: 'present',
      stays: [{ appeared: { notAfter: NOON + 999 } }],
      facts: { commit: COMMIT, prerelease: false },
    },
  },
  {
    name: 'at a host whose time its author can choose',
    found: { release: { isPrerelease: true, assets: [] } },
    sees: { kind: 'present', facts: { prerelease: true } },
  },
  {
    name: 'published long before',
    found: found({ publishedAt: at(NOON - 60 * MINUTE) }),
    sees: {
      kind: 'present',
      stays: [{ appeared: { notAfter: NOON - 60 * MINUTE + 999 } }],
      facts: { preexisting: true },
    },
  },
  {
    name: 'of the claimed commit: since when, it does not tell',
    found: found(),
    params: { commit: COMMIT },
    sees: { kind: 'present' },
  },
  {
    name: 'with the claimed files, and more: since when, it does not tell',
    found: found({ assets: ['app.zip', 'app.tar.gz'] }),
    params: { assets: ['app.tar.gz'] },
    sees: { kind: 'present', facts: { assets_missing: 0 } },
  },
  {
    name: 'whose tag is gone',
    found: { release: withoutTag },
    sees: { kind: 'present', stays: [{ appeared: { notAfter: NOON + 999 } }] },
  },
  {
    name: 'none, and no such tag, which the repository itself tells',
    found: { release: undefined, tagAgeMs: 2000 },
    sees: { kind: 'absent', ageMs: 2000 },
  },
  {
    name: 'of another commit and without a file, where the repository itself tells the commit',
    found: { ...found(), tagAgeMs: 2000 },
    params: { commit: OTHER, assets: ['app.tar.gz'] },
    sees: { kind: 'present', differs: ['commit', 'assets'], ageMs: 2000 },
  },
  {
    name: 'without a file, where the repository itself tells the commit',
    found: { ...found(), tagAgeMs: 2000 },
    params: { commit: COMMIT, assets: ['app.tar.gz'] },
    sees: { kind: 'present', differs: ['assets'] },
  },
  {
    name: 'as claimed, where the repository itself tells the commit',
    found: { ...found(), tagAgeMs: 2000 },
    params: { commit: COMMIT },
    sees: { kind: 'present', differs: [] },
  },
  {
    name: 'of another commit, at a prompt look',
    found: found(),
    params: { commit: OTHER },
    sees: { kind: 'present', differs: ['commit'], facts: { commit: COMMIT } },
  },
  {
    name: 'of another commit still, after a prompt look',
    found: found(),
    params: { commit: OTHER },
    afterMs: LATE,
    earlier: [[0, { kind: 'present', differs: ['commit'], facts: { commit: COMMIT } }]],
    sees: { kind: 'present', differs: ['commit'] },
  },
  {
    name: 'whose tag moved between two looks',
    found: found(),
    params: { commit: OTHER },
    afterMs: LATE,
    earlier: [[0, { kind: 'present', differs: ['commit'], facts: { commit: 'c'.repeat(40) } }]],
    sees: { kind: 'present', differs: ['commit'], ...MAY },
  },
  {
    name: 'of another commit, where an earlier look showed no release: the tag may have moved on',
    found: found(),
    params: { commit: OTHER },
    afterMs: LATE,
    earlier: [[0, {}]],
    sees: { kind: 'present', differs: ['commit'], ...MAY },
  },
  {
    name: 'whose tag, with the claimed commit, is gone',
    found: { release: withoutTag },
    params: { commit: COMMIT },
    sees: { kind: 'present', differs: ['commit'], ...MAY },
  },
  {
    name: 'without a claimed file',
    found: found(),
    params: { assets: ['app.zip', 'app.tar.gz'] },
    sees: { kind: 'present', differs: ['assets'], facts: { assets_missing: 1 } },
  },
  { name: 'none, at a prompt look', found: { release: undefined }, sees: { kind: 'absent' } },
  { name: 'none, at a late look', found: { release: undefined }, afterMs: LATE, sees: { kind: 'absent' } },
  {
    name: 'none still, after a prompt look',
    found: { release: undefined },
    afterMs: LATE,
    earlier: [[0, {}]],
    sees: { kind: 'absent' },
  },
  {
    name: 'none, where an earlier look saw one that was not as claimed',
    found: { release: undefined },
    params: { commit: OTHER },
    afterMs: LATE,
    earlier: [[0, { kind: 'present', differs: ['commit'], facts: { commit: COMMIT } }]],
    sees: { kind: 'absent', ...MAY },
  },
  {
    name: 'none, by a host that knows more of it',
    found: { release: undefined, mark: 'never_before' },
    afterMs: LATE,
    sees: { kind: 'absent', mark: 'never_before' },
  },
]

t.test('a release that was published', async (t) => {
  const observe = acting<FoundRelease>('codehost.release.publish', 'release', { tag: 'v1.0.0' })
  for (const row of ROWS) await observe(t, row)
})
