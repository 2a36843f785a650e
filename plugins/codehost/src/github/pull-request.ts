/** What GitHub shows of a pull request, or whether there ever was one with this number. */
import { type CheckContext, DestinationError, type Mark } from '@claimcheck/core/plugin'
import { isBranchName } from '../actions/fields.ts'
import type { FoundPullRequest, NumberQuery, PullRequest } from '../code-host.ts'
import { wasSeen } from '../forgetting.ts'
import { logTime } from '../times.ts'
import { IssueAnswer, NumbersAnswer, PullRequestAnswer } from './answers.ts'
import type { GitHubAccess } from './api.ts'
import { type ClaimedRepository, claimedRepository, type Repository } from './repository.ts'

export async function findPullRequest(
  access: GitHubAccess,
  query: NumberQuery,
  context: CheckContext,
): Promise<FoundPullRequest> {
  const claimed = await claimedRepository(access, query, context)
  const { api, repository, found } = claimed
  const { number } = query
  const read = await context.cache.share(`github ${repository.id} pull ${number}`, () =>
    api.get(`${repository.root}/pulls/${number}`, PullRequestAnswer, [404]),
  )
  if ('refused' in read) return { ...found, pullRequest: undefined, mark: await markOfMissing(claimed, query) }
  const { value } = read
  if (value.number !== number) throw new DestinationError('unexpected_response', { status: 200 })
  if (value.base.repo.id !== repository.id) throw new DestinationError('ambiguous_claim')
  return { ...found, pullRequest: pullRequestOf(value, repository, context) }
}

function pullRequestOf(answer: PullRequestAnswer, repository: Repository, context: CheckContext): PullRequest {
  const { state, draft, merged, merged_at, merge_commit_sha, created_at, head, base } = answer
  if (merged !== (merged_at !== null)) throw new DestinationError('unexpected_response', { status: 200 })
  const shown = {
    ...(draft === undefined ? {} : { isDraft: draft }),
    base: base.ref,
    head: head.sha,
    openedAt: logTime(created_at),
  }
  if (merged_at === null) return { ...shown, state }
  return {
    ...shown,
    state: 'merged',
    mergedAt: logTime(merged_at),
    ...(merge_commit_sha === null
      ? {}
      : {
          mergeCommit: merge_commit_sha,
          isOnBase: () => isOnBranch(merge_commit_sha, base.ref, repository, context),
        }),
  }
}

async function isOnBranch(sha: string, branch: string, repository: Repository, { cache }: CheckContext) {
  if (!isBranchName(branch)) throw new DestinationError('unexpected_response', { status: 200 })
  const head = await cache.share(`github ${repository.id} head ${branch}`, () => repository.head(branch))
  if (head !== undefined) return (await repository.contains(sha, head)) === true
  // It is gone, or the repository's contents may not be read: then this throws.
  await repository.branchesWithTip(sha)
  return false
}

/**
 * Pull requests are never deleted and never move, and their numbers are counted together with those of issues.
 * @throws DestinationError `forbidden` where pull requests may not be read
 */
async function markOfMissing({ api, repository }: ClaimedRepository, query: NumberQuery): Promise<Mark> {
  const { number } = query
  const { root } = repository
  const list = await api.get(`${root}/pulls?state=all&sort=created&direction=desc&per_page=1`, NumbersAnswer)
  const [newest] = 'value' in list ? list.value : []
  // GitHub hides those of accounts that it takes for spam.
  if (wasSeen(query)) return 'may_have_been'
  if (newest === undefined || number > newest.number) return 'never_before'
  const issue = await api.get(`${root}/issues/${number}`, IssueAnswer, [403, 404, 410])
  if ('refused' in issue) return 'may_have_been'
  // Opened just now, or not on every replica yet.
  if (issue.value.pull_request) throw new DestinationError('unavailable')
  return 'never_before'
}
