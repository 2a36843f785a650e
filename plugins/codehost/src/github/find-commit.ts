/** Where GitHub has a commit: on the claimed branch (and since when), on another one, or on none that can be seen. */
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { CodeHost, CommitQuery, Finding, FoundCommit } from '../code-host.ts'
import { isDestinationError } from '../http-failure.ts'
import { isBranchName } from '../profile.ts'
import type { RepositoryAnswer } from './answers.ts'
import { createGitHubApi, type GitHubAccess } from './api.ts'
import { type CommitHistory, type Contains, commitHistory, NO_COMMIT, type PushLog } from './push-log.ts'
import { openRepository, type Repository, readRepository } from './repository.ts'

/** How many comparisons one check may request to find a commit in the push log. */
const MAX_COMPARISONS = 16

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
  // Only the branch's own history shows that the branch has a commit. GitHub also answers for a commit that was pushed only to a fork,
  // because forks share their objects.
  const onBranch = head !== undefined && (await repository.contains(sha, head)) === true
  // A commit that is seen in time was pushed in time, and the log can be left out.
  if (onBranch && context.now() < inTimeUntil) return { where: 'branch', settled: false }

  // Checks do not share this read: the log's times are compared with the clock offset that is measured in the same check.
  const log = await readLog(repository, query, onBranch, context)
  const contains = comparisons(repository, sha, head, onBranch)
  const history = log && (await commitHistory(sha, log, contains, (known) => isEnough(known, query)))
  const appearance = history && appearanceOf(history, query)
  if (appearance) return { where: 'branch', ...appearance }
  if (onBranch) return { where: 'branch', settled: false }
  // The branch had the commit, and lost it before the claim was made: it is not clear whether the claim means that push.
  if (history && history.stays.length > 0) throw new DestinationError('ambiguous_claim')

  const elsewhere = await otherBranch(repository, sha, branch)
  if (elsewhere !== undefined) return { where: 'another_branch', name: elsewhere }
  const isUpToDate = log?.entries[0]?.after === (head ?? NO_COMMIT)
  return { where: 'nowhere', settled: isUpToDate && history?.since === Number.NEGATIVE_INFINITY }
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
    // For a commit on the branch the log is not necessary. Without the commit the check fails, because the log could show that it was there.
    if (!onBranch || !isDestinationError(error)) throw error
    logger.warn({ err: error }, 'the push log could not be read')
    return undefined
  }
}

function comparisons(repository: Repository, sha: string, head: string | undefined, onBranch: boolean): Contains {
  let left = MAX_COMPARISONS
  return async (tip) => {
    if (tip === head) return onBranch
    if (left-- <= 0) return undefined
    return repository.contains(sha, tip)
  }
}

/** The log shows that the commit was pushed in time. Otherwise the search goes on: an older entry can show it. */
function isEnough({ stays, since }: CommitHistory, { claimedAt, inTimeUntil }: CommitQuery): boolean {
  const earliest = stays.at(-1)
  return earliest !== undefined && since <= claimedAt && earliest.arrival.entry.at.notAfter <= inTimeUntil
}

function appearanceOf({ stays, since, openAtStart }: CommitHistory, { claimedAt }: CommitQuery) {
  const counting = stays.filter(({ removal }) => removal === undefined || removal.at.notAfter > claimedAt)
  const first = counting.at(-1)
  if (!first) return undefined
  const { entry, earlier } = first.arrival
  const { removal } = first
  // A lower bound needs a log without gaps since the claim, and no earlier stay of the commit on the branch.
  const isFirst = !earlier && !openAtStart && since <= claimedAt && counting.length === stays.length
  return {
    appeared: isFirst ? entry.at : { notAfter: entry.at.notAfter },
    ...(earlier ? {} : { pushedAt: entry.at.notBefore }),
    ...(removal ? { removedAt: removal.at.notBefore } : {}),
    settled: isFirst,
  }
}

/** Another branch with the commit: one that has it as its tip, or the default branch. @throws DestinationError when these cannot be read */
async function otherBranch(repository: Repository, sha: string, branch: string): Promise<string | undefined> {
  const tips = await repository.branchesWithTip(sha)
  // A token can have the right to see a private repository without the right to read its branches. In a public one both are public.
  if (tips === undefined && !(await repository.isStillPublic()))
    throw new DestinationError('forbidden', { status: 404 })
  // It was pushed to the claimed branch during this check: the next check will see it.
  if (tips?.includes(branch)) throw new DestinationError('unavailable')
  if (tips?.[0] !== undefined) return tips[0]

  const { defaultBranch } = repository
  if (defaultBranch === branch || !isBranchName(defaultBranch)) return undefined
  const head = await repository.head(defaultBranch)
  return head !== undefined && (await repository.contains(sha, head)) ? defaultBranch : undefined
}
