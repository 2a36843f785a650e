// Test run: every-node
/** Access tokens of OAuth 2: at oidc-provider, with rotating refresh tokens, and at token endpoints that answer as they like. Threat P9 of `security.md`. */
import type { RequestListener } from 'node:http'
import { type Credential, createMemoryRefreshes, credentialProblems } from '@claimcheck/core/hosting'
import { credential, secret, Type } from '@claimcheck/core/plugin'
import t, { type Test } from 'tap'
import {
  CLIENT_ID,
  CLIENT_SECRET,
  holdAnswer,
  KEYS,
  startAuthorizationServer,
  type Verified,
  verified,
} from '../../support/authorization-server.ts'
import { longKey } from '../../support/long-key.ts'
import { code, serve } from '../../support/loopback.ts'
import { seenIn, spendingAt } from '../../support/spending.ts'

const AUTH = { auth: credential('account') }
const CLIENT = { id: CLIENT_ID, secret: CLIENT_SECRET }
const TOKEN_URL = 'http://{option.token_host}/token'

interface Given {
  readonly url: string
  readonly host: string
  readonly account: object
  readonly options?: object
  readonly now?: () => number
}

/** Checks through a connection to `url`, with a token endpoint at `host`. */
function through(t: Test, { url, host, account, options = {}, now }: Given) {
  return spendingAt(t, {
    url,
    credentials: { account: { scheme: 'oauth2', tokenUrl: TOKEN_URL, ...account } as unknown as Credential },
    options: { token_host: host, ...options },
    secret: ['secret', 'key', 'refresh_token'].filter((name) => Object.hasOwn(options, name)),
    tokenHosts: [host],
    allowed: [host],
    refreshes: createMemoryRefreshes(),
    ...(now ? { now } : {}),
  })
}

const BY_SECRET = { grant: 'clientCredentials', clientId: 'id', clientSecret: 'secret' }
const BY_REFRESH = { grant: 'refreshToken', clientId: 'id', clientSecret: 'secret', refreshToken: 'refresh_token' }

t.test('client credentials: basic and post', async (t) => {
  const ways = [
    { client: { token_endpoint_auth_method: 'client_secret_basic' }, account: {}, options: CLIENT },
    {
      client: { token_endpoint_auth_method: 'client_secret_post' },
      account: { authentication: 'post' },
      options: CLIENT,
    },
  ] as const
  for (const { client, account, options } of ways) {
    const { url, host, asked } = await startAuthorizationServer(t, client as object)
    const check = through(t, { url, host, account: { ...BY_SECRET, scope: 'read', ...account }, options })
    const seen = await check().fetch(`${url}/a`, AUTH)
    t.equal(seen.status, 200)
    const text = await seenIn(seen)
    for (const secret of Object.values(options)) t.notOk(text.includes(secret))
    t.equal((await check({ limits: { requests: 1 } }).fetch(`${url}/b`, AUTH)).status, 200)
    t.equal(asked.length, 1)
    t.equal(asked[0]!.get('scope'), 'read')
  }
})

t.test('checks that begin together ask once', async (t) => {
  const { url, host, asked } = await startAuthorizationServer(t)
  const check = through(t, { url, host, account: BY_SECRET, options: CLIENT })
  const seen = await Promise.all(Array.from({ length: 8 }, () => check().fetch(url, AUTH)))
  t.ok(seen.every(({ status }) => status === 200))
  t.equal(asked.length, 1)
})

t.test('wrong credentials are unauthorized', async (t) => {
  const { url, host } = await startAuthorizationServer(t)
  const check = through(t, { url, host, account: BY_SECRET, options: { id: CLIENT_ID, secret: 'an0ther-secret' } })
  t.equal(await code(check().fetch(url, AUTH)), 'unauthorized')
})

t.test('a refresh token rotates: each is used once', async (t) => {
  const server = await startAuthorizationServer(t)
  const { url, host, asked, reused } = server
  let now = Date.now()
  const options = { ...CLIENT, refresh_token: await server.signIn() }
  const check = through(t, { url, host, account: BY_REFRESH, options, now: () => now })
  t.equal((await check().fetch(url, AUTH)).status, 200)
  // The destination forgets the token that the host believes to be good.
  server.revokeAll()
  t.equal((await check().fetch(url, AUTH)).status, 401, 'one that was made just now is not made again')
  t.equal(asked.length, 1)
  now += 61_000
  t.equal((await check().fetch(url, AUTH)).status, 200)
  t.equal(asked.length, 2)
  now += 3600_000
  const seen = await Promise.all([1, 2, 3].map(() => check().fetch(url, AUTH)))
  t.strictSame(
    seen.map(({ status }) => status),
    [200, 200, 200],
  )
  t.equal(new Set(asked.map((one) => one.get('refresh_token'))).size, 3)
  t.equal(asked.length, 3)
  t.equal(reused(), 0)
})

