/** Stands before a real server: tells the test's time in its answers, counts what is asked of it, and puts faults in the way. */
import { once } from 'node:events'
import { Agent, createServer, type RequestListener, type RequestOptions, request, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Identity } from './certificates.ts'
import { Faults } from './faults.ts'

export interface FrontOptions {
  /** Where the server behind listens: `port`, or `socketPath`. */
  readonly behind: Pick<RequestOptions, 'port' | 'socketPath'>
  readonly now: () => number
  /** Of https; plain HTTP, when left out. */
  readonly identity?: Identity
}

/** The header in which the server behind gets the test's time. */
export const NOW_HEADER = 'x-test-now'

export class Front {
  readonly url: string
  readonly port: number
  readonly faults = new Faults()
  /** As `GET /path?query`, with the answer's status behind an arrow. */
  readonly requests: string[] = []
  readonly #server: Server
  readonly #agent: Agent

  private constructor(server: Server, agent: Agent) {
    this.#server = server
    this.#agent = agent
    this.port = (server.address() as AddressInfo).port
    this.url = `http://127.0.0.1:${this.port}`
  }

  static async start({ behind, now, identity }: FrontOptions): Promise<Front> {
    const agent = new Agent({ keepAlive: true })
    let front: Front | undefined
    const listener: RequestListener = async (asked, answer) => {
      const { requests, faults } = front!
      const line = `${asked.method} ${asked.url}`
      answer.on('finish', () => requests.push(`${line} -> ${answer.statusCode}`))
      const date = () => new Date(now()).toUTCString()
      answer.setHeader('date', date())
      if (await faults.strike(asked, answer)) return
      const headers = { [NOW_HEADER]: String(now()), ...asked.headers }
      const passed = request(
        { host: '127.0.0.1', ...behind, agent, method: asked.method, path: asked.url, headers },
        (response) => {
          answer.writeHead(response.statusCode!, { ...response.headers, date: date() })
          response.pipe(answer)
        },
      )
      passed.on('error', () => answer.destroy())
      asked.pipe(passed)
    }
    const server = identity ? createTlsServer({ ...identity }, listener) : createServer(listener)
    // Clients hang up on certificates that they refuse.
    server.on('tlsClientError', () => {})
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    front = new Front(server, agent)
    return front
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    this.#agent.destroy()
  }
}
