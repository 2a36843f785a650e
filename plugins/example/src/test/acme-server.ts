/** A small ticket system, as a real HTTP server in memory: tokens, projects, and tickets with a history by its own clock. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Entry {
  readonly at: string
  readonly resolution: string | null
}

interface Ticket {
  readonly id: number
  readonly history: Entry[]
}

interface Project {
  lastNumber: number
  readonly tickets: Map<string, Ticket>
}

interface Access {
  readonly scopes: readonly string[]
  /** By name: whether it sees all tickets of the project, or those only that are assigned to its account. */
  readonly projects: Readonly<Record<string, 'all' | 'assigned'>>
}

type Answer = readonly [status: number, body: object]

const UNKNOWN: Answer = [404, { error: 'not found' }]

export class AcmeServer {
  readonly #server: Server
  readonly #tokens = new Map<string, Access>()
  readonly #projects = new Map<string, Project>()
  #lastId = 1000

  private constructor() {
    this.#server = createServer(({ method, url = '/', headers }, response) => {
      const [status, body] = method === 'GET' ? this.#answer(url, headers.authorization) : [405, {}]
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  }

  static async start(port = 0): Promise<AcmeServer> {
    const server = new AcmeServer()
    server.#server.listen(port, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  addToken(token: string, access: Access): void {
    this.#tokens.set(token, access)
  }

  addProject(name: string): void {
    this.#projects.set(name, { lastNumber: 0, tickets: new Map() })
  }

  /** @returns its target, such as `SHOP-1` */
  addTicket(name: string): string {
    const project = this.#projects.get(name)!
    const number = ++project.lastNumber
    project.tickets.set(String(number), { id: ++this.#lastId, history: [entry(null)] })
    return `${name}-${number}`
  }

  close(target: string, resolution: string): void {
    this.#ticket(target).history.push(entry(resolution))
  }

  reopen(target: string): void {
    this.#ticket(target).history.push(entry(null))
  }

  delete(target: string): void {
    const [name, number] = target.split('-') as [string, string]
    this.#projects.get(name)!.tickets.delete(number)
  }

  /** Puts another ticket in its place, as a backup that was read in does. */
  replace(target: string): void {
    const [name, number] = target.split('-') as [string, string]
    this.#projects.get(name)!.tickets.set(number, { id: ++this.#lastId, history: [entry(null)] })
  }

  async stop(): Promise<void> {
    this.#server.close().closeAllConnections()
    await once(this.#server, 'close')
  }

  #ticket(target: string): Ticket {
    const [name, number] = target.split('-') as [string, string]
    return this.#projects.get(name)!.tickets.get(number)!
  }

  #answer(url: string, authorization = ''): Answer {
    const access = this.#tokens.get(authorization.replace(/^Bearer /, ''))
    if (!access) return [401, { error: 'unknown token' }]
    const [, api, kind, name = '', tickets, number = ''] = new URL(url, this.url).pathname.split('/')
    if (api !== 'api') return UNKNOWN
    if (kind === 'account') return [200, { scopes: access.scopes }]
    const sees = kind === 'projects' && Object.hasOwn(access.projects, name) ? access.projects[name] : undefined
    const project = this.#projects.get(name)
    // As at many places: what a token may not see is not there.
    if (!sees || !project) return UNKNOWN
    if (tickets === undefined) return [200, { last_number: project.lastNumber, sees_all_tickets: sees === 'all' }]
    const ticket = tickets === 'tickets' && sees === 'all' ? project.tickets.get(number) : undefined
    return ticket ? [200, ticket] : UNKNOWN
  }
}

/** Its log has whole seconds. */
function entry(resolution: string | null): Entry {
  return { at: `${new Date().toISOString().slice(0, 19)}Z`, resolution }
}
