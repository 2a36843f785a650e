/** Linear's GraphQL API over a scripted tracker, by its published schema: identifiers that change, grouped history, errors with status 200, quotas. */
import { createHash } from 'node:crypto'
import {
  buildSchema,
  type DocumentNode,
  executeSync,
  type FieldNode,
  GraphQLError,
  Kind,
  parse,
  type SelectionSetNode,
  validate,
} from 'graphql'
import type { Answer, Asked } from '../../../../test/traps/scripted-server.ts'
import { LINEAR_SCHEMA } from './linear-schema.ts'
import type { Change, Issue, Snapshot, Status, Tracker } from './tracker.ts'

export const WORKSPACE = 'acme'
const SCHEMA = buildSchema(LINEAR_SCHEMA)

/** A UUID, the same for the same name. */
export function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export const AGENT = uuidOf('the agent')
export const PERSON = uuidOf('a person')
/** Prefix of accounts that the history names as bots, and not as users. */
export const BOT = 'bot:'

const state = (name: string, category: string): Status => ({ id: uuidOf(name), name, category })
export const STATES = {
  triage: state('Triage', 'triage'),
  backlog: state('Backlog', 'backlog'),
  todo: state('Todo', 'unstarted'),
  progress: state('In Progress', 'started'),
  review: state('In Review', 'started'),
  done: state('Done', 'completed'),
  shipped: state('Shipped', 'completed'),
  canceled: state('Canceled', 'canceled'),
  duplicate: state('Duplicate', 'duplicate'),
  closed: state('Closed', 'started'),
  elsewhereDone: state('Done in Operations', 'completed'),
} as const

export interface Linear {
  readonly tracker: Tracker
  readonly key: string
  readonly workspace?: string
  readonly formerWorkspaces?: readonly string[]
  /** Teams that the key may see. */
  readonly sees?: readonly string[]
  /** Joins changes of one account within so many milliseconds, as teams can have it; 0 when left out. */
  readonly groupMs?: number
  readonly isOldestFirst?: boolean
  /** Largest page; 250 when left out. */
  readonly pageSize?: number
  /** Fields that the server fails to tell, such as `IssueHistory.actor`. */
  readonly fails?: readonly string[]
  /** The time of completion that whoever made the issue gave it. */
  readonly completedAt?: number
  /** Key of another issue, about which every answer is. */
  readonly answersAbout?: string
  /** Marks entries of the history as those of an import. */
  readonly isImported?: boolean
}

/** The most complexity of one query: a point an object and a tenth a property, times the size of a page. */
const MOST_COMPLEX = 10_000
const USUAL_PAGE = 50

export function createLinear(linear: Linear): (asked: Asked, faults: string[]) => Answer {
  return (asked, faults) => {
    const { authorization } = asked.headers
    if (asked.path !== '/graphql') return { status: 404, body: '<html><body>Not found</body></html>' }
    if (asked.method !== 'POST') faults.push(`${asked.method} ${asked.path}: queries are POST`)
    if (authorization?.startsWith('Bearer lin_api_')) {
      faults.push('a key is no bearer token')
      return refusal(400, "It looks like you're trying to use an API key as a Bearer token.", 'authentication error')
    }
    if (authorization !== linear.key)
      return refusal(401, 'Authentication required, not authenticated', 'authentication error')
    const { query, variables } = JSON.parse(asked.body) as { query: string; variables?: Record<string, unknown> }
    const document = parse(query)
    const wrong = validate(SCHEMA, document)
    if (wrong.length > 0) {
      faults.push(...wrong.map(({ message }) => message))
      return { status: 400, body: { errors: wrong.map((error) => told(error, 'graphql error', 400)) } }
    }
    const complexity = complexityOf(document, variables ?? {})
    if (complexity > MOST_COMPLEX) {
      faults.push(`a query of complexity ${complexity}`)
      return refusal(400, 'Query too complex', 'invalid input')
    }
    if (document.definitions.some((one) => one.kind === Kind.OPERATION_DEFINITION && one.operation !== 'query'))
      faults.push('a read is a query')
    const rootValue = rootOf(linear, asked)
    const { data, errors } = executeSync({ schema: SCHEMA, document, rootValue, variableValues: variables ?? {} })
    const quota = {
      'x-complexity': String(Math.ceil(complexity)),
      'x-ratelimit-requests-limit': '2500',
      'x-ratelimit-requests-remaining': '2210',
      'x-ratelimit-requests-reset': String(asked.now + 3_600_000),
    }
    const refused = errors?.map((error) => told(error, 'invalid input', 400))
    return { status: 200, body: { data: data ?? null, ...(refused && { errors: refused }) }, headers: quota }
  }
}

