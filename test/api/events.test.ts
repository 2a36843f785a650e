/** Events as programs get them: a stream that misses nothing, and a list. */
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { byCommand } from '@claimcheck/server/base/actor'
import t, { type Test } from 'tap'
import { connect } from '../support/connect.ts'
import { type Client, Installation, SCRIPTED, sharedInstallation } from '../support/installation.ts'
import { Listening } from '../support/listening.ts'
import { query } from '../support/sql.ts'

const CONNECTED = { use: resolve('build/test/plugins/connected.js'), trusted: true }
const shared = sharedInstallation({ plugins: [SCRIPTED, CONNECTED], file: { event_streams: { per_workspace: 3 } } })
const JSON_ONLY = { headers: { accept: 'application/json' } }
let workspaces = 0

async function begin(t: Test) {
  const installation = await shared()
  const client = await installation.client(`events ${++workspaces}`)
  async function listen(path = '', headers: Record<string, string> = {}): Promise<Listening> {
    const all = { authorization: `Bearer ${client.key}`, ...headers }
    const listening = await Listening.start(`${installation.url}/v1/events${path}`, { headers: all })
    t.teardown(() => listening.stop())
    return listening
  }
  return { installation, client, listen }
}

async function decide(client: Client, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let number = 0; number < count; number++) ids.push((await client.submit()).body.claim_id)
  return ids
}

t.test('a listener hears of each decided claim, as the claim is shown', async (t) => {
  const { client, listen } = await begin(t)
  const [before] = await decide(client, 1)
  const listening = await listen()
  t.match(Object.fromEntries(listening.response.headers), {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    'content-security-policy': /default-src 'none'/,
  })
  t.match(listening.frames[0], { id: '1', retry: /^[2-5]\d{3}$/, event: undefined }, 'it may go on from the beginning')
  const ids = await decide(client, 3)
  t.strictSame(await listening.claims(3), ids, `and not of ${before}, which was before`)
  const { body } = await client.get(`/v1/claims/${ids[0]}`)
  const [{ id, event, data } = {}] = listening.events
  t.strictSame([id, event, data.id, data.type], ['2', 'claim.decided', '2', 'claim.decided'])
  t.match(data.timestamp, /Z$/)
  t.strictSame(data.data, body)
})

t.test(
  'a listener that comes again goes on where it was, by header or query, and hears of nothing twice',
  async (t) => {
    const { client, listen } = await begin(t)
    const first = await listen()
    const ids = await decide(client, 2)
    await first.claims(2)
    first.stop()
    ids.push(...(await decide(client, 120)))
    const again = await listen('', { 'last-event-id': first.lastId! })
    t.strictSame(await again.claims(120), ids.slice(2))
    ids.push(...(await decide(client, 1)))
    t.strictSame((await again.claims(121)).slice(120), ids.slice(122))
    const all = await listen('?after=0')
    t.strictSame(await all.claims(123), ids)
    t.equal(all.events.at(-1)!.id, '123')
    const byHeader = await listen('?after=0', { 'last-event-id': '122' })
    t.strictSame(await byHeader.claims(1), ids.slice(122), 'a header is newer than the address')
  },
)

t.test('filters hide events, and the id moves past them', async (t) => {
  const { client, listen } = await begin(t)
  const failing = await listen('?verdict=unverifiable')
  const ofAgent = await listen('?after=0&agent_id=agent-2&type=claim.decided')
  const [, others] = [await decide(client, 2), await client.submit({ agent_id: 'agent-2' })]
  const { body } = await client.submit({ action: 'test.unknown.action', params: {} })
  t.strictSame(await failing.claims(1), [body.claim_id])
  t.strictSame(await ofAgent.claims(1), [others.body.claim_id])
  t.equal(failing.events.length, 1)
  await ofAgent.until(() => ofAgent.lastId === '4')
  t.equal(ofAgent.events.length, 1)
})

t.test('numbers that are not there are told as a gap, in a stream and in a list', async (t) => {
  const { installation, client, listen } = await begin(t)
  const ids = await decide(client, 6)
  await query(
    installation.config.databaseUrl,
    `DELETE FROM events WHERE workspace_id = '${client.workspaceId}' AND number IN (1, 2, 5)`,
  )
  const all = await listen('?after=0')
  const gap = (from: string, to: string) => ({ id: to, event: 'gap', data: { from, to } })
  await all.claims(3)
  t.match(all.events, [
    gap('1', '2'),
    { id: '3' },
    { id: '4' },
    gap('5', '5'),
    { id: '6', data: { data: { claim_id: ids[5] } } },
  ])
  const later = await listen('?after=100')
  await later.until(() => later.events.length === 1)
  t.strictSame(later.events, [gap('1', '6')], 'numbers that nobody gave: the service has another past than the client')
  t.strictSame((await decide(client, 1)).concat(ids).length, 7)
  await later.until(() => later.lastId === '7')

  const page = (await client.request('/v1/events?after=0', JSON_ONLY)).body
  t.match(page, { gap: { from: '1', to: '2' }, events: [{ id: '3' }, { id: '4' }], next: '4' })
  t.match((await client.request(`/v1/events?after=${page.next}`, JSON_ONLY)).body, {
    gap: { from: '5', to: '5' },
    next: '7',
  })
  const back = await client.request('/v1/events?after=100', JSON_ONLY)
  t.strictSame(back.body, { gap: { from: '1', to: '7' }, events: [], next: '7' })
})

