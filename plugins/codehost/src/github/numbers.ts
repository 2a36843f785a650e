/** Judges that GitHub shows no pull request or issue of a number. Both are counted together, and a number is never given twice. */
import { type CheckContext, DestinationError, type Mark } from '@claimcheck/core/plugin'
import { isLogDue } from '../actions/past.ts'
import type { NumberQuery } from '../code-host.ts'
import { isFarAbove, wasSeen } from '../forgetting.ts'
import { IssueAnswer, NumbersAnswer } from './answers.ts'
import type { Refusal } from './api.ts'
import type { ClaimedRepository, Repository } from './repository.ts'

/** Number of the newest issues by time that are read: one that was moved here is as old as it was there, and has a higher number. */
const NEWEST = 50

/**
 * Marks a pull request that is not shown. Pull requests are never deleted, never move, and keep their ref. GitHub hides those of accounts that it
 * takes for spam, but for that ref: where the repository shows such refs, one that is missing was never given out.
 * @throws DestinationError `forbidden` where pull requests may not be read
 */
export async function markOfMissingPull(
  claimed: ClaimedRepository,
  query: NumberQuery,
  context: CheckContext,
): Promise<Mark | undefined> {
  if (wasSeen(query)) return 'may_have_been'
  if (!isLogDue(query)) return undefined
  const { number } = query
  const { api, repository } = claimed
  const newest = (await newestPull(claimed)) ?? 0
  // The list has the pull request, and the replica that was asked before has it not yet.
  if (newest === number) throw new DestinationError('unavailable')
  if (await repository.keepsPull(number)) return 'may_have_been'
  if (await showsPullRefs(repository, newest, context)) return 'never_before'
  const issue = await api.find(`${repository.root}/issues/${number}`, IssueAnswer, [403, 404, 410])
  // An issue never becomes a pull request.
  if ('value' in issue && !issue.value.pull_request) return 'never_before'
  const highest = await highestIssue(claimed, [403, 404, 410])
  return highest !== undefined && isFarAbove(number, Math.max(highest.number, newest))
    ? 'never_before'
    : 'may_have_been'
}

/** Marks an issue that is not shown. @throws DestinationError `forbidden` where issues may not be read */
export async function markOfMissingIssue(claimed: ClaimedRepository, query: NumberQuery): Promise<Mark | undefined> {
  if (wasSeen(query)) return 'may_have_been'
  if (!isLogDue(query)) return undefined
  const highest = await highestIssue(claimed, [410])
  if (!highest) return 'may_have_been'
  // Credentials that may read pull requests but no issues get a list of pull requests.
  if (!claimed.repository.isPublic && !highest.showsIssues) throw new DestinationError('forbidden', { status: 404 })
  if (!isFarAbove(query.number, highest.number)) return 'may_have_been'
  // Credentials that may read issues but no pull requests get a list without them.
  const pull = highest.showsPulls ? 0 : await newestPull(claimed, [403, 404])
  return pull !== undefined && isFarAbove(query.number, pull) ? 'never_before' : 'may_have_been'
}

/** Reads the number of the newest pull request; 0 where there is none; undefined where it is refused with one of these statuses. */
async function newestPull({ api, repository: { root } }: ClaimedRepository, refusals: readonly Refusal[] = []) {
  const path = `${root}/pulls?state=all&sort=created&direction=desc&per_page=1`
  const list = await api.find(path, NumbersAnswer, refusals)
  return 'refused' in list ? undefined : (list.value[0]?.number ?? 0)
}

/** The highest number in the list of issues, which has pull requests, too. */
async function highestIssue({ api, repository: { root } }: ClaimedRepository, refusals: readonly Refusal[]) {
  const path = `${root}/issues?state=all&sort=created&direction=desc&per_page=${NEWEST}`
  const list = await api.find(path, NumbersAnswer, refusals)
  if ('refused' in list) return undefined
  return {
    number: Math.max(0, ...list.value.map(({ number }) => number)),
    showsIssues: list.value.some(({ pull_request }) => !pull_request),
    showsPulls: list.value.some(({ pull_request }) => pull_request),
  }
}

/** Tells whether these credentials see the refs that the repository keeps of pull requests: that of the newest one, or, where there is none, any ref. */
async function showsPullRefs(repository: Repository, newest: number, { cache }: CheckContext): Promise<boolean> {
  const key = `github ${repository.id} shows ${newest === 0 ? 'refs' : 'refs of pull requests'}`
  if (cache.get(key) === true) return true
  const isShown =
    newest === 0 ? (await repository.head(repository.defaultBranch)) !== undefined : await repository.keepsPull(newest)
  if (isShown) cache.set(key, true)
  return isShown
}
