/** Reads a pull request at GitHub, or whether there ever was one with this number. */

import { type CheckContext, DestinationError, type LogTime } from '@claimcheck/core/plugin'
import { isBranchName } from '../actions/fields.ts'
import {
  type FoundPullRequest,
  type Held,
  type Log,
  NO_COMMIT,
  type NumberQuery,
  type PullRequest,
  type PullRequestField,
} from '../code-host.ts'
import { byHostsClock, isInWindow } from '../forgetting.ts'
import { unexpectedAnswer } from '../rest.ts'
import { atLast, laterOf, logTime } from '../times.ts'
import { type IssueEvent, PullRequestAnswer } from './answers.ts'
import type { GitHubAccess } from './api.ts'
import { BASE_CHANGES, type EventLog, FORCED, readEvents } from './events.ts'
import { markOfMissingPull } from './numbers.ts'
import { readPushLog } from './push-log.ts'
import { type ClaimedRepository, claimedRepository, type Repository } from './repository.ts'

const MOST_LOG_PAGES = 10
/** Limit of the heads that were forced away and are compared. */
const MOST_FORCED = 8

export async function findPullRequest(
  access: GitHubAccess,
  query: NumberQuery,
  context: CheckContext,
): Promise<FoundPullRequest> {
  const claimed = await claimedRepository(access, query, context)
  const { api, repository, found } = claimed
  const { number } = query
  const read = await context.cache.share(`github ${repository.id} pull ${number}`, () =>
    api.find(`${repository.root}/pulls/${number}`, PullRequestAnswer, [404]),
  )
  if ('refused' in read) {
    const mark = await markOfMissingPull(claimed, query, context)
    return { ...found, pullRequest: undefined, mark }
  }
  const { value } = read
  if (value.number !== number) throw unexpectedAnswer()
  if (value.base.repo.id !== repository.id) throw new DestinationError('ambiguous_claim')
  return { ...found, pullRequest: pullRequestOf(value, claimed, query, context) }
}

function pullRequestOf(
  answer: PullRequestAnswer,
  claimed: ClaimedRepository,
  query: NumberQuery,
  context: CheckContext,
): PullRequest {
  const { api, repository } = claimed
  const { state, draft, merged_at, merge_commit_sha, created_at, head, base } = answer
  if (answer.merged !== (merged_at !== null)) throw unexpectedAnswer()
  const shown = {
    isDraft: draft,
    base: base.ref,
    head: head.sha,
    openedAt: logTime(created_at),
  }
  let read: Promise<EventLog | 'cut'> | undefined
  const source: LogSource = {
    api,
    repository,
    events() {
      read ??= readEvents(claimed, 'pull request', query, context)
      return read
    },
  }
  const log = (field: PullRequestField, wanted?: string) =>
    field === 'base' ? basesOf(answer, source, query) : headsOf(answer, source, query, wanted)
  if (merged_at === null) return { ...shown, state, log }
  const merged = { ...shown, state: 'merged' as const, mergedAt: logTime(merged_at), log }
  if (merge_commit_sha === null) return merged
  const isOnBase = () => isOnBranch(merge_commit_sha, base.ref, repository, context)
  return { ...merged, mergeCommit: merge_commit_sha, isOnBase }
}

/** Tells whether the base has a merge: GitHub alone says that there was one, by a merge of its own or by a push that it found on the base. */
async function isOnBranch(sha: string, branch: string, repository: Repository, { cache }: CheckContext) {
  if (!isBranchName(branch)) throw unexpectedAnswer()
  const head = await cache.share(`github ${repository.id} head ${branch}`, () => repository.head(branch))
  if (head !== undefined) return (await repository.contains(sha, head)) === true
  // The base is gone, or the repository's contents may not be read: then this throws.
  await repository.branchesWithTip(sha)
  return 'gone'
}

interface LogSource extends Pick<ClaimedRepository, 'api' | 'repository'> {
  /** Reads the pull request's events, once. */
  events(): Promise<EventLog | 'cut'>
}

