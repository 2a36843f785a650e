/** Reads pull requests. What the host shows of one that is not open needs a second look: other branches and other people's dates are in it. */
import { type CheckContext, DestinationError, isLateLook, type Mark } from '@claimcheck/core/plugin'
import type { FoundPullRequest, NumberQuery, PullRequest } from '../code-host.ts'
import type { Repositories } from '../git/repositories.ts'
import { type GitRepository, openGitRepository } from '../git/repository.ts'
import { logTime, notAfter } from '../times.ts'
import { IssueAnswer, NumbersAnswer, PullRequestAnswer } from './answers.ts'
import { type GiteaAccess, type Repository, readShared } from './repository.ts'

export async function readPullRequest(
  access: GiteaAccess,
  query: NumberQuery,
  context: CheckContext,
  repositories: Repositories,
): Promise<FoundPullRequest> {
  const { repository: slug, number } = query
  const part = { slug, part: `pull request ${number}` }
  const { repository, value: answer } = await readShared(access, part, context, async ({ find }) => {
    return (await find(`/pulls/${number}`, PullRequestAnswer)).value
  })
  if (!answer) return { ...repository.found, pullRequest: undefined, ...(await absence(repository, query)) }
  if (answer.number !== number) throw new DestinationError('unexpected_response', { status: 200 })
  if (answer.base.repo_id !== repository.id) throw new DestinationError('ambiguous_claim')
  const git = openGitRepository(repository.git, repository.name, context, repositories)
  return { ...repository.found, pullRequest: await shown(answer, { repository, git, context }) }
}

interface Place {
  readonly repository: Repository
  readonly git: GitRepository
  readonly context: CheckContext
}

async function shown(answer: PullRequestAnswer, place: Place): Promise<PullRequest> {
  const { repository } = place
  const { merged, state, draft, base, closed_at, created_at, merge_commit_sha } = answer
  const head = await headOf(answer, place)
  const mergeCommit = merged && merge_commit_sha ? merge_commit_sha : undefined
  return {
    state: merged ? 'merged' : state,
    base: base.ref,
    ...(draft === undefined ? {} : { isDraft: draft }),
    ...(head === undefined ? {} : { head }),
    ...(repository.hasOwnTimes ? { openedAt: logTime(created_at) } : {}),
    // A merge by hand has the date of a commit's author as `merged_at`. It closes the pull request, and that time is the host's.
    ...(repository.hasOwnTimes && merged && closed_at ? { mergedAt: notAfter(closed_at) } : {}),
    ...(mergeCommit === undefined ? {} : { mergeCommit }),
    isOnBase: async () => mergeCommit !== undefined && isMergedInto(base.ref, { mergeCommit, head }, place),
  }
}

/**
 * The newest commit of the pull request. For as long as its branch exists, the API gives the tip of that branch, also of a pull request
 * that was merged long ago, to which later pushes do not belong. And of a fork without the branch it gives what the fork has under this
 * pull request's number. What the repository itself keeps under `refs/pull` ends with the merge.
 */
async function headOf(answer: PullRequestAnswer, { repository, git, context }: Place): Promise<string | undefined> {
  const { number, state, head, base, merged, merge_commit_sha } = answer
  const kept = `refs/pull/${number}/head`
  const isElsewhere = head.repo_id > 0 && head.repo_id !== base.repo_id
  // A branch can be called like that, too: the label is the name of the branch.
  const isTold = head.ref === kept && head.label !== kept ? !isElsewhere : state === 'open'
  if (isTold && head.sha !== '') return head.sha
  if (!merged) return git.target(kept)
  // After the merge nobody moves it any more.
  const key = `gitea ${repository.id} ${kept} ${merge_commit_sha}`
  const known = context.cache.get(key)
  if (typeof known === 'string') return known
  const target = await git.target(kept)
  if (target !== undefined) context.cache.set(key, target)
  return target
}

/**
 * Where the repository allows to merge by hand, whoever may write can name any commit of the base as the merge. Then the pull request's own
 * commits must be on the base, too; where they were squashed by hand, nothing tells that from a lie.
 */
async function isMergedInto(
  base: string,
  { mergeCommit, head }: { readonly mergeCommit: string; readonly head: string | undefined },
  { repository, git: { withBranch, isIn } }: Place,
): Promise<boolean> {
  return withBranch(base, async (read) => {
    if (!(await isIn(mergeCommit, read))) return false
    if (!repository.allowsManualMerge || (head !== undefined && (await isIn(head, read)))) return true
    throw new DestinationError('ambiguous_claim')
  })
}

/** What it means that there is none: the list of all is seen with the same right. Nothing is kept of one that was deleted, not even its number. */
async function absence(repository: Repository, query: NumberQuery): Promise<{ readonly mark?: Mark }> {
  const { number } = query
  const [newest] = (await repository.get('/pulls?state=all&limit=1', NumbersAnswer)).value
  const { value: issue } = await repository.find(`/issues/${number}`, IssueAnswer, [403, 404])
  // Made, or hidden, while it was read.
  if (issue?.pull_request) throw new DestinationError('unavailable')
  // Both are counted together, and an issue never becomes a pull request.
  if (issue && issue.number === number && issue.repository.id === repository.id) return { mark: 'never_before' }
  const wasGiven = newest !== undefined && number <= newest.number
  return wasGiven || isLateLook(query) ? { mark: 'may_have_been' } : {}
}
