/** The action `codehost.pull_request.merge`: a pull request was merged, and what came of it is on its base. */
import { type ActionProfile, isLongBefore, Type } from '@claimcheck/core/plugin'
import { timeAsFact } from '../times.ts'
import { defineAction } from './action.ts'
import { claimedSha, closedObject, commonProfile, MINUTE_MS, onlyTrue, shaFact, timeFact } from './fields.ts'
import {
  comparedPullRequest,
  differingFields,
  pullRequestFacts,
  pullRequestFactsOf,
  pullRequestParams,
  pullRequestWords,
} from './pull-request.ts'

const Params = closedObject({
  ...pullRequestParams,
  merge_commit: Type.Optional(
    claimedSha(
      'Merge commit',
      'The full id of the commit that the merge put on the base: the merge, the squashed commit, or the last one of a fast-forward.',
    ),
  ),
})

const Facts = closedObject({
  ...pullRequestFacts,
  merge_commit: shaFact('Merge commit seen', 'The commit that the merge put on the base.'),
  merge_commit_on_base: Type.Optional(
    Type.Boolean({ title: 'On the base', description: 'The base has this commit now.' }),
  ),
  merged_at: timeFact('Merged at', "When it was merged, by the host's own clock."),
})

const pullRequestMergeProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'codehost.pull_request.merge',
  ...commonProfile,
  summary: 'A pull request was merged, and the commit that came of it is on its base.',
  words: {
    title: 'Merge of a pull request',
    target: 'Repository',
    claim: [
      'Pull request {number} of {target} was merged into {base}.',
      'Pull request {number} of {target} was merged.',
    ],
    outcomes: {
      verified: 'Pull request {number} of {target} was merged into {base} in time.',
      late: 'Pull request {number} of {target} was merged into {base} too late.',
      mismatch: [
        'Pull request {number} of {target} was merged as {merge_commit:short} into {base}, which is not what was claimed.',
        'Pull request {number} of {target} was not merged as it was claimed.',
      ],
      failed: 'Pull request {number} of {target} was not merged.',
    },
    facts: {
      ...pullRequestWords,
      state: { open: 'It is open.', closed: 'It was closed without a merge.' },
      merge_commit: 'The merge put commit {merge_commit:short} on {base}.',
      merge_commit_on_base: { false: 'The base does not have this commit any more.' },
      merged_at: "It was merged at {merged_at}, by the destination's own clock.",
    },
    found: { target: 'repository' },
  },
  params: Params,
  facts: Facts,
  required: { base: 'target', head_sha: 'content', merge_commit: 'content' },
  shows: { state: 'merged', merge_commit_on_base: { not: false } },
  compared: { ...comparedPullRequest, merge_commit: { fact: 'merge_commit', as: 'case' } },
  past: ['opened_at', 'merged_at'],
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  access: { permission: "Reading the repository's pull requests, contents and metadata.", anonymous: true },
}

export const pullRequestMerge = defineAction({
  profile: pullRequestMergeProfile,
  reader: ({ pullRequest }) => pullRequest,
  async observe(found, { params }, query) {
    const { pullRequest, mark, ageMs } = found
    const shown = pullRequestFactsOf(found)
    if (!pullRequest) return { kind: 'absent', facts: shown, ageMs, mark }
    // Nobody can take a merge back at a host, so one that is not merged never was.
    if (pullRequest.state !== 'merged') return { kind: 'absent', facts: shown, ageMs, mark: 'never_before' }
    const { mergeCommit, squashCommit, mergedAt, isOnBase } = pullRequest
    // The squashed commit is on the base together with its merge, and the one of them that was claimed is shown.
    const commits = [mergeCommit, squashCommit].filter((commit) => commit !== undefined)
    const commit = commits.find((one) => one === params.merge_commit) ?? mergeCommit
    // The state can be set by hand, and a base can be forced back: what counts is on the branch, while there is one.
    const onBase = mergeCommit !== undefined && isOnBase !== undefined && (await isOnBase())
    const facts = {
      ...shown,
      merge_commit: commit,
      merge_commit_on_base: mergeCommit === undefined || onBase === 'gone' ? undefined : onBase,
      merged_at: timeAsFact(mergedAt),
      preexisting: onlyTrue(isLongBefore(mergedAt, found, query)),
    }
    const isUnsure = pullRequest.isBaseUnsure === true && params.base !== undefined
    if (!onBase || isUnsure) return { kind: 'absent', facts, ageMs, mark: 'may_have_been' }
    const differs = [
      ...differingFields(pullRequest, params),
      ...(params.merge_commit !== undefined && params.merge_commit !== commit ? ['merge_commit'] : []),
    ]
    if (differs.length === 0) {
      return { kind: 'present', differs, facts, ageMs, stays: mergedAt && [{ appeared: mergedAt }] }
    }
    // A merged pull request does not change any more; a head that the host has forgotten cannot be compared.
    const isUnknown = pullRequest.head === undefined && differs.includes('head_sha')
    return { kind: 'present', differs, facts, ageMs, mark: isUnknown ? 'may_have_been' : 'final' }
  },
})
