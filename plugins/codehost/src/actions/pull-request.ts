/** What the actions about pull requests share: the params and facts, and how the claimed base and head are compared. */
import { Type } from '@claimcheck/core/plugin'
import type { FoundPullRequest, PullRequest, RepositoryQuery } from '../code-host.ts'
import { defined } from '../defined.ts'
import { shownTime } from '../times.ts'
import { repositoryFactsOf } from './action.ts'
import {
  BranchName,
  claimedNumber,
  claimedSha,
  Host,
  isBranchName,
  preexistingFact,
  repositoryFacts,
  shaFact,
  timeFact,
} from './fields.ts'

export const pullRequestParams = {
  number: claimedNumber('The number of the pull request; at GitLab, of the merge request within its project.', 42),
  base: Type.Optional(
    Type.String({ ...BranchName, title: 'Base', description: 'The branch into which it goes.', examples: ['main'] }),
  ),
  head_sha: Type.Optional(claimedSha('Head commit', 'The full id of the newest commit of the pull request.')),
  host: Host,
}

export const pullRequestFacts = {
  ...repositoryFacts,
  state: Type.Optional(
    Type.Union([Type.Literal('open'), Type.Literal('closed'), Type.Literal('merged')], {
      title: 'State',
      description: 'The state of the pull request when it was read.',
    }),
  ),
  base: Type.Optional(
    Type.String({ ...BranchName, title: 'Base seen', description: 'The branch into which it goes or went.' }),
  ),
  head_sha: shaFact('Head seen', 'The newest commit of the pull request when it was read.'),
  opened_at: timeFact('Opened at', "When it was opened, by the host's own clock."),
  preexisting: preexistingFact('By the host, it was so more than the tolerance before the claim.'),
}

export const comparedPullRequest = {
  target: 'none',
  base: { fact: 'base', as: 'exact' },
  head_sha: { fact: 'head_sha', as: 'case' },
} as const

export const pullRequestWords = {
  repository: 'The destination calls the repository {repository}.',
  opened_at: "It was opened at {opened_at}, by the destination's own clock.",
  preexisting: {
    true: 'It was so long before the claim: the claim may be about work that was done earlier.',
  },
}

/** What the host shows, as facts. */
export function pullRequestFactsOf(found: FoundPullRequest) {
  const { pullRequest } = found
  if (!pullRequest) return repositoryFactsOf(found)
  const { state, base, head, openedAt } = pullRequest
  return {
    ...repositoryFactsOf(found),
    state,
    ...(isBranchName(base) ? { base } : {}),
    ...defined({ head_sha: head }),
    ...(openedAt === undefined ? {} : { opened_at: shownTime(openedAt) }),
  }
}

interface Claimed {
  readonly base?: string
  readonly head_sha?: string
}

/** The claimed fields that the pull request does not have now. */
export function differing({ base, head }: PullRequest, claimed: Claimed): ('base' | 'head_sha')[] {
  return [
    ...(claimed.base !== undefined && claimed.base !== base ? (['base'] as const) : []),
    ...(claimed.head_sha !== undefined && claimed.head_sha !== head ? (['head_sha'] as const) : []),
  ]
}

/**
 * At a host without a log, an open pull request that changed between two reads may have been as claimed in between. A read that does not
 * show it yet leaves as much room.
 */
export function mayHaveChanged({ base, head }: PullRequest, query: RepositoryQuery): boolean {
  if (head === undefined) return true
  return query.previous.some(
    ({ observation: { facts } }) => facts.head_sha !== head || (facts.base !== base && isBranchName(base)),
  )
}