const CODES: Readonly<Record<string, string>> = {
  'authentication error': 'AUTHENTICATION_ERROR',
  'graphql error': 'GRAPHQL_VALIDATION_FAILED',
  'invalid input': 'INPUT_ERROR',
  'internal error': 'INTERNAL_SERVER_ERROR',
  ratelimited: 'RATELIMITED',
  forbidden: 'FORBIDDEN',
}

function told({ message, path, locations }: GraphQLError, type: string, statusCode: number) {
  const isOurs = message === 'Internal server error'
  const kind = isOurs ? 'internal error' : type
  const extensions = { type: kind, code: CODES[kind], statusCode: isOurs ? 500 : statusCode, userError: !isOurs }
  return { message, ...(path && { path }), ...(locations && { locations }), extensions }
}

/** An answer with one error. Limits come with status 400, and 429 within. */
export function refusal(status: number, message: string, type: string, statusCode = status): Answer {
  return { status, body: { errors: [told(new GraphQLError(message), type, statusCode)], data: null } }
}

function complexityOf(document: DocumentNode, variables: Readonly<Record<string, unknown>>): number {
  const fragments = new Map(
    document.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  )
  const sizeOf = ({ arguments: given = [] }: FieldNode): number => {
    const first = given.find(({ name }) => name.value === 'first' || name.value === 'last')?.value
    if (first?.kind === Kind.INT) return Number(first.value)
    return first?.kind === Kind.VARIABLE ? Number(variables[first.name.value] ?? USUAL_PAGE) : USUAL_PAGE
  }
  const ofSet = ({ selections }: SelectionSetNode): number =>
    selections.reduce((sum, one) => {
      if (one.kind === Kind.FRAGMENT_SPREAD) return sum + ofSet(fragments.get(one.name.value)!.selectionSet)
      if (one.kind === Kind.INLINE_FRAGMENT || one.selectionSet === undefined)
        return sum + (one.kind === Kind.INLINE_FRAGMENT ? ofSet(one.selectionSet) : 0.1)
      const isList = one.selectionSet.selections.some(
        (inner) => inner.kind === Kind.FIELD && ['nodes', 'edges'].includes(inner.name.value),
      )
      return sum + (1 + ofSet(one.selectionSet)) * (isList ? sizeOf(one) : 1)
    }, 0)
  return document.definitions.reduce(
    (sum, one) => sum + (one.kind === Kind.OPERATION_DEFINITION ? ofSet(one.selectionSet) : 0),
    0,
  )
}

interface Paging {
  readonly first?: number
  readonly last?: number
  readonly after?: string
  readonly before?: string
  readonly includeArchived?: boolean
}

type Comparator = Readonly<Record<string, unknown>>
interface Filter {
  readonly id?: Comparator
  readonly number?: Comparator
  readonly key?: Comparator
  readonly type?: Comparator
  readonly team?: Filter
  readonly and?: readonly Filter[]
  readonly or?: readonly Filter[]
}

function matches(value: unknown, comparator: Comparator | undefined): boolean {
  return Object.entries(comparator ?? {}).every(([name, wanted]) => {
    if (name === 'eq') return value === wanted
    if (name === 'eqIgnoreCase') return String(value).toLowerCase() === String(wanted).toLowerCase()
    if (name === 'in') return (wanted as readonly unknown[]).includes(value)
    throw new GraphQLError(`the stand-in does not compare by ${name}`)
  })
}

function teamOf(identifier: string): string {
  return identifier.slice(0, identifier.lastIndexOf('-'))
}

