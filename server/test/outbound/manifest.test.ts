// Test run: every-node
/** What a manifest allows a plugin's checks to ask, and what no manifest allows. Threat P2 of `security.md`. */
import { grantOf, type SocketGrant } from '@claimcheck/core/hosting'
import { basic, bearer, header } from '@claimcheck/core/plugin'
import type { CheckGuard } from '@claimcheck/server/outbound/outbound'
import t, { type Test } from 'tap'
import { code, guardOf, mailboxAt, outboundTo, resolveTo, serve } from '../support/loopback.ts'

interface Asked {
  readonly typed?: Readonly<Record<string, unknown>>
  readonly hasSecrets: boolean
}
const NAMED: Asked = { hasSecrets: false }
const NAMED_WITH_SECRETS: Asked = { hasSecrets: true }
const typed = (url: unknown): Asked => ({ typed: { url }, hasSecrets: true })

const IMAP: SocketGrant = { port: 'connection', tls: true, protocol: 'imap', commands: ['EXAMINE'] }

const grants: [entry: string, origin: string, asked: Asked, expected?: string][] = [
  ['api.example.com', 'https://api.example.com', NAMED, 'named'],
  ['api.example.com', 'https://api.example.com', NAMED_WITH_SECRETS, 'named'],
  ['api.example.com', 'https://api.example.com.', NAMED],
  ['api.example.com', 'https://api.example.com.evil.example', NAMED],
  ['api.example.com', 'https://evil-api.example.com', NAMED],
  ['api.example.com', 'https://api.example.com:8443', NAMED],
  ['api.example.com:8443', 'https://api.example.com:8443', NAMED, 'named'],
  ['api.example.com:443', 'https://api.example.com', NAMED, 'named'],
  ['api.example.com:80', 'https://api.example.com', NAMED],
  ['api.example.com', 'tls://api.example.com:993', NAMED, 'named'],
  ['api.example.com:143', 'tls://api.example.com:993', NAMED],
  ['*.example.com', 'https://a.example.com', NAMED, 'named'],
  ['*.example.com', 'https://a.b.example.com', NAMED, 'named'],
  ['*.example.com', 'https://example.com', NAMED],
  ['*.example.com', 'https://evilexample.com', NAMED],
  ['*.example.com:8443', 'https://a.example.com', NAMED],
  ['*.0.1', 'https://127.0.0.1', NAMED],
  ['[::1]:8080', 'http://[::1]:8080', NAMED, 'named'],
  ['connection.url', 'https://typed.example', typed('https://typed.example'), 'connection'],
  ['connection.url', 'https://typed.example', typed('https://Typed.example:443/api/'), 'connection'],
  ['connection.url', 'https://typed.example', typed('typed.example'), 'connection'],
  ['connection.url', 'https://typed.example:8443', typed('typed.example:8443'), 'connection'],
  ['connection.url', 'tls://typed.example:993', typed('typed.example'), 'connection'],
  ['connection.url', 'tls://typed.example:993', typed('tls://typed.example:993'), 'connection'],
  ['connection.url', 'tls://typed.example:1993', typed('tls://typed.example:1993'), 'connection'],
  ['connection.url', 'tls://typed.example:1993', typed('typed.example:1993'), 'connection'],
  ['connection.url', 'tls://typed.example:1994', typed('typed.example:1993')],
  ['connection.url', 'tls://typed.example:1993', typed('https://typed.example:1993')],
  ['connection.url', 'https://typed.example:8443', typed('https://typed.example')],
  ['connection.url', 'http://typed.example', typed('https://typed.example')],
  ['connection.url', 'http://typed.example', typed('typed.example')],
  ['connection.url', 'tls://typed.example:143', typed('typed.example')],
  ['connection.url', 'tcp://typed.example:993', typed('tls://typed.example:993')],
  ['connection.url', 'https://a.typed.example', typed('https://typed.example')],
  ['connection.url', 'https://typed.example', typed('https://typed.example@other.example')],
  ['connection.url', 'https://typed.example', typed(['https://typed.example'])],
  ['connection.url', 'https://typed.example', typed(undefined)],
  ['connection.other', 'https://typed.example', typed('https://typed.example')],
  ['connection.constructor', 'https://typed.example', typed('https://typed.example')],
  ['connection', 'https://typed.example', typed('https://typed.example')],
  ['connection.url', 'https://anything.example', NAMED],
  ['connection.url', 'https://anything.example', NAMED_WITH_SECRETS],
  ['target', 'https://anything.example', NAMED, 'target'],
  ['target', 'https://anything.example', NAMED_WITH_SECRETS],
  ['target', 'https://typed.example', typed('https://typed.example')],
]
for (const [entry, origin, asked, expected] of grants) {
  const { typed, hasSecrets } = asked
  const where = typed ? `where a workspace typed ${typed.url}` : 'as a place that the plugin names'
  t.test(
    `${entry} ${expected ? 'allows' : 'does not allow'} ${origin} ${where}${hasSecrets ? ', with credentials' : ''}`,
    async (t) => {
      const sockets: readonly SocketGrant[] = [mailboxAt(993, true), IMAP]
      t.equal(grantOf({ hosts: [entry], sockets }, { origin, typed, hasSecrets }), expected)
    },
  )
}

