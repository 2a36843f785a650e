/** Reads a pull request at Bitbucket Cloud. */

import type { CheckContext, LogTime, Mark } from '@claimcheck/core/plugin'
import type { FoundPullRequest, Held, Log, NumberQuery, PullRequest, PullRequestField } from '../code-host.ts'
import { heldUntilNow, isFarAbove, unlessCut } from '../forgetting.ts'
import { type RestAccess, unexpectedAnswer } from '../rest.ts'
import { logTime, notAfter } from '../times.ts'
import { ActivityAnswer, PullRequestAnswer, PullRequestsAnswer } from './answers.ts'
import { AGE_MS, linkedPage, openRepository, type Repository } from './repository.ts'

/** Time by which our clock may be off against that of the hosted service, which keeps its own. */
const CLOCK_SLACK_MS = 60_000
/** Codes of failures by which the activity counts as cut. Credentials that read a pull request read its activity: a refusal is one of the check. */
const TOO_LONG = ['too_large']

/** Limit of the pages of the activity, which has comments, too. */
const MOST_PAGES = 40

const STATES = { OPEN: 'open', MERGED: 'merged', DECLINED: 'closed', SUPERSEDED: 'closed' } as const

export async function findPullRequest(
  access: RestAccess,
  query: NumberQuery,
  context: CheckContext,
): Promise<FoundPullRequest> {
  const { repository: slug, number } = query
  const repository = openRepository(access, slug, context)
  const found = await context.cache.share(`bitbucket ${slug} pull request ${number}`, () =>
    readPullRequest(repository, number),
  )
  const { pullRequest } = found
  if (!pullRequest) return found
  // The part that checks share is data alone: each check sends requests of its own.
  const { mergeCommit, base } = pullRequest
  const isOnBase = async (): Promise<boolean | 'gone'> => {
    const { tip } = await repository.branch(base)
    if (tip === undefined) return 'gone'
    return mergeCommit !== undefined && (await repository.contains(mergeCommit, tip)) === true
  }
  const log = (field: PullRequestField) => heldBy(repository, pullRequest, field, query)
  return { ...found, pullRequest: { ...pullRequest, log, isOnBase: mergeCommit === undefined ? undefined : isOnBase } }
}

/**
 * Reads the bases or heads from the activity, which has a time by the host's clock for each change of an open pull request: of its branches, of its
 * commits, or of its text alone. The values before a change are not told. The first change is the opening.
 */
async function heldBy(
  repository: Repository,
  { openedAt, base, head }: PullRequest,
  field: PullRequestField,
  { number, windowFrom }: NumberQuery,
): Promise<Log<Held>> {
  const value = field === 'base' ? base : head
  if (value === undefined || !openedAt) return 'cut'
  const from = windowFrom - CLOCK_SLACK_MS
  const changes = await unlessCut(async () => {
    let count = 0
    for await (const updates of readUpdates(repository, number)) {
      count += updates.filter(({ state, date }) => state === 'OPEN' && logTime(date).notAfter >= from).length
      if (updates.some(({ date }) => logTime(date).notAfter < from)) return count
    }
    // A log without the opening, which is an update too, is cut: something was left out.
    return openedAt.notAfter >= from && count > 0 ? count - 1 : 'cut'
  }, TOO_LONG)
  return changes === 'cut' ? changes : heldUntilNow(value, changes > 0, openedAt, { windowFrom })
}

/** Reads the changes in the activity, newest first, page by page. */
async function* readUpdates({ api, root }: Repository, number: number) {
  const path = `${root}/pullrequests/${number}/activity?pagelen=50`
  for await (const { values } of api.pages(path, ActivityAnswer, linkedPage, MOST_PAGES)) {
    yield values.flatMap(({ update }) => update ?? [])
  }
}

async function readPullRequest(repository: Repository, number: number): Promise<FoundPullRequest> {
  const { api, root, identify, expand } = repository
  const { value, headers } = await api.find(`${root}/pullrequests/${number}`, PullRequestAnswer)
  if (!value) return describeMissing(repository, number)
  const { id, source, destination, draft, created_on, merge_commit, ...rest } = value
  if (id !== number) throw unexpectedAnswer()
  const identity = await identify(destination.repository, headers)
  const state = STATES[rest.state]
  const head = source.commit ? await expand(source.commit.hash) : undefined
  const isMerged = state === 'merged'
  const mergedAt = isMerged ? await readMergedAt(repository, number) : undefined
  const mergeCommit = isMerged && merge_commit ? await expand(merge_commit.hash) : undefined
  const pullRequest: PullRequest = {
    state,
    base: destination.branch.name,
    openedAt: logTime(created_on),
    isDraft: draft,
    ...{ head, mergedAt, mergeCommit },
  }
  return { ...identity, ageMs: AGE_MS, pullRequest }
}

/**
 * Reads the time of a merge, which the pull request itself does not tell. In its activity, each change has the state that it left: the oldest with
 * MERGED is the merge. Merges are made in the background, so how soon the change is written down is not known. Undefined where there is more activity
 * since than a check may read.
 */
async function readMergedAt(repository: Repository, number: number): Promise<LogTime | undefined> {
  const merged = await unlessCut(async () => {
    let oldest: string | undefined
    for await (const updates of readUpdates(repository, number)) {
      const before = updates.findIndex(({ state }) => state !== 'MERGED')
      oldest = updates.slice(0, before === -1 ? undefined : before).at(-1)?.date ?? oldest
      if (before !== -1) break
    }
    return oldest
  }, TOO_LONG)
  return merged === undefined || merged === 'cut' ? undefined : notAfter(merged)
}

/** Marks a pull request that is not shown. The list shows whether these credentials may read pull requests. A number is never given twice. */
async function describeMissing({ api, root, show }: Repository, number: number): Promise<FoundPullRequest> {
  const identity = await show()
  const states = Object.keys(STATES).map((state) => `state=${state}`)
  const { value } = await api.get(`${root}/pullrequests?${states.join('&')}&sort=-id&pagelen=1`, PullRequestsAnswer)
  const newest = value.values[0]?.id ?? 0
  const mark: Mark = isFarAbove(number, newest) ? 'never_before' : 'may_have_been'
  return { ...identity, repositoryCreatedAt: identity.createdAt, ageMs: AGE_MS, pullRequest: undefined, mark }
}