t.test('a check that ends during a refresh loses nothing', async (t) => {
  const server = await startAuthorizationServer(t)
  const { url, host, asked, reused } = server
  const check = through(t, {
    url,
    host,
    account: BY_REFRESH,
    options: { ...CLIENT, refresh_token: await server.signIn() },
  })
  const timer = new AbortController()
  const held = holdAnswer(server)
  const ended = code(check({ timer }).fetch(url, AUTH))
  await held.isAsked
  timer.abort()
  t.equal(await ended, 'timeout', 'it does not wait for the answer')
  held.release()
  t.equal((await check().fetch(url, AUTH)).status, 200)
  t.equal(asked.length, 1)
  t.equal(reused(), 0)
})

t.test('a refresh token is sent again unless it is refused, and at once where the answer was lost', async (t) => {
  const answers: readonly [string, RequestListener, sent: number][] = [
    ['nothing', (request) => request.socket.destroy(), 2],
    ['no JSON', (_, response) => void response.end('<html>'), 2],
    ['a gateway', (_, response) => void response.writeHead(502).end(), 2],
    ['too much', (_, response) => void response.end('x'.repeat(100_000)), 2],
    ['busy', (_, response) => void response.writeHead(503, { 'retry-after': '1' }).end(), 1],
    ['too many', (_, response) => void response.writeHead(429).end(), 1],
    ['another client', (_, response) => void response.writeHead(401).end('{"error":"invalid_client"}'), 1],
    ['elsewhere', (_, response) => void response.writeHead(307, { location: '/other' }).end(), 1],
  ]
  for (const [what, listener, sent] of answers) {
    const server = await startAuthorizationServer(t)
    const { url, host, asked } = server
    const check = through(t, {
      url,
      host,
      account: BY_REFRESH,
      options: { ...CLIENT, refresh_token: await server.signIn() },
    })
    let fronted = 0
    server.inFront = (request, response) => {
      fronted++
      listener(request, response)
      return true
    }
    t.not(await code(check().fetch(url, AUTH)), 'no error', what)
    t.equal(fronted, sent, what)
    server.inFront = () => false
    t.equal(await code(check().fetch(url, AUTH)), 'no error', what)
    t.equal(asked.length, 1, what)
  }
})

t.test('an answer that was lost is asked for again within the same check', async (t) => {
  const { host, requests } = await tokenEndpoint(t, [
    (_, response) => void response.writeHead(502).end(),
    (_, response) => void response.end('{"access_token":"t0ken","refresh_token":"two"}'),
  ])
  const url = `http://${await serve(t, (_, response) => void response.end())}`
  const check = through(t, { url, host, account: BY_REFRESH, options: { ...CLIENT, refresh_token: 'one' } })
  t.equal(await code(check().fetch(url, AUTH)), 'no error')
  t.strictSame(
    requests.map(({ body }) => new URLSearchParams(body).get('refresh_token')),
    ['one', 'one'],
  )
})

/** A token endpoint that gives these answers, the last one again and again. */
async function tokenEndpoint(t: Test, answers: readonly RequestListener[]) {
  const requests: { url: string; body: string; authorization: string | undefined }[] = []
  const host = await serve(t, async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    requests.push({ url: request.url!, body, authorization: request.headers.authorization })
    answers[Math.min(requests.length, answers.length) - 1]!(request, response)
  })
  return { host, requests }
}

t.test('a token endpoint says what it likes, and no answer of it is the destination’s', async (t) => {
  const authorizations: (string | undefined)[] = []
  const place = await serve(t, (request, response) => {
    authorizations.push(request.headers.authorization)
    response.end()
  })
  const elsewhere = await tokenEndpoint(t, [(_, response) => void response.end('{"access_token":"t0ken"}')])
  const answers: readonly [RequestListener, string][] = [
    [
      (_, response) => void response.writeHead(302, { location: `http://${elsewhere.host}/` }).end(),
      'unexpected_response',
    ],
    [(_, response) => void response.writeHead(404).end(), 'misconfigured'],
    [(_, response) => void response.writeHead(400).end('{"error":"invalid_scope"}'), 'misconfigured'],
    [(_, response) => void response.writeHead(403).end(), 'forbidden'],
    [(_, response) => void response.end('x'.repeat(10_000_000)), 'too_large'],
    [(_, response) => void response.end('[]'), 'unexpected_response'],
    [(_, response) => void response.end('{"access_token":{"a":1}}'), 'unexpected_response'],
    [(_, response) => void response.end('{"access_token":"a\\r\\nx: y"}'), 'unexpected_response'],
    [(_, response) => void response.end('{"access_token":"a","token_type":"mac"}'), 'unexpected_response'],
    [(_, response) => void response.end(JSON.stringify({ access_token: 'x'.repeat(20_000) })), 'unexpected_response'],
  ]
  for (const [answer, expected] of answers) {
    const { host } = await tokenEndpoint(t, [answer])
    const check = through(t, { url: `http://${place}`, host, account: BY_SECRET, options: CLIENT })
    const error = await check()
      .fetch(`http://${place}`, AUTH)
      .then(
        () => undefined,
        (thrown: { readonly code: string; readonly status?: number }) => thrown,
      )
    t.equal(error?.code, expected)
    t.equal(error?.status, undefined)
  }
  t.strictSame(authorizations, [])
  t.equal(elsewhere.requests.length, 0)
})

