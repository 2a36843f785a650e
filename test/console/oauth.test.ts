/** Applications sign in: from the consent page to whoami, and what each token says and is worth. */
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { StorageError } from '@claimcheck/server/storage/storage'
import * as openid from 'openid-client'
import t from 'tap'
import {
  Application,
  CLIENT,
  CONFIDENTIAL,
  ledTo,
  OAUTH,
  post,
  RESOURCE,
  SECRET,
  whoami,
  withOAuth,
} from '../support/application.ts'
import { Installation, sharedInstallation } from '../support/installation.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const shared = sharedInstallation({ file: { oauth: OAUTH } })

const REFUSED = { status: 401, body: { detail: 'invalid or missing API key' } }

t.test('an application that a person allows gets a token, which whoami describes', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const application = new Application()
  const page = await application.consentPage(owner, { scope: 'claims:read claims:submit connections:read' })
  t.equal(page.status, 200)
  const text = textOf(page.html)
  t.match(text, /Allow Backend <b>& co<\/b>\?/, 'its name is text, whatever it holds')
  t.match(text, /See the claims of the workspace/)
  t.match(text, /Submit claims in the name of the workspace/)
  t.match(text, /See which destinations/)
  t.match(text, /backend\.example/)
  t.ok(text.includes(host.url), 'for whom the token is meant')
  t.match(text, /In the workspace acme/)

  const back = await application.decide(owner, page.path, { decision: 'allow', workspace: await owner.workspaceId() })
  t.equal(back.get('state'), application.state)
  t.equal(back.get('iss'), host.url)
  const { status, body, headers } = await application.exchange(host, back.get('code'))
  t.equal(status, 200)
  t.match(body, { token_type: 'Bearer', expires_in: 3600, scope: 'claims:read claims:submit connections:read' })
  t.equal(headers.get('cache-control'), 'no-store')
  t.notOk('id_token' in body)

  t.match(await whoami(host, body.access_token), {
    status: 200,
    body: {
      workspace_id: await owner.workspaceId(),
      kind: 'oauth',
      scopes: ['claims:read', 'claims:submit', 'connections:read'],
      audience: host.url,
    },
  })
  const { key } = await host.claimcheck.keys.create(await owner.workspaceId(), 'test')
  t.same((await whoami(host, key)).body, {
    workspace_id: await owner.workspaceId(),
    kind: 'key',
    scopes: null,
    audience: null,
  })
})

t.test('a token opens no endpoint that needs a key', async (t) => {
  const { host } = await shared()
  const { access_token: token } = await new Application().tokens(await Visitor.owner(host))
  for (const path of ['/v1/connections', '/v1/claims', '/v1/claims/clm_x']) {
    t.match(await host.request(path, { headers: { authorization: `Bearer ${token}` } }), REFUSED)
  }
})

t.test('whoami takes nothing but keys and access tokens, and says where tokens come from', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const application = new Application()
  const code = (await application.allowed(owner)).get('code')!
  t.match(await whoami(host, code), REFUSED, 'a code')
  const { refresh_token: refresh } = (await application.exchange(host, code)).body
  for (const text of [refresh, 'garbage', 'A'.repeat(43), `svc_sk_${'A'.repeat(43)}`]) {
    const answer = await whoami(host, text)
    t.match(answer, REFUSED, text)
    t.equal(
      answer.headers.get('www-authenticate'),
      `Bearer resource_metadata="${host.url}/.well-known/oauth-protected-resource"`,
    )
  }
  t.match(await host.request('/v1/whoami'), REFUSED)
})

t.test('a token is meant for the resource that was asked for', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  for (const resource of [RESOURCE, `${RESOURCE}/`]) {
    const application = new Application()
    t.match(textOf((await application.consentPage(owner, { resource })).html), /https:\/\/mcp\.example\.com/)
    const { access_token: token } = await application.tokens(owner, { resource })
    t.equal((await whoami(host, token)).body.audience, RESOURCE)
  }
  const application = new Application()
  const response = await owner.once(application.request({ resource: 'https://other.example' }))
  t.match(response.headers.get('location'), /^https:\/\/backend\.example\/back\?error=invalid_target/)

  const code = (await application.allowed(owner, { resource: RESOURCE })).get('code')
  const other = await application.exchange(host, code, { resource: host.url })
  t.match(other, { status: 400, body: { error: 'invalid_target' } }, 'nor for another one later')
})

