// Test run: end-to-end, slow
/** Who may call /mcp, from where and how long: the whole authorization by the SDK, keys, and what ends a stream. Threat K9 of `security.md`. */

import { COSTS } from '@claimcheck/server/http/costs'
import { StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import t from 'tap'
import { Application, whoami } from '../support/application.ts'
import { Installation, sharedInstallation } from '../support/installation.ts'
import { call, claimOf, mcpClient, mcpUrl, newClient, post, Registering, request } from '../support/mcp.ts'
import { Visitor } from '../support/visitor.ts'

const CLIENT = { client_id: 'desk', client_name: 'Backend', redirect_uris: ['https://backend.example/back'] }
const shared = sharedInstallation({ file: { oauth: { clients: [CLIENT], dynamic_registration: true } } })
const ALL = 'claims:read claims:submit connections:read'
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

t.test('a client finds the way from the address alone: registration, consent, S256, resource, token', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const provider = new Registering()
  const transport = () => new StreamableHTTPClientTransport(mcpUrl(host), { authProvider: provider })
  const first = transport()
  await t.rejects(newClient().connect(first), UnauthorizedError)
  const asked = provider.asked!
  t.equal(asked.searchParams.get('resource'), `${host.url}/mcp`)
  t.equal(asked.searchParams.get('code_challenge_method'), 'S256')
  t.equal(asked.searchParams.get('scope'), ALL)

  const application = new Application({ client_id: '', redirect_uris: [provider.redirectUrl] })
  const consent = await owner.once(asked.pathname + asked.search)
  const page = await owner.get(consent.headers.get('location')!)
  t.match(page.html, /\/mcp/, 'the person sees what it is for')
  const back = await application.decide(owner, page.path, { decision: 'allow', workspace: await owner.workspaceId() })
  await first.finishAuth(back)
  const agent = newClient()
  await agent.connect(transport())
  t.teardown(() => agent.close())
  t.match((await call(agent, 'submit_claim', claimOf())).structuredContent, { verdict: 'verified' })

  const { access_token: token } = provider.tokens()
  t.match((await whoami(host, token)).body, { kind: 'oauth', audience: `${host.url}/mcp` })
  for (const path of ['/v1/claims', '/v1/connections']) {
    t.equal((await host.request(path, { headers: bearer(token) })).status, 401, 'it opens nothing else')
  }
})

t.test('the challenge and the metadata name the resource, the server and the scopes', async (t) => {
  const { host } = await shared()
  const metadata = `${host.url}/.well-known/oauth-protected-resource/mcp`
  const bare = await post(host, request('tools/list'))
  t.equal(bare.status, 401)
  t.equal(bare.headers.get('www-authenticate'), `Bearer resource_metadata="${metadata}", scope="${ALL}"`)
  const refused = await post(host, request('tools/list'), bearer('garbage'))
  t.match(refused.headers.get('www-authenticate'), /^Bearer error="invalid_token", resource_metadata/)
  t.match(await (await fetch(metadata)).json(), {
    resource: `${host.url}/mcp`,
    authorization_servers: [host.url],
    scopes_supported: ALL.split(' '),
    bearer_methods_supported: ['header'],
  })
})

t.test('a token of another audience is refused, and one that lacks a scope says which', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const { access_token: own } = await new Application(CLIENT).tokens(owner, { scope: ALL })
  t.equal((await post(host, request('tools/list'), bearer(own))).status, 401)

  const resource = `${host.url}/mcp`
  const { access_token: reader } = await new Application(CLIENT).tokens(owner, { resource, scope: 'claims:read' })
  const args = { name: 'submit_claim', arguments: claimOf() }
  const refused = await post(host, request('tools/call', args), bearer(reader))
  t.equal(refused.status, 403)
  t.match(refused.headers.get('www-authenticate'), /error="insufficient_scope", .*scope="claims:submit claims:read"/)
  t.match(refused.headers.get('www-authenticate'), /resource_metadata="[^"]+\/mcp"/)
  const legacy = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: args }
  t.equal((await post(host, legacy, { ...bearer(reader), 'mcp-protocol-version': '2025-06-18' })).status, 403)
  const agent = await mcpClient(t, host, reader)
  t.same((await call(agent, 'list_claims')).structuredContent.claims, [])
  const ref = { type: 'ref/prompt', name: 'claim' } as const
  const { completion } = await agent.complete({ ref, argument: { name: 'action', value: '' } })
  t.strictSame(completion.values, [], 'actions need connections:read')
})