t.test('a host that the manifest does not declare is not asked, and the check remembers who asked', async (t) => {
  const host = await serve(t, () => t.fail('it was reached'))
  const reach = { hosts: ['api.example.com', '*.example.org', 'target'], mayReveal: false }
  const secrets = new Map([['secret:token', 's3cret-token']])
  const guard = guardOf(`http://${host}`, { reach, secrets })
  const { fetch, resolve, connect, breach } = outboundTo(t, [host]).forCheck(guard)
  t.equal(breach(), undefined)
  t.equal(await code(fetch(`http://${host}/`)), 'breach')
  t.match(breach()?.message, host)
  t.equal(await code(resolve(`http://${host}/`)), 'breach')
  t.equal(await code(connect(`tcp://${host}`)), 'breach')
})

t.test('a place that a claim names has to be public, whatever the operator allows to connections', async (t) => {
  const host = await serve(t, () => t.fail('it was reached'))
  const port = host.split(':')[1]
  const reach = { hosts: ['target'], sockets: [mailboxAt(Number(port), true)], mayReveal: false }
  const outbound = outboundTo(t, [host, 'inner.example'], { resolver: resolveTo('127.0.0.1') })
  for (const origin of [`http://${host}`, `https://inner.example:${port}`, `tls://inner.example:${port}`]) {
    const check = outbound.forCheck(guardOf(origin, { reach, connected: undefined }))
    const asked = origin.startsWith('tls') ? check.connect(origin) : check.fetch(`${origin}/`)
    t.equal(await code(asked), 'unavailable', origin)
    t.equal(check.breach(), undefined, 'the claim is to blame, and not the plugin')
  }
})

t.test('an address that leads elsewhere than it is written is not asked', async (t) => {
  const seen: string[] = []
  const host = await serve(t, (request, response) => {
    seen.push(request.url!)
    response.end('{}')
  })
  const { fetch, digest, breach } = outboundTo(t, [host]).forCheck(guardOf(`http://${host}`))
  const elsewhere = [
    '/a/../b',
    '/a/%2e%2E/b',
    '/a/./b',
    '/a/.%2e',
    '/a/x%2F..%2Fb',
    '/a/%2e%2e%2fb',
    '/a/x%5c..%5Cb',
    '/a/%2F.',
    '/a/x/..;/b',
    '/a/x/.;y=1/b',
    '/..',
    '/a/x\\..\\b',
    '/a\\b',
    '/a#b',
    '/a\n/b',
    '/a\t',
    '/a ',
  ]
  for (const path of elsewhere) {
    t.equal(await code(fetch(`http://${host}${path}`)), 'ambiguous_claim', JSON.stringify(path))
    t.equal(await code(digest(`http://${host}${path}`, { algorithms: ['sha256'] })), 'ambiguous_claim')
  }
  t.strictSame(seen, [])
  t.equal(breach(), undefined, 'the claim is to blame, and not the plugin')
  const usual = [
    '/a/..b/c',
    '/a/b../...',
    '/.well-known/x',
    '/a/x%2Fy.%2Fb',
    '/a;..b/c',
    '/a b/c',
    '/a?x=../b&y=.',
    '/a//b',
  ]
  for (const path of usual) t.equal(await code(fetch(`http://${host}${path}`)), 'no error', path)
  t.strictSame(
    seen,
    usual.map((path) => path.replace(' ', '%20')),
  )
})

