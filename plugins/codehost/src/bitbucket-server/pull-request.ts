/** Reads a pull request at Bitbucket Data Center. */

import type { CheckContext, Instant, LogTime } from '@claimcheck/core/plugin'
import type { FoundPullRequest, Held, Log, NumberQuery, PullRequest, PullRequestField } from '../code-host.ts'
import { byHostsClock, heldUntilNow, isFarAbove, unlessCut, wasSeen } from '../forgetting.ts'
import { type RestAccess, unexpectedAnswer } from '../rest.ts'
import { ActivitiesAnswer, PullRequestAnswer, PullRequestsAnswer } from './answers.ts'
import { AGE_MS, branchOf, openRepository, type Repository } from './repository.ts'

const STATES = { OPEN: 'open', MERGED: 'merged', DECLINED: 'closed' } as const

export async function findPullRequest(
  access: RestAccess,
  query: NumberQuery,
  context: CheckContext,
): Promise<FoundPullRequest> {
  const { repository: slug, number } = query
  const repository = openRepository(access, slug, context)
  const { api, root, show } = repository
  const read = await context.cache.share(`bitbucket-server ${slug} pull request ${number}`, async () => {
    const { value, headers } = await api.find(`${root}/pull-requests/${number}`, PullRequestAnswer)
    if (!value) return { ...(await show()), mayHaveBeen: await mayHaveBeen(repository, number) }
    if (value.id !== number) throw unexpectedAnswer()
    return { ...(await repository.identify(value.toRef.repository, headers)), answer: value }
  })
  if ('answer' in read) {
    const { answer, ...identity } = read
    const pullRequest = toPullRequest(answer, repository)
    const log = (field: PullRequestField) => heldBy(repository, pullRequest, field, { ...query, ...identity })
    return { ...identity, ageMs: AGE_MS, pullRequest: { ...pullRequest, log } }
  }
  const { mayHaveBeen: isPossible, ...identity } = read
  const mark = isPossible || wasSeen(query) ? 'may_have_been' : undefined
  return { ...identity, ageMs: AGE_MS, pullRequest: undefined, mark }
}

/**
 * Tells whether a pull request that is not shown may have been there. The newest ones can be deleted, too: a number above all others may have been
 * given out. The ref that the server makes with each goes with it, so that a ref that is there is of a pull request that is hidden.
 */
async function mayHaveBeen(repository: Repository, number: number): Promise<boolean> {
  const { api, root } = repository
  // The list shows whether these credentials may read pull requests.
  const { value } = await api.get(`${root}/pull-requests?state=ALL&order=NEWEST&limit=1`, PullRequestsAnswer)
  const newest = value.values[0]?.id ?? 0
  if (number <= newest) return true
  if (isFarAbove(number, newest)) return false
  const isShown = newest === 0 || (await repository.keepsPull(newest))
  return !isShown || (await repository.keepsPull(number))
}

const CHANGES: ReadonlySet<string> = new Set(['RESCOPED', 'UPDATED'])

/**
 * Reads the bases or heads from the activities, which, newest first, have a time by the server's clock for each change of the pull request's branches
 * and commits. The values before the first change are not told.
 */
async function heldBy(
  { api, root }: Repository,
  { openedAt, base, head }: PullRequest,
  field: PullRequestField,
  { number, windowFrom, clockBehindMs }: NumberQuery & { readonly clockBehindMs: number | undefined },
): Promise<Log<Held>> {
  const value = field === 'base' ? base : head
  if (value === undefined || !openedAt || clockBehindMs === undefined) return 'cut'
  const from = byHostsClock(windowFrom, { clockBehindMs })
  const hasChanged = await unlessCut(async () => {
    for await (const values of api.pages(`${root}/pull-requests/${number}/activities`, ActivitiesAnswer)) {
      if (values.some(({ action, createdDate }) => CHANGES.has(action) && createdDate >= from)) return true
      if (values.some(({ action, createdDate }) => action === 'OPENED' || createdDate < from)) return false
    }
    // A log without the opening of the pull request is cut: something was left out.
    return 'cut'
  })
  return hasChanged === 'cut' ? hasChanged : heldUntilNow(value, hasChanged, openedAt, { windowFrom })
}

function toPullRequest(answer: PullRequestAnswer, repository: Repository): PullRequest {
  const { fromRef, toRef, draft, createdDate, closedDate, properties } = answer
  const state = STATES[answer.state]
  const base = branchOf(toRef.id)
  // Where somebody pushed the merge, the server names no commit.
  const mergeCommit = state === 'merged' ? properties?.mergeCommit?.id : undefined
  const isOnBase = async () => {
    const tip = await repository.head(base)
    // The server names a merge commit for its own merges alone.
    return tip === undefined ? 'gone' : (await repository.contains(mergeCommit!, tip)) === true
  }
  return {
    state,
    base,
    openedAt: at(createdDate),
    head: fromRef.latestCommit,
    isDraft: draft,
    mergedAt: state === 'merged' && closedDate !== undefined ? at(closedDate) : undefined,
    mergeCommit,
    isOnBase: mergeCommit === undefined ? undefined : isOnBase,
  }
}

function at(time: Instant): Required<LogTime> {
  return { notBefore: time, notAfter: time }
}