t.test('a list goes on by its next, and begins with now', async (t) => {
  const { client } = await begin(t)
  const start = await client.request('/v1/events', JSON_ONLY)
  t.strictSame([start.status, start.body], [200, { events: [], next: '0' }])
  const ids = await decide(client, 3)
  const first = await client.request('/v1/events?after=0&limit=2', { headers: { accept: 'application/json, */*' } })
  t.strictSame(
    first.body.events.map((event: { data: { claim_id: string } }) => event.data.claim_id),
    ids.slice(0, 2),
  )
  t.equal(first.body.next, '2')
  const hidden = await client.request('/v1/events?after=2&verdict=failed', JSON_ONLY)
  t.strictSame(hidden.body, { events: [], next: '3' })
  for (const query of [
    '?after=-1',
    '?after=x',
    '?limit=0',
    '?limit=201',
    '?type=claim.queued',
    '?agent=a',
    '?after=9007199254740993',
  ])
    t.equal((await client.request(`/v1/events${query}`, JSON_ONLY)).status, 422, query)
  for (const id of ['x', '-1', '99999999999999999', '1, 2'])
    t.equal((await client.request('/v1/events', { headers: { 'last-event-id': id } })).status, 400, id)
  const { url } = await shared()
  t.equal(
    (await fetch(`${url}/v1/events`, { method: 'HEAD', headers: { authorization: `Bearer ${client.key}` } })).status,
    405,
  )
})

t.test('only a workspace may have so many streams at a time, and one that ends makes room', async (t) => {
  const { client, listen } = await begin(t)
  const [first] = [await listen(), await listen(), await listen()]
  const refused = await client.get('/v1/events')
  t.match([refused.status, refused.body.detail, refused.headers.get('retry-after')], [429, /at most 3/, '30'])
  t.equal((await client.request('/v1/events', JSON_ONLY)).status, 200, 'a list needs no room')
  first!.stop()
  for (;;) {
    const again = await listen().catch(() => undefined)
    if (again) break
    await setTimeout(20)
  }
})

t.test('what is revoked hears nothing more within a second', async (t) => {
  const { installation, client, listen } = await begin(t)
  const { keys } = installation.claimcheck
  const other = await keys.create(client.workspaceId, 'other')
  const [mine, theirs] = [await listen(), await listen('', { authorization: `Bearer ${other.key}` })]
  const revokedAt = Date.now()
  await keys.revoke(other.id, client.workspaceId, byCommand())
  await theirs.ended
  t.ok(Date.now() - revokedAt < 1500, `${Date.now() - revokedAt} ms`)
  await decide(client, 1)
  await mine.claims(1)
  t.strictSame(theirs.events, [])
  t.equal((await client.request('/v1/events', { headers: { authorization: `Bearer ${other.key}` } })).status, 401)
})

t.test('a token needs the scope, and one for another server opens nothing', async (t) => {
  const { installation, client } = await begin(t)
  const { claimcheck, url } = installation
  async function token(scopes: string[], resource = url): Promise<string> {
    const { clientId, clientSecret } = await claimcheck.machines.create(
      client.workspaceId,
      `m ${scopes} ${resource}`,
      scopes,
    )
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
    const body = new URLSearchParams({ grant_type: 'client_credentials', scope: scopes.join(' '), resource })
    const answer = await installation.request('/oauth/token', { method: 'POST', body, headers: { authorization } })
    return answer.body.access_token
  }
  const ask = async (text: string) => {
    const { status, headers } = await installation.request('/v1/events', {
      headers: { authorization: `Bearer ${text}`, accept: 'application/json' },
    })
    return [status, headers.get('www-authenticate')]
  }
  const good = await token(['claims:read'])
  t.strictSame(await ask(good), [200, null])
  t.match(await ask(await token(['connections:read'])), [403, 'Bearer error="insufficient_scope", scope="claims:read"'])
  t.match(await ask(await token(['claims:read'], `${url}/mcp`)), [401, 'Bearer error="invalid_token"'])
  const listening = await Listening.start(`${url}/v1/events`, { headers: { authorization: `Bearer ${good}` } })
  const [machine] = (await claimcheck.machines.list(client.workspaceId)).filter(({ name }) =>
    name.startsWith('m claims'),
  )
  await claimcheck.machines.revoke(machine!.id, client.workspaceId)
  await listening.ended
})

