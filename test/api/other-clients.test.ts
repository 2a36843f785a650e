/** The habits of clients that others wrote: where they put a key, how they write a time, what they read of an error. */
import { claimDigest } from '@claimcheck/core/receipts'
import t from 'tap'
import { OAUTH } from '../support/application.ts'
import { filled } from '../support/console-routes.ts'
import { sharedInstallation } from '../support/installation.ts'
import { ROUTE_ACCESS } from '../support/route-access.ts'
import { servedRoutes } from '../support/served-routes.ts'

// Its routes are read from what runs.
const shared = sharedInstallation({ file: { oauth: OAUTH }, inProcess: true })

const NAMES = ['key', 'api_key', 'apikey', 'access_token', 'token', 'authorization', 'Authorization']
const HEADERS = ['x-api-key', 'api-key', 'apikey', 'x-authorization', 'proxy-authorization', 'x-access-token']

t.test('a key counts in the Authorization header alone, on every route that takes one', async (t) => {
  const installation = await shared()
  const { key } = await installation.client('elsewhere')
  const routes = servedRoutes().filter(({ method, url }) =>
    ['key', 'credential', 'audience'].includes(ROUTE_ACCESS[`${method} ${url}`]!),
  )
  t.ok(routes.length > 4)
  for (const route of routes) {
    const path = filled(route, { claim_id: 'clm_1', delivery_id: 'msg_1' })
    const body = JSON.stringify(Object.fromEntries(NAMES.map((name) => [name, key])))
    const elsewhere: Record<string, { path?: string; headers?: Record<string, string> }> = {
      ...Object.fromEntries(
        NAMES.flatMap((name) => [
          [`query ${name}`, { path: `${path}?${name}=${key}` }],
          [`query ${name}, Bearer`, { path: `${path}?${name}=Bearer%20${key}` }],
          [`cookie ${name}`, { headers: { cookie: `${name}=${key}` } }],
        ]),
      ),
      ...Object.fromEntries(
        HEADERS.flatMap((name) => [
          [`header ${name}`, { headers: { [name]: key } }],
          [`header ${name}, Bearer`, { headers: { [name]: `Bearer ${key}` } }],
        ]),
      ),
    }
    for (const [what, { path: at = path, headers = {} }] of Object.entries(elsewhere)) {
      const answer = await installation.request(at, {
        method: route.method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(route.method === 'POST' ? { body } : {}),
      })
      t.equal(answer.status, 401, `${route.method} ${route.url}: ${what}`)
      t.match(answer.headers.get('www-authenticate'), /^Bearer/)
      t.notMatch(JSON.stringify([answer.body, ...answer.headers]), /svc_sk_/)
    }
  }
})

t.test('a time may have any offset: it is recorded in UTC, and the digest is made of that', async (t) => {
  const client = await (await shared()).client('offsets')
  const now = Math.floor(Date.now() / 1000) * 1000
  const local = (hours: number) => new Date(now + hours * 3_600_000).toISOString().slice(0, 19)
  const rows = [
    `${local(0)}Z`,
    `${local(0).toLowerCase()}z`,
    `${local(0)}-00:00`,
    `${local(14)}+14:00`,
    `${local(-12)}-12:00`,
    `${local(5.75)}.000000000+05:45`,
  ]
  for (const claimed_at of rows) {
    const { status, body } = await client.submit({ claimed_at })
    t.equal(status, 202, claimed_at)
    t.equal(body.claimed_at, new Date(now).toISOString(), claimed_at)
    const { action, target, client_claim_id: clientClaimId } = body
    const claimed = { action, target, params: { see: 'present' }, clientClaimId, claimedAt: now }
    t.equal(body.claim_digest, claimDigest(claimed), claimed_at)
    const { body: receipt } = await client.get(`/v1/receipts/${(await client.decided(body.claim_id)).receipt_id}`)
    t.match(receipt.body.claim, { claimed_at: new Date(now).toISOString(), claim_digest: body.claim_digest })
  }
  for (const claimed_at of [
    local(0),
    `${local(0)}+0000`,
    '2026-06-30T23:59:60Z',
    '2026-09-25T24:00:00Z',
    `${local(15)}+24:00`,
  ]) {
    const { status, body } = await client.submit({ claimed_at })
    t.match({ status, body }, { status: 422, body: { message: /^body\.claimed_at: / } }, claimed_at)
  }
})

t.test('a target that the known action cannot have is refused, and stored as nothing', async (t) => {
  const client = await (await shared()).client('targets')
  const { status, body } = await client.submit({ client_claim_id: 'malformed', target: '' })
  t.match(
    { status, body },
    { status: 422, body: { detail: [{ loc: ['body', 'target'] }], message: /^body\.target: / } },
  )
  t.match(await client.submit({ client_claim_id: 'malformed' }), { status: 202, body: { created: true } })
  const unknown = await client.submit({ action: 'nobody.knows.this', target: '?', params: {} })
  t.match(await client.decided(unknown.body.claim_id), { reason_code: 'unsupported_action' })
})

t.test('what a client accepts changes no answer, and what it misspells is refused', async (t) => {
  const client = await (await shared()).client('habits')
  for (const accept of [
    '*/*',
    'text/html',
    'text/plain, */*;q=0.1',
    'application/vnd.other+json',
    'application/json;version=2',
  ]) {
    const answer = await client.request('/v1/whoami', { headers: { accept } })
    t.match(answer, { status: 200, body: { workspace_id: client.workspaceId } }, accept)
  }
  t.match(await client.get('/v1/claims?limit=1'), { status: 200, body: { claims: [] } })
  t.match(await client.get('/v1/claims?verdicts=failed'), { status: 422 }, 'a misspelt filter would show everything')
  t.match(await client.get('/v1/whoami/'), { status: 404, body: { detail: 'not found' } })
  const head = await fetch(`${(await shared()).url}/v1/claims`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${client.key}` },
  })
  t.equal(head.status, 200)
  t.equal((await client.request('/v1/claims', { method: 'OPTIONS' })).status, 204)
  const { body } = await client.get('/v1/claims/clm_none')
  t.type(body.detail, 'string')
})
