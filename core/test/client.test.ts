/** The client, with a server that gives scripted answers. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ApiError, type Client, createClient } from '@claimcheck/core/client'
import t, { type Test } from 'tap'

type Reply = readonly [status: number, body: unknown, headers?: Record<string, string>]

/** A client of a server that gives these answers one after the other, and records its requests. */
async function against(t: Test, replies: readonly Reply[], key?: string): Promise<{ client: Client; asked: string[] }> {
  const asked: string[] = []
  const left = [...replies]
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      asked.push([request.method, request.url, request.headers.authorization, body].filter(Boolean).join(' '))
      const [status, answer, headers = {}] = left.shift()!
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return { client: createClient({ baseUrl, ...(key === undefined ? {} : { key }) }), asked }
}

async function refusal(work: Promise<unknown>): Promise<ApiError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof ApiError) return error
  throw new Error(`not refused: ${error}`)
}

t.test('a claim is submitted with the key, and its answer is returned', async (t) => {
  const { client, asked } = await against(t, [[202, { claim_id: 'clm_1', state: 'queued' }]], 'svc_sk_x')
  const claim = {
    client_claim_id: 'run-1',
    agent_id: 'agent',
    action: 'test.outcome.reach',
    target: 'here',
    params: {},
    claimed_at: '2026-09-25T14:02:11.000Z',
  }
  t.equal((await client.submit(claim)).claim_id, 'clm_1')
  t.strictSame(asked, [`POST /v1/claims Bearer svc_sk_x ${JSON.stringify(claim)}`])
})

t.test('the filters of a list of claims are sent as its query', async (t) => {
  const { client, asked } = await against(t, [[200, { claims: [], next_cursor: null }]])
  t.strictSame(await client.claims({ limit: 5, agent_id: 'a b' }), { claims: [], next_cursor: null })
  t.strictSame(asked, ['GET /v1/claims?limit=5&agent_id=a+b'])
})

t.test('waiting for a decision goes on after a temporary refusal, and respects Retry-After', async (t) => {
  const { client, asked } = await against(t, [
    [200, { state: 'queued' }],
    [429, { detail: 'too many requests' }, { 'retry-after': '1' }],
    [200, { state: 'decided', verdict: 'verified' }],
  ])
  const startedAt = Date.now()
  t.equal((await client.decided('clm_1')).verdict, 'verified')
  t.ok(Date.now() - startedAt >= 1000)
  t.equal(asked.length, 3)
})

t.test('waiting for a decision ends with any other refusal', async (t) => {
  const { client } = await against(t, [[404, { detail: 'not found' }]])
  t.equal((await refusal(client.decided('clm_1'))).status, 404)
})

t.test('waiting for a decision ends when its signal is aborted', async (t) => {
  const { client } = await against(t, [[200, { state: 'queued' }]])
  const signal = AbortSignal.timeout(100)
  await t.rejects(client.decided('clm_1', { signal }), { name: 'TimeoutError' })
})

t.test('a refusal has its status, the mistakes in the input and how long to wait', async (t) => {
  const issue = { loc: ['body', 'params', 'sha'], msg: 'Field required', type: 'missing' }
  const { client } = await against(t, [
    [422, { detail: [issue] }],
    [429, { detail: 'too many requests' }, { 'retry-after': '7' }],
    [502, '<html>'],
  ])
  t.strictSame((await refusal(client.claim('a'))).issues, [issue])
  t.equal((await refusal(client.claim('a'))).retryAfterMs, 7000)
  t.match(await refusal(client.claim('a')), { status: 502, issues: [], retryAfterMs: undefined })
})

t.test('receipts and keys are returned as the text that was sent', async (t) => {
  const { client, asked } = await against(t, [
    [200, '{"body": 1.0}'],
    [200, '{"keys": []}'],
  ])
  t.equal(await client.receipt('rcpt_/..'), '{"body": 1.0}')
  t.equal(await client.keys(), '{"keys": []}')
  t.strictSame(asked, ['GET /v1/receipts/rcpt_%2F..', 'GET /.well-known/poaw-keys.json'])
})
