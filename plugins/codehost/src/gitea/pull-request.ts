/** Reads pull requests. The host's account of one that is not open needs a second look: other branches and other people's dates are in it. */

import { type CheckContext, DestinationError, type Mark } from '@claimcheck/core/plugin'
import { isLogDue } from '../actions/past.ts'
import type { FoundPullRequest, NumberQuery, PullRequest } from '../code-host.ts'
import { isFarAbove, isInWindow, unchangedSince, wasSeen } from '../forgetting.ts'
import type { Repositories } from '../git/repositories.ts'
import { type GitRepository, openGitRepository } from '../git/repository.ts'
import { type RestAccess, unexpectedAnswer } from '../rest.ts'
import { logTime, notAfter } from '../times.ts'
import { IssueAnswer, PullRequestAnswer, TreeOfCommitAnswer } from './answers.ts'
import { type Repository, readNewestNumber, readShared } from './repository.ts'
import { readTimeline } from './timeline.ts'

/** The time from a merge by the host until it closes the pull request, in whole seconds. */
const MERGE_MS = 2000

export async function readPullRequest(
  access: RestAccess,
  query: NumberQuery,
  context: CheckContext,
  repositories: Repositories,
): Promise<FoundPullRequest> {
  const { repository: slug, number } = query
  const part = { slug, part: `pull request ${number}` }
  const { repository, value: answer } = await readShared(access, part, context, async ({ find }) => {
    return (await find(`/pulls/${number}`, PullRequestAnswer)).value
  })
  const git = openGitRepository(repository.git, repository.name, context, repositories)
  const { found, hasOwnTimes } = repository
  if (!answer) return { ...found, pullRequest: undefined, mark: await markOfMissing(repository, git, query) }
  const { merged, state, draft, base, closed_at, merged_at, created_at, merge_commit_sha } = answer
  if (answer.number !== number) throw unexpectedAnswer()
  if (base.repo_id !== repository.id) throw new DestinationError('ambiguous_claim')
  const head = await headOf(answer, repository, git, context)
  const mergeCommit = merged && merge_commit_sha ? merge_commit_sha : undefined
  // A merge by the host closes the pull request at once; one by hand has another time.
  const isDatedByHost = Math.abs(Date.parse(merged_at ?? '') - Date.parse(closed_at ?? '')) <= MERGE_MS
  let timeline: ReturnType<typeof readTimeline> | undefined
  const pullRequest: PullRequest = {
    state: merged ? 'merged' : state,
    base: base.ref,
    isDraft: draft,
    head,
    openedAt: hasOwnTimes ? logTime(created_at) : undefined,
    // A merge by hand has the date of a commit's author as `merged_at`. It closes the pull request, and that time is the host's.
    mergedAt: hasOwnTimes && merged ? notAfter(closed_at) : undefined,
    mergeCommit,
    isOnBase: async () =>
      mergeCommit !== undefined && isMergedInto(base.ref, { mergeCommit, head, isDatedByHost }, repository, git),
    async log(field) {
      timeline ??= readTimeline(repository, query)
      const log = await timeline
      if (log === undefined || log === 'cut') return log
      const [now, change] = field === 'base' ? [base.ref, 'change_target_branch'] : [head, 'pull_push']
      if (now === undefined) return 'cut'
      // Nobody chooses the times of these changes, at Forgejo neither.
      const changes = log.filter((entry) => entry.type === change && isInWindow(entry, found, query))
      const since = hasOwnTimes ? unchangedSince(logTime(created_at), query) : undefined
      if (changes.length === 0) return [{ value: now, since }]
      // A change of the target names both branches; a push does not name the commit that was the head before.
      const before = changes.flatMap(({ old_ref, new_ref }) => [old_ref, new_ref])
      return [...before.map((value) => ({ value: value || undefined })), { value: now }]
    },
  }
  return { ...found, pullRequest }
}

/**
 * Finds the newest commit of the pull request. For as long as its branch exists, the API gives the tip of that branch, also of a pull request
 * that was merged long ago, to which later pushes do not belong. And of a fork without the branch it gives what the fork has under this
 * pull request's number. What the repository itself keeps under `refs/pull` ends with the merge.
 */
