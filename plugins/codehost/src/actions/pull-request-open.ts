/** The action `codehost.pull_request.open`: a pull request was opened. That it was merged or closed since changes nothing. */
import { type ActionProfile, isLongBefore, Type } from '@claimcheck/core/plugin'
import { defineAction } from './action.ts'
import { closedObject, commonProfile, MINUTE_MS, onlyTrue } from './fields.ts'
import { isLogDue, pastOf, staysAsClaimed } from './past.ts'
import {
  comparedPullRequest,
  differingFields,
  mayHaveChanged,
  pullRequestFacts,
  pullRequestFactsOf,
  pullRequestParams,
  pullRequestWords,
} from './pull-request.ts'

const Params = closedObject(pullRequestParams)

const Facts = closedObject({
  ...pullRequestFacts,
  draft: Type.Optional(Type.Boolean({ title: 'Draft', description: 'It is marked as not ready to be merged.' })),
})

const pullRequestOpenProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'codehost.pull_request.open',
  ...commonProfile,
  summary: 'A pull request was opened, with the named base and head commit.',
  words: {
    title: 'Opening of a pull request',
    target: 'Repository',
    claim: [
      'Pull request {number} of {target} was opened, with commit {head_sha:short} to go into {base}.',
      'Pull request {number} of {target} was opened, to go into {base}.',
      'Pull request {number} of {target} was opened.',
    ],
    outcomes: {
      verified: 'Pull request {number} of {target} was open in time.',
      late: 'Pull request {number} of {target} was opened too late.',
      mismatch: [
        'Pull request {number} of {target} has commit {head_sha:short} to go into {base}, which is not what was claimed.',
        'Pull request {number} of {target} is not as it was claimed.',
      ],
      failed: 'There was no pull request {number} in {target}.',
    },
    facts: {
      ...pullRequestWords,
      state: { closed: 'It was closed since.', merged: 'It was merged since.' },
      draft: { true: 'It is a draft.' },
    },
    found: { target: 'repository' },
  },
  aliases: { 'github.pr.open': { providers: ['github'] } },
  params: Params,
  facts: Facts,
  required: { base: 'target', head_sha: 'content' },
  shows: { state: ['open', 'closed', 'merged'] },
  compared: comparedPullRequest,
  past: ['opened_at'],
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  // The window is long, because agents report when their run ends, and clients date the claim then.
  removedWithinMs: 60 * MINUTE_MS,
  access: { permission: "Reading the repository's pull requests, contents and metadata.", anonymous: true },
}

export const pullRequestOpen = defineAction({
  profile: pullRequestOpenProfile,
  reader: ({ pullRequest }) => pullRequest,
  async observe(found, { params }, query) {
    const { pullRequest, mark, ageMs } = found
    const observed = {
      facts: {
        ...pullRequestFactsOf(found),
        draft: pullRequest?.isDraft,
        preexisting: onlyTrue(isLongBefore(pullRequest?.openedAt, found, query)),
      },
      ageMs,
    }
    if (!pullRequest) return { kind: 'absent', ...observed, mark }
    const differs = differingFields(pullRequest, params)
    if (differs.length === 0) {
      // A pull request that was seen in time came in time, whatever a log says.
      const isPlain = params.base === undefined && params.head_sha === undefined
      const stays = isPlain || query.sentAt >= query.inTimeUntil ? await staysAsClaimed(pullRequest, params) : undefined
      return { kind: 'present', differs, ...observed, stays }
    }
    if (pullRequest.log && !isLogDue(query)) return { kind: 'present', differs, ...observed }
    const past = await pastOf(pullRequest, params, differs, query)
    const unlogged = { mark: mayHaveChanged(pullRequest, query) ? ('may_have_been' as const) : undefined }
    return { kind: 'present', differs, ...observed, ...(past ?? unlogged) }
  },
})
