/** A registry that answers what a test says, byte by byte. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { NOON } from './fixture.ts'

/** By path: text or bytes as they are, a value as JSON, a status, or what writes the answer itself. What is not named is 404. */
export type Routes = Readonly<Record<string, unknown>>
type Writer = (response: ServerResponse) => void

/** A copy from so many seconds ago. */
export function aged(age: string, value: unknown): Writer {
  return (response) =>
    void response.setHeader('age', age).end(typeof value === 'string' ? value : JSON.stringify(value))
}

/** The answer ends with its connection. */
export function withoutEnd(body: string | Uint8Array): Writer {
  return ({ socket }) => {
    socket!.write('HTTP/1.0 200 OK\r\n\r\n')
    socket!.end(body)
  }
}

export interface Status {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

export async function serve(t: Test, routes: Routes | ((url: string) => Routes)) {
  const requests: string[] = []
  let known: Routes = {}
  const server = createServer(({ url = '', headers }, response) => {
    requests.push(url)
    response.setHeader('date', new Date(NOON).toUTCString())
    const answer = known[url]
    if (answer === undefined || isStatus(answer)) {
      response.writeHead(answer?.status ?? 404, answer?.headers).end()
      return
    }
    if (typeof answer === 'function') {
      ;(answer as Writer)(response)
      return
    }
    const etag = `"${url}"`
    if (headers['if-none-match'] === etag) {
      response.writeHead(304).end()
      return
    }
    response.setHeader('etag', etag)
    const isPlain = typeof answer === 'string' || Buffer.isBuffer(answer)
    response.end(isPlain ? answer : JSON.stringify(answer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  known = typeof routes === 'function' ? routes(url) : routes
  return { url, requests }
}

function isStatus(answer: unknown): answer is Status {
  return typeof answer === 'object' && answer !== null && 'status' in answer
}
