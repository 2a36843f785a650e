/** Reads issues. Forgejo lets administrators of a repository choose the time at which one is closed, so no time is reported or believed. */

import { type CheckContext, DestinationError, type Mark } from '@claimcheck/core/plugin'
import { isLogDue } from '../actions/past.ts'
import type { FoundIssue, Held, Log, NumberQuery } from '../code-host.ts'
import { isFarAbove, isInWindow, wasSeen } from '../forgetting.ts'
import { type RestAccess, unexpectedAnswer } from '../rest.ts'
import { IssueAnswer, IssuesAnswer } from './answers.ts'
import { type Repository, readNewestNumber, readShared } from './repository.ts'
import { readTimeline } from './timeline.ts'

export async function readIssue(access: RestAccess, query: NumberQuery, context: CheckContext): Promise<FoundIssue> {
  const { repository: slug, number } = query
  const part = { slug, part: `issue ${number}` }
  const { repository, value: answer } = await readShared(access, part, context, async ({ find }) => {
    return (await find(`/issues/${number}`, IssueAnswer)).value
  })
  if (!answer) return { ...repository.found, issue: undefined, mark: await markOfMissing(repository, query) }
  if (answer.number !== number) throw unexpectedAnswer()
  if (answer.repository.id !== repository.id) throw new DestinationError('ambiguous_claim')
  // Issues and pull requests are counted together, so nobody can tell whether this one is meant.
  if (answer.pull_request) throw new DestinationError('ambiguous_claim')
  const closings = async (): Promise<Log<Held> | undefined> => {
    const log = await readTimeline(repository, query)
    if (log === undefined || log === 'cut') return log
    const changes = log.filter(({ type }) => type === 'close' || type === 'reopen')
    const { letsChooseTimes } = repository
    return changes.some((change) => letsChooseTimes || isInWindow(change, repository.found, query)) ? [{}] : []
  }
  return { ...repository.found, issue: { state: answer.state, closings } }
}

/**
 * Marks an issue that is not shown. Only a list that shows an issue shows that these credentials may see issues. Nothing is kept of one that was
 * deleted, not even its number.
 */
async function markOfMissing(repository: Repository, query: NumberQuery): Promise<Mark | undefined> {
  if (wasSeen(query)) return 'may_have_been'
  if (!isLogDue(query)) return undefined
  const { value: list } = await repository.get('/issues?state=all&type=issues&limit=1', IssuesAnswer)
  const newest = list.find(({ pull_request, repository: { id } }) => !pull_request && id === repository.id)
  if (!newest) throw new DestinationError('forbidden')
  if (!isFarAbove(query.number, newest.number)) return 'may_have_been'
  const pull = await readNewestNumber(repository, 'pulls', [403, 404])
  return pull !== undefined && isFarAbove(query.number, pull) ? undefined : 'may_have_been'
}