t.test('a confidential application shows its secret in either way, and nothing less will do', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const application = new Application(CONFIDENTIAL)
  const basic = (secret: string) => ({
    authorization: `Basic ${Buffer.from(`${CONFIDENTIAL.client_id}:${secret}`).toString('base64')}`,
  })
  const code = (await application.allowed(owner)).get('code')
  t.match(await application.exchange(host, code), { status: 401, body: { error: 'invalid_client' } })
  const wrong = await application.exchange(host, code, { client_secret: 'x'.repeat(40) })
  t.match(wrong, { status: 401, body: { error: 'invalid_client' } })
  const { status, body } = await application.exchange(host, code, { client_secret: SECRET })
  t.equal(status, 200)
  const fields = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
  t.equal((await post(host, '/oauth/token', fields, basic('x'.repeat(40)))).status, 401)
  t.equal((await post(host, '/oauth/token', fields, basic(SECRET))).status, 200)
})

t.test('a loopback address may be of any port, and a scheme may be of the application', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  for (const uri of ['http://127.0.0.1:49152/back', 'com.example.backend:/back']) {
    const application = new Application({ ...CLIENT, redirect_uris: [uri] })
    const { access_token: token } = await application.tokens(owner)
    t.equal((await whoami(host, token)).status, 200, uri)
  }
})

t.test('the form of the page leads nowhere else, and the page after it leads to the application', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  for (const decision of ['allow', 'deny']) {
    const application = new Application()
    const { path, headers } = await application.consentPage(owner)
    t.match(headers.get('content-security-policy'), /form-action 'self';/)
    const after = await application.send(owner, path, { decision, workspace: await owner.workspaceId() })
    t.match(after, { status: 200 })
    t.equal(after.headers.get('location'), null)
    t.match(after.headers.get('content-security-policy'), /form-action 'self';/)
    t.equal(after.headers.get('cache-control'), 'no-store')
    const html = await after.text()
    t.match(html, `href="${ledTo(after)!.href}"`, 'the same for who has to go by hand')
    t.match(textOf(html), /continue to Backend <b>& co<\/b>/)
  }
})

t.test('without a resource a token is for the MCP server, also where it is renewed', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const application = new Application()
  const { access_token: token, refresh_token } = await application.tokens(owner, { resource: undefined })
  t.match((await whoami(host, token)).body, { audience: `${host.url}/mcp` })
  const { body } = await application.refresh(host, refresh_token)
  t.match((await whoami(host, body.access_token)).body, { audience: `${host.url}/mcp` })
  const code = (await application.allowed(owner, { resource: undefined })).get('code')
  const named = await application.exchange(host, code, { resource: `${host.url}/mcp` })
  t.match((await whoami(host, named.body.access_token)).body, { audience: `${host.url}/mcp` }, 'named later')
  const own = await new Application().tokens(owner, { resource: host.url })
  t.equal((await whoami(host, own.access_token)).body.audience, host.url, 'the REST API is named')
})

t.test('where the MCP server is disabled, a token without a resource is for the API', async (t) => {
  const { host } = await Installation.during(t, { file: { oauth: OAUTH, disabled_features: ['mcp'] } })
  const owner = await Visitor.first(host)
  const { access_token: token, refresh_token } = await new Application().tokens(owner, { resource: undefined })
  t.match(await whoami(host, token), { status: 200, body: { audience: host.url } })
  const { body } = await new Application().refresh(host, refresh_token)
  t.match((await whoami(host, body.access_token)).body, { audience: host.url })
})

t.test('both documents say where everything is, to scripts of any site', async (t) => {
  const { host } = await shared()
  const at = (path: string) => host.request(path, { headers: { origin: 'https://any.example' } })
  const server = await at('/.well-known/oauth-authorization-server')
  t.match(server, {
    status: 200,
    body: {
      issuer: host.url,
      authorization_endpoint: `${host.url}/oauth/authorize`,
      token_endpoint: `${host.url}/oauth/token`,
      revocation_endpoint: `${host.url}/oauth/revoke`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: ['claims:read', 'claims:submit', 'claims:revisit', 'connections:read'],
    },
  })
  t.notOk('registration_endpoint' in server.body)
  t.equal(server.headers.get('access-control-allow-origin'), '*')
  t.match(await at('/.well-known/oauth-protected-resource'), {
    status: 200,
    body: { resource: host.url, authorization_servers: [host.url], bearer_methods_supported: ['header'] },
  })
})

