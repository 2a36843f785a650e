/** A small ticket system, as a real HTTP server in memory: tokens, projects, and tickets with a history of their states. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Change {
  /** The time in milliseconds. The server tells whole seconds. */
  readonly at: number
  /** null: it was opened. */
  readonly resolution: string | null
}

export interface Ticket {
  readonly id: number
  /** The key of a ticket that was moved to another project: it still answers under the old one. */
  readonly movedTo?: string
  readonly history: readonly Change[]
}

export interface Project {
  /** The last number that was given to a ticket. */
  readonly lastNumber: number
  readonly tickets: Readonly<Record<number, Ticket>>
}

export interface Access {
  readonly scopes: readonly string[]
  /** The visible tickets, by project: all of them, or only those that are assigned to the account. */
  readonly projects: Readonly<Record<string, 'all' | 'assigned'>>
}

type Answer = readonly [status: number, body: object]

export class TicketServer {
  readonly tokens = new Map<string, Access>()
  readonly projects = new Map<string, Project>()
  readonly #now: () => number
  readonly #server = createServer(({ method, url = '/', headers }, response) => {
    const [status, body] = method === 'GET' ? this.#answer(url, headers.authorization) : ([405, {}] as const)
    const date = new Date(this.#now()).toUTCString()
    response.writeHead(status, { 'content-type': 'application/json', date }).end(JSON.stringify(body))
  })

  private constructor(now: () => number) {
    this.#now = now
  }

  static async start({ port = 0, now = Date.now } = {}): Promise<TicketServer> {
    const server = new TicketServer(now)
    server.#server.listen(port, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.close().closeAllConnections()
    await once(this.#server, 'close')
  }

  #answer(url: string, authorization = ''): Answer {
    const unknown: Answer = [404, { error: 'not found' }]
    const access = this.tokens.get(authorization.replace(/^Bearer /, ''))
    if (!access) return [401, { error: 'unknown token' }]
    const [, api, kind, name = '', tickets, number] = new URL(url, this.url).pathname.split('/')
    if (api !== 'api') return unknown
    if (kind === 'account') return [200, { scopes: access.scopes }]
    const project = kind === 'projects' ? this.projects.get(name) : undefined
    const seen = Object.hasOwn(access.projects, name) ? access.projects[name] : undefined
    // Answers as many services do: what an account may not see is not there.
    if (!project || seen === undefined) return unknown
    if (tickets === undefined) return [200, { last_number: project.lastNumber, sees_all_tickets: seen === 'all' }]
    const ticket = tickets === 'tickets' && seen === 'all' ? project.tickets[Number(number)] : undefined
    if (!ticket) return unknown
    const { id, movedTo: key = `${name}-${number}`, history } = ticket
    return [200, { id, key, history: history.map(toWire) }]
  }
}

function toWire({ at, resolution }: Change): object {
  return { at: `${new Date(at).toISOString().slice(0, 19)}Z`, resolution }
}
