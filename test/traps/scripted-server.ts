/** The HTTP server of a scripted destination: the time of its answers, replicas that lag, and what stands between. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Asked {
  readonly method: string
  /** The path as it was sent, percent-encoded. */
  readonly path: string
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly now: number
  /** The moment whose state the answer shows: earlier than now at a replica that lags. */
  readonly shown: number
  /** The time that the server writes for a moment, by its own clock. */
  stamp(moment: number): number
}

export interface Answer {
  readonly status: number
  /** A text is sent as it is, anything else as JSON; undefined is no body. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Serving {
  readonly now: () => number
  /** Answers in place of the destination, such as a proxy, or the destination in trouble. */
  readonly instead?: ((asked: Asked) => Answer | undefined) | undefined
  /** Another address than the one that was asked for, which what stands between asks the destination for. */
  readonly rewrite?: ((url: string) => string) | undefined
  readonly lag?: { readonly byMs: number; readonly until: number } | undefined
  /** Milliseconds by which the server's clock is ahead; null for a server that does not tell the time. */
  readonly clockMs?: number | null | undefined
  readonly answer: (asked: Asked, faults: string[]) => Answer
}

export interface RunningServer {
  readonly url: string
  /** Faults of answers by the published description, and of requests by the documentation. */
  readonly faults: readonly string[]
  close(): Promise<void>
}

export async function startServer({
  now,
  instead,
  rewrite = (url) => url,
  lag,
  clockMs = 0,
  answer,
}: Serving): Promise<RunningServer> {
  const faults: string[] = []

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const url = new URL(request.url ?? '/', 'https://destination.example.com')
    const moment = now()
    const asked: Asked = {
      method: request.method ?? 'GET',
      path: url.pathname,
      url,
      headers: request.headers,
      body: Buffer.concat(chunks).toString('utf8'),
      now: moment,
      shown: lag && moment < lag.until ? moment - lag.byMs : moment,
      stamp: (at) => at + (clockMs ?? 0),
    }
    response.sendDate = false
    if (clockMs !== null) response.setHeader('date', new Date(asked.stamp(moment)).toUTCString())
    const { status, body, headers = {} } = instead?.(asked) ?? answer(rewritten(asked, rewrite), faults)
    const type = typeof body === 'string' ? 'text/html' : 'application/json'
    response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, ...headers })
    response.end(typeof body === 'string' || body === undefined ? body : JSON.stringify(body))
  }

  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      faults.push(`the stand-in failed: ${(error as Error).message}`)
      response.destroy()
    })
  }).listen(0, '127.0.0.1')
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

function rewritten(asked: Asked, rewrite: (url: string) => string): Asked {
  const url = new URL(rewrite(asked.url.href))
  return { ...asked, url, path: url.pathname }
}
