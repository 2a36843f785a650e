/** Reads an issue at GitHub, or whether there ever was one with this number. */

import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { FoundIssue, Held, Issue, NumberQuery } from '../code-host.ts'
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
    // A 410 means that the issue was deleted, or that the repository has no issues any more.
    const mark = read.refused === 410 ? 'may_have_been' : await markOfMissingIssue(claimed, query)
    return { ...found, issue: undefined, mark }
  }
  const { value } = read
  if (!isOf(value, claimed)) throw new DestinationError('ambiguous_claim')
  if (value.number !== number) throw unexpectedAnswer()
  // A claim that issue 7 was closed may mean the pull request of this number.
  if (value.pull_request) throw new DestinationError('ambiguous_claim')
  return { ...found, issue: issueOf(value, claimed, query, context) }
}

/** Tells whether an issue is of the claimed repository: a transferred one is answered from where it is now. */
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
    closedAt: closed_at === null ? undefined : logTime(closed_at),
    reason,
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

type ShownState = Pick<Issue, 'state' | 'reason' | 'closedAt'>

/** The times in which the issue was closed, from closing to closing, or to the opening. Those that ended before the window are left out. */
function closingsIn(
  { events, isFromStart }: EventLog,
  shown: ShownState,
  isBefore: (event: IssueEvent) => boolean,
): readonly Held[] {
  const changes = events.filter(({ event }) => event === 'closed' || event === 'reopened')
  const [first] = changes
  // An issue that was imported as closed has no such event, and its time is the importer's.
  if (!first) return shown.closedAt ? [{ since: isFromStart ? undefined : shown.closedAt, value: shown.reason }] : []
  const closings = changes.flatMap((change, index) => {
    const next = changes[index + 1]
    return change.event !== 'closed' || (next && isBefore(next)) ? [] : closingOf(change, next, shown)
  })
  if (isFromStart || isBefore(first)) return closings
  // The issue may have been closed for any reason before the first change that was read.
  const until = logTime(first.created_at)
  return [{ since: first.event === 'reopened' ? atLast(until) : undefined, until }, ...closings]
}

function closingOf(change: IssueEvent, next: IssueEvent | undefined, { state, reason }: ShownState): readonly Held[] {
  const { created_at: at } = change
  const told = reasonOf(change.state_reason)
  if (next) return [{ since: logTime(at), value: told, until: logTime(next.created_at) }]
  if (state !== 'closed') return [{ since: logTime(at), value: told }]
  // An event leaves out `completed`, and the issue tells its last reason.
  const isUnchanged = told === undefined ? reason === 'completed' || reason === undefined : told === reason
  // Nothing tells when the reason was changed, if it was.
  return isUnchanged ? [{ since: logTime(at), value: reason }] : [{ value: told }, { value: reason }]
}