async function headOf(
  answer: PullRequestAnswer,
  repository: Repository,
  git: GitRepository,
  { cache }: CheckContext,
): Promise<string | undefined> {
  const { number, state, head, base, merged, merge_commit_sha } = answer
  const kept = `refs/pull/${number}/head`
  const isElsewhere = head.repo_id > 0 && head.repo_id !== base.repo_id
  // A branch can be called like the ref, too: the label is the name of the branch.
  const isTold = head.ref === kept && head.label !== kept ? !isElsewhere : state === 'open'
  if (isTold && head.sha !== '') return head.sha
  if (!merged) return git.target(kept)
  // After the merge, nobody moves the kept ref any more.
  const key = `gitea ${repository.id} ${kept} ${merge_commit_sha}`
  const known = cache.get(key)
  if (typeof known === 'string') return known
  const target = await git.target(kept)
  if (target !== undefined) cache.set(key, target)
  return target
}

/**
 * Tells whether the base has the merge. Where the repository allows to merge by hand, an account that may write can name any commit of the base as
 * the merge, and some hosts do not tell whether it allows that. Then the base must have what the pull request brought: its own commits, or a commit
 * with the same files that was merged when the pull request was closed, as the host does it with a squash or a rebase. A merge by hand has the date
 * of the commit's author. Anything else that was squashed, onto a base that went on, cannot be told from a lie.
 */
async function isMergedInto(
  base: string,
  merge: { mergeCommit: string; head: string | undefined; isDatedByHost: boolean },
  { allowsManualMerge, find }: Repository,
  { withBranch, isIn }: GitRepository,
) {
  const { mergeCommit, head, isDatedByHost } = merge
  return withBranch(base, async (read) => {
    const isThere = read.tip !== undefined && (await isIn(mergeCommit, read))
    if (read.tip !== undefined && !isThere) return false
    const isCertain =
      allowsManualMerge === false ||
      (head !== undefined && isThere && (await isIn(head, read))) ||
      (head !== undefined && isDatedByHost && (await hasSameFiles([mergeCommit, head], find)))
    if (isCertain) return isThere || ('gone' as const)
    if (!isThere) return false
    throw new DestinationError('ambiguous_claim')
  })
}

/** Tells whether two commits have the same files. The API answers for commits that no branch has: that does not matter here. */
async function hasSameFiles(commits: readonly string[], find: Repository['find']): Promise<boolean> {
  const [one, other] = await Promise.all(
    commits.map(async (sha) => {
      const { value } = await find(`/git/commits/${sha}`, TreeOfCommitAnswer)
      // A branch may be called like a commit.
      return value?.sha === sha ? value.commit.tree.sha : undefined
    }),
  )
  return one !== undefined && one === other
}

/**
 * Marks a pull request that is not shown: the list of all is seen with the same right. The host keeps nothing of one that was deleted, not even its
 * number.
 */
async function markOfMissing(
  repository: Repository,
  git: GitRepository,
  query: NumberQuery,
): Promise<Mark | undefined> {
  if (wasSeen(query)) return 'may_have_been'
  if (!isLogDue(query)) return undefined
  const { number } = query
  const newest = (await readNewestNumber(repository, 'pulls')) ?? 0
  const { value: issue } = await repository.find(`/issues/${number}`, IssueAnswer, [403, 404])
  // The pull request was made, or hidden, while it was read.
  if (issue?.pull_request) throw new DestinationError('unavailable')
  // The number is an issue's: both are counted together, and an issue never becomes a pull request.
  if (issue && issue.number === number && issue.repository.id === repository.id) return 'never_before'
  if (number <= newest) return 'may_have_been'
  if (isFarAbove(number, newest)) {
    const highest = await readNewestNumber(repository, 'issues', [403, 404])
    if (highest !== undefined && isFarAbove(number, highest)) return undefined
  }
  // A pull request that is hidden has its ref still.
  const kept = async (one: number) => (await git.target(`refs/pull/${one}/head`)) !== undefined
  const isWithoutTrace = !(await kept(number)) && (newest === 0 || (await kept(newest)))
  return isWithoutTrace ? undefined : 'may_have_been'
}
