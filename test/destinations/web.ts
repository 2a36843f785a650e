/** Web servers of Node over TLS, with a site for each test: what no ordinary server does, these do. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Identity } from './certificates.ts'

/** @param count how many requests the site has had, this one included */
export type Answerer = (request: IncomingMessage, response: ServerResponse, count: number) => void

interface Site {
  answer: Answerer
  count: number
}

export class Web {
  readonly domain: string
  readonly port: number
  readonly #server: Server
  readonly #sockets = new Set<Duplex>()
  readonly #sites: Map<string, Site>

  private constructor(domain: string, server: Server, sites: Map<string, Site>) {
    this.domain = domain
    this.#server = server
    this.#sites = sites
    this.port = (server.address() as AddressInfo).port
    server.on('connection', (socket) => this.#sockets.add(socket))
  }

  /** @param now the test's time, which the answers tell */
  static async start(domain: string, identity: Identity, now: () => number): Promise<Web> {
    const sites = new Map<string, Site>()
    const server = createServer({ ...identity }, (request, response) => {
      const site = sites.get((request.headers.host ?? '').replace(/:\d+$/, ''))
      if (!site) return void response.writeHead(421).end()
      response.setHeader('date', new Date(now()).toUTCString())
      site.answer(request, response, ++site.count)
    })
    // Clients hang up on what they refuse.
    server.on('tlsClientError', () => {})
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Web(domain, server, sites)
  }

  /** Serves a new site, or changes what one answers. */
  serve(host: string, answer: Answerer): void {
    const site = this.#sites.get(host)
    if (site) site.answer = answer
    else this.#sites.set(host, { answer, count: 0 })
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((done) => this.#server.close(done))
  }
}
