// Test run: end-to-end
/** The errors of the JSON-RPC reader, from a server that misbehaves. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { createRpc, RpcError } from '@claimcheck/plugin-anchor-eas/checker'
import t, { type Test } from 'tap'

interface Answer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body: string
}

/** The error of a request that gets this answer. */
async function errorOf(t: Test, { status = 200, headers = {}, body }: Answer): Promise<RpcError> {
  const server = createServer((_, response) => response.writeHead(status, headers).end(body))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const rpc = createRpc({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path` })
  const { signal } = new AbortController()
  const error = await rpc('eth_chainId', [], { signal, maxAnswerBytes: 1000 }).catch((error: unknown) => error)
  if (error instanceof RpcError) return error
  throw new Error(`no RpcError: ${error}`)
}

const refused = (error: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, error })

t.test('a refusal is passed on as the node sent it, in the form of JSON-RPC', async (t) => {
  const rows: [error: object, refusal: object][] = [
    [
      { code: 3, message: 'execution reverted', data: '0x08c3' },
      { code: 3, message: 'execution reverted', data: '0x08c3' },
    ],
    [{}, { code: undefined, message: '', data: undefined }],
    [
      { code: '3', message: 4, data: [1] },
      { code: undefined, message: '', data: [1] },
    ],
  ]
  for (const [error, refusal] of rows) {
    const { code, refusal: found } = await errorOf(t, { body: refused(error) })
    t.equal(code, 'refused')
    t.strictSame(found, refusal)
  }
})

t.test('a refusal counts under any HTTP status but 429, and without an id', async (t) => {
  const body = '{"error":{"code":-32005,"message":"limit"}}'
  for (const status of [200, 400, 403, 500]) t.equal((await errorOf(t, { status, body })).code, 'refused')
  const { code, refusal } = await errorOf(t, { status: 429, body })
  t.equal(code, 'rate_limited')
  t.equal(refusal, undefined)
})

t.test('the time to wait is on every error whose answer has it', async (t) => {
  const headers = { 'retry-after': '7' }
  for (const [status, body] of [
    [429, ''],
    [503, ''],
    [200, refused({ code: -32005 })],
  ] as const) {
    t.equal((await errorOf(t, { status, headers, body })).retryAfterMs, 7000)
  }
  t.equal((await errorOf(t, { status: 503, body: '' })).retryAfterMs, undefined)
})

t.test('a printed error shows nothing of the URL and nothing that the node says', async (t) => {
  const secret = 'project-4711'
  for (const body of [refused({ code: 1, message: secret, data: secret }), secret, secret.repeat(1000)]) {
    const error = await errorOf(t, { body })
    const printed = `${error.stack} ${inspect(error, { depth: 9 })} ${JSON.stringify({ ...error })}`
    t.notMatch(printed, secret)
    t.notMatch(printed, 'secret-path')
  }
})