t.test('a life that is absurd is bounded', async (t) => {
  const url = `http://${await serve(t, (_, response) => void response.end())}`
  for (const [life, afterMs, asks] of [
    ['1e308', 23 * 3600_000, 1],
    ['1e308', 24 * 3600_000, 2],
    ['-5', 4000, 1],
    ['-5', 6000, 2],
    ['"3600"', 3500_000, 1],
    ['"soon"', 200_000, 1],
    ['"soon"', 300_000, 2],
    ['null', 300_000, 2],
    ['{}', 300_000, 2],
  ] as const) {
    const { host, requests } = await tokenEndpoint(t, [
      (_, response) => void response.end(`{"access_token":"t0ken","expires_in":${life}}`),
    ])
    let now = Date.now()
    const check = through(t, { url, host, account: BY_SECRET, options: CLIENT, now: () => now })
    await check().fetch(url, AUTH)
    now += afterMs
    await check().fetch(url, AUTH)
    t.equal(requests.length, asks, `${life} after ${afterMs} ms`)
  }
})

t.test('a plugin has no say in the token request', async (t) => {
  const { host, requests } = await tokenEndpoint(t, [(_, response) => void response.end('{"access_token":"t0ken"}')])
  const url = `http://${await serve(t, (_, response) => void response.end())}`
  const account = { ...BY_SECRET, scope: 'read from {option.token_host}' }
  const check = through(t, { url, host, account, options: CLIENT })
  const asked = {
    scheme: 'credential',
    name: 'account',
    scope: 'admin',
    tokenUrl: url,
    grant: 'x',
  } as const
  const inHeaders = { 'x-scope': 'admin', 'content-type': 'text/plain' }
  await check().fetch(`${url}/?scope=admin`, { auth: asked, headers: inHeaders })
  t.strictSame(requests, [
    {
      url: '/token',
      body: `grant_type=client_credentials&scope=read+from+${encodeURIComponent(host)}`,
      authorization: requests[0]!.authorization,
    },
  ])
  t.equal(await code(check().fetch(url, { ...AUTH, headers: { authorization: 'Bearer x' } })), 'breach')
  t.equal(await code(check().fetch(url, { auth: { scheme: 'bearer', token: 'secret:secret' } })), 'breach')
  t.equal(await code(check().fetch(url, { auth: credential('other') })), 'breach')
  t.equal(requests.length, 1)
})

t.test('a token endpoint that the manifest does not name gets nothing', async (t) => {
  const { host, requests } = await tokenEndpoint(t, [(_, response) => void response.end('{"access_token":"t0ken"}')])
  const url = `http://${await serve(t, (_, response) => void response.end())}`
  const check = spendingAt(t, {
    url,
    credentials: { account: { scheme: 'oauth2', tokenUrl: TOKEN_URL, ...BY_SECRET } as Credential },
    options: { ...CLIENT, token_host: host },
    secret: ['secret'],
    tokenHosts: ['tokens.example'],
    allowed: [host],
  })
  t.equal(await code(check().fetch(url, AUTH)), 'unexpected_response')
  t.equal(requests.length, 0)
})

function assertionIn(body: string): Verified | undefined {
  return verified(new URLSearchParams(body).get('assertion') ?? '')
}

