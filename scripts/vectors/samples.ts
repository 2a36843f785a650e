/** A claim of each action that comes with Claimcheck, and the facts that reads of it have. */
import type { JsonObject } from '@claimcheck/core/rules'

/** A claim of an action, and the facts of its reads. */
export interface Sample {
  readonly target: string
  readonly params: JsonObject
  /** The facts of a read that fits the claim. */
  readonly shown: JsonObject
  readonly absent: JsonObject
  /** The facts of reads that differ, by the field. */
  readonly differing: Readonly<Record<string, JsonObject>>
}

export const SHA = '0123456789abcdef0123456789abcdef01234567'
export const OTHER_SHA = 'f'.repeat(40)
export const REPOSITORY = { repository: 'acme/widgets', repository_id: '42' }
const INTEGRITY = 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
const OTHER_INTEGRITY = 'sha256-bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0='
const HASH = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
export const COUNTS = {
  ...REPOSITORY,
  commit_found: true,
  passed: 2,
  failed: 0,
  pending: 0,
  skipped: 0,
  missing: 0,
  counted: 2,
}
export const OPENED = {
  ...REPOSITORY,
  state: 'open',
  base: 'main',
  head_sha: SHA,
  opened_at: '2026-12-01T14:01:57.000Z',
}
const MERGED = {
  ...OPENED,
  state: 'merged',
  merge_commit: OTHER_SHA,
  merge_commit_on_base: true,
  merged_at: '2026-12-01T14:01:58.000Z',
}
const RELEASED = {
  ...REPOSITORY,
  commit: SHA,
  prerelease: false,
  published_at: '2026-12-01T14:01:58.000Z',
  assets_missing: 0,
}
const CLOSED = { ...REPOSITORY, state: 'closed', closed_as: 'completed', closed_at: '2026-12-01T14:01:58.000Z' }
const ANSWERED = { answered_status: 200, redirected: false, bytes: 0, fingerprint: HASH }
const LISTED = { version: '1.2.0', integrity: INTEGRITY, integrity_by: 'registry', package_listed: true }

export const SAMPLES: Readonly<Record<string, Sample>> = {
  'codehost.commit.push': {
    target: 'acme/widgets',
    params: { sha: SHA, branch: 'main' },
    shown: { ...REPOSITORY, branch_listed: true, head: SHA, pushed_at: '2026-12-01T14:01:58.000Z' },
    absent: { ...REPOSITORY, branch_listed: true, head: OTHER_SHA },
    differing: { branch: { ...REPOSITORY, branch_listed: true, head: OTHER_SHA, found_on: 'dev' } },
  },
  'codehost.pull_request.open': {
    target: 'acme/widgets',
    params: { number: 7, base: 'main', head_sha: SHA },
    shown: { ...OPENED, draft: false },
    absent: REPOSITORY,
    differing: { base: { ...OPENED, base: 'dev' }, head_sha: { ...OPENED, head_sha: OTHER_SHA } },
  },
  'codehost.pull_request.merge': {
    target: 'acme/widgets',
    params: { number: 7, base: 'main', head_sha: SHA, merge_commit: OTHER_SHA },
    shown: MERGED,
    absent: OPENED,
    differing: {
      base: { ...MERGED, base: 'dev' },
      head_sha: { ...MERGED, head_sha: OTHER_SHA },
      merge_commit: { ...MERGED, merge_commit: SHA },
    },
  },
  'codehost.checks.pass': {
    target: 'acme/widgets',
    params: { sha: SHA, checks: [{ name: 'build', by: 'github-actions' }] },
    shown: COUNTS,
    absent: { ...COUNTS, passed: 1, pending: 1 },
    differing: { checks: { ...COUNTS, passed: 1, failed: 1 } },
  },
  'codehost.release.publish': {
    target: 'acme/widgets',
    params: { tag: 'v1.2.0', commit: SHA, assets: ['widgets.tgz'] },
    shown: RELEASED,
    absent: REPOSITORY,
    differing: { commit: { ...RELEASED, commit: OTHER_SHA }, assets: { ...RELEASED, assets_missing: 1 } },
  },
  'codehost.issue.close': {
    target: 'acme/widgets',
    params: { number: 7, reason: 'completed' },
    shown: CLOSED,
    absent: { ...REPOSITORY, state: 'open' },
    differing: { reason: { ...CLOSED, closed_as: 'duplicate' } },
  },
  'http.url.status': {
    target: 'https://example.com/a',
    params: { content_fingerprint: HASH, final_url: 'https://example.com/b' },
    shown: { ...ANSWERED, redirected: true, final_url: 'https://example.com/b/' },
    absent: { answered_status: 404, redirected: false },
    differing: {
      status: { ...ANSWERED, answered_status: 201, redirected: true, final_url: 'https://example.com/b' },
      content_fingerprint: {
        ...ANSWERED,
        fingerprint: `sha256:${'0'.repeat(64)}`,
        redirected: true,
        final_url: 'https://example.com/b',
      },
      final_url: { ...ANSWERED, final_url: 'https://example.com/a' },
    },
  },
  'registry.package.publish': {
    target: 'npm:left-pad',
    params: { version: '1.2.0', integrity: INTEGRITY },
    shown: { ...LISTED, published_at: '2026-12-01T14:01:58.000Z' },
    absent: { package_listed: true },
    differing: { integrity: { ...LISTED, integrity: OTHER_INTEGRITY } },
  },
}
