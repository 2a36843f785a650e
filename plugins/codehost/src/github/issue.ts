/** What GitHub shows of an issue, or whether there ever was one with this number. */

import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { FoundIssue, Held, Issue, NumberQuery } from '../code-host.ts'
import { defined } from '../defined.ts'
import { isInWindow } from '../forgetting.ts'
import { unexpectedAnswer } from '../rest.ts'
import { atLast, logTime } from '../times.ts'
import { IssueAnswer, type IssueEvent } from './answers.ts'
import type { GitHubAccess } from './api.ts'
import { type EventLog, readEvents } from './events.ts'
import { markOfMissingIssue } from './numbers.ts'
import { type ClaimedRepository, claimedRepository } from './repository.ts'

const REASONS = ['completed', 'not_planned', 'duplicate'] as const

export async function findIssue(access: GitHubAccess, query: NumberQuery, context: CheckContext): Promise<FoundIssue> {
  const claimed = await claimedRepository(access, query, context)
  const { api, repository, found } = claimed
  const { number } = query
  const read = await context.cache.share(`github ${repository.id} issue ${number}`, () =>
    api.find(`${repository.root}/issues/${number}`, IssueAnswer, [404, 410]),
  )
  if ('refused' in read) {
    // 410: it was deleted, or the repository has no issues any more.
    const mark = read.refused === 410 ? 'may_have_been' : await markOfMissingIssue(claimed, query)
    return { ...found, issue: undefined, ...defined({ mark }) }
  }
  const { value } = read
  if (!isOf(value, claimed)) throw new DestinationError('ambiguous_claim')
  if (value.number !== number) throw unexpectedAnswer()
  // Whoever says that issue 7 was closed may mean the pull request.
  if (value.pull_request) throw new DestinationError('ambiguous_claim')
  return { ...found, issue: issueOf(value, claimed, query, context) }
}

/** A transferred issue is answered from where it is now. */
function isOf({ repository_url }: IssueAnswer, { repository }: ClaimedRepository): boolean {
  return repository_url.toLowerCase().endsWith(repository.root.toLowerCase())
}

function issueOf(answer: IssueAnswer, claimed: ClaimedRepository, query: NumberQuery, context: CheckContext): Issue {
  const { repository } = claimed
  const { state, closed_at, state_reason } = answer
  if ((state === 'closed') !== (closed_at !== null)) throw unexpectedAnswer()
  const reason = state === 'closed' ? reasonOf(state_reason) : undefined
  const shown = {
    state,
    ...(closed_at === null ? {} : { closedAt: logTime(closed_at) }),
    ...defined({ reason }),
  }
  return {
    ...shown,
    async closings() {
      const log = await readEvents(claimed, 'issue', query, context)
      return log === 'cut' ? log : closingsIn(log, shown, (event) => !isInWindow(event, repository, query))
    },
  }
}

function reasonOf(told: string | null | undefined): Issue['reason'] {
  return REASONS.find((one) => one === told)
}

/** From closing to closing, or to the opening. Those that ended before the window are left out. */
function closingsIn(
  { events, isFromStart }: EventLog,
  { state, reason, closedAt }: Pick<Issue, 'state' | 'reason' | 'closedAt'>,
  isBefore: (event: IssueEvent) => boolean,
): Held[] {
  const changes = events.filter(({ event }) => event === 'closed' || event === 'reopened')
  const closings: Held[] = []
  const [first] = changes
  // Before the first change that was read, it may have been closed for any reason.
  if (first && !isFromStart && !isBefore(first)) {
    const at = logTime(first.created_at)
    closings.push(first.event === 'reopened' ? { since: atLast(at), until: at } : { until: at })
  }
  for (const [index, change] of changes.entries()) {
    if (change.event !== 'closed') continue
    const next = changes[index + 1]
    if (next && isBefore(next)) continue
    const until = next ? { until: logTime(next.created_at) } : {}
    const told = reasonOf(change.state_reason)
    const isCurrent = !next && state === 'closed'
    // An event leaves `completed` out; the issue tells its last reason.
    const last = isCurrent && (told === undefined ? reason === 'completed' || reason === undefined : told === reason)
    if (isCurrent && !last) {
      // The reason was changed since, and nothing tells when.
      closings.push(defined({ value: told }), defined({ value: reason }))
      continue
    }
    const known = isCurrent ? reason : told
    closings.push({ since: logTime(change.created_at), ...defined({ value: known }), ...until })
  }
  // One that was imported as closed has no such event, and its time is the importer's.
  if (first === undefined && closedAt) {
    closings.push({ ...(isFromStart ? {} : { since: closedAt }), ...defined({ value: reason }) })
  }
  return closings
}
