/** What API keys may be held to: a time, networks, agents. */
import { setTimeout } from 'node:timers/promises'
import { checkReceipt, parseKeySet } from '@claimcheck/core/checker'
import { isReceipt } from '@claimcheck/core/receipts'
import t, { type Test } from 'tap'
import { afterFile } from '../support/after-file.ts'
import { Client } from '../support/client.ts'
import { Installation } from '../support/installation.ts'

const DAY_MS = 86_400_000
let aheadMs = 0
const installation = await Installation.start({
  file: { rate_limits: { refusals: 4 }, checks: { timeout_ms: 1500 } },
  env: { TRUST_PROXY: 'loopback' },
  now: () => Date.now() + aheadMs,
})
afterFile(() => installation.remove())
const { keys } = installation.claimcheck

/** A client with a key that is held to something, in the same workspace. */
async function heldTo(client: Client, settings: Parameters<typeof keys.create>[2]): Promise<Client & { id: string }> {
  const { id, key } = await keys.create(client.workspaceId, 'held', settings)
  return Object.assign(new Client(installation.host, client.workspaceId, key), { id })
}

/** Refusals are counted by address. */
const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

t.test('an expired key is told that it has expired, and counts as refused', async (t) => {
  const client = await heldTo(await installation.client('expiring'), { expiresAt: Date.now() + DAY_MS })
  t.equal((await client.request('/v1/claims', from('192.0.2.1'))).status, 200)
  aheadMs = DAY_MS + 1
  t.teardown(() => {
    aheadMs = 0
  })
  const answer = await client.request('/v1/claims', from('192.0.2.1'))
  t.match(answer, { status: 401, body: { detail: /^this API key has expired, at 20.*Z: use another one$/ } })
  t.equal(answer.headers.get('www-authenticate'), 'Bearer')
  t.match(await client.request('/v1/whoami', from('192.0.2.1')), { status: 401, body: { detail: /has expired/ } })
  for (let count = 0; count < 2; count++) await client.request('/v1/claims', from('192.0.2.1'))
  t.equal((await client.request('/v1/claims', from('192.0.2.1'))).status, 429)
})

t.test('a key is refused from elsewhere, without a word of where it is accepted', async (t) => {
  const client = await heldTo(await installation.client('office'), { networks: ['198.51.100.0/24', '2001:db8::/32'] })
  for (const address of ['198.51.100.9', '2001:db8::9']) {
    t.equal((await client.request('/v1/whoami', from(address))).status, 200)
    t.equal((await client.request('/v1/claims', from(address))).status, 200)
  }
  const answer = await client.request('/v1/claims', from('192.0.2.2'))
  t.match(answer, { status: 403, body: { detail: 'this API key is not accepted from this network' } })
  t.equal((await client.request('/v1/whoami', from('2001:db9::9'))).status, 403)
  await installation.claimcheck.activity.close()
  const listed = (await keys.list(client.workspaceId)).find(({ id }) => id === client.id)
  t.match(listed, { lastAddress: '198.51.100.9' }, 'refused requests are no use of it')
})

async function receiptOf(t: Test, client: Client, claim: object) {
  const { status, body } = await client.submit(claim)
  t.match([status, body], [202, { state: 'decided' }])
  const { body: receipt } = await installation.request(`/v1/receipts/${body.receipt_id}`)
  return receipt
}

t.test('a bound agent speaks through its own keys alone, and its receipts say that it is bound', async (t) => {
  const free = await installation.client('bound')
  const before = await receiptOf(t, free, { agent_id: 'release-bot', client_claim_id: 'before' })
  t.strictSame(before.body.agent, { id: 'release-bot' })
  const bound = await heldTo(free, { agentIds: ['release-bot', 'deploy-bot'] })

  const receipt = await receiptOf(t, bound, { agent_id: 'release-bot' })
  const { pseudonym } = receipt.body.agent
  t.match(pseudonym, /^[A-Za-z0-9_-]{43}$/)
  t.strictSame(receipt.body.agent, { bound: true, id: 'release-bot', pseudonym })
  t.ok(isReceipt(receipt))
  const { body: keySet } = await installation.request('/.well-known/poaw-keys.json')
  t.match(await checkReceipt(JSON.stringify(receipt), { keys: parseKeySet(JSON.stringify(keySet)) }), {
    valid: true,
    verdict: 'verified',
  })

  const page = await fetch(`${installation.url}/r/${receipt.body.receipt_id}`)
  t.match(await page.text(), /The agent is bound: its workspace lets only certain API keys speak for it/)

  t.match(await free.submit({ agent_id: 'release-bot' }), {
    status: 403,
    body: { detail: /is bound to certain API keys/ },
  })
  t.match(await free.submit({ agent_id: 'deploy-bot' }), { status: 403 })
  t.match(await bound.submit({ agent_id: 'other' }), {
    status: 403,
    body: { detail: /this API key is bound to other agents/ },
  })
  t.strictSame((await receiptOf(t, free, { agent_id: 'other' })).body.agent, { id: 'other' })
  const again = await free.submit({ agent_id: 'release-bot', client_claim_id: 'before' })
  t.match(again, { status: 202, body: { created: false } }, 'a claim of before is answered as ever')

  const elsewhere = await installation.client('elsewhere')
  t.strictSame((await receiptOf(t, elsewhere, { agent_id: 'release-bot' })).body.agent, { id: 'release-bot' })

  await keys.revoke(bound.id)
  t.equal((await free.submit({ agent_id: 'release-bot' })).status, 403, 'it stays bound when its key is revoked')
  await keys.releaseAgent(free.workspaceId, 'release-bot')
  t.strictSame((await receiptOf(t, free, { agent_id: 'release-bot' })).body.agent, { id: 'release-bot' })
  t.equal((await free.submit({ agent_id: 'deploy-bot' })).status, 403)
})

t.test('a claim that is on its way while its agent or its key changes is refused, or was stored before', async (t) => {
  const free = await installation.client('racing')
  const late = free.submit({ agent_id: 'bot', params: { see: 'hang' } })
  await setTimeout(200)
  const bound = await heldTo(free, { agentIds: ['bot'] })
  t.match(await late, { status: 403, body: { detail: /is bound to certain API keys/ } })
  t.strictSame((await bound.get('/v1/claims')).body.claims, [])

  // Its key was looked up before, and the claim would say that it is bound.
  const leaked = await heldTo(free, { agentIds: ['leaked-bot'] })
  const later = leaked.submit({ agent_id: 'leaked-bot', params: { see: 'hang' } })
  await setTimeout(200)
  await keys.revoke(leaked.id)
  await keys.releaseAgent(free.workspaceId, 'leaked-bot')
  t.match(await later, { status: 503, body: { detail: /changed its key: try again/ } })
  t.strictSame((await free.get('/v1/claims')).body.claims, [])

  const racing = Array.from({ length: 20 }, (_, number) => free.submit({ agent_id: `bot-${number}` }))
  const agents = Array.from({ length: 20 }, (_, number) => `bot-${number}`)
  const [binding, ...answers] = await Promise.all([heldTo(free, { agentIds: agents }), ...racing])
  for (const { status, body } of answers) {
    if (status === 403) continue
    t.equal(status, 202)
    t.strictSame((await installation.request(`/v1/receipts/${body.receipt_id}`)).body.body.agent, { id: body.agent_id })
  }
  for (const agentId of agents) t.equal((await free.submit({ agent_id: agentId })).status, 403)
  t.match((await receiptOf(t, binding, { agent_id: 'bot-3' })).body.agent, { bound: true, id: 'bot-3' })
})
