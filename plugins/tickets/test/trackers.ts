/** Jira, Linear and a Redmine on loopback, of the few paths that the plugin reads, each with one issue and its history. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export const SECRET = 'lin_api_reads_tickets'
export const EMAIL = 'reader@example.com'
export const WORKSPACE = 'acme'
export const JIRA_HOST = 'acme.atlassian.net'
export const CENTER_HOST = 'jira.example.com/jira'
export const REDMINE_HOST = 'redmine.example.com'

export type Name = 'todo' | 'doing' | 'review' | 'done' | 'closed' | 'canceled'
type Provider = 'jira' | 'linear' | 'redmine'

const uuid = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`

/** The statuses of all three, by a name of these tests. */
const NAMES: readonly Name[] = ['todo', 'doing', 'review', 'done', 'closed', 'canceled']
const JIRA_CATEGORIES = ['new', 'indeterminate', 'indeterminate', 'done', 'done', 'done']
const LINEAR_TYPES = ['unstarted', 'started', 'started', 'completed', 'completed', 'canceled']

/** The id of a status at a tracker. */
export function idOf(provider: Provider, name: Name): string {
  const number = NAMES.indexOf(name) + 1
  return { jira: String(10_000 + number), linear: uuid(number), redmine: String(number) }[provider]
}

/** The id of an account at a tracker. */
export function accountOf(provider: Provider, person: number): string {
  return { jira: `5b10ac8d82e05b22cc7d4ef${person}`, linear: uuid(person), redmine: String(person) }[provider]
}

export interface Move {
  readonly at: number
  readonly from: Name
  readonly to: Name
  /** A person's number; null for none that the history names. */
  readonly by?: number | null
  /** The time of the last change that was written into the same entry. */
  readonly until?: number
}

class Answer extends Error {
  readonly status: number
  readonly body: object

  constructor(status: number, body: object) {
    super(String(status))
    this.status = status
    this.body = body
  }
}

export class Trackers {
  createdAt = 0
  status: Name = 'todo'
  moves: readonly Move[] = []
  /** Entries of other changes before the moves, which fill pages. */
  others = 0
  isHidden = false
  /** The keys that the issue has now, and had. */
  keys: readonly [string, ...string[]] = ['SHOP-1']
  id = 42
  deleted: readonly Name[] = []
  categories: Readonly<Partial<Record<Name, string>>> = {}
  workspace = WORKSPACE
  /** The time of the last closing that Redmine tells. */
  closedAt: number | undefined
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  /** Moves the issue. */
  move(at: number, to: Name, more: Pick<Move, 'by' | 'until'> = {}) {
    this.moves = [...this.moves, { at, from: this.status, to, by: 1, ...more }]
    this.status = to
  }

