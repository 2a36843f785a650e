/** A registry that answers what a test says, byte by byte. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { NOON } from './fixture.ts'

/** By path: text or bytes as they are, or a value as JSON; with a status, or 200. What is not named is 404. */
export type Routes = Readonly<Record<string, unknown>>

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
