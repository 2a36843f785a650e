/** The action `codehost.issue.close`: an issue was closed. A pull request is no issue, though some hosts number them together. */
import { type ActionProfile, isLongBefore, type Stay, Type } from '@claimcheck/core/plugin'
import type { Issue, RepositoryQuery } from '../code-host.ts'
import { atLast, timeAsFact } from '../times.ts'
import { defineAction, repositoryFactsOf } from './action.ts'
import {
  claimedNumber,
  closedObject,
  commonProfile,
  Host,
  MINUTE_MS,
  onlyTrue,
  preexistingFact,
  repositoryFacts,
  repositoryWords,
  timeFact,
} from './fields.ts'
import { isLogDue, type Past, pastClosings, staysClosed } from './past.ts'

const reason = (options: { readonly title: string; readonly description: string }) =>
  Type.Optional(
    Type.Union([Type.Literal('completed'), Type.Literal('not_planned'), Type.Literal('duplicate')], options),
  )

const Params = closedObject({
  number: claimedNumber('The number of the issue in its repository.', 7),
  reason: reason({
    title: 'Reason',
    description: 'Why it was closed, where the host records it: `completed`, `not_planned` or `duplicate`.',
  }),
  host: Host,
})

const Facts = closedObject({
  ...repositoryFacts,
  state: Type.Optional(
    Type.Union([Type.Literal('open'), Type.Literal('closed')], {
      title: 'State',
      description: 'The state of the issue when it was read.',
    }),
  ),
  closed_as: reason({ title: 'Closed as', description: 'Why it was closed, by the host.' }),
  closed_at: timeFact('Closed at', "When it was closed, by the host's own clock."),
  preexisting: preexistingFact('By the host, it was closed more than the tolerance before the claim.'),
})

const issueCloseProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'codehost.issue.close',
  ...commonProfile,
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
      ...repositoryWords,
      closed_at: "It was closed at {closed_at}, by the destination's own clock.",
      preexisting: { true: 'It was closed long before the claim: the claim may be about work that was done earlier.' },
    },
    found: { target: 'repository', reason: 'closed_as' },
  },
  params: Params,
  facts: Facts,
  required: { reason: 'content' },
  shows: { state: 'closed' },
  compared: { target: 'none', reason: { fact: 'closed_as', as: 'exact' } },
  past: ['closed_at'],
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  // The window is long, because agents report when their run ends, and clients date the claim then.
  removedWithinMs: 60 * MINUTE_MS,
  access: { permission: "Reading the repository's issues and metadata.", anonymous: true },
}

export const issueClose = defineAction({
  profile: issueCloseProfile,
  reader: ({ issue }) => issue,
  async observe(found, { params }, query) {
    const { issue, mark, ageMs } = found
    const { state, closedAt, reason } = issue ?? {}
    const observed = {
      facts: {
        ...repositoryFactsOf(found),
        state,
        closed_as: reason,
        closed_at: timeAsFact(closedAt),
        preexisting: onlyTrue(isLongBefore(closedAt, found, query)),
      },
      ageMs,
    }
    if (!issue) return { kind: 'absent', ...observed, mark }
    if (state === 'closed' && (params.reason === undefined || params.reason === reason)) {
      return { kind: 'present', differs: [], ...observed, stays: await staysOf(issue, params.reason, query) }
    }
    const past = await pastOf(issue, params.reason, query)
    if (state === 'open') return { kind: 'absent', ...observed, ...past }
    // A host that tells no reasons does not contradict the claimed one.
    return { kind: 'present', differs: ['reason'], ...observed, ...(reason === undefined ? MAY_HAVE_BEEN : past) }
  },
})

const MAY_HAVE_BEEN = { mark: 'may_have_been' } as const

/** Tells since when an issue is closed as claimed. */
async function staysOf(
  { closedAt, closings }: Issue,
  reason: Issue['reason'],
  query: RepositoryQuery,
): Promise<readonly Stay[] | undefined> {
  const { sentAt, inTimeUntil } = query
  const isTold = closedAt !== undefined && reason === undefined
  if (isTold && closedAt.notAfter <= inTimeUntil) return [{ appeared: closedAt }]
  // An issue that was seen closed in time was closed in time, whatever a log says.
  if (sentAt < inTimeUntil) return isTold ? [{ appeared: atLast(closedAt) }] : undefined
  // The issue may have been closed before, and opened again. Since when it has this reason, the time of its closing does not tell.
  return staysClosed(await closings?.(), reason) ?? (isTold ? [{ appeared: atLast(closedAt) }] : undefined)
}

/** Tells whether an issue that is not closed as claimed may have been. */
async function pastOf(issue: Issue, reason: Issue['reason'], query: RepositoryQuery): Promise<Past> {
  if (issue.closings && !isLogDue(query)) return {}
  const past = pastClosings(await issue.closings?.(), reason, query)
  if (past !== undefined) return past
  // An earlier read shows that the issue was closed, if not as claimed, or for another reason than now.
  const hasChanged = query.previous.some(
    ({ observation: { facts } }) =>
      facts.state === 'closed' && (issue.state === 'open' || facts.closed_as !== issue.reason),
  )
  return hasChanged ? MAY_HAVE_BEEN : {}
}
