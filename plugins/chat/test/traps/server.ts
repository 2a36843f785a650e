/** The HTTP server of a scripted chat: the time of its answers, replicas that lag, and what stands between. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  readonly now: number
  /** The moment whose state the answer shows: earlier than now at a replica that lags. */
  readonly shown: number
}

export interface ChatAnswer {
  readonly status: number
  /** A text is a page of HTML. */
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Serving {
  readonly now: () => number
  /** Answers in place of the platform, such as a proxy, or the platform in trouble. */
  readonly instead?: ((asked: Asked) => ChatAnswer | undefined) | undefined
  readonly lag?: { readonly byMs: number; readonly until: number } | undefined
  readonly answer: (asked: Asked, faults: string[]) => ChatAnswer
}

export interface RunningChat {
  readonly url: string
  /** What is wrong with answers by the published description, and with requests by the documentation. */
  readonly faults: readonly string[]
  close(): Promise<void>
}

export async function startChat({ now, instead, lag, answer }: Serving): Promise<RunningChat> {
  const faults: string[] = []

  function respond(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'https://chat.example.com')
    const moment = now()
    const asked: Asked = {
      method: request.method ?? 'GET',
      path: url.pathname,
      url,
      headers: request.headers,
      now: moment,
      shown: lag && moment < lag.until ? moment - lag.byMs : moment,
    }
    if (asked.method !== 'GET') faults.push(`${asked.method} ${asked.path}: reads are GET`)
    response.setHeader('date', new Date(moment).toUTCString())
    const { status, body, headers = {} } = instead?.(asked) ?? answer(asked, faults)
    const isText = typeof body === 'string'
    response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json; charset=utf-8', ...headers })
    response.end(isText ? body : JSON.stringify(body))
  }

  const server = createServer(respond).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
