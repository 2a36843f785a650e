/** Reads the branches of one repository at a git server, and finds a commit on them. */
import type { Auth, CheckContext } from '@claimcheck/core/plugin'
import { isBranchName } from '../actions/fields.ts'
import { isReachable } from '../ancestry.ts'
import type { CommitQuery, FoundCommit, Place } from '../code-host.ts'
import { KEEPS_OBJECTS_MS, markOf } from '../forgetting.ts'
import type { BranchCopy } from './branch-copy.ts'
import type { Remote } from './environment.ts'
import { requireGit } from './program.ts'
import type { Repositories } from './repositories.ts'
import { discover } from './repository-url.ts'

export interface GitAccess {
  readonly baseUrl: string
  readonly auth?: Auth | undefined
  /** Tells that the server removes commits as soon as no branch has them. */
  readonly prunesAtOnce?: boolean
}

interface ReachedRepository {
  readonly remote: Remote
  /** The repository's name by its URL. */
  readonly name: string
}

export interface Branch extends ReachedRepository {
  readonly copy: BranchCopy
  /** The tip of the branch; undefined where there is no such branch. */
  readonly tip: string | undefined
}

export type GitRepository = ReturnType<typeof openGitRepository>

/** Opens a repository. @param repositories the copies that this host keeps of repositories */
export function openGitRepository(
  { baseUrl, auth }: GitAccess,
  slug: string,
  context: CheckContext,
  repositories: Repositories,
) {
  const { cache } = context
  /** The header that carries the credential, which git gets because it sends its requests itself. */
  const authorization = auth && context.reveal(auth).value

  let reached: Promise<ReachedRepository> | undefined

  async function find(): Promise<ReachedRepository> {
    await requireGit()
    const { url, name } = await discover(baseUrl, slug, auth, context)
    const address = await context.resolve(url)
    return { remote: { url, address, authorization }, name }
  }

  function reach(): Promise<ReachedRepository> {
    reached ??= find()
    return reached
  }

  return {
    /** Reads a branch, and works with it while its copy is kept. @throws DestinationError where the server cannot be read */
    withBranch<T>(branch: string, work: (branch: Branch) => Promise<T>): Promise<T> {
      return repositories.withCopy([context.connection, authorization], slug, branch, async (copy) => {
        const read = await cache.share(`git ${slug} branch ${branch}`, async () => {
          const reached = await reach()
          const { remote } = reached
          return { ...reached, copy, tip: await context.ask(remote.url, () => copy.update(remote, context)) }
        })
        return work(read)
      })
    },
    /**
     * Tells whether a commit is in the history of a branch's tip, or of another commit in that history.
     * @throws DestinationError where the server cannot be read
     */
    async isIn(commit: string, { copy, remote, tip: ownTip }: Branch, tip = ownTip): Promise<boolean> {
      if (tip === undefined) return false
      return (await isReachable(commit, tip, cache, () => copy.has(commit, tip, remote, context))) === true
    },
    /**
     * Reads what a ref leads to, such as `refs/pull/7/head`; undefined where the server lists none.
     * @throws DestinationError where the server cannot be read
     */
    target: (ref: string) =>
      cache.share(`git ${slug} ref ${ref}`, async () => {
        const { remote } = await reach()
        return context.ask(remote.url, () => repositories.target(remote, ref, context))
      }),
  }
}

/**
 * Finds a commit at a git server, which keeps no push log that we can read, so that the result has no times.
 * @param repositories the copies that this host keeps of repositories
 */
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