const QUERY = 'query Issue($id: ID!) { issue(id: $id) { state } }'
const CALLS = { jsonRpc: ['eth_getTransactionReceipt'], graphql: [QUERY] }

/** A server that tells what it got, and a check that may send calls to it. */
async function calling(t: Test, over: Partial<CheckGuard> = {}, methods: object = CALLS) {
  const seen: { method?: string; url?: string; headers: Record<string, unknown>; body: string }[] = []
  const host = await serve(t, async (request, response) => {
    const { method, url, headers } = request
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push({ method: method!, url: url!, headers, body })
    if (url === '/moved') response.writeHead(307, { location: '/' })
    response.end('{}')
  })
  const reach = { hosts: ['connection.url'], methods, mayReveal: false }
  const check = outboundTo(t, [host]).forCheck(guardOf(`http://${host}`, { reach, ...over }))
  return { check, url: `http://${host}`, seen }
}

t.test('a declared method of JSON-RPC is sent in a body that the host writes', async (t) => {
  const secrets = new Map([['secret:token', 's3cret-token']])
  const { check, url, seen } = await calling(t, { secrets })
  const call = { jsonRpc: 'eth_getTransactionReceipt', params: ['0x1","method":"eth_sendTransaction'] }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  t.equal((await check.fetch(url, { call, headers, auth: bearer('secret:token') })).status, 200)
  const [request] = seen
  t.match(request, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer s3cret-token' },
  })
  t.strictSame(JSON.parse(request!.body), { jsonrpc: '2.0', id: 1, method: call.jsonRpc, params: call.params })
})

t.test('a declared query of GraphQL is sent with its variables', async (t) => {
  const { check, url, seen } = await calling(t, {}, { ...CALLS, paths: ['/graphql'] })
  await check.fetch(`${url}/graphql`, { call: { graphql: QUERY, variables: { id: '7' } } })
  t.strictSame(JSON.parse(seen[0]!.body), { query: QUERY, variables: { id: '7' } })
})

const issue = { graphql: QUERY, variables: {} }
const undeclared: [name: string, path: string, init: object, methods?: object | null][] = [
  ['another method', '/', { call: { jsonRpc: 'eth_sendTransaction', params: [] } }],
  ['a method that is a list', '/', { call: { jsonRpc: ['eth_getTransactionReceipt'], params: [] } }],
  ['another query', '/', { call: { graphql: 'mutation { close }', variables: {} } }],
  ['a query with a space more', '/', { call: { graphql: `${QUERY} `, variables: {} } }],
  ['a call without any declaration', '/', { call: issue }, null],
  ['a call of no kind', '/', { call: {} }],
  ['a call at another path', '/repos/a/b/forks', { call: issue }],
  ['a call with another method in its query', '/?_method=DELETE', { call: issue }],
  [
    'a call at the base address, where the manifest lists paths',
    '/',
    { call: issue },
    { ...CALLS, paths: ['/graphql'] },
  ],
  ['a call with PUT', '/', { call: issue, method: 'PUT' }],
  ['a call that is too large', '/', { call: { ...issue, variables: { id: 'x'.repeat(70_000) } } }],
  ['POST without a call', '/', { method: 'POST' }],
  ['DELETE', '/', { method: 'DELETE' }],
]
for (const [name, path, init, methods = CALLS] of undeclared) {
  t.test(`${name} is not sent`, async (t) => {
    const { check, url, seen } = await calling(t, {}, methods ?? {})
    t.equal(await code(check.fetch(url + path, init)), 'breach')
    t.strictSame(seen, [])
    t.ok(check.breach())
  })
}

