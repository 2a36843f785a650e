/**
 * Reads GitHub's timeline of an issue or a pull request by GraphQL, which lists the kinds of events that are asked for, from the newest on, and says
 * which base or head there was before a change. Only with credentials; a server may not offer it.
 */

import {
  type CheckContext,
  type DestinationError,
  isDestinationError,
  parseUrl,
  type Static,
  Type,
} from '@claimcheck/core/plugin'
import { ownerAndName } from '../connection-options.ts'
import { nullable, orNull } from '../rest.ts'
import type { IssueEvent } from './answers.ts'
import type { GitHubAccess } from './api.ts'

const VARIABLES = '($owner: String!, $name: String!, $number: Int!, $before: String)'
const CHANGES_OF_STATE = `
            ... on ClosedEvent { createdAt stateReason }
            ... on ReopenedEvent { createdAt }`

const timeline = (itemTypes: string, fields: string) => `
      timelineItems(last: 100, before: $before, itemTypes: [${itemTypes}]) {
        pageInfo { hasPreviousPage startCursor }
        nodes {
          __typename${fields}
        }
      }`

const ISSUE_QUERY = `query IssueTimeline${VARIABLES} {
  repository(owner: $owner, name: $name) {
    databaseId
    issue(number: $number) {${timeline('CLOSED_EVENT, REOPENED_EVENT', CHANGES_OF_STATE)}
    }
  }
}`

const PULL_REQUEST_QUERY = `query PullRequestTimeline${VARIABLES} {
  repository(owner: $owner, name: $name) {
    databaseId
    pullRequest(number: $number) {${timeline(
      'CLOSED_EVENT, REOPENED_EVENT, BASE_REF_CHANGED_EVENT, AUTOMATIC_BASE_CHANGE_SUCCEEDED_EVENT, HEAD_REF_FORCE_PUSHED_EVENT',
      `${CHANGES_OF_STATE}
            ... on BaseRefChangedEvent { createdAt previousRefName currentRefName }
            ... on AutomaticBaseChangeSucceededEvent { createdAt oldBase newBase }
            ... on HeadRefForcePushedEvent { createdAt beforeCommit { oid } afterCommit { oid } }`,
    )}
    }
  }
}`

/** The queries that the plugin's manifest declares. */
export const TIMELINE_QUERIES = [ISSUE_QUERY, PULL_REQUEST_QUERY]
/** The paths of GraphQL at github.com, and at an Enterprise server. */
export const GRAPHQL_PATHS = ['/graphql', '/api/graphql']

const Commit = orNull(Type.Object({ oid: Type.String() }))
const Item = Type.Object({
  __typename: Type.String(),
  createdAt: Type.Optional(Type.String({ format: 'date-time' })),
  stateReason: orNull(Type.String()),
  previousRefName: Type.Optional(Type.String()),
  oldBase: Type.Optional(Type.String()),
  beforeCommit: Commit,
})
const TimelineItems = Type.Object({
  pageInfo: Type.Object({ hasPreviousPage: Type.Boolean(), startCursor: orNull(Type.String()) }),
  nodes: Type.Array(nullable(Item)),
})
type TimelineItems = Static<typeof TimelineItems>
const TimelineOf = orNull(Type.Object({ timelineItems: TimelineItems }))
const TimelineAnswer = Type.Object({
  repository: nullable(
    Type.Object({
      databaseId: Type.Integer(),
      issue: TimelineOf,
      pullRequest: TimelineOf,
    }),
  ),
})

const EVENTS: Readonly<Record<string, string>> = {
  ClosedEvent: 'closed',
  ReopenedEvent: 'reopened',
  BaseRefChangedEvent: 'base_ref_changed',
  AutomaticBaseChangeSucceededEvent: 'automatic_base_change_succeeded',
  HeadRefForcePushedEvent: 'head_ref_force_pushed',
}

/** Limit of the pages, of a hundred items each. */
const MOST_PAGES = 5

export interface Thread {
  readonly kind: 'issue' | 'pull request'
  readonly number: number
  readonly repository: { readonly id: number; readonly name: string }
}

/**
 * Reads the changes of state, base and head, oldest first.
 * @param isEnough gets the oldest change that was read; `true` ends the reading
 * @returns undefined where GraphQL does not tell them, or not back to what is enough
 */
export async function readTimeline(
  { baseUrl, auth }: GitHubAccess,
  { kind, number, repository }: Thread,
  { http, cache }: Pick<CheckContext, 'http' | 'cache'>,
  isEnough: (oldest: IssueEvent) => boolean,
): Promise<Timeline | undefined> {
  const url = graphqlUrl(baseUrl)
  const key = `github no graphql ${baseUrl}`
  if (auth === undefined || url === undefined || cache.get(key) === true) return undefined
  const query = kind === 'issue' ? ISSUE_QUERY : PULL_REQUEST_QUERY
  const [owner, name] = ownerAndName(repository.name)
  const init = { schema: TimelineAnswer, auth }
  try {
    return await readBackwards(isEnough, async (before) => {
      const { value } = await http.graphql(url, query, { owner, name, number, before }, init)
      const { repository: shown } = value
      const thread = kind === 'issue' ? shown?.issue : shown?.pullRequest
      return shown?.databaseId === repository.id ? thread?.timelineItems : undefined
    })
  } catch (error) {
    if (!isDestinationError(error)) throw error
    if (isRefusal(error)) cache.set(key, true)
    return undefined
  }
}

interface Timeline {
  readonly events: readonly IssueEvent[]
  readonly isFromStart: boolean
}

/** Reads a timeline from its end. @param read reads the items before a cursor; undefined where GraphQL does not tell them */
async function readBackwards(
  isEnough: (oldest: IssueEvent) => boolean,
  read: (before: string | null) => Promise<TimelineItems | undefined>,
): Promise<Timeline | undefined> {
  let events: readonly IssueEvent[] = []
  let before: string | null = null
  for (let page = 1; page <= MOST_PAGES; page++) {
    const items: TimelineItems | undefined = await read(before)
    if (!items) return undefined
    events = [...items.nodes.flatMap(toEvents), ...events]
    const { hasPreviousPage, startCursor } = items.pageInfo
    const [oldest] = events
    if (!hasPreviousPage) return { events, isFromStart: true }
    if (oldest && isEnough(oldest)) return { events, isFromStart: false }
    if (!startCursor) return undefined
    before = startCursor
  }
  return undefined
}

function graphqlUrl(baseUrl: string): string | undefined {
  const { pathname } = parseUrl(baseUrl) ?? {}
  if (pathname === '/') return `${baseUrl}/graphql`
  return pathname === '/api/v3' ? baseUrl.replace(/v3$/, 'graphql') : undefined
}

/** Tells whether the server has no such endpoint, or none for these credentials. */
function isRefusal({ code, status }: DestinationError): boolean {
  return code === 'forbidden' || code === 'unauthorized' || status === 405
}

function toEvents(item: Static<typeof Item> | null): IssueEvent[] {
  const event = item ? EVENTS[item.__typename] : undefined
  if (!item?.createdAt || event === undefined) return []
  const { createdAt: created_at, stateReason, previousRefName, oldBase, beforeCommit } = item
  const before = previousRefName ?? oldBase ?? beforeCommit?.oid
  return [{ event, created_at, state_reason: stateReason ? stateReason.toLowerCase() : undefined, before }]
}