  async start() {
    const server = createServer(async (request, response) => {
      response.setHeader('date', new Date(this.#now()).toUTCString())
      response.setHeader('content-type', 'application/json')
      try {
        response.end(JSON.stringify(this.#answer(request, await text(request))))
      } catch (error) {
        if (!(error instanceof Answer)) throw error
        response.writeHead(error.status).end(JSON.stringify(error.body))
      }
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const stop = () => {
      server.closeAllConnections()
      server.close()
    }
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
  }

  #answer({ url, headers }: IncomingMessage, body: string): object {
    const { pathname, searchParams } = new URL(url!, 'http://tracker')
    if (pathname === '/graphql') return this.#linear(headers.authorization, body)
    const [, context = '', version, path = ''] = /^(\/jira)?\/rest\/api\/([23])\/(.*)$/.exec(pathname) ?? []
    if (version === undefined) return this.#redmine(pathname, headers['x-redmine-api-key'])
    const isCloud = context === ''
    const basic = `Basic ${Buffer.from(`${EMAIL}:${SECRET}`).toString('base64')}`
    if (headers.authorization !== (isCloud ? basic : `Bearer ${SECRET}`)) throw new Answer(401, {})
    return this.#jira(path, searchParams, isCloud)
  }

  #jira(path: string, query: URLSearchParams, isCloud: boolean): object {
    if (path === 'myself') return { accountId: accountOf('jira', 9) }
    const statusOf = (name: Name) => {
      const key = this.categories[name] ?? JIRA_CATEGORIES[NAMES.indexOf(name)]
      return { id: idOf('jira', name), statusCategory: { key } }
    }
    if (path === 'status') return NAMES.filter((name) => !this.deleted.includes(name)).map(statusOf)
    if (path === 'project/SHOP') return { key: this.keys[0].split('-')[0] }
    const [, key = '', rest] = /^issue\/([^/]+)(\/changelog)?$/.exec(path) ?? []
    const isIssue = key === String(this.id) || this.keys.includes(key)
    if (this.isHidden || !isIssue || (rest && !isCloud))
      throw new Answer(404, { errorMessages: ['Issue does not exist'] })
    const other = { items: [{ field: 'status', fieldtype: 'custom', from: null, to: '10004' }] }
    const entries = [
      ...Array.from({ length: this.others }, (_, index) => ({
        id: String(index + 1),
        created: this.createdAt,
        ...other,
      })),
      ...this.moves.map(({ at, from, to, by }, index) => ({
        id: String(index + 1000),
        created: at,
        ...(by != null && { author: isCloud ? { accountId: accountOf('jira', by) } : { key: accountOf('jira', by) } }),
        items: [{ field: 'status', fieldtype: 'jira', from: idOf('jira', from), to: idOf('jira', to) }],
      })),
    ].map((entry) => ({ ...entry, created: new Date(entry.created).toISOString().replace('Z', '+0000') }))
    const startAt = Number(query.get('startAt') ?? 0)
    const values = entries.slice(startAt, startAt + 100)
    const total = entries.length
    if (rest) return { startAt, maxResults: 100, total, isLast: startAt + values.length >= total, values }
    const histories = isCloud ? entries.toReversed().slice(0, 100) : entries
    return {
      id: String(this.id),
      key: this.keys[0],
      fields: { status: statusOf(this.status), created: new Date(this.createdAt).toISOString() },
      changelog: { startAt: 0, maxResults: histories.length, total, histories },
    }
  }

  #linear(authorization: string | undefined, body: string): object {
    const refusal = (code: string) => ({ errors: [{ message: code, extensions: { code } }] })
    if (authorization !== SECRET) throw new Answer(401, refusal('AUTHENTICATION_ERROR'))
    const { query, variables } = JSON.parse(body) as {
      query: string
      variables: { id?: string; after?: string | null }
    }
    if (variables.id === undefined) return { data: { viewer: { id: accountOf('linear', 9) } } }
    if (this.isHidden || !this.keys.includes(variables.id)) return { data: null, ...refusal('INPUT_ERROR') }
    const stateOf = (name: Name) => ({ id: idOf('linear', name), type: LINEAR_TYPES[NAMES.indexOf(name)] })
    const timeOf = (at: number) => new Date(at).toISOString()
    const entries = [
      ...Array.from({ length: this.others }, (_, id) => ({ id: `o${id}`, createdAt: timeOf(this.createdAt) })),
      ...this.moves.map(({ at, from, to, by, until = at }, id) => ({
        id: `m${id}`,
        createdAt: timeOf(at),
        updatedAt: timeOf(until),
        actor: by == null ? null : { id: accountOf('linear', by) },
        fromState: stateOf(from),
        toState: stateOf(to),
      })),
    ].toReversed()
    const from = Number(variables.after ?? 0)
    const first = Number(/first: ([0-9]+)/.exec(query)![1])
    const nodes = entries.slice(from, from + first)
    const pageInfo = { hasNextPage: from + first < entries.length, endCursor: String(from + nodes.length) }
    const [identifier, ...previousIdentifiers] = this.keys
    const issue = { id: uuid(7), identifier, previousIdentifiers, createdAt: timeOf(this.createdAt) }
    const history = { nodes, pageInfo }
    const organization = { urlKey: this.workspace, previousUrlKeys: [] }
    return { data: { organization, issue: { ...issue, state: stateOf(this.status), history } } }
  }

  #redmine(path: string, key: string | string[] | undefined): object {
    if (key !== SECRET) throw new Answer(401, {})
    if (path === '/users/current.json') return { user: { id: 9 } }
    const numberOf = (name: Name) => Number(idOf('redmine', name))
    if (path === '/issue_statuses.json') {
      const shown = NAMES.filter((name) => !this.deleted.includes(name))
      return {
        issue_statuses: shown.map((name) => ({
          id: numberOf(name),
          is_closed: ['done', 'closed', 'canceled'].includes(name),
        })),
      }
    }
    if (path !== '/issues/1.json') throw new Answer(404, {})
    if (this.isHidden) throw new Answer(403, {})
    const secondOf = (at: number) => `${new Date(at).toISOString().slice(0, 19)}Z`
    const journals = this.moves.map(({ at, from, to, by }, id) => ({
      id,
      ...(by != null && { user: { id: by } }),
      created_on: secondOf(at),
      details: [
        { property: 'attr', name: 'status_id', old_value: String(numberOf(from)), new_value: String(numberOf(to)) },
      ],
    }))
    return {
      issue: {
        id: 1,
        status: { id: numberOf(this.status) },
        created_on: secondOf(this.createdAt),
        closed_on: this.closedAt === undefined ? null : secondOf(this.closedAt),
        journals,
      },
    }
  }
}
