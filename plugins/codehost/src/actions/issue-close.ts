/** The action `codehost.issue.close`: an issue was closed. A pull request is no issue, though some hosts number them together. */
import { type ActionProfile, isLateLook, isLongBefore, Type } from '@claimcheck/core/plugin'
import type { Issue, RepositoryQuery } from '../code-host.ts'
import { atLast, shownTime } from '../times.ts'
import { defineAction, repositoryFactsOf } from './action.ts'
import { Host, MINUTE_MS, preexistingFact, RepositoryPath, repositoryFacts, Timestamp } from './fields.ts'

const reason = (options: { readonly title: string; readonly description: string }) =>
  Type.Optional(
    Type.Union([Type.Literal('completed'), Type.Literal('not_planned'), Type.Literal('duplicate')], options),
  )

const Params = Type.Object(
  {
    number: Type.Integer({
      title: 'Number',
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The number of the issue in its repository.',
      examples: [7],
    }),
    reason: reason({
      title: 'Reason',
      description: 'Why it was closed, where the host records it: `completed`, `not_planned` or `duplicate`.',
    }),
    host: Host,
  },
  { additionalProperties: false },
)

const Facts = Type.Object(
  {
    ...repositoryFacts,
    state: Type.Optional(
      Type.Union([Type.Literal('open'), Type.Literal('closed')], {
        title: 'State',
        description: 'The state of the issue when it was read.',
      }),
    ),
    closed_as: reason({ title: 'Closed as', description: 'Why it was closed, by the host.' }),
    closed_at: Type.Optional(
      Type.String({ ...Timestamp, title: 'Closed at', description: "When it was closed, by the host's own clock." }),
    ),
    preexisting: preexistingFact('By the host, it was closed more than the tolerance before the claim.'),
  },
  { additionalProperties: false },
)

export const issueCloseProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'codehost.issue.close',
  version: '1',
  rulesVersion: 2,
  summary: 'An issue was closed.',
  words: {
    title: 'Closing of an issue',
    target: 'Repository',
    claim: ['Issue {number} of {target} was closed as {reason}.', 'Issue {number} of {target} was closed.'],
    outcomes: {
      verified: 'Issue {number} of {target} was closed in time.',
      late: 'Issue {number} of {target} was closed too late.',
      mismatch: [
        'Issue {number} of {target} was closed as {closed_as}.',
        'Issue {number} of {target} was closed otherwise.',
      ],
      failed: 'Issue {number} of {target} was not closed.',
    },
    facts: {
      repository: 'The destination calls the repository {repository}.',
      closed_at: "It was closed at {closed_at}, by the destination's own clock.",
      preexisting: { true: 'It was closed long before the claim: the claim may be about work that was done earlier.' },
    },
    found: { target: 'repository', reason: 'closed_as' },
  },
  target: RepositoryPath,
  params: Params,
  facts: Facts,
  required: { reason: 'content' },
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  access: { permission: "Reading the repository's issues and metadata.", anonymous: true },
}

export const issueClose = defineAction({
  profile: issueCloseProfile,
  reader: ({ issue }) => issue,
  query: ({ number }, query) => ({ ...query, number }),
  observe(found, { params }, query) {
    const { issue, mark, ageMs } = found
    const { state, closedAt, reason, wasClosed } = issue ?? {}
    const observed = {
      facts: {
        ...repositoryFactsOf(found),
        ...(state === undefined ? {} : { state }),
        ...(reason === undefined ? {} : { closed_as: reason }),
        ...(closedAt ? { closed_at: shownTime(closedAt) } : {}),
        ...(isLongBefore(closedAt, found, query) ? { preexisting: true as const } : {}),
      },
      ...(ageMs === undefined ? {} : { ageMs }),
    }
    if (!issue) return { kind: 'absent', ...observed, ...(mark === undefined ? {} : { mark }) }
    // It may have been closed and opened again.
    const wasReopened = (wasClosed ?? isLateLook(query)) || wasSeenClosed(query, state)
    if (state === 'open') return { kind: 'absent', ...observed, ...(wasReopened ? { mark: 'may_have_been' } : {}) }
    if (params.reason !== undefined && params.reason !== reason) {
      // A host without reasons tells nothing of this one, and one with reasons lets people change them.
      const isTold = reason !== undefined && !wasReopened && !isLateLook(query)
      return { kind: 'present', differs: ['reason'], ...observed, ...(isTold ? {} : { mark: 'may_have_been' }) }
    }
    // Since when it has this reason, it does not tell; nor that it was closed before, and opened again.
    const appeared = params.reason === undefined && closedAt && (wasReopened ? atLast(closedAt) : closedAt)
    return { kind: 'present', differs: [], ...observed, ...(appeared ? { stays: [{ appeared }] } : {}) }
  },
})

/** It is open now, and an earlier read shows it closed, if not as claimed. */
function wasSeenClosed({ previous }: RepositoryQuery, state: Issue['state'] | undefined): boolean {
  return state === 'open' && previous.some(({ observation: { facts } }) => facts.state === 'closed')
}