for (const [name, addressOf] of Object.entries({
  'with a slash at its end': (url: string) => `${url}/`,
  'by an address of this machine': (url: string) => url.replace('localhost', '127.0.0.1'),
}))
  t.test(`the address ${name} is the same server`, async (t) => {
    const { host } = await shared()
    const owner = await Visitor.owner(host)
    const provider = new Registering()
    const url = new URL(addressOf(mcpUrl(host).href))
    const first = new StreamableHTTPClientTransport(url, { authProvider: provider })
    await t.rejects(newClient().connect(first), UnauthorizedError)
    const asked = provider.asked!
    const resource = asked.searchParams.get('resource')!
    t.equal(resource, url.href, 'clients take what they were given')
    const application = new Application({ client_id: '', redirect_uris: [provider.redirectUrl] })
    const consent = await owner.once(asked.pathname + asked.search)
    const path = consent.headers.get('location')!
    await owner.get(path)
    const answers = { decision: 'allow', workspace: await owner.workspaceId() }
    await first.finishAuth(await application.decide(owner, path, answers))
    const agent = newClient()
    await agent.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }))
    t.teardown(() => agent.close())
    t.notMatch(await call(agent, 'list_actions'), { isError: true })
    const other = await mcpClient(t, host, provider.tokens().access_token)
    t.notMatch(await call(other, 'list_actions'), { isError: true }, 'its token is good at the usual address')
  })

t.test('a key is good as far as it is good elsewhere', async (t) => {
  const { host } = await shared()
  const { keys, workspaces } = host.claimcheck
  const { id } = await workspaces.create('keys')
  const elsewhere = await keys.create(id, 'elsewhere', { networks: ['192.0.2.0/24'] })
  t.equal((await post(host, request('tools/list'), bearer(elsewhere.key))).status, 403)
  const { key, id: keyId } = await keys.create(id, 'good')
  t.equal((await post(host, request('tools/list'), bearer(key))).status, 200)
  await keys.revoke(keyId)
  t.equal((await post(host, request('tools/list'), bearer(key))).status, 401)
})

t.test('other names than our own, and pages of others, are refused', async (t) => {
  const { host } = await shared()
  const { id } = await host.claimcheck.workspaces.create('names')
  const { key } = await host.claimcheck.keys.create(id, 'test')
  const ask = (headers: Record<string, string>) => post(host, request('tools/list'), { ...bearer(key), ...headers })
  t.equal((await ask({ origin: 'https://evil.example' })).status, 403)
  t.equal((await ask({ origin: 'null' })).status, 403)
  t.equal((await ask({ origin: 'http://localhost:6274' })).status, 200)
  t.equal((await ask({ origin: host.url })).status, 200)
  const { statusCode } = await hostNamed(host.url, 'evil.example', key)
  t.equal(statusCode, 403, 'a name that was made to lead here')
  const preflight = await fetch(mcpUrl(host), {
    method: 'OPTIONS',
    headers: {
      origin: 'http://localhost:6274',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type, mcp-protocol-version',
    },
  })
  t.match(preflight.headers.get('access-control-allow-headers'), /mcp-protocol-version/)
})

t.test('who is refused for a name or a page pays, and is counted', async (t) => {
  const { host } = await Installation.during(t, { file: { rate_limits: { key: 10_000, refusals: 3 } } })
  const { keys, workspaces } = host.claimcheck
  const { key } = await keys.create((await workspaces.create('pays')).id, 'test')
  const ask = (token: string) => post(host, request('tools/list'), { ...bearer(token), origin: 'https://evil.example' })
  const leftAfter = async () => Number((await ask(key)).headers.get('ratelimit-remaining'))
  const before = await leftAfter()
  t.ok((await leftAfter()) < before, 'the key paid')
  t.equal((await ask(key)).status, 403)
  const tooMany = `/v1/claims?${'a=1&'.repeat(300)}`
  const asked = (token: string) => host.request(tooMany, { headers: bearer(token) })
  t.equal((await asked(key)).status, 400)
  t.equal((await asked('svc_sk_none')).status, 401)
  t.equal((await ask('svc_sk_none')).status, 401)
  t.equal((await ask('svc_sk_none')).status, 401)
  t.equal((await ask('svc_sk_none')).status, 429)
})

