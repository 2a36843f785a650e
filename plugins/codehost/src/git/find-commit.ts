/** Where a git server has a commit. It keeps no push log that we can read, so it says nothing of when. */
import type { Auth, CheckContext } from '@claimcheck/core/plugin'
import { isBranchName } from '../actions/fields.ts'
import { isReachable } from '../ancestry.ts'
import type { CommitQuery, FoundCommit, Place } from '../code-host.ts'
import { markOf } from '../forgetting.ts'
import type { BranchCopy } from './branch-copy.ts'
import type { Remote } from './environment.ts'
import type { Repositories } from './repositories.ts'
import { discover } from './repository-url.ts'
import { requireGit } from './version.ts'

/** A git server that prunes as usual keeps a commit that no branch has for longer than this. */
const KEEPS_OBJECTS_MS = 24 * 60 * 60_000

export interface GitAccess {
  readonly baseUrl: string
  readonly auth?: Auth | undefined
  /** The server removes commits as soon as no branch has them. */
  readonly prunesAtOnce?: boolean
}

interface Reached {
  readonly remote: Remote
  /** The repository's name by its URL. */
  readonly name: string
}

interface Branch extends Reached {
  readonly copy: BranchCopy
  readonly tip: string | undefined
}

/** @param repositories what this host keeps of repositories */
export async function findCommit(
  { baseUrl, auth, prunesAtOnce = false }: GitAccess,
  query: CommitQuery,
  context: CheckContext,
  repositories: Repositories,
): Promise<FoundCommit> {
  const { repository: slug, sha, branch, claimedAt } = query
  const { cache } = context
  const scope = `git ${slug}`
  /** git sends its requests itself, so it gets the credential. */
  const authorization = auth && context.reveal(auth).value

  async function reach(): Promise<Reached> {
    await requireGit()
    const { url, name } = await discover(baseUrl, slug, auth, context)
    const address = await context.resolve(url)
    return { remote: { url, address, ...(authorization === undefined ? {} : { authorization }) }, name }
  }

  /** Reads a branch, and works with it while its copy is kept. */
  function withBranch<T>(branch: string, work: (branch: Branch) => Promise<T>): Promise<T> {
    return repositories.withCopy([context.connection, authorization], slug, branch, async (copy) => {
      const read = await cache.share(`${scope} branch ${branch}`, async () => {
        const reached = await reach()
        return { ...reached, copy, tip: await copy.update(reached.remote, context) }
      })
      return work(read)
    })
  }

  /** Whether a commit is in the history of a branch's tip. */
  async function isIn(commit: string, { copy, tip, remote }: Branch): Promise<boolean> {
    if (tip === undefined) return false
    return (await isReachable(commit, tip, cache, () => copy.has(commit, tip, remote, context))) === true
  }

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
    const found: FoundCommit = {
      place,
      ...(head === undefined ? {} : { head }),
      ...(name === slug ? {} : { repositoryName: name }),
    }
    if (place.at === 'branch') return found
    const mark = await markOf(query, {
      place,
      head,
      isKnown: place.at === 'nowhere' ? await repositories.hasObject(remote, sha, context) : true,
      keepsObjects: !prunesAtOnce && context.now() - claimedAt <= KEEPS_OBJECTS_MS,
      isAncestor: (older) => isIn(older, read),
    })
    return { ...found, ...(mark === undefined ? {} : { mark }) }
  })
}
