/** Receives webhooks, as little as it can, and tells at `/` how many of them came. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from './process.ts'

const got = new Set<string | string[] | undefined>()
const server = createServer((request, response) => {
  if (request.method === 'GET') return response.end(String(got.size))
  got.add(request.headers['webhook-id'])
  request.resume().on('end', () => response.writeHead(204).end())
})
server.listen(0, '127.0.0.1', () => {
  serve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, async () => server.closeAllConnections())
})
