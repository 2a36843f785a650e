/** What GitHub shows of an issue, or whether there ever was one with this number. */
import { type CheckContext, DestinationError, isDestinationError, isLateLook, type Mark } from '@claimcheck/core/plugin'
import type { FoundIssue, Issue, NumberQuery } from '../code-host.ts'
import { wasSeen } from '../forgetting.ts'
import { logTime } from '../times.ts'
import { IssueAnswer, IssueEventsAnswer, NumbersAnswer } from './answers.ts'
import type { GitHubAccess } from './api.ts'
import { type ClaimedRepository, claimedRepository } from './repository.ts'

const REASONS = ['completed', 'not_planned', 'duplicate'] as const
/** Of events, 100 each: comments are not among them. */
const MOST_EVENT_PAGES = 3
/** How much later than the claim a reopening is certainly not by accident of clocks. */
const CLOCK_SLACK_MS = 5000
/** Of the newest issues: enough to find one among pull requests. */
const NEWEST = 50

export async function findIssue(access: GitHubAccess, query: NumberQuery, context: CheckContext): Promise<FoundIssue> {
  const claimed = await claimedRepository(access, query, context)
  const { api, repository, found } = claimed
  const { number } = query
  const read = await context.cache.share(`github ${repository.id} issue ${number}`, () =>
    api.get(`${repository.root}/issues/${number}`, IssueAnswer, [404, 410]),
  )
  if ('refused' in read) {
    // 410: it was deleted, or the repository has no issues any more.
    const mark = read.refused === 410 ? 'may_have_been' : await markOfMissing(claimed, query)
    return { ...found, issue: undefined, mark }
  }
  const { value } = read
  if (!isOf(value, claimed)) throw new DestinationError('ambiguous_claim')
  if (value.number !== number) throw new DestinationError('unexpected_response', { status: 200 })
  // Whoever says that issue 7 was closed may mean the pull request.
  if (value.pull_request) throw new DestinationError('ambiguous_claim')
  return { ...found, issue: await issueOf(value, claimed, query) }
}

/** A transferred issue is answered from where it is now. */
function isOf({ repository_url }: IssueAnswer, { repository }: ClaimedRepository): boolean {
  return repository_url.toLowerCase().endsWith(repository.root.toLowerCase())
}

async function issueOf(answer: IssueAnswer, claimed: ClaimedRepository, query: NumberQuery): Promise<Issue> {
  const { state, closed_at, state_reason } = answer
  if ((state === 'closed') !== (closed_at !== null)) throw new DestinationError('unexpected_response', { status: 200 })
  const closedAt = closed_at === null ? undefined : logTime(closed_at)
  const reason = REASONS.find((one) => one === state_reason)
  const wasClosed = isOpenToDoubt(closedAt?.notAfter, query) ? await wasReopened(claimed, query) : undefined
  return {
    state,
    ...(closedAt === undefined ? {} : { closedAt }),
    ...(state === 'closed' && reason !== undefined ? { reason } : {}),
    ...(wasClosed === undefined ? {} : { wasClosed }),
  }
}

/** It is not closed, or was not in time, and an earlier closing may not have been seen. */
function isOpenToDoubt(closedUntil: number | undefined, query: NumberQuery): boolean {
  if (closedUntil !== undefined) return closedUntil > query.inTimeUntil
  return isLateLook(query) || query.sentAt >= query.inTimeUntil
}

/** By its events, it was opened again after the claim, and so was closed before. Undefined where they cannot all be read. */
async function wasReopened(
  { api, repository }: ClaimedRepository,
  { number, claimedAt }: NumberQuery,
): Promise<boolean | undefined> {
  const { root, clockBehindMs } = repository
  const path = `${root}/issues/${number}/events?per_page=100`
  const read = await api
    .list(path, IssueEventsAnswer, { refusals: [403, 404, 410], most: MOST_EVENT_PAGES })
    .catch((error: unknown) => {
      if (isDestinationError(error) && error.code === 'too_large') return undefined
      throw error
    })
  if (read === undefined || 'refused' in read) return undefined
  const from = clockBehindMs === undefined ? 0 : claimedAt - Math.max(clockBehindMs, 0) - CLOCK_SLACK_MS
  return read.pages.flat().some(({ event, created_at }) => event === 'reopened' && logTime(created_at).notAfter >= from)
}

/** @throws DestinationError `forbidden` where issues may not be read */
async function markOfMissing({ api, repository }: ClaimedRepository, query: NumberQuery): Promise<Mark> {
  const path = `${repository.root}/issues?state=all&sort=created&direction=desc&per_page=${NEWEST}`
  const list = await api.get(path, NumbersAnswer, [410])
  if ('refused' in list) return 'may_have_been'
  // Who may read pull requests but no issues gets a list of pull requests.
  const showsIssues = repository.isPublic || list.value.some(({ pull_request }) => !pull_request)
  if (!showsIssues) throw new DestinationError('forbidden', { status: 404 })
  // One that was moved here is as old as it was there.
  const highest = Math.max(0, ...list.value.map(({ number }) => number))
  // The highest may have been moved to where we do not see it.
  const mayBeMoved = wasSeen(query) || (query.number === highest + 1 && isLateLook(query))
  return query.number > highest && !mayBeMoved ? 'never_before' : 'may_have_been'
}
