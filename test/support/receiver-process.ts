/** Receives webhooks on loopback, and tells its parent of each. The path says what it answers. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

const HUGE_BYTES = 64 * 1024 * 1024

/** The answers by the first part of the path; the second one is its argument. */
const ANSWERS: Readonly<Record<string, (response: ServerResponse, argument: string) => void>> = {
  chat: (response) => void response.writeHead(200).end('ok'),
  ok: (response) => void response.writeHead(204).end(),
  status: (response, status) => void response.writeHead(Number(status)).end('no'),
  busy: (response, seconds) => void response.writeHead(429, { 'retry-after': seconds }).end(),
  redirect: (response, to) => void response.writeHead(302, { location: decodeURIComponent(to) }).end(),
  slow: (response, ms) => void setTimeout(() => response.writeHead(204).end(), Number(ms)),
  hang: () => {},
  early: (response) => void response.socket!.destroy(),
  nonsense: (response) => void response.socket!.end('what?\r\n\r\n'),
  huge: (response) => void response.writeHead(200).end(Buffer.alloc(HUGE_BYTES)),
}

const server = createServer(async (request, response) => {
  const path = request.url!
  const body = await text(request).catch(() => undefined)
  if (body === undefined) return
  const [, name = '', argument = ''] = path.split('?')[0]!.split('/')
  const { headers } = request
  process.send!({ path, at: Date.now(), headers, body }, undefined, undefined, () => ANSWERS[name]!(response, argument))
})
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())