/** Finds the bases of a pull request. Events tell when it got another base, and the timeline alone tells which one it had. */
async function basesOf(
  { base, created_at }: PullRequestAnswer,
  { repository, events: read }: LogSource,
  query: NumberQuery,
): Promise<Log<Held>> {
  const log = await read()
  if (log === 'cut') return log
  const { events, isFromStart, since: oldest } = log
  const isOld = (event: IssueEvent) => !isInWindow(event, repository, query)
  const changes = events.filter(({ event }) => BASE_CHANGES.has(event))
  const inWindow = changes.filter((change) => !isOld(change))
  const starts = [begin(), ...inWindow.map(({ created_at }) => logTime(created_at))]
  return starts.map((since, index) => {
    const until = starts[index + 1]
    return { value: until === undefined ? base.ref : inWindow[index]!.before, since, until }
  })

  /** The time since when the pull request had the base that it had when the window began, or later. */
  function begin(): LogTime {
    const openedAt = logTime(created_at)
    const last = changes.findLast(isOld)
    if (last) return logTime(last.created_at)
    return isFromStart || !oldest ? openedAt : atLast(laterOf(openedAt, logTime(oldest)))
  }
}

/** Finds the heads of a pull request. @param wanted the claimed head */
async function headsOf(
  answer: PullRequestAnswer,
  source: LogSource,
  query: NumberQuery,
  wanted: string | undefined,
): Promise<Log<Held>> {
  const told = await headsByPushes(answer, source, query)
  if (told !== 'cut' || wanted === undefined || wanted === answer.head.sha) return told
  return (await mayHaveBeenHead(wanted, answer, source, query)) ? 'cut' : [{ value: answer.head.sha }]
}

/**
 * Reads the heads of a pull request from the push log. While the pull request is open, its head is the tip of its branch: the push log of the
 * repository from which it comes tells which commits these were, before and after each push. The pull request's own commits do not tell: they have
 * their authors' times, and an ancestor of the head may never have been one.
 */
async function headsByPushes(
  { head, state, closed_at }: PullRequestAnswer,
  { api, repository, events: read }: LogSource,
  query: NumberQuery,
): Promise<Log<Held>> {
  const { clockBehindMs } = repository
  if (!head.repo || head.ref === undefined || !isBranchName(head.ref) || clockBehindMs === undefined) return 'cut'
  const reachingBackTo = byHostsClock(query.windowFrom, repository)
  const root = `/repos/${head.repo.full_name}`
  const log = await readPushLog(api, root, head.ref, { reachingBackTo, most: MOST_LOG_PAGES })
  if (log === undefined || log === 'forbidden') return 'cut'
  const closedAt = state === 'open' || closed_at === null ? undefined : logTime(closed_at)
  // The branch of a closed pull request goes its own way.
  const entries = log.entries
    .filter(({ at }) => closedAt === undefined || at.notBefore <= closedAt.notAfter)
    .toReversed()
  const [oldest] = entries
  const isWhole = log.fromTheStart || (oldest !== undefined && oldest.at.notAfter < reachingBackTo)
  // A log that lags does not list yet what put the head where it is.
  if (!oldest || !isWhole || entries.at(-1)!.after !== head.sha) return 'cut'
  const events = await read()
  // Commits that came to the branch while the pull request was closed were never its head.
  const isFollowed = events !== 'cut' && !events.events.some((event) => isReopening(event, repository, query))
  const first: Held[] = oldest.before === NO_COMMIT ? [] : [{ value: oldest.before, until: oldest.at }]
  const heads = entries.map(({ after, at }, index): Held => {
    const until = entries[index + 1]?.at
    return { value: after, since: isFollowed ? at : undefined, until }
  })
  return [...first, ...heads].filter(({ until }) => until === undefined || until.notAfter >= reachingBackTo)
}

/**
 * Tells whether a commit may have been the head. A head leaves the history of the next one only by force, which the pull request's own events tell, also where the fork is gone. So what is no
 * ancestor of the head, nor of those that were forced away, was never the head.
 */
async function mayHaveBeenHead(
  wanted: string,
  { head }: PullRequestAnswer,
  { repository, events: read }: LogSource,
  query: NumberQuery,
): Promise<boolean> {
  const log = await read()
  if (log === 'cut') return true
  const forced = log.events.filter(
    ({ event, created_at }) => event === FORCED && isInWindow({ created_at }, repository, query),
  )
  const lost = [...new Set(forced.map(({ before }) => before))]
  if (lost.length > MOST_FORCED || log.events.some((event) => isReopening(event, repository, query))) return true
  for (const tip of [head.sha, ...lost]) {
    if (tip === undefined) return true
    const isIn = await repository.contains(wanted, tip)
    // GitHub shows no history of a commit that it does not know, and all of one that it knows.
    if (isIn ?? !(await repository.isKnown(tip))) return true
  }
  return false
}

function isReopening(event: IssueEvent, repository: Repository, query: NumberQuery): boolean {
  return event.event === 'reopened' && isInWindow(event, repository, query)
}