t.test('a token hears of connections only with the scope for them', async (t) => {
  const { installation, client } = await begin(t)
  const { claimcheck, url } = installation
  const { workspaceId } = client
  const { clientId, clientSecret } = await claimcheck.machines.create(workspaceId, 'reader', [
    'claims:read',
    'connections:read',
  ])
  async function tokenOf(scope: string): Promise<string> {
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
    const body = new URLSearchParams({ grant_type: 'client_credentials', scope, resource: url })
    return (await installation.request('/oauth/token', { method: 'POST', body, headers: { authorization } })).body
      .access_token
  }
  const connection = await connect(claimcheck, workspaceId, 'mailbox', { token: 'secret' })
  await claimcheck.storage.write(async (tx) => {
    const about = { workspaceId, at: Date.now(), subject: connection.id, detail: 'unauthorized' }
    tx.events.record({ ...about, type: 'connection.failing' })
  })
  await decide(client, 1)
  const typesFor = async (scope: string) => {
    const headers = { authorization: `Bearer ${await tokenOf(scope)}` }
    const listening = await Listening.start(`${url}/v1/events?after=0`, { headers })
    await listening.claims(1)
    listening.stop()
    return listening.events.map(({ event }) => event)
  }
  t.strictSame(await typesFor('claims:read connections:read'), ['connection.failing', 'claim.decided'])
  t.strictSame(await typesFor('claims:read'), ['claim.decided'])
})

t.test('a listener pays for the events that were stored, and goes on when it has tokens again', async (t) => {
  const own = await Installation.during(t, { inProcess: true, file: { rate_limits: { key: 500 } } })
  const client = await own.client('acme')
  const { claim_id } = (await client.submit()).body
  const { workspaceId } = client
  await own.claimcheck.storage.write(async (tx) => {
    for (let count = 0; count < 2000; count++)
      tx.events.record({ workspaceId, type: 'claim.decided', at: Date.now(), subject: claim_id, detail: null })
  })
  const headers = { authorization: `Bearer ${client.key}` }
  const listening = await Listening.start(`${own.url}/v1/events?after=0`, { headers })
  await listening.ended
  const { length } = listening.events
  t.ok(length >= 500 && length < 700, `${length} events`)
  t.equal(listening.lastId, String(length))
  const again = await client.request('/v1/events', {
    headers: { 'last-event-id': listening.lastId!, ...JSON_ONLY.headers },
  })
  t.equal(again.status, 429)
  t.ok(Number(again.headers.get('retry-after')) > 0)
})

t.test('nobody hears of another workspace', async (t) => {
  const { client, listen } = await begin(t)
  const { client: other } = await begin(t)
  const listening = await listen()
  await decide(other, 2)
  const ids = await decide(client, 1)
  t.strictSame(await listening.claims(1), ids)
  t.equal(listening.events[0]!.id, '1')
})

t.test('the service ends streams before it stops, and a listener goes on at the next start', async (t) => {
  const own = await Installation.during(t)
  const client = await own.client('acme')
  const headers = { authorization: `Bearer ${client.key}` }
  const first = await Listening.start(`${own.url}/v1/events`, { headers })
  const [before] = await decide(client, 1)
  t.strictSame(await first.claims(1), [before])
  const stoppedAt = Date.now()
  await own.stop()
  await first.ended
  t.ok(Date.now() - stoppedAt < 5000)
  await own.resume()
  const [after] = await decide(client, 1)
  const again = await Listening.start(`${own.url}/v1/events`, {
    headers: { ...headers, 'last-event-id': first.lastId! },
  })
  t.strictSame(await again.claims(1), [after])
  again.stop()
})

t.test('a claim that waits says by when to expect its verdict, and a decided one does not', async (t) => {
  const { client } = await begin(t)
  const { body } = await client.submit({ params: { see: 'absent' } })
  const lasts = Date.parse(body.expected_by) - Date.parse(body.deadline_at)
  t.equal(lasts, 30_000, 'the closing read')
  t.equal((await client.get(`/v1/claims/${body.claim_id}`)).body.expected_by, body.expected_by)
  const unread = (await client.submit({ params: { see: 'unavailable' } })).body
  t.ok(Date.parse(unread.expected_by) - Date.parse(unread.deadline_at) >= 120_000, 'failed reads are made again')
  t.equal((await client.submit()).body.expected_by, undefined)
})