/** The values of all fields that a query can begin with. */
function rootOf(linear: Linear, asked: Asked) {
  const { workspace = WORKSPACE, formerWorkspaces = [], sees = ['ENG', 'OPS'], fails = [], answersAbout } = linear
  const snapshot = linear.tracker.at(asked.shown)
  const time = (moment: number) => new Date(asked.stamp(moment)).toISOString()
  const old = time(Date.UTC(2024, 1, 1))
  const dates = { createdAt: old, updatedAt: old, archivedAt: null }
  /** Values of a type, whose failing fields throw. */
  const built = (type: string, fields: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => {
        const failing = () => {
          throw new GraphQLError('Internal server error')
        }
        return [name, fails.includes(`${type}.${name}`) ? failing : value]
      }),
    )
  const missing = (type: string): never => {
    throw new GraphQLError(`Entity not found: ${type}`)
  }

  const organization = {
    ...dates,
    id: uuidOf(workspace),
    name: 'Acme',
    urlKey: workspace,
    previousUrlKeys: formerWorkspaces,
  }
  const user = (id: string) => ({
    ...dates,
    id,
    name: 'Nelly Noname',
    displayName: 'nelly',
    email: 'nelly@example.com',
    active: true,
    admin: false,
    guest: false,
    app: id === AGENT,
    isMe: false,
    organization,
    url: `https://linear.app/${workspace}/profiles/nelly`,
  })
  const team = (key: string): unknown => ({
    ...dates,
    id: uuidOf(`team ${key}`),
    key,
    name: 'Engineering',
    displayName: 'Engineering',
    groupIssueHistory: (linear.groupMs ?? 0) > 0,
    organization,
    private: false,
    visibility: 'public',
    states: ({ filter, ...paging }: Paging & { filter?: Filter }) => page(linear, statesBy(filter), paging),
  })
  const stateObject = ({ id, name, category }: Status): unknown => ({
    ...dates,
    id,
    name,
    type: category,
    color: '#5e6ad2',
    position: 1,
    description: null,
    inheritedFrom: null,
    team: () => team(id === STATES.elsewhereDone.id ? 'OPS' : 'ENG'),
  })
  const stateBy = (id: string) => stateObject(snapshot.statuses.get(id) ?? missing('WorkflowState'))
  const statesBy = (filter: Filter = {}) =>
    [...snapshot.statuses.values()]
      .filter(({ id, category }) => matches(id, filter.id) && matches(category, filter.type))
      .map(stateObject)

  const entry = (issue: Issue, change: Entry): unknown => {
    const { id, by, items } = change
    const status = items.find(({ field }) => field === 'status')
    const moved = items.find(({ field }) => field === 'key')
    const isBot = by?.startsWith(BOT)
    return built('IssueHistory', {
      id: uuidOf(`entry ${id}`),
      createdAt: time(change.at),
      updatedAt: time(change.until),
      archivedAt: null,
      actor: by === undefined || isBot ? null : user(by),
      actorId: by === undefined || isBot ? null : by,
      botActor: isBot ? { id: uuidOf(by!), type: by!.slice(BOT.length), name: 'GitHub' } : null,
      issue: () => issueObject(issue),
      issueImport: linear.isImported ? { id: uuidOf('import'), createdAt: time(change.at), service: 'jira' } : null,
      ...(status && {
        fromState: stateBy(status.from!),
        fromStateId: status.from,
        toState: stateBy(status.to!),
        toStateId: status.to,
      }),
      ...(moved && {
        fromTeam: team(teamOf(moved.from!)),
        fromTeamId: uuidOf(`team ${teamOf(moved.from!)}`),
        toTeam: team(teamOf(moved.to!)),
        toTeamId: uuidOf(`team ${teamOf(moved.to!)}`),
      }),
    })
  }
  const historyOf = (issue: Issue, paging: Paging) => {
    const entries = groupedOf(issue.changes, linear.groupMs ?? 0)
    return page(linear, linear.isOldestFirst ? entries : entries.toReversed(), paging, (one) => entry(issue, one))
  }
  const spansOf = ({ changes, madeIn, madeAt }: Issue) => {
    const moves = changes.flatMap(({ at, items }) =>
      items.flatMap(({ field, to }) => (field === 'status' ? [{ at, id: to! }] : [])),
    )
    const starts = [{ at: madeAt, id: madeIn }, ...moves]
    return starts.map(({ at, id }, index) => ({
      id: uuidOf(`span ${id} ${at}`),
      stateId: id,
      state: stateBy(id),
      startedAt: time(at),
      endedAt: starts[index + 1] ? time(starts[index + 1]!.at) : null,
    }))
  }
  const lastIn = (issue: Issue, category: string) => {
    if (snapshot.statuses.get(issue.status)?.category !== category) return null
    if (category === 'completed' && linear.completedAt !== undefined) return new Date(linear.completedAt).toISOString()
    return spansOf(issue).at(-1)!.startedAt
  }
  const issueObject = (issue: Issue): unknown =>
    built('Issue', {
      id: uuidOf(`issue ${issue.number}`),
      identifier: issue.key,
      previousIdentifiers: issue.earlierKeys,
      number: Number(issue.key.slice(issue.key.lastIndexOf('-') + 1)),
      title: 'Rotate the signing keys',
      description: null,
      branchName: 'nelly/rotate-the-signing-keys',
      priority: 0,
      url: `https://linear.app/${workspace}/issue/${issue.key}`,
      createdAt: issue.dated === undefined ? time(issue.madeAt) : new Date(issue.dated).toISOString(),
      updatedAt: time(issue.changes.at(-1)?.at ?? issue.madeAt),
      archivedAt: issue.isArchived || issue.isTrashed ? time(issue.madeAt) : null,
      trashed: issue.isTrashed ? true : null,
      creator: user(issue.madeBy),
      startedAt: lastIn(issue, 'started'),
      completedAt: lastIn(issue, 'completed'),
      canceledAt: lastIn(issue, 'canceled'),
      state: stateBy(issue.status),
      team: team(teamOf(issue.key)),
      history: (paging: Paging) => historyOf(issue, paging),
      stateHistory: (paging: Paging) => page(linear, spansOf(issue), paging),
    })
  const visible = snapshot.issues.filter(({ key, isHidden }) => !isHidden && sees.includes(teamOf(key)))
  const fits = (issue: Issue, { id, number, team: ofTeam, and = [], or }: Filter = {}): boolean =>
    matches(uuidOf(`issue ${issue.number}`), id) &&
    matches(Number(issue.key.slice(issue.key.lastIndexOf('-') + 1)), number) &&
    matches(teamOf(issue.key), ofTeam?.key) &&
    matches(uuidOf(`team ${teamOf(issue.key)}`), ofTeam?.id) &&
    and.every((one) => fits(issue, one)) &&
    (or === undefined || or.some((one) => fits(issue, one)))

  return built('Query', {
    organization,
    viewer: { ...user(uuidOf('the reader')), isMe: true },
    issue: ({ id }: { id: string }) => issueObject(findIssue(visible, answersAbout ?? id) ?? missing('Issue')),
    issues: ({ filter, includeArchived, ...paging }: Paging & { filter?: Filter }) => {
      const isShown = ({ isArchived, isTrashed }: Issue) => includeArchived || !(isArchived || isTrashed)
      const isMeant = (one: Issue) => (answersAbout === undefined ? fits(one, filter) : one.key === answersAbout)
      const found = visible.filter((one) => isMeant(one) && isShown(one))
      return page(linear, found.map(issueObject), paging)
    },
    team: ({ id }: { id: string }) =>
      team(sees.find((key) => id === key || id === uuidOf(`team ${key}`)) ?? missing('Team')),
    teams: ({ filter, ...paging }: Paging & { filter?: Filter }) =>
      page(linear, sees.filter((key) => matches(key, filter?.key)).map(team), paging),
    workflowState: ({ id }: { id: string }) => stateBy(id),
    workflowStates: ({ filter, ...paging }: Paging & { filter?: Filter }) => page(linear, statesBy(filter), paging),
    rateLimitStatus: { identifier: null, kind: 'user', limits: [] },
  })
}

