/** Where GitHub has a commit: on the claimed branch (and since when), on another, or nowhere that can be seen. */
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { CodeHost, CommitQuery, Finding, FoundCommit } from '../code-host.ts'
import { isDestinationError } from '../http-failure.ts'
import { isBranchName } from '../profile.ts'
import type { RepositoryAnswer } from './answers.ts'
import { createGitHubApi, type GitHubAccess } from './api.ts'
import { type Account, accountFor, type Contains, NO_COMMIT, type PushLog } from './push-log.ts'
import { openRepository, type Repository, readRepository } from './repository.ts'

/** How many comparisons one check may ask for to find a commit's place in the push log. */
const MOST_COMPARISONS = 16

export function createGitHubHost(access: GitHubAccess): CodeHost {
  return {
    async findCommit(query, context): Promise<FoundCommit> {
      const { branch } = query
      const slug = `${query.owner}/${query.repository}`
      const api = createGitHubApi(access, context)
      const open = (answer: RepositoryAnswer) => openRepository(api, context.cache, answer)
      const { answer, head } = await context.cache.share(`github ${slug} branch ${branch}`, async () => {
        const answer = await readRepository(api, slug)
        return { answer, head: await open(answer).head(branch) }
      })
      const repository = open(answer)
      const finding = await findIn(repository, head, query, context)
      return { finding, repositoryId: repository.id, ...(head === undefined ? {} : { head }) }
    },
  }
}

async function findIn(
  repository: Repository,
  head: string | undefined,
  query: CommitQuery,
  context: CheckContext,
): Promise<Finding> {
  const { sha, branch, inTimeUntil } = query
  // That a branch has a commit is concluded from its own history alone: forks share objects, so a commit that was
  // pushed to a fork only is answered under the upstream's name, too.
  const onBranch = head !== undefined && (await repository.contains(sha, head)) === true
  // Seen in time, it came in time, whatever the log says.
  if (onBranch && context.now() < inTimeUntil) return { place: 'branch', settled: false }

  // Each check reads it for itself: what its times are worth is told by the clock that comes with the same check's answers.
  const log = await readLog(repository, query, onBranch, context)
  const contains = comparisons(repository, sha, head, onBranch)
  const account = log && (await accountFor(sha, log, contains, (known) => isEnough(known, query)))
  const shown = account && appearanceOf(account, query)
  if (shown) return { place: 'branch', ...shown }
  if (onBranch) return { place: 'branch', settled: false }
  // The branch had it and lost it before the claim was made: whether that is what is claimed cannot be told.
  if (account && account.stays.length > 0) throw new DestinationError('ambiguous_claim')

  const elsewhere = await otherBranch(repository, sha, branch)
  if (elsewhere !== undefined) return { place: 'another_branch', name: elsewhere }
  const isUpToDate = log?.entries[0]?.after === (head ?? NO_COMMIT)
  return { place: 'nowhere', settled: isUpToDate && account?.since === Number.NEGATIVE_INFINITY }
}

async function readLog(
  repository: Repository,
  { branch, claimedAt }: CommitQuery,
  onBranch: boolean,
  { logger }: CheckContext,
): Promise<PushLog | undefined> {
  try {
    return await repository.pushLog(branch, claimedAt)
  } catch (error) {
    // A commit that is there has been seen, log or no log. That it is not there is not said while the log may yet show that it was.
    if (!onBranch || !isDestinationError(error)) throw error
    logger.warn({ err: error }, 'push log could not be read')
    return undefined
  }
}

function comparisons(repository: Repository, sha: string, head: string | undefined, onBranch: boolean): Contains {
  let left = MOST_COMPARISONS
  return async (tip) => {
    if (tip === head) return onBranch
    if (left-- <= 0) return undefined
    return repository.contains(sha, tip)
  }
}

/** It came in time. Else the log is followed further back: what came before may speak for the agent. */
function isEnough({ stays, since }: Account, { claimedAt, inTimeUntil }: CommitQuery): boolean {
  const earliest = stays.at(-1)
  return earliest !== undefined && since <= claimedAt && earliest.arrival.entry.at.notAfter <= inTimeUntil
}

function appearanceOf({ stays, since, openAtStart }: Account, { claimedAt }: CommitQuery) {
  const counting = stays.filter(({ lostBy }) => lostBy === undefined || lostBy.at.notAfter > claimedAt)
  const first = counting.at(-1)
  if (!first) return undefined
  const { entry, earlier } = first.arrival
  const { lostBy } = first
  // "Not before" is said only when nothing since the claim was overlooked, and no stay before it was seen.
  const isFirst = !earlier && !openAtStart && since <= claimedAt && counting.length === stays.length
  return {
    appeared: isFirst ? entry.at : { notAfter: entry.at.notAfter },
    ...(earlier ? {} : { pushedAt: entry.at.notBefore }),
    ...(lostBy ? { removedAt: lostBy.at.notBefore } : {}),
    settled: isFirst,
  }
}

/** Another branch that has the commit: as its tip, or the default branch. @throws DestinationError when that cannot be read */
async function otherBranch(repository: Repository, sha: string, branch: string): Promise<string | undefined> {
  const tips = await repository.branchesWithTip(sha)
  // Rights to see a repository are not yet rights to see its branches, but for a public one.
  if (tips === undefined && !(await repository.isStillPublic()))
    throw new DestinationError('forbidden', { status: 404 })
  // Pushed to the claimed branch while we were reading: the next read will show it.
  if (tips?.includes(branch)) throw new DestinationError('unavailable')
  if (tips?.[0] !== undefined) return tips[0]

  const { defaultBranch } = repository
  if (defaultBranch === branch || !isBranchName(defaultBranch)) return undefined
  const head = await repository.head(defaultBranch)
  return head !== undefined && (await repository.contains(sha, head)) ? defaultBranch : undefined
}
