/** The client against a running service. */
import { createClient } from '@claimcheck/client'
import t from 'tap'
import { sharedInstallation } from '../../../test/support/installation.ts'

const shared = sharedInstallation()
const ACTION = 'test.outcome.reach'
let workspaces = 0

async function setUp() {
  const installation = await shared()
  const { key } = await installation.client(`client ${++workspaces}`)
  const client = createClient({ baseUrl: installation.url, key, agentId: 'release-bot' })
  const present = { action: ACTION, target: 'here', params: { see: 'present' } }
  return { installation, client, present, key }
}

t.test('from a claim to a receipt that is checked with all that the service publishes about it', async (t) => {
  const { client, present } = await setUp()
  const claim = await client.wait(await client.submit(present))
  t.equal(claim.verdict, 'verified')
  const report = await client.verify(claim.receipt_id)
  t.match(report, {
    valid: true,
    verdict: 'verified',
    evidence: { evidence: 'follows' },
    tree_head: { tree_head: 'holds' },
  })
  t.equal(JSON.parse(await client.receipt(claim.receipt_id)).body.agent.id, 'release-bot')
  t.match(await client.evidence(claim.receipt_id), '"evidence_version":1')

  // The log has grown since, and with other keys than the issuer's nothing is valid.
  await client.submit(present)
  const { tree_head } = await client.verify(claim.receipt_id)
  t.equal(tree_head?.tree_head, 'holds')
  const keys = JSON.parse(await client.keys())
  const others = JSON.stringify({ ...keys, keys: [] })
  t.equal((await client.verify(claim.receipt_id, { keys: others })).valid, false)
})

t.test('a claim that names no id gets one, and the same claim submitted twice is one claim', async (t) => {
  const { client, present } = await setUp()
  const [one, other] = [await client.submit(present), await client.submit(present)]
  t.not(one.claim_id, other.claim_id)
  const prepared = client.prepare(present)
  const [first, again] = [await client.submit(prepared), await client.submit(prepared)]
  t.strictSame([first.created, again.created, again.claim_id], [true, false, first.claim_id])
})
