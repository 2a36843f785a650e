/** Reads a pull request at Bitbucket Data Center. */
import { type CheckContext, DestinationError, type Instant, isLateLook, type LogTime } from '@claimcheck/core/plugin'
import type { FoundPullRequest, NumberQuery, PullRequest } from '../code-host.ts'
import { PullRequestAnswer, PullRequestsAnswer } from './answers.ts'
import type { ServerAccess } from './api.ts'
import { AGE_MS, branchOf, openRepository, type Repository } from './repository.ts'

const STATES = { OPEN: 'open', MERGED: 'merged', DECLINED: 'closed' } as const

export async function findPullRequest(
  access: ServerAccess,
  query: NumberQuery,
  context: CheckContext,
): Promise<FoundPullRequest> {
  const { repository: slug, number } = query
  const repository = openRepository(access, slug, context)
  const { api, root, show } = repository
  const read = await context.cache.share(`bitbucket-server ${slug} pull request ${number}`, async () => {
    const answer = await api.find(`${root}/pull-requests/${number}`, PullRequestAnswer)
    if (!answer) return { ...(await show()), newest: await newestNumber(repository) }
    const { value, headers } = answer
    if (value.id !== number) throw new DestinationError('unexpected_response', { status: 200 })
    return { ...(await repository.identify(value.toRef.repository, headers)), answer: value }
  })
  if ('answer' in read) {
    const { answer, ...identity } = read
    return { ...identity, ageMs: AGE_MS, pullRequest: toPullRequest(answer, repository) }
  }
  const { newest, ...identity } = read
  // Pull requests can be deleted, the newest ones, too: that a number is above them all does not say that it was never given out.
  const mayHaveBeen = number <= newest || isLateLook(query)
  return { ...identity, ageMs: AGE_MS, pullRequest: undefined, ...(mayHaveBeen ? { mark: 'may_have_been' } : {}) }
}

/** The list shows whether these credentials may read pull requests. */
async function newestNumber({ api, root }: Repository): Promise<number> {
  const { value } = await api.read(`${root}/pull-requests?state=ALL&order=NEWEST&limit=1`, PullRequestsAnswer)
  return value.values[0]?.id ?? 0
}

function toPullRequest(answer: PullRequestAnswer, repository: Repository): PullRequest {
  const { fromRef, toRef, draft, createdDate, closedDate, properties } = answer
  const state = STATES[answer.state]
  const base = branchOf(toRef.id)
  const head = fromRef.latestCommit
  const mergedAt = state === 'merged' && closedDate !== undefined ? at(closedDate) : undefined
  // Where somebody pushed the merge, the server names no commit.
  const mergeCommit = state === 'merged' ? properties?.mergeCommit?.id : undefined
  return {
    state,
    base,
    openedAt: at(createdDate),
    ...(head === undefined ? {} : { head }),
    ...(draft === undefined ? {} : { isDraft: draft }),
    ...(mergedAt ? { mergedAt } : {}),
    ...(mergeCommit === undefined
      ? {}
      : {
          mergeCommit,
          async isOnBase() {
            const tip = await repository.head(base)
            return tip !== undefined && (await repository.contains(mergeCommit, tip)) === true
          },
        }),
  }
}

function at(time: Instant): Required<LogTime> {
  return { notBefore: time, notAfter: time }
}
