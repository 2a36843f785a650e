/**
 * Waits for the browser to come back from the service with a code (RFC 8252 7.3): on 127.0.0.1 alone, at a port that the system chooses, and
 * for one answer. A request without the state is refused, and the waiting goes on: another site or user cannot end it.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CALLBACK_PATH } from './oauth-client.ts'

interface Loopback {
  readonly redirectUri: string
  /** Waits for the parameters that the browser brings, once. @throws the signal's reason */
  answer(signal: AbortSignal): Promise<URLSearchParams>
  close(): Promise<void>
}

export async function listenOnLoopback(state: string): Promise<Loopback> {
  let arrived: ((params: URLSearchParams) => void) | undefined
  const answered = new Promise<URLSearchParams>((resolve) => {
    arrived = resolve
  })
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    const params = paramsOf(request, host())
    if (!params) return end(response, 404, 'There is nothing here.')
    if (!isSame(params.get('state') ?? '', state))
      return end(response, 400, 'This is not the answer that is waited for.')
    end(response, 200, 'You can close this window, and go back to the terminal.')
    arrived?.(params)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = () => `127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    redirectUri: `http://${host()}${CALLBACK_PATH}`,
    answer: (signal) =>
      new Promise((resolve, reject) => {
        const stop = () => reject(signal.reason)
        if (signal.aborted) return stop()
        signal.addEventListener('abort', stop, { once: true })
        answered.then((params) => {
          signal.removeEventListener('abort', stop)
          resolve(params)
        })
      }),
    async close() {
      server.close()
      server.closeIdleConnections()
      // The page that the browser is being sent may need a moment to arrive.
      setTimeout(() => server.closeAllConnections(), 1000).unref()
      if (server.listening) await once(server, 'close')
    },
  }
}

/**
 * Reads the parameters of the expected request; undefined for other requests. A name in `Host` would be that of a site with an address that turns to
 * this machine (DNS rebinding).
 */
function paramsOf({ method, url, headers }: IncomingMessage, host: string): URLSearchParams | undefined {
  if (method !== 'GET' || headers.host !== host || !url?.startsWith(`${CALLBACK_PATH}?`)) return undefined
  return new URL(url, `http://${host}`).searchParams
}

/** Compares hashes: `timingSafeEqual` throws where the lengths of the texts differ. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  response.end(`${text}\n`)
}
