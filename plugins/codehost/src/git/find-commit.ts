/** Finds a commit at a git server, which keeps no push log that we can read, so that the result has no times. */
import type { CheckContext } from '@claimcheck/core/plugin'
import { isBranchName } from '../actions/fields.ts'
import type { CommitQuery, FoundCommit, Place } from '../code-host.ts'
import { markOf } from '../forgetting.ts'
import { KEEPS_OBJECTS_MS } from '../without-log.ts'
import type { Remote } from './environment.ts'
import type { Repositories } from './repositories.ts'
import { type GitAccess, openGitRepository } from './repository.ts'

/** Finds a commit. @param repositories the copies that this host keeps of repositories */
export async function findCommit(
  access: GitAccess,
  query: CommitQuery,
  context: CheckContext,
  repositories: Repositories,
): Promise<FoundCommit> {
  const { repository: slug, sha, branch, claimedAt } = query
  const { cache } = context
  const scope = `git ${slug}`
  const { withBranch, isIn } = openGitRepository(access, slug, context, repositories)

  async function findElsewhere(remote: Remote): Promise<Place> {
    const branches = await cache.share(`${scope} branches`, () => repositories.branches(remote, context))
    const atTip = await branches.nameAt(sha)
    if (atTip !== undefined) return { at: 'another_branch', name: atTip }
    const main = await cache.share(`${scope} default`, () => repositories.defaultBranch(remote, context))
    if (main === undefined || main === branch || !isBranchName(main)) return { at: 'nowhere' }
    const isInMain = await withBranch(main, (read) => isIn(sha, read))
    return isInMain ? { at: 'another_branch', name: main } : { at: 'nowhere' }
  }

  return withBranch(branch, async (read) => {
    const { remote, name, tip: head } = read
    const place: Place = (await isIn(sha, read)) ? { at: 'branch' } : await findElsewhere(remote)
    const found: FoundCommit = { place, head, repositoryName: name === slug ? undefined : name }
    if (place.at === 'branch') return found
    const isKnown = () => cache.share(`${scope} object ${sha}`, () => repositories.hasObject(remote, sha, context))
    const mark = await markOf(query, {
      place,
      head,
      isKnown: place.at === 'nowhere' ? await isKnown() : true,
      keepsObjects: !access.prunesAtOnce && context.now() - claimedAt <= KEEPS_OBJECTS_MS,
      isAncestor: (older) => isIn(older, read),
    })
    return { ...found, mark }
  })
}