/** Finds an issue by its UUID, its identifier, or one that it had. */
function findIssue(issues: readonly Issue[], named: string): Issue | undefined {
  const key = named.toUpperCase()
  return (
    issues.find((issue) => issue.key === key || uuidOf(`issue ${issue.number}`) === named) ??
    issues.find(({ earlierKeys }) => earlierKeys.includes(key))
  )
}

type Entry = Omit<Change, 'isPrivate' | 'hasNotes'> & { readonly until: number }

/** Joins changes that one account made soon after one another: the states between are in no entry. */
function groupedOf(changes: Snapshot['issues'][number]['changes'], groupMs: number): readonly Entry[] {
  const entries: Entry[] = []
  for (const change of changes) {
    const last = entries.at(-1)
    if (!last || last.by !== change.by || change.at - last.at >= groupMs) {
      entries.push({ ...change, until: change.at })
      continue
    }
    const others = last.items.filter(({ field }) => !change.items.some((item) => item.field === field))
    const joined = change.items.map((item) => {
      const before = last.items.find(({ field }) => field === item.field)
      return before ? { ...item, from: before.from } : item
    })
    entries[entries.length - 1] = { ...last, until: change.at, items: [...others, ...joined] }
  }
  return entries
}

function page<T>(
  linear: Linear,
  all: readonly T[],
  { first, last, after, before }: Paging,
  build: (one: T) => unknown = (one) => one,
) {
  const most = linear.pageSize ?? 250
  for (const size of [first, last])
    if (size !== undefined && (size < 1 || size > 250)) throw new GraphQLError('Argument Validation Error')
  const indexOf = (cursor: string) => Number(Buffer.from(cursor, 'base64').toString())
  const start = after === undefined || after === null ? 0 : indexOf(after) + 1
  const end = before === undefined || before === null ? all.length : indexOf(before)
  const size = Math.min(first ?? last ?? USUAL_PAGE, most)
  const from = last !== undefined && first === undefined ? Math.max(start, end - size) : start
  const until = Math.min(from + size, end)
  const cursor = (index: number) => Buffer.from(String(index)).toString('base64')
  const edges = all.slice(from, until).map((one, index) => ({ node: build(one), cursor: cursor(from + index) }))
  return {
    edges,
    nodes: edges.map(({ node }) => node),
    pageInfo: {
      hasNextPage: until < all.length,
      hasPreviousPage: from > 0,
      startCursor: edges.at(0)?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  }
}
