/** Reads releases. The host shows drafts to those who may write, and older versions give a release the date of whoever made its tag. */
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { FoundRelease, ReleaseQuery } from '../code-host.ts'
import { logTime } from '../times.ts'
import { ReleaseAnswer, ReleasesAnswer, TagAnswer } from './answers.ts'
import { escaped, type GiteaAccess, readRepository } from './repository.ts'

export async function readRelease(
  access: GiteaAccess,
  { repository: slug, tag }: ReleaseQuery,
  context: CheckContext,
): Promise<FoundRelease> {
  return context.cache.share(`gitea ${slug} release ${tag}`, async () => {
    const repository = await readRepository(access, slug, context)
    const { value: release } = await repository.find(`/releases/tags/${encodeURIComponent(tag)}`, ReleaseAnswer)
    if (!release) {
      // Their list is seen with the same right.
      await repository.get('/releases?limit=1', ReleasesAnswer)
      return { ...repository.found, release: undefined }
    }
    // The host looks for tags in any case.
    if (release.tag_name !== tag) throw new DestinationError('unexpected_response', { status: 200 })
    if (release.draft) return { ...repository.found, release: undefined }
    const { value: tagged } = await repository.find(`/tags/${escaped(tag)}`, TagAnswer)
    if (tagged && tagged.name !== tag) throw new DestinationError('unexpected_response', { status: 200 })
    const { created_at, published_at, prerelease, assets } = release
    // Where both are the same, it may be the date that the tag's author wrote into it.
    const isDated = repository.hasOwnTimes && published_at && Date.parse(published_at) !== Date.parse(created_at)
    return {
      ...repository.found,
      release: {
        isPrerelease: prerelease,
        assets: (assets ?? []).map(({ name }) => name),
        ...(tagged ? { commit: tagged.commit.sha } : {}),
        ...(isDated ? { publishedAt: logTime(published_at) } : {}),
      },
    }
  })
}
