/** Reads a release at GitLab. Its author chooses `released_at`, also one to come; `created_at` is the server's. */

import { type CheckContext, parseUrl } from '@claimcheck/core/plugin'
import type { FoundRelease, ReleaseQuery } from '../code-host.ts'
import { type RestAccess, unexpectedAnswer } from '../rest.ts'
import { logTime } from '../times.ts'
import { ReleaseAnswer } from './answers.ts'
import { isOwnTime, openProject, requireCode } from './project.ts'

/**
 * The age that an answer about a tag may have. Releases are read from the database, and tags from the repository itself: Gitaly reads from a node of its cluster only while that is up to date.
 * That GitLab's own processes add no more than this is a judgement.
 */
const TAG_AGE_MS = 2000

export async function findRelease(
  access: RestAccess,
  query: ReleaseQuery,
  context: CheckContext,
): Promise<FoundRelease> {
  const { tag } = query
  const project = await openProject(access, query, context)
  // Credentials that may not read code see releases in part, and not by their tag.
  requireCode(project)
  const { value: release } = await context.cache.share(`gitlab ${project.id} release ${tag}`, () =>
    project.api.find(`${project.path}/releases/${encodeURIComponent(tag)}`, ReleaseAnswer),
  )
  const tagged = () => project.repository.tagged(tag)
  // GitLab makes no release without a tag.
  if (!release) {
    const isTagged = (await tagged()) !== undefined
    return { ...project.found, release: undefined, tagAgeMs: isTagged ? undefined : TAG_AGE_MS }
  }
  if (release.tag_name !== tag) throw unexpectedAnswer()
  // The release says of itself that it is still to come. Its author can change that back and forth.
  if (release.upcoming_release) return { ...project.found, release: undefined, mark: 'may_have_been' }
  const { created_at, released_at, assets } = release
  // The commit in the release is that of its making; the tag may have moved.
  const commit = await tagged()
  // A chosen time that is not that of the making may have been one to come.
  const isDated =
    released_at !== null && Date.parse(created_at) === Date.parse(released_at) && isOwnTime(created_at, project)
  return {
    ...project.found,
    tagAgeMs: TAG_AGE_MS,
    release: {
      isPrerelease: false,
      // The author gives a link a name to be shown: the file's own is at the end of its address.
      assets: assets.links.flatMap(({ name, url, direct_asset_url }) => [name, ...filesOf([url, direct_asset_url])]),
      commit,
      publishedAt: isDated ? logTime(created_at) : undefined,
    },
  }
}

function filesOf(urls: readonly (string | null | undefined)[]): string[] {
  return urls.flatMap((url) => {
    const file = parseUrl(url ?? '')
      ?.pathname.split('/')
      .at(-1)
    return file ? [unescapeSegment(file)] : []
  })
}

function unescapeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