t.test('a common library for applications finds its way by the documents alone', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const server = await openid.discovery(new URL(host.url), CLIENT.client_id, undefined, openid.None(), {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  })
  const verifier = openid.randomPKCECodeVerifier()
  const state = openid.randomState()
  const redirectUri = CLIENT.redirect_uris[0]!
  const request = openid.buildAuthorizationUrl(server, {
    redirect_uri: redirectUri,
    scope: 'connections:read',
    resource: RESOURCE,
    state,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  const page = await owner.get(request.pathname + request.search)
  const fields = { decision: 'allow', workspace: await owner.workspaceId() }
  const back = await new Application().decide(owner, page.path, fields)
  const tokens = await openid.authorizationCodeGrant(server, new URL(`${redirectUri}?${back}`), {
    pkceCodeVerifier: verifier,
    expectedState: state,
  })
  t.same((await whoami(host, tokens.access_token)).body.scopes, ['connections:read'])
  const refreshed = await openid.refreshTokenGrant(server, tokens.refresh_token!)
  await openid.tokenRevocation(server, refreshed.access_token)
  t.equal((await whoami(host, refreshed.access_token)).status, 401)
})

t.test('the tokens of an application end when the configuration names it no more', async (t) => {
  const installation = await withOAuth(t)
  const { access_token: token } = await new Application().tokens(await Visitor.owner(installation.host))
  await installation.stop()
  await writeFile(join(installation.folder, 'other.json'), JSON.stringify({ oauth: { clients: [CONFIDENTIAL] } }))
  const host = await installation.addHost({ CONFIG: 'other.json' })
  t.match(await whoami(host, token), REFUSED)
})

t.test('a database that cannot be used is no fault of the application', async (t) => {
  let isGone = false
  const now = () => {
    if (isGone) throw new StorageError('unavailable', 'the time cannot be told')
    return Date.now()
  }
  const file = { oauth: OAUTH, rate_limits: { refusals: 0 } }
  const { host } = await withOAuth(t, { now, file })
  const owner = await Visitor.owner(host)
  const application = new Application()
  const code = (await application.allowed(owner)).get('code')
  const { path } = await application.consentPage(owner)
  const workspace = await owner.workspaceId()
  const { access_token: token } = await application.tokens(owner)
  isGone = true
  const answer = await application.exchange(host, code)
  const led = await owner.once(application.request())
  const told = await whoami(host, token)
  const sent = await application.send(owner, path, { decision: 'allow', workspace })
  isGone = false
  t.match(answer, { status: 503, body: { error: 'temporarily_unavailable' } })
  t.match(led.headers.get('location'), /^https:\/\/backend\.example\/back\?error=temporarily_unavailable/)
  t.equal(told.status, 503)
  t.equal(sent.status, 503)
})

t.test('addresses are those of the configuration, whatever a request says of itself', async (t) => {
  const PUBLIC_URL = 'https://claims.example.com'
  const { host } = await withOAuth(t, { env: { PUBLIC_URL } })
  const lies = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' }
  const { body } = await host.request('/.well-known/oauth-authorization-server', { headers: lies })
  t.equal(body.token_endpoint, `${PUBLIC_URL}/oauth/token`)
  const signedOut = await fetch(host.url + new Application().request(), { redirect: 'manual', headers: lies })
  t.match(signedOut.headers.get('location'), /^\/console\/sign-in\?next=%2Foauth%2Fauthorize/)
  const owner = await Visitor.firstAt(host, PUBLIC_URL)
  const response = await owner.once(new Application().request(), { headers: lies })
  t.match(response.headers.get('location'), /^\/oauth\/consent\//)
  t.equal(response.headers.getSetCookie().length, 4)
  t.ok(response.headers.getSetCookie().every((cookie) => /; secure; httponly/i.test(cookie) && !/domain/i.test(cookie)))
})

t.test('nor does its first line change where people are led', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const application = new Application()
  const cookie = [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const told = await tellRaw(host.url, `GET http://evil.example${application.request()} HTTP/1.1\r\ncookie: ${cookie}`)
  for (const [, name, value] of told.matchAll(/^set-cookie: ([^=]+)=([^;]+)/gim)) owner.cookies.set(name!, value!)
  const [, path] = /^location: (.*)\r$/im.exec(told)!
  await owner.get(path!)
  const sent = await application.send(owner, path!, { decision: 'deny' })
  t.ok(ledTo(sent)?.href.startsWith(`${host.url}/oauth/authorize/`))
})

/** What is answered to a first line that fetch would not send. */
async function tellRaw(url: string, line: string): Promise<string> {
  const { host, hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(`${line}\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
  return (await socket.setEncoding('utf8').toArray()).join('')
}
