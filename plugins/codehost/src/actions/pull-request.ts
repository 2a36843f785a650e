/** The params and facts that the actions about pull requests share, and the comparison of the claimed base and head. */
import { Type } from '@claimcheck/core/plugin'
import type { FoundPullRequest, PullRequest, PullRequestField, RepositoryQuery } from '../code-host.ts'
import { timeAsFact } from '../times.ts'
import { repositoryFactsOf } from './action.ts'
import {
  BranchName,
  claimedNumber,
  claimedSha,
  Host,
  isBranchName,
  preexistingFact,
  repositoryFacts,
  repositoryWords,
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
  ...repositoryWords,
  opened_at: "It was opened at {opened_at}, by the destination's own clock.",
  preexisting: {
    true: 'It was so long before the claim: the claim may be about work that was done earlier.',
  },
}

/** The facts that the host shows of a pull request. */
export function pullRequestFactsOf(found: FoundPullRequest) {
  const { state, base, head, openedAt } = found.pullRequest ?? {}
  return {
    ...repositoryFactsOf(found),
    state,
    base: base !== undefined && isBranchName(base) ? base : undefined,
    head_sha: head,
    opened_at: timeAsFact(openedAt),
  }
}

/** The claimed fields that the pull request does not have now. */
export function differingFields(
  { base, head: head_sha }: PullRequest,
  claimed: { readonly [F in PullRequestField]?: string },
): PullRequestField[] {
  const shown = { base, head_sha }
  return (['base', 'head_sha'] as const).filter(
    (field) => claimed[field] !== undefined && claimed[field] !== shown[field],
  )
}

/**
 * Tells whether a pull request at a host without a log changed between two reads: in between it may have been as claimed. A read that does not
 * show it yet leaves as much room.
 */
export function mayHaveChanged({ base, head }: PullRequest, query: RepositoryQuery): boolean {
  if (head === undefined) return true
  return query.previous.some(
    ({ observation: { facts } }) => facts.head_sha !== head || (facts.base !== base && isBranchName(base)),
  )
}
