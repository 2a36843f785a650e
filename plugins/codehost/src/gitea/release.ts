/** Reads releases. The host shows drafts to those who may write, and older versions give a release the date of whoever made its tag. */

import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { FoundRelease, ReleaseQuery } from '../code-host.ts'
import { escapePath, type RestAccess, unexpectedAnswer } from '../rest.ts'
import { logTime } from '../times.ts'
import { ReleaseAnswer, ReleasesAnswer, TagAnswer } from './answers.ts'
import { type Repository, readShared } from './repository.ts'

/** The number of newest releases that are listed. */
const NEWEST = 20

export async function readRelease(
  access: RestAccess,
  { repository: slug, tag }: ReleaseQuery,
  context: CheckContext,
): Promise<FoundRelease> {
  const part = { slug, part: `release ${tag}` }
  const { repository, value } = await readShared(access, part, context, (shown) => readTag(shown, tag))
  if (!value) return { ...repository.found, release: undefined }
  const { release, commit } = value
  const { created_at, published_at, prerelease, assets } = release
  // A publication at the time of the making may have the date that the tag's author wrote into it.
  const isDated = repository.hasOwnTimes && published_at && Date.parse(published_at) !== Date.parse(created_at)
  return {
    ...repository.found,
    release: {
      isPrerelease: prerelease,
      assets: (assets ?? []).map(({ name }) => name),
      commit,
      publishedAt: isDated ? logTime(published_at) : undefined,
    },
  }
}

/** Reads the release of a tag, and the commit to which the tag leads; undefined where no release is published. */
async function readTag({ find, get }: Repository, tag: string) {
  const { value: release } = await find(`/releases/tags/${encodeURIComponent(tag)}`, ReleaseAnswer)
  if (!release) {
    // The list of all releases is seen with the same right. A proxy may not let through the slash in the name of a tag.
    const { value: newest } = await get(`/releases?limit=${NEWEST}`, ReleasesAnswer)
    if (newest.some(({ tag_name, draft }) => tag_name === tag && !draft)) throw new DestinationError('unavailable')
  }
  // The host looks for tags in any case.
  if (release && release.tag_name !== tag) throw unexpectedAnswer()
  if (!release || release.draft) return undefined
  const { value: tagged } = await find(`/tags/${escapePath(tag)}`, TagAnswer)
  if (tagged && tagged.name !== tag) throw unexpectedAnswer()
  return { release, commit: tagged?.commit.sha }
}
