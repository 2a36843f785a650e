// Test run: end-to-end, slow
/** The quotas of a workspace, over two hosts on one database, as a client and a person see them. Threat A7 of `security.md`. */
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { claimsConsole } from '../support/claims-console.ts'
import { createDatabase } from '../support/database.ts'
import { Installation } from '../support/installation.ts'
import { minuteWithRoom } from '../support/minute.ts'
import { textOf } from '../support/visitor.ts'

async function twoHosts(quotas: object) {
  const installation = await Installation.during(t, { database: await createDatabase('postgres'), file: { quotas } })
  const client = await installation.client('acme')
  return { installation, client, other: client.at(await installation.addHost()) }
}

t.test(
  'a workspace that submits too many claims a minute is told when to go on; what is stored is answered',
  async (t) => {
    const { client, other, installation } = await twoHosts({ claims_per_minute: 3, waiting_claims: 0 })
    await minuteWithRoom()
    const first = await client.submit({ client_claim_id: 'first' })
    t.equal(first.status, 202)
    t.equal((await other.submit()).status, 202)
    t.equal((await client.submit()).status, 202)
    for (const host of [client, other]) {
      const { status, body, headers } = await host.submit()
      t.equal(status, 429)
      t.match(body.detail, /may submit at most 3 a minute/)
      const seconds = Number(headers.get('retry-after'))
      t.ok(seconds > 0 && seconds <= 60, `again in ${seconds} s`)
    }
    const repeated = await other.submit({ client_claim_id: 'first' })
    t.match(repeated, { status: 202, body: { claim_id: first.body.claim_id, created: false } })
    t.equal((await (await installation.client('other')).submit()).status, 202, 'another workspace goes on')
  },
)

t.test('a workspace has a bounded number of claims that wait', async (t) => {
  const { client, other } = await twoHosts({ claims_per_minute: 0, waiting_claims: 2 })
  const absent = { params: { see: 'absent' } }
  t.match(await client.submit(absent), { status: 202, body: { state: 'queued' } })
  t.match(await client.submit(absent), { status: 202, body: { state: 'queued' } })
  t.match(await client.submit(), { status: 429, body: { detail: /this workspace may have at most 2 that wait/ } })
  await setTimeout(1000)
  t.equal((await other.submit()).status, 429, 'other hosts see it within a second')
})

t.test('the console tells the quotas, and refuses a claim in words', async (t) => {
  const file = { quotas: { claims_per_minute: 1500, waiting_claims: 1 } }
  const { owner, path, client } = await claimsConsole(t, { file })
  const developers = path.replace(/claims$/, 'developers')
  t.match(textOf((await owner.get(developers)).html), /1,500 claims a minute, and 1 may wait .* 0 claims wait now/)
  t.equal((await client.submit({ params: { see: 'absent' } })).status, 202)
  t.match(textOf((await owner.get(developers)).html), /1 claim waits now/)
  await owner.get(`${path}/new`)
  const refused = await owner.post(`${path}/new`, {
    action: 'test.outcome.reach',
    target: 'somewhere',
    'params.see': 'present',
    agent_id: 'by-hand',
    claimed_at: new Date().toISOString(),
    client_claim_id: 'one',
  })
  t.equal(refused.status, 429)
  t.equal(refused.headers.get('retry-after'), '10')
  t.match(textOf(refused.html), /this workspace may have at most 1 that wait for a decision/)
})