t.test('JWT bearer: service accounts sign what is declared', async (t) => {
  const url = `http://${await serve(t, (_, response) => void response.end())}`
  const scope = 'https://www.googleapis.com/auth/drive.readonly'
  for (const private_key of [KEYS.RS256.pem, KEYS.RS256.older]) {
    const key = JSON.stringify({
      ...{ type: 'service_account', client_email: 'reader@acme.example', private_key_id: 'k1', private_key },
      token_uri: 'http://127.0.0.1:1/stolen',
    })
    const { host, requests } = await tokenEndpoint(t, [(_, response) => void response.end('{"access_token":"t0ken"}')])
    const now = Date.now()
    const account = { grant: 'jwtBearer', privateKey: 'key', scope }
    const check = through(t, { url, host, account, options: { key }, now: () => now })
    const seen = await check().fetch(`${url}/?sub=root`, AUTH)
    t.equal(seen.status, 200)
    const body = new URLSearchParams(requests[0]!.body)
    t.equal(body.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer')
    const found = assertionIn(requests[0]!.body)
    t.strictSame(found?.header, { alg: 'RS256', typ: 'JWT', kid: 'k1' })
    const iat = Math.floor(now / 1000) - 240
    const aud = `http://${host}/token`
    t.match(found?.claims, { iss: 'reader@acme.example', aud, scope, iat, exp: iat + 540, jti: /^[0-9a-f]{32}$/ })
    t.notOk(Object.hasOwn(found!.claims, 'sub'), 'no other account is named')
  }
})

t.test('what is no key of a service account is misconfigured, and is not repeated', async (t) => {
  const { host, requests } = await tokenEndpoint(t, [(_, response) => void response.end('{}')])
  const url = `http://${await serve(t, (_, response) => void response.end())}`
  const empty = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'
  const file = (private_key: unknown) => JSON.stringify({ client_email: 'reader@acme.example', private_key })
  const pems = [empty, KEYS.RS256.pem.replaceAll('A', '!'), longKey(8192), KEYS.ES256.pem, KEYS.ES256.older]
  const files = ['s3cret', '{}', KEYS.RS256.pem, JSON.stringify({ private_key: KEYS.RS256.pem }), file(5)]
  for (const key of [...files, ...pems.map(file)]) {
    const account = { grant: 'jwtBearer', privateKey: 'key' }
    const check = through(t, { url, host, account, options: { key } })
    t.equal(await code(check().fetch(url, AUTH)), 'misconfigured')
  }
  t.equal(requests.length, 0)
})

t.test('a declaration that cannot work keeps the plugin from loading', async (t) => {
  const options = Type.Object({
    id: Type.String(),
    secret: secret({ description: 'A secret.' }),
    refresh_token: secret({ description: 'A token.' }),
  })
  const base = { scheme: 'oauth2', tokenUrl: 'https://tokens.example/token' }
  const bySecret = { ...base, ...BY_SECRET }
  const byRefresh = { ...base, ...BY_REFRESH }
  const byApp = {
    ...{ scheme: 'oauth2', grant: 'githubApp', apiUrl: 'https://api.github.com' },
    ...{ appId: 'id', installationId: 'id', privateKey: 'secret' },
  }
  const rows: readonly [Record<string, object>, RegExp | undefined][] = [
    [{ a: bySecret, b: byRefresh }, undefined],
    [{ a: base }, /^a: oauth2.*grant/],
    [{ a: { ...base, grant: 'password' } }, /^a: oauth2\/grant /],
    [{ a: { ...base, grant: 'clientCredentials' } }, /^a: oauth2 .*clientId/],
    [{ a: { ...bySecret, scopes: 'x' } }, /^a: oauth2\/scopes /],
    [{ a: { ...bySecret, clientSecret: 'id' } }, /the option id is not a secret/],
    [{ a: { ...bySecret, clientSecret: undefined } }, /^a: oauth2.*clientSecret/],
    [{ a: { ...bySecret, privateKey: 'secret' } }, /^a: oauth2\/privateKey /],
    [{ a: { ...byRefresh, clientSecret: undefined, authentication: 'post' } }, /authentication needs a clientSecret/],
    [{ a: { ...bySecret, scope: '{option.secret}' } }, /the option secret is a secret/],
    [{ a: { ...bySecret, scope: '{host}' } }, /names \{host\}/],
    [{ a: byRefresh, b: { ...byRefresh, scope: 'x' } }, /refresh_token is the refresh token of another one/],
    [{ a: { ...byApp, permissions: { contents: 'read' } } }, undefined],
    [{ a: { ...byApp, permissions: { contents: 'write' } } }, /^a: oauth2\/permissions\/contents /],
    [{ a: { ...byApp, permissions: {} } }, /^a: oauth2\/permissions /],
    [{ a: byApp }, /^a: oauth2 .*permissions/],
  ]
  for (const [credentials, problem] of rows) {
    const found = credentialProblems({ credentials: credentials as Record<string, Credential>, options })
    if (problem) t.match(found[0], problem)
    else t.strictSame(found, [])
  }
})
