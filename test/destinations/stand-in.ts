/** What stand-ins of registries share: a server on loopback that tells the test's time and lets faults strike. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Faults } from './faults.ts'

/** What a stand-in answers: JSON, bytes, or nothing with a status. */
export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface StandIn {
  readonly url: string
  readonly faults: Faults
  /** As `GET /path?query`. */
  readonly requests: string[]
  close(): Promise<void>
}

export async function startStandIn(now: () => number, answer: (request: IncomingMessage) => Reply): Promise<StandIn> {
  const faults = new Faults()
  const requests: string[] = []
  const server = createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.setHeader('date', new Date(now()).toUTCString())
    if (await faults.strike(request, response)) return
    const { status = 200, headers = {}, body } = answer(request)
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body === undefined ? '' : JSON.stringify(body))
    const etag = `"${createHash('sha1').update(bytes).digest('hex')}"`
    if (status === 200 && request.headers['if-none-match'] === etag) {
      response.writeHead(304).end()
      return
    }
    const type = Buffer.isBuffer(body) ? 'application/octet-stream' : 'application/json'
    response.writeHead(status, { 'content-type': type, ...(status === 200 && { etag }), ...headers })
    response.end(request.method === 'HEAD' ? undefined : bytes)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    requests,
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** What the stand-ins of all registries are. */
export class RegistryStandIn {
  readonly #server: StandIn
  protected readonly now: () => number

  protected constructor(server: StandIn, now: () => number) {
    this.#server = server
    this.now = now
  }

  get url(): string {
    return this.#server.url
  }

  get faults(): Faults {
    return this.#server.faults
  }

  get requests(): readonly string[] {
    return this.#server.requests
  }

  close(): Promise<void> {
    return this.#server.close()
  }
}
