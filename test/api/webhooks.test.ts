/** A key lists webhooks and deliveries of its workspace, and sends a delivery again. */

import { setTimeout } from 'node:timers/promises'
import { NO_FILTERS } from '@claimcheck/server/storage/webhooks'
import t, { type Test } from 'tap'
import { sharedInstallation } from '../support/installation.ts'
import { Receiver } from '../support/receiver.ts'

const shared = sharedInstallation({ file: { webhooks: { allow_private: ['127.0.0.1'] } } })

let workspaces = 0

async function begin(t: Test, path = '/ok/x') {
  const installation = await shared()
  const { webhooks } = installation.claimcheck
  const client = await installation.client(`hooks ${++workspaces}`)
  const receiver = await Receiver.during(t)
  const add = async (at: string) => {
    const url = `${receiver.url}${at}?token=secret-in-url`
    const settings = { format: 'standard', url, filters: NO_FILTERS } as const
    return (await webhooks.add(client.workspaceId, settings)).target.id
  }
  return { installation, client, receiver, webhooks, add, id: await add(path), path: `${path}?token=secret-in-url` }
}

t.test('a key sees webhooks without their address and secret', async (t) => {
  const { client, id, receiver } = await begin(t)
  const { status, body } = await client.get('/v1/webhooks')
  t.equal(status, 200)
  t.strictSame(body, {
    webhooks: [
      {
        id,
        format: 'standard',
        origin: receiver.url,
        filters: NO_FILTERS,
        state: 'on',
        off_reason: null,
        created_at: body.webhooks[0].created_at,
      },
    ],
  })
})

t.test('deliveries are listed newest first, in pages, by webhook and by state', async (t) => {
  const { client, receiver, add, id, path } = await begin(t)
  const other = await add('/status/503')
  const claims: string[] = []
  for (let count = 0; count < 5; count++) claims.unshift((await client.submit()).body.claim_id)
  await receiver.until(path, 5)
  await receiver.until('/status/503?token=secret-in-url', 5)
  const list = async (query: string) => (await client.get(`/v1/webhooks/deliveries?${query}`)).body
  for (const end = Date.now() + 10_000; Date.now() < end; await setTimeout(50)) {
    const { deliveries } = await list('limit=100')
    if (deliveries.every(({ attempts }: { attempts: number }) => attempts > 0)) break
  }
  const mine = (await list(`webhook=${id}`)).deliveries
  t.strictSame(
    mine.map(({ subject }: { subject: string }) => subject),
    claims,
  )
  t.match(mine[0], {
    state: 'delivered',
    event: '5',
    type: 'claim.decided',
    attempts: 1,
    next_try_at: null,
    fault: null,
  })
  const failing = await list('state=waiting')
  t.equal(failing.deliveries.length, 5)
  t.match(failing.deliveries[0], { webhook: other, fault: 'status', last_try: { status: 503 } })
  t.strictSame((await list(`webhook=${other}&state=delivered`)).deliveries, [])
  const paged: string[] = []
  for (let cursor = ''; ; ) {
    const page = await list(`limit=3${cursor && `&cursor=${cursor}`}`)
    paged.push(...page.deliveries.map((row: { id: string }) => row.id))
    if (page.next_cursor === null) break
    cursor = page.next_cursor
  }
  t.equal(paged.length, 10)
  t.equal(new Set(paged).size, 10)
  t.match(await client.get(`/v1/webhooks/deliveries/${mine[0].id}`), { status: 200, body: mine[0] })
  t.notMatch(JSON.stringify(await list('limit=100')), 'secret-in-url')
})

t.test('a delivery is sent again with its id, and never from another workspace', async (t) => {
  const { installation, client, receiver, webhooks, id, path } = await begin(t)
  await client.submit()
  await receiver.until(path, 1)
  const [{ id: message }] = (await client.get('/v1/webhooks/deliveries')).body.deliveries
  const resend = (of = client) => of.request(`/v1/webhooks/deliveries/${message}/resend`, { method: 'POST' })
  const stranger = await installation.client('stranger')
  t.equal((await resend(stranger)).status, 404)
  t.equal((await stranger.get(`/v1/webhooks/deliveries/${message}`)).status, 404)
  t.strictSame((await stranger.get('/v1/webhooks/deliveries')).body, { deliveries: [], next_cursor: null })
  const again = await resend()
  t.match(again, { status: 202, body: { id: message, state: 'waiting' } })
  const [first, second] = await receiver.until(path, 2)
  t.equal(first!.headers['webhook-id'], second!.headers['webhook-id'])
  t.equal(first!.body, second!.body)
  await webhooks.switchOff(id)
  t.match(await resend(), { status: 400, body: { detail: /switch it on first/ } })
  await webhooks.remove(id)
  t.match(await resend(), { status: 400, body: { detail: /is removed/ } })
})

t.test('wrong input is refused', async (t) => {
  const { client } = await begin(t)
  for (const [path, status] of [
    ['/v1/webhooks/deliveries?limit=0', 422],
    ['/v1/webhooks/deliveries?limit=101', 422],
    ['/v1/webhooks/deliveries?state=off', 422],
    ['/v1/webhooks/deliveries?target=wht_1', 422],
    ['/v1/webhooks/deliveries?cursor=nonsense', 400],
    [`/v1/webhooks/deliveries?cursor=${Buffer.from('[1,"x"]').toString('base64url')}`, 400],
    ['/v1/webhooks/deliveries/none', 404],
    ['/v1/webhooks?x=1', 422],
  ] as const)
    t.equal((await client.get(path)).status, status, path)
  t.equal((await client.request('/v1/webhooks', { headers: { authorization: 'Bearer none' } })).status, 401)
})