t.test('a call is sent to the path of the base address, and counts as a request', async (t) => {
  const first = await calling(t)
  const baseUrl = `${first.url}/rpc/v1?key=7`
  const guard = {
    baseUrl,
    reach: { hosts: ['connection.url'], methods: CALLS, mayReveal: false },
    limits: { requests: 2 },
  }
  const check = outboundTo(t, [new URL(first.url).host]).forCheck(guardOf(first.url, guard))
  const call = { jsonRpc: 'eth_getTransactionReceipt', params: [] }
  t.equal(await code(check.fetch(baseUrl, { call })), 'no error')
  t.equal(await code(check.fetch(first.url)), 'no error')
  t.equal(await code(check.fetch(baseUrl, { call })), 'unavailable')
  t.equal(first.seen[0]?.url, '/rpc/v1?key=7')
})

t.test('a redirect of a call is not followed', async (t) => {
  const { check, url, seen } = await calling(t, {}, { ...CALLS, paths: ['/moved'] })
  t.equal(await code(check.fetch(`${url}/moved`, { call: issue })), 'unexpected_response')
  t.equal(seen.length, 1)
})

const HEADERS = [
  ['connection', 'close'],
  ['Transfer-Encoding', 'chunked'],
  ['content-length', '5'],
  ['Host', 'other.example'],
  ['cookie', 'session=1'],
  ['TE', 'trailers'],
  ['upgrade', 'h2c'],
  ['proxy-authorization', 'Basic eDp5'],
  ['x-http-method-override', 'DELETE'],
  ['X-Forwarded-Host', 'other.example'],
  ['X-Original-URL', '/admin'],
  ['expect', '100-continue'],
] as const
for (const [name, value] of HEADERS) {
  t.test(`a plugin sets no header ${name}, neither itself nor as a credential`, async (t) => {
    const secrets = new Map([['secret:token', value]])
    const { check, url, seen } = await calling(t, { secrets })
    t.equal(await code(check.fetch(url, { headers: { [name]: value } })), 'breach')
    t.equal(await code(check.fetch(url, { auth: header(name, 'secret:token') })), 'breach')
    t.strictSame(seen, [])
  })
}

t.test('a header that is no header, or stands there twice, is not sent', async (t) => {
  const secrets = new Map([['secret:token', 's3cret-token']])
  const { check, url, seen } = await calling(t, { secrets })
  const auth = bearer('secret:token')
  for (const init of [
    { headers: { 'a b': 'c' } },
    { headers: { a: 'b\r\nc: d' } },
    { headers: { 'a: b\r\nc': 'd' } },
    { headers: { Accept: 'a', accept: 'b' } },
    { headers: { Authorization: 'Bearer mine' }, auth },
    { auth: header('a b', 'secret:token') },
    { auth: header('x-token', 'secret:token', 'a\r\nb: ') },
    { auth: bearer('secret:other') },
    { auth: bearer('s3cret-token') },
    { auth: { scheme: 'digest' } },
  ]) {
    const result = await code(check.fetch(url, init as object))
    t.match(result, /^(breach|misconfigured)$/, JSON.stringify(init))
  }
  t.strictSame(seen, [])
})

t.test('a credential is put in where its handle stands, and by its scheme', async (t) => {
  const secrets = new Map([['secret:token', 's3cret-token']])
  const { check, url, seen } = await calling(t, { secrets })
  await check.fetch(url, { auth: header('PRIVATE-TOKEN', 'secret:token'), headers: { accept: 'secret:token' } })
  t.match(seen[0]?.headers, { 'private-token': 's3cret-token', accept: 'secret:token' })
  await check.fetch(url, { auth: basic('x', 'secret:token') })
  t.equal(seen[1]?.headers.authorization, `Basic ${Buffer.from('x:s3cret-token').toString('base64')}`)
})
