/** What a client that goes leaves open at /mcp. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { LIMITS } from '@claimcheck/server/features/mcp/exchanges'
import { type McpParts, mcpRoutes } from '@claimcheck/server/features/mcp/routes'
import { COSTS } from '@claimcheck/server/http/costs'
import t from 'tap'
import { KEY, startApp, UNLIMITED, WORKSPACE } from '../../http/support/server.ts'
import { credentialOf } from '../../http/support/services.ts'

t.test('a client that goes while its messages are counted leaves nothing open', async (t) => {
  const keys = { authenticate: async () => credentialOf('key_1', WORKSPACE) }
  let client: Socket | undefined
  let atServer: Socket | undefined
  let counted = 0
  const counters = {
    // As in a database: the answer takes long enough for the client to go.
    async add() {
      counted += 1
      if (client && counted === 2) {
        client.destroy()
        await once(atServer!, 'close')
      }
      return { count: 1, leftMs: 1000 }
    },
    last: () => ({ count: 0, leftMs: 1000 }),
  }
  const app = await startApp({
    rateLimits: { ...UNLIMITED, key: 100_000 },
    counters,
    more: [{ scope: 'api', cost: 'mcp', add: (scope, gate) => mcpRoutes(scope, { ...PARTS, keys }, gate) }],
  })
  t.teardown(app.close)
  app.app.server.on('connection', (socket) => {
    atServer = socket
  })
  const batch = JSON.stringify([1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' })))
  const headers = { ...MESSAGE, 'content-length': String(batch.length), authorization: `Bearer ${KEY}` }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  for (let sent = 0; sent <= LIMITS.mostOfOne; sent++) {
    counted = 0
    client = connect(app.port, '127.0.0.1', () => client!.write(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${batch}`))
    await once(client, 'close')
  }
  client = undefined
  await new Promise(setImmediate)
  const next = await app.ask('/mcp', { method: 'POST', key: KEY, headers: MESSAGE, body: batch })
  t.equal(next.status, 200, next.text)
})

t.test('a tool that works more than its message does costs more', async (t) => {
  const taken = new Map<string, number>()
  const counters = {
    async add(_limiter: string, subject: string, tokens = 1) {
      taken.set(subject, (taken.get(subject) ?? 0) + tokens)
      return { count: 1, leftMs: 1000 }
    },
    last: () => ({ count: 0, leftMs: 1000 }),
  }
  const keys = { authenticate: async () => credentialOf('key_1', WORKSPACE) }
  const app = await startApp({
    rateLimits: { ...UNLIMITED, key: 100_000 },
    counters,
    more: [{ scope: 'api', cost: 'mcp', add: (scope, gate) => mcpRoutes(scope, { ...PARTS, keys }, gate) }],
  })
  t.teardown(app.close)
  async function tokensOf(...tools: readonly string[]) {
    taken.clear()
    const messages = tools.map((name, id) =>
      name === 'ping'
        ? { jsonrpc: '2.0', id, method: 'ping' }
        : { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } },
    )
    const body = JSON.stringify(messages.length === 1 ? messages[0] : messages)
    await app.ask('/mcp', { method: 'POST', key: KEY, headers: MESSAGE, body })
    return taken.get('key_1')
  }
  const { mcp, verification, claim, claim_list } = COSTS
  t.equal(await tokensOf('ping'), mcp.tokens)
  t.equal(await tokensOf('get_receipt'), mcp.tokens)
  t.equal(await tokensOf('verify_receipt'), mcp.tokens + verification.tokens)
  t.equal(await tokensOf('submit_claim', 'list_claims', 'ping'), 3 * mcp.tokens + claim.tokens + claim_list.tokens)
})

const MESSAGE = {
  host: '127.0.0.1',
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-03-26',
}

const PARTS = {
  tokens: { authenticate: async () => undefined },
  oauth: {
    audiences: () => ({
      own: 'http://127.0.0.1',
      mcp: 'http://127.0.0.1/mcp',
      find: () => undefined,
      originAt: () => 'http://127.0.0.1',
    }),
    mcpMetadataUrl: () => 'http://127.0.0.1/metadata',
  },
  publicUrl: undefined,
  profiles: [],
  published: { profiles: [] },
  publicActions: [],
} as unknown as McpParts