t.test('what is no message of the protocol is answered as the protocol says', async (t) => {
  const { host } = await shared()
  const { id } = await host.claimcheck.workspaces.create('messages')
  const { key } = await host.claimcheck.keys.create(id, 'test')
  for (const text of ['{', '{"a":1,"a":2}', '\ud800']) {
    const answer = await post(host, text, bearer(key))
    t.match([answer.status, await answer.json()], [400, { jsonrpc: '2.0', id: null, error: { code: -32700 } }], text)
  }
  t.equal((await post(host, `"${'x'.repeat(70_000)}"`, bearer(key))).status, 413)
  t.match(await (await post(host, request('no/such'), bearer(key))).json(), { error: { code: -32601 } })
  const other = request('tools/list') as { params: { _meta: Record<string, unknown> } }
  other.params._meta['io.modelcontextprotocol/protocolVersion'] = '2099-01-01'
  const unknown = await post(host, other, { ...bearer(key), 'mcp-protocol-version': '2099-01-01' })
  t.match([unknown.status, await unknown.json()], [400, { error: { code: -32022 } }])
  t.equal((await fetch(mcpUrl(host), { headers: bearer(key) })).status, 405)
  t.equal((await fetch(mcpUrl(host), { method: 'DELETE', headers: bearer(key) })).status, 405)
})

t.test('a stream ends when its key or its grant does', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const workspaceId = await owner.workspaceId()
  const { keys, oauthRecords } = host.claimcheck
  const { key, id } = await keys.create(workspaceId, 'stream')
  const resource = `${host.url}/mcp`
  const application = new Application(CLIENT)
  const { access_token, refresh_token } = await application.tokens(owner, { resource, scope: ALL })
  t.ok(oauthRecords)

  const listen = request('subscriptions/listen', { notifications: {} })
  const streams = await Promise.all([key, access_token].map((token) => post(host, listen, bearer(token))))
  t.match(
    streams.map(({ status }) => status),
    [200, 200],
  )
  t.match(streams[0]?.headers.get('content-type'), /event-stream/)
  const waits = { name: 'wait_for_claim', arguments: { claim_id: await queuedClaim(host, key), seconds: 50 } }
  const waiting = post(host, request('tools/call', waits), bearer(key))
  const ends = streams.map((stream) => stream.text())

  await keys.revoke(id)
  await application.revoke(host, refresh_token)
  t.match(await Promise.all(ends), [String, String], 'both end by themselves')
  t.equal((await waiting).status, 401)
})

t.test('each message of a batch counts against the limit of its key', async (t) => {
  const installation = await Installation.during(t, { file: { rate_limits: { key: 5 * COSTS.mcp.tokens } } })
  const { key } = await installation.client('batches')
  const batch = [1, 2, 3, 4].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/list', params: {} }))
  const ask = () => post(installation.host, batch, { ...bearer(key), 'mcp-protocol-version': '2025-03-26' })
  const first = await ask()
  t.not(first.status, 429)
  await first.text()
  t.equal((await ask()).status, 429)
})

t.test('a server that stops ends its streams', async (t) => {
  const installation = await Installation.during(t)
  const { host } = installation
  const { key } = await installation.client('stops')
  const stream = await post(host, request('subscriptions/listen', { notifications: {} }), bearer(key))
  const end = stream.text()
  await installation.stop()
  t.type(await end, 'string')
})

async function queuedClaim(host: Installation['host'], key: string): Promise<string> {
  const answer = await post(
    host,
    request('tools/call', { name: 'submit_claim', arguments: claimOf({ params: { see: 'absent' } }) }),
    bearer(key),
  )
  const { result } = (await answer.json()) as { result: { structuredContent: { claim_id: string } } }
  return result.structuredContent.claim_id
}

async function hostNamed(url: string, name: string, key: string) {
  const { request: ask } = await import('node:http')
  return new Promise<{ statusCode: number | undefined }>((resolve, reject) => {
    const headers = { host: name, ...bearer(key), 'content-type': 'application/json' }
    const sent = ask(`${url}/mcp`, { method: 'POST', headers }, (answer) => {
      answer.resume()
      resolve({ statusCode: answer.statusCode })
    })
    sent.on('error', reject).end('{}')
  })
}
