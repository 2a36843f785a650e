/** The HTTP server of a scripted tracker: its clock, replicas that lag, and what stands between. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  /** The body of a POST, as JSON. */
  readonly body: unknown
  readonly now: number
  /** The moment whose state the answer shows: earlier than now at a replica that lags. */
  readonly shown: number
  /** The time that the server writes for a moment, by its own clock. */
  stamp(moment: number): number
}

export interface TrackerAnswer {
  readonly status: number
  /** A text is a page of HTML; undefined is no body. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Serving {
  readonly now: () => number
  /** Answers in place of the tracker, such as a proxy, or the tracker in trouble. */
  readonly instead?: ((asked: Asked) => TrackerAnswer | undefined) | undefined
  readonly lag?: { readonly byMs: number; readonly until: number } | undefined
  /** Milliseconds by which the server's clock is ahead; null for a server that does not tell the time. */
  readonly clockMs?: number | null | undefined
  readonly answer: (asked: Asked, faults: string[]) => TrackerAnswer
}

export interface RunningTracker {
  readonly url: string
  /** Answers that are not as published, and requests that are not as documented. */
  readonly faults: readonly string[]
  close(): Promise<void>
}

export async function startTracker({ now, instead, lag, clockMs = 0, answer }: Serving): Promise<RunningTracker> {
  const faults: string[] = []

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'https://tracker.example.com')
    const body = await bodyOf(request)
    const moment = now()
    const asked: Asked = {
      method: request.method ?? 'GET',
      path: url.pathname,
      url,
      headers: request.headers,
      body,
      now: moment,
      shown: lag && moment < lag.until ? moment - lag.byMs : moment,
      stamp: (at) => at + (clockMs ?? 0),
    }
    response.sendDate = false
    if (clockMs !== null) response.setHeader('date', new Date(moment + clockMs).toUTCString())
    const { status, body: answered, headers = {} } = instead?.(asked) ?? answer(asked, faults)
    const type = typeof answered === 'string' ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8'
    response.writeHead(status, { 'content-type': type, ...headers })
    response.end(typeof answered === 'string' || answered === undefined ? answered : JSON.stringify(answered))
  }

  const server = createServer((request, response) => void respond(request, response)).listen(0, '127.0.0.1')
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

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return parts.length === 0 ? undefined : JSON.parse(Buffer.concat(parts).toString())
}
