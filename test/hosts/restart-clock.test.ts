// Test run: end-to-end, slow
/** A host that starts again with a wrong clock decides no waiting claim by it: destinations that it read before tell. */
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { Installation } from '../support/installation.ts'
import { serving } from '../support/serving.ts'

const TOLERANCE_MS = 10 * 60_000
const UNTIL_DEADLINE_MS = 30_000
const AHEAD_MS = 25_000

t.test('a restart with a clock ahead blames no waiting claim before its time', async (t) => {
  const origin = await serving(t, (_, response) => {
    response.statusCode = 404
    response.end()
  })
  let aheadMs = 0
  const installation = await Installation.during(t, {
    plugins: [{ use: resolve('build/test/plugins/reading.js'), trusted: true }],
    env: { ALLOW_PRIVATE: new URL(origin).host },
    file: { sources: { pages: [{ url: origin, plugins: ['reading'] }] } },
    wall: () => Date.now() + aheadMs,
  })
  const client = await installation.client('acme')
  const options = { base_url: origin, name: 'here' }
  await installation.claimcheck.connections.connect(client.workspaceId, 'pages', options, {
    userId: null,
    insists: false,
  })
  const now = Date.now()
  const { body } = await client.submit({
    action: 'test.page.publish',
    params: { at: 'here' },
    claimed_at: new Date(now + 2000 - TOLERANCE_MS).toISOString(),
    deadline_at: new Date(now + UNTIL_DEADLINE_MS).toISOString(),
  })
  t.match(body, { state: 'queued', last_check: { result: 'absent' } })
  await setTimeout(Math.max(0, now + 8000 - Date.now()))
  await installation.stop()

  aheadMs = AHEAD_MS
  await installation.resume()
  const ready = await installation.request('/readyz')
  t.equal(ready.status, 503)
  t.match(ready.body.problems[0], /was set while this host was down/)
  await setTimeout(2000)
  t.match((await client.get(`/v1/claims/${body.claim_id}`)).body, { state: 'queued' })
  t.match(await client.submit(), { status: 503 })
  await installation.stop()

  aheadMs = 0
  await installation.resume()
  t.equal((await installation.request('/readyz')).status, 200)
  const status = await client.decided(body.claim_id, 60_000)
  t.match(status, { verdict: 'failed', reason_code: 'not_found' })
  const receipt = await installation.request(`/v1/receipts/${status.receipt_id}`)
  t.ok(Date.parse(receipt.body.body.issued_at) >= now + UNTIL_DEADLINE_MS, 'not before its deadline')
})
