/** The codes by which nodes refuse calls say what the next check has to wait for, whatever the status of the answer. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tryClaim } from '@claimcheck/core/testkit'
import chain from '@claimcheck/plugin-chain'
import t from 'tap'
import { word } from './node.ts'

/** Answers one method with an error, and the others as a node does. */
const answering = { method: '', error: {} as unknown, status: 200, headers: {} as Readonly<Record<string, string>> }
const BLOCK = { number: '0x10', hash: word('b1'), timestamp: '0x1' }
const RESULTS: Readonly<Record<string, unknown>> = { eth_chainId: '0x1', eth_getBlockByNumber: BLOCK }

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const { id, method, params } = JSON.parse(body)
  const isRefused = answering.method === (params[0] === '0x0' ? 'genesis' : method)
  const { status, headers, error } = answering
  const [told, answer] = isRefused ? [status, { error }] : [200, { result: RESULTS[method] ?? null }]
  response.writeHead(told, { 'content-type': 'application/json', ...(isRefused && headers) })
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => {
  server.closeAllConnections()
  server.close()
})

async function failureOf(refused: Partial<typeof answering>) {
  Object.assign(answering, { method: 'eth_getBlockByNumber', status: 200, headers: {} }, refused)
  const { record } = await tryClaim({
    plugin: chain,
    provider: 'evm',
    connection: { base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, chain_id: '1' },
    claim: {
      action: 'chain.transaction.confirm',
      target: 'eip155:1',
      params: { hash: word('a1') },
      claimedAt: Date.now(),
    },
  })
  if (!('failure' in record)) return record.observation
  return { ...record.failure, waits: (record.failure.retryAt ?? 0) > Date.now() + 20_000 }
}

const WAIT = { 'retry-after': '30' }

const ROWS: readonly (readonly [refused: Partial<typeof answering>, seen: object])[] = [
  [{ error: { code: -32005 } }, { code: 'rate_limited', waits: false }],
  [
    { error: { code: -32005 }, headers: WAIT },
    { code: 'rate_limited', waits: true },
  ],
  [
    { error: { code: 429 }, headers: WAIT },
    { code: 'rate_limited', waits: true },
  ],
  [
    { error: { code: -32005 }, headers: WAIT, status: 429 },
    { code: 'rate_limited', waits: true },
  ],
  [{ error: { code: -32002 } }, { code: 'unavailable' }],
  [{ error: { code: -32602 } }, { code: 'misconfigured' }],
  [{ error: { code: -32602 }, status: 400 }, { code: 'misconfigured' }],
  [{ error: { code: -32601 } }, { code: 'unexpected_response' }],
  [{ error: { code: 'limit' } }, { code: 'unexpected_response' }],
  [{ error: 'no' }, { code: 'unexpected_response' }],
  [{ method: 'eth_getTransactionReceipt', error: { code: -32602 } }, { code: 'unexpected_response' }],
  [{ method: 'genesis', error: { code: -32005 } }, { code: 'rate_limited' }],
  [
    { method: 'genesis', error: { code: 4444 } },
    { kind: 'absent', mark: 'unsettled' },
  ],
  [{ method: 'genesis', error: 'no' }, { code: 'unexpected_response' }],
]

for (const [refused, seen] of ROWS)
  t.test(JSON.stringify(refused), async (t) => {
    t.match(await failureOf(refused), seen)
  })
