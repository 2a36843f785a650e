/** Reads a pull request at Bitbucket Cloud. */
import {
  type CheckContext,
  DestinationError,
  isDestinationError,
  type LogTime,
  type Mark,
} from '@claimcheck/core/plugin'
import type { FoundPullRequest, NumberQuery, PullRequest } from '../code-host.ts'
import { logTime, notAfter } from '../times.ts'
import { ActivityAnswer, PullRequestAnswer, PullRequestsAnswer } from './answers.ts'
import { type BitbucketAccess, linkedPage } from './api.ts'
import { AGE_MS, openRepository, type Repository } from './repository.ts'

const STATES = { OPEN: 'open', MERGED: 'merged', DECLINED: 'closed', SUPERSEDED: 'closed' } as const

export async function findPullRequest(
  access: BitbucketAccess,
  { repository: slug, number }: NumberQuery,
  context: CheckContext,
): Promise<FoundPullRequest> {
  const repository = openRepository(access, slug, context)
  return context.cache.share(`bitbucket ${slug} pull request ${number}`, async () => {
    const answer = await repository.api.find(`${repository.root}/pullrequests/${number}`, PullRequestAnswer)
    if (!answer) return missing(repository, number)
    const { value, headers } = answer
    if (value.id !== number) throw new DestinationError('unexpected_response', { status: 200 })
    const identity = await repository.identify(value.destination.repository, headers)
    return { ...identity, ageMs: AGE_MS, pullRequest: await toPullRequest(value, repository) }
  })
}

async function toPullRequest(answer: PullRequestAnswer, repository: Repository): Promise<PullRequest> {
  const { id, source, destination, draft, created_on, merge_commit } = answer
  const state = STATES[answer.state]
  const base = destination.branch.name
  const head = source.commit ? await repository.expand(source.commit.hash) : undefined
  const common: PullRequest = {
    state,
    base,
    openedAt: logTime(created_on),
    ...(draft === undefined ? {} : { isDraft: draft }),
    ...(head === undefined ? {} : { head }),
  }
  if (state !== 'merged') return common
  const mergedAt = await readMergedAt(repository, id)
  const mergeCommit = merge_commit ? await repository.expand(merge_commit.hash) : undefined
  if (mergeCommit === undefined) return { ...common, ...(mergedAt ? { mergedAt } : {}) }
  return {
    ...common,
    mergeCommit,
    ...(mergedAt ? { mergedAt } : {}),
    async isOnBase() {
      const { tip } = await repository.branch(base)
      return tip !== undefined && (await repository.contains(mergeCommit, tip)) === true
    },
  }
}

/**
 * The pull request itself tells no time of its merge. In its activity, newest first, each change has the state that it left: the
 * oldest with MERGED is the merge. Merges are made in the background, so how soon it is written down is not known. Undefined where there is more activity since than a check may read.
 */
async function readMergedAt({ api, root }: Repository, number: number): Promise<LogTime | undefined> {
  let merged: string | undefined
  try {
    for await (const { values } of api.pages(
      `${root}/pullrequests/${number}/activity?pagelen=50`,
      ActivityAnswer,
      linkedPage,
    )) {
      for (const { update } of values) {
        if (update && update.state !== 'MERGED') return merged === undefined ? undefined : notAfter(merged)
        if (update) merged = update.date
      }
    }
  } catch (error) {
    if (isDestinationError(error) && error.code === 'too_large') return undefined
    throw error
  }
  return merged === undefined ? undefined : notAfter(merged)
}

/** The list shows whether these credentials may read pull requests. A number is never given twice. */
async function missing(repository: Repository, number: number): Promise<FoundPullRequest> {
  const { api, root, show } = repository
  const identity = await show()
  const states = Object.keys(STATES).map((state) => `state=${state}`)
  const { value } = await api.read(`${root}/pullrequests?${states.join('&')}&sort=-id&pagelen=1`, PullRequestsAnswer)
  const newest = value.values[0]?.id ?? 0
  const mark: Mark = number > newest ? 'never_before' : 'may_have_been'
  return { ...identity, ageMs: AGE_MS, pullRequest: undefined, mark }
}
