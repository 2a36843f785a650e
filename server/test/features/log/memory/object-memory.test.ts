/** What hosts remember in an object store of the head that was signed last. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { objectMemory } from '@claimcheck/server/features/log/memory/object-memory'
import type { Storage } from '@claimcheck/server/storage/storage'
import t from 'tap'

const SLOW_MS = 200

t.test('a read that is slow replaces nothing that a later write knows', async (t) => {
  let stored: string | undefined
  let reads = 0
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const answer = (status: number, object = '') => response.writeHead(status, { etag: '"1"' }).end(object)
    if (request.method === 'PUT') {
      if (request.headers['if-none-match'] === '*' && stored !== undefined) return answer(412)
      stored = body
      return answer(200)
    }
    // Whether the log was moved.
    if (request.url!.endsWith('.next.json')) return answer(404)
    const found = stored
    if (++reads === 2) await setTimeout(SLOW_MS)
    return answer(found === undefined ? 404 : 200, found)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  const memory = objectMemory(
    { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, basic: undefined, credentials: undefined },
    { storage: { read: { log: { signingKeys: async () => [] } } } as unknown as Pick<Storage, 'read'> },
  )
  const head = { logId: 'a'.repeat(43), name: 'claimcheck', rootHash: new Uint8Array(32), issuedAt: Date.UTC(2026, 0) }
  const log = { ...head, moves: null }
  const loads = [memory.load(log, true), memory.load(log, true)]
  await loads[0]
  memory.remember({ ...head, treeSize: 0 })
  await Promise.all(loads)
  memory.remember({ ...head, treeSize: 1 })
  await memory.close()
  t.match(stored, /"tree_size":1\b/)
  t.equal(memory.problem(), undefined)
})
