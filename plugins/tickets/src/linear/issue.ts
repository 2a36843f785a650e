/** Reads an issue of Linear with its history. */
import {
  type CheckContext,
  type Claim,
  DestinationError,
  type LogTime,
  type Static,
  Type,
} from '@claimcheck/core/plugin'
import { type Issue, inOrder, timeOf } from '../history.ts'
import type { Category, Params } from '../profile.ts'
import type { Reads } from '../reads.ts'
import { targetOf } from '../target.ts'
import { ISSUE_QUERY, openLinear } from './api.ts'
import type { Options } from './connection.ts'

const OrNull = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))
const State = Type.Object({ id: Type.String(), type: Type.String() })
const Actor = Type.Object({ id: OrNull(Type.String()) })
const Entry = Type.Object({
  id: Type.String(),
  createdAt: Type.String(),
  updatedAt: OrNull(Type.String()),
  actor: OrNull(Actor),
  botActor: OrNull(Actor),
  fromState: OrNull(State),
  toState: OrNull(State),
})
export const IssueData = Type.Object({
  organization: Type.Object({ urlKey: Type.String(), previousUrlKeys: OrNull(Type.Array(Type.String())) }),
  issue: Type.Object({
    id: Type.String(),
    identifier: Type.String(),
    previousIdentifiers: OrNull(Type.Array(Type.String())),
    createdAt: Type.String(),
    state: State,
    history: Type.Object({
      nodes: Type.Array(Entry),
      pageInfo: Type.Object({ hasNextPage: Type.Boolean(), endCursor: OrNull(Type.String()) }),
    }),
  }),
})
type Entry = Static<typeof Entry>
type IssueData = Static<typeof IssueData>

/** Limit of the pages of one history, of fifty entries each. */
const MOST_PAGES = 20

const CATEGORIES: ReadonlyMap<string, Category> = new Map([
  ['triage', 'open'],
  ['backlog', 'open'],
  ['unstarted', 'open'],
  ['started', 'in_progress'],
  ['completed', 'done'],
  ['canceled', 'canceled'],
  ['duplicate', 'canceled'],
])

export async function readIssue(claim: Claim<Params>, context: CheckContext, reads: Reads): Promise<Issue> {
  const { api_key } = context.connection!.options as Options
  const { place, key } = targetOf(claim.target)
  const linear = openLinear(api_key, context, reads)
  const { data, entries } = await readPages((after) => linear.ask(ISSUE_QUERY, { id: key, after }, IssueData))
  const { organization, issue } = data
  const workspaces = [organization.urlKey, ...(organization.previousUrlKeys ?? [])]
  // The key of another workspace may lead to an issue of the same number there.
  if (!workspaces.some((one) => one.toLowerCase() === place)) throw new DestinationError('forbidden')
  const identifiers = [issue.identifier, ...(issue.previousIdentifiers ?? [])]
  if (!identifiers.some((one) => one.toUpperCase() === key)) throw new DestinationError('ambiguous_claim')

  // Linear lists the newest first.
  const places = new Map(entries.map(({ id }, index) => [id, -index]))
  const ordered = inOrder(entries, ({ createdAt, id }) => [createdAt, places.get(id)!])
  const states = [...ordered.flatMap(({ fromState, toState }) => [fromState, toState]), issue.state]
  const types = new Map(states.flatMap((state) => (state ? [[state.id, state.type] as const] : [])))
  return {
    id: issue.id,
    key: issue.identifier,
    status: issue.state.id,
    createdAt: timeOf(issue.createdAt),
    changes: ordered
      .filter(({ fromState, toState }) => fromState || toState)
      .map((entry) => ({
        at: timeOfEntry(entry),
        from: entry.fromState?.id,
        to: entry.toState?.id,
        by: actorOf(entry, claim.params),
        isJoined: isJoined(entry),
      })),
    // States between the changes that went into one entry are lost.
    doubts: ordered
      .filter(isJoined)
      .map(timeOfEntry)
      .map((at) => ({ since: at, until: at })),
    categoryOf: (one) => CATEGORIES.get(types.get(one) ?? ''),
  }
}

/** The account of an entry. A bot may act for the claimed account, so that one which the claim does not name says nothing. */
function actorOf({ actor, botActor }: Entry, { by }: Params): string | undefined {
  return actor?.id ?? (botActor?.id === by ? by : undefined)
}

/** Tells whether an entry was updated: changes of one account that follow each other, however fast, may go into one entry. */
function isJoined({ createdAt, updatedAt }: Entry): boolean {
  return timeOf(updatedAt ?? createdAt).notBefore! > timeOf(createdAt).notBefore!
}

/** Reads an entry's time, up to that of the last change which went into it. */
function timeOfEntry({ createdAt, updatedAt }: Entry): LogTime {
  const made = timeOf(createdAt)
  return { ...made, notAfter: Math.max(made.notAfter, timeOf(updatedAt ?? createdAt).notAfter) }
}

/** Reads all pages of a history. @throws DestinationError `unexpected_response` where the issue was moved meanwhile, or is another */
async function readPages(read: (after: string | null) => Promise<IssueData>) {
  const entries: Entry[] = []
  let first: IssueData | undefined
  let after: string | null = null
  for (let page = 0; page < MOST_PAGES; page++) {
    const data: IssueData = await read(after)
    first ??= data
    const { history, state, id } = data.issue
    if (state.id !== first.issue.state.id || id !== first.issue.id) throw new DestinationError('unexpected_response')
    entries.push(...history.nodes)
    const { hasNextPage, endCursor } = history.pageInfo
    if (!hasNextPage) return { data: first, entries }
    if (endCursor == null || endCursor === after) throw new DestinationError('unexpected_response')
    after = endCursor
  }
  throw new DestinationError('too_large')
}
