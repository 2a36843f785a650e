// Test run: both-databases
/** A claim keeps the connection under which it was submitted, also where that is removed. */
import { resolve } from 'node:path'
import { checkBundle } from '@claimcheck/core/receipts'
import t from 'tap'
import { Installation } from '../support/installation.ts'

const CONNECTED = { use: resolve('build/test/plugins/connected.js'), trusted: true }

t.test('a claim whose connection is removed ends without a read, and says so', async (t) => {
  const installation = await Installation.during(t, { plugins: [CONNECTED], inProcess: true })
  const client = await installation.client('acme')
  const { connections, agents } = installation.claimcheck
  const connect = () =>
    connections.connect(client.workspaceId, 'mailbox', { token: 'a-secret-token' }, { userId: null, insists: false })
  const connection = await connect()
  if (!('id' in connection)) throw new Error('it is not connected')
  const claim = { action: 'test.message.send', params: {} }
  const { claim_id: claimId } = (await client.submit(claim)).body
  await connections.remove(connection.id)
  await connect()

  const status = await client.decided(claimId)
  t.match(status, { verdict: 'unverifiable', reason_code: 'no_connection', last_check: { code: 'no_connection' } })
  const paths = [
    `/v1/receipts/${status.receipt_id}`,
    `/v1/receipts/${status.receipt_id}/evidence`,
    '/v1/profiles',
    '/.well-known/poaw-keys.json',
  ]
  const [receipt, evidence, profiles, keys] = await Promise.all(
    paths.map(async (path) => JSON.stringify((await client.get(path)).body)),
  )
  t.match(JSON.parse(receipt!).body.observation.facts, { connection_removed: true, error: 'no_connection' })
  const bundle = { receipt: receipt!, evidence: evidence!, profiles: profiles!, keys: keys! }
  t.match((await checkBundle(bundle, { fromIssuer: true })).evidence, { evidence: 'follows', rules: 'published' })

  const other = (await client.submit({ ...claim, agent_id: 'other' })).body
  t.match(other, { state: 'queued' }, 'a new claim is read through the new connection')
  const { agents: listed } = await agents.list(client.workspaceId)
  const removed = Object.fromEntries(listed.map(({ agentId, removed }) => [agentId, removed]))
  t.strictSame(removed, { 'agent-1': 1, other: 0 })
})
