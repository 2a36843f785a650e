/** Reads the published release of a tag at GitHub. */

import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { FoundRelease, KeptName, Release, ReleaseQuery } from '../code-host.ts'
import { unexpectedAnswer } from '../rest.ts'
import { logTime } from '../times.ts'
import { AssetsAnswer, ReleaseAnswer, ReleasesAnswer } from './answers.ts'
import type { GitHubAccess } from './api.ts'
import { type ClaimedRepository, claimedRepository, WITHOUT_LOG_AGE_MS } from './repository.ts'

/** Number of files from which on a release may be shown with some of them alone: then they are listed. */
const FILES_WITH_RELEASE = 30
/** Number of the newest releases that are listed: each of them can have a long text. */
const NEWEST = 5

export async function findRelease(
  access: GitHubAccess,
  query: ReleaseQuery,
  context: CheckContext,
): Promise<FoundRelease> {
  const claimed = await claimedRepository(access, query, context)
  const { repository, found } = claimed
  const release = await context.cache.share(`github ${repository.id} release ${query.tag}`, () =>
    readRelease(claimed, query.tag),
  )
  return { ...found, ageMs: WITHOUT_LOG_AGE_MS, release: release && { ...release, keptAs } }
}

/** Reads the release of a tag. GitHub shows no drafts to those who can only read. */
async function readRelease({ api, repository }: ClaimedRepository, tag: string): Promise<Release | undefined> {
  const { root } = repository
  const read = await api.find(`${root}/releases/tags/${encodeURIComponent(tag)}`, ReleaseAnswer, [404])
  if ('refused' in read) {
    // Credentials that may read releases get a list of them, if an empty one. A proxy may not let through the slash in the name of a tag.
    const { value: newest } = await api.get(`${root}/releases?per_page=${NEWEST}`, ReleasesAnswer)
    if (newest.some(({ tag_name, draft }) => tag_name === tag && !draft)) throw new DestinationError('unavailable')
    return undefined
  }
  const { id, tag_name, draft, prerelease, published_at, assets } = read.value
  if (tag_name !== tag || draft || published_at === null) throw unexpectedAnswer()
  const commit = await repository.tagged(tag)
  const files =
    assets.length < FILES_WITH_RELEASE
      ? assets
      : (await api.list(`${root}/releases/${id}/assets?per_page=100`, AssetsAnswer)).flat()
  return {
    commit,
    isPrerelease: prerelease,
    publishedAt: logTime(published_at),
    assets: files.filter(({ state }) => state === 'uploaded').map(({ name }) => name),
  }
}

/**
 * Tells under which name GitHub keeps a file: it renames what is uploaded with other characters in its name: `My App 1.0.exe` is `My.App.1.0.exe`.
 * Its command line shows how: cli/cli, pkg/cmd/release/upload. Letters other than English ones, and a plus, are not treated the same everywhere.
 */
function keptAs(file: string): KeptName {
  const plain = file.normalize('NFKD').replace(/\p{M}/gu, '')
  const named = plain.startsWith('.') ? `default${plain}` : plain
  const kept = named.replace(/[^A-Za-z0-9_+@-]+/g, '.').replace(/^\.|\.$/g, '')
  const name = kept !== file && !kept.includes('.') ? `default.${kept}` : kept
  return { name, isUnsure: /[^\x20-\x7e]|[+@]/.test(file) || undefined }
}
