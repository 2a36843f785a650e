// Test run: slow
/**
 * Every answer says how browsers may use it, whatever was asked and whoever answers: routes, refusals, redirects, files, the parser of HTTP.
 * Threat S2 of `security.md`.
 */
import { request as send } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { OAUTH } from '../support/application.ts'
import { Installation, NO_QUOTAS } from '../support/installation.ts'
import { servedRoutes } from '../support/served-routes.ts'
import { Visitor } from '../support/visitor.ts'

const SECRET = 'a-token-of-metrics'
const FILE = { oauth: OAUTH, security_contact: 'mailto:a@example.com', quotas: NO_QUOTAS }

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** @param path as it is sent */
async function ask(url: string, method: string, path: string, headers: Headers = {}, body?: string): Promise<Answered> {
  const { hostname, port } = new URL(url)
  const request = send({ hostname, port, method, path, headers: headers as Record<string, string>, agent: false })
  const answered = new Promise<Answered>((resolve, reject) => {
    request.on('error', reject).on('response', async (response) => {
      const body = await text(response)
      resolve({ status: response.statusCode!, headers: response.headers, body })
    })
  })
  request.end(body)
  return answered
}

/** The raw answer of what no client sends. */
async function exchange(url: string, bytes: string): Promise<Answered> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.end(Buffer.from(bytes, 'latin1'))
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const pairs = lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])
  return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(pairs), body }
}

function holds(t: Test, { status, headers, body }: Answered, what: string, shared = false): void {
  const type = String(headers['content-type'])
  // JSON is UTF-8 by itself.
  if (body !== '') t.match(type, /^application\/json|; charset=utf-8$/, `${what}: ${status}`)
  const policy = String(headers['content-security-policy'])
  const is = {
    policy:
      /^default-src 'none'/.test(policy) && /frame-ancestors 'none'/.test(policy) && /base-uri 'none'/.test(policy),
    resource: headers['cross-origin-resource-policy'],
    permissions: headers['permissions-policy']?.includes('camera=()'),
    sniffing: headers['x-content-type-options'],
    referrer: /^(?:no-referrer|same-origin)$/.test(String(headers['referrer-policy'])),
  }
  const resource = shared ? 'cross-origin' : 'same-origin'
  t.strictSame(
    is,
    { policy: true, resource, permissions: true, sniffing: 'nosniff', referrer: true },
    `${what}: ${status}`,
  )
}

const SHARED = /^\/(?:v1\/(?:receipts|log)\/|\.well-known\/poaw-keys\.json$|r\/.*\.(?:svg|json)$)/

t.test('each route answers with them: to everybody, to a key, to an owner, and to nonsense', async (t) => {
  const installation = await Installation.during(t, { file: FILE, env: { METRICS_TOKEN: SECRET }, inProcess: true })
  const { url, host } = installation
  const owner = await Visitor.first(host)
  const client = await installation.client('headers')
  const decided = await client.decided((await client.submit()).body.claim_id)
  const cookie = [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const values: Readonly<Record<string, string>> = {
    workspace: await owner.workspaceId(),
    claim_id: decided.claim_id,
    receipt_id: decided.receipt_id,
    file: `${decided.receipt_id}.svg`,
    index: '0',
  }
  const kinds: Readonly<Record<string, Headers>> = {
    anyone: {},
    // Events come as a stream otherwise.
    'a key': { authorization: `Bearer ${client.key}`, accept: 'application/json' },
    'a key on the page of another site': {
      authorization: `Bearer ${client.key}`,
      accept: 'application/json',
      origin: 'null',
    },
    'who reads metrics': { authorization: `Bearer ${SECRET}` },
    'an owner': { cookie, origin: host.url },
    nonsense: { cookie: 'claimcheck=x', authorization: 'Basic x', 'content-type': 'text/x', origin: 'null' },
  }
  const statuses = new Map<number, number>()
  const routes = servedRoutes()
  for (const { method, url: route } of routes) {
    for (const [kind, headers] of Object.entries(kinds)) {
      for (const filled of [
        route.replace(/:(\w+)/g, (_, name) => values[name] ?? 'x'),
        route.replace(/:\w+/g, 'x%0a'),
      ]) {
        const path = filled.replace('*', 'x')
        const answered = await ask(url, method, path, headers, method === 'POST' ? '{}' : undefined)
        holds(t, answered, `${method} ${path} by ${kind}`, SHARED.test(path))
        statuses.set(answered.status, (statuses.get(answered.status) ?? 0) + 1)
      }
    }
  }
  t.ok(routes.length > 100, `${routes.length} routes`)
  for (const status of [200, 303, 400, 401, 403, 404, 415, 422]) t.ok(statuses.get(status), `some answered ${status}`)
})

t.test('so do answers that reach no route', async (t) => {
  const { url } = await Installation.during(t, { file: FILE })
  const page = await (await fetch(`${url}/console/sign-in`)).text()
  const assets = [...page.matchAll(/(?:href|src)="(\/[^"]*assets\/[^"]+)"/g)].map(([, path]) => path!)
  t.ok(assets.length > 1, 'a page loads files')
  for (const path of assets) holds(t, await ask(url, 'GET', path), path)

  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const json = { 'content-type': 'application/json' }
  const rows: readonly [status: number, method: string, path: string, headers?: Headers, body?: string][] = [
    [404, 'GET', '/nowhere'],
    [404, 'GET', '/v1/nowhere'],
    [404, 'GET', '/v1/%c0%af'],
    [404, 'GET', `/${'x'.repeat(9000)}`],
    [404, 'GET', '/console/nowhere'],
    [405, 'DELETE', '/v1/claims'],
    [405, 'PUT', '/v1/log/head'],
    [404, 'TRACE', '/'],
    [204, 'OPTIONS', '/v1/claims', { origin: 'https://a.example', 'access-control-request-method': 'GET' }],
    [400, 'GET', '/healthz', { 'transfer-encoding': 'x, chunked' }],
    [417, 'POST', '/v1/claims', { ...json, expect: 'x' }, '{}'],
    [401, 'POST', '/v1/claims', json, '{'],
    [413, 'POST', '/console/sign-in', form, `a=${'x'.repeat(2_000_000)}`],
    [415, 'POST', '/console/sign-in', { 'content-type': 'text/x' }, 'x'],
  ]
  for (const [status, method, path, headers, body] of rows) {
    const answered = await ask(url, method, path, headers, body)
    const what = `${method} ${path.slice(0, 60)} ${JSON.stringify(headers ?? {})}`
    holds(t, answered, what, SHARED.test(path))
    t.equal(answered.status, status, what)
  }
  const raw: readonly [status: number, bytes: string][] = [
    [400, 'x\r\n\r\n'],
    [400, 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    [431, `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
  ]
  for (const [status, bytes] of raw) {
    const answered = await exchange(url, bytes)
    holds(t, answered, bytes.slice(0, 40))
    t.equal(answered.status, status, bytes.slice(0, 40))
  }
})

t.test('so do answers to a network that asks for too much', async (t) => {
  const { url } = await Installation.during(t, { file: { ...FILE, rate_limits: { network: 10 } } })
  const many = await Promise.all(Array.from({ length: 8 }, () => ask(url, 'GET', '/v1/log/head')))
  const refused = many.find(({ status }) => status === 429)
  t.ok(refused, 'one was too many')
  holds(t, refused!, 'too many', true)
})

t.test('a fault of the service has them, too', async (t) => {
  const installation = await Installation.during(t, { inProcess: true })
  const { database } = installation
  // What every answer about claims needs.
  const client = await installation.client('faulty')
  const { storage } = installation.claimcheck
  await storage.close()
  const answered = await ask(installation.url, 'GET', '/v1/claims', { authorization: `Bearer ${client.key}` })
  t.ok(answered.status >= 500, `${answered.status}, ${database.dialect}`)
  holds(t, answered, 'a fault')
})

t.test('behind https, all hosts of the name are for https alone, for a year', async (t) => {
  const installation = await Installation.during(t, {
    file: FILE,
    env: { PUBLIC_URL: 'https://claimcheck.example.com' },
  })
  for (const path of ['/', '/nowhere', '/v1/log/head', '/v1/claims', '/v1/%c0%af']) {
    const { headers } = await ask(installation.url, 'GET', path, { host: 'claimcheck.example.com' })
    t.equal(headers['strict-transport-security'], 'max-age=31536000; includeSubDomains', path)
  }
  for (const path of ['/docs/../package.json', '/docs/%2e%2e%2fpackage.json', '/docs/..%5cpackage.json']) {
    t.equal((await ask(installation.url, 'GET', path)).status, 404, `${path} leads to no file`)
  }
})

t.test('what is saved as a file says so', async (t) => {
  const installation = await Installation.during(t, { file: FILE })
  const owner = await Visitor.first(installation.host)
  const workspace = await owner.workspaceId()
  await owner.get('/console/account')
  const claims = await owner.once(`/console/w/${workspace}/claims/export`, {
    method: 'POST',
    body: new URLSearchParams({ _csrf: owner.csrf!, format: 'csv' }),
    headers: { origin: installation.url },
  })
  t.match(claims.headers.get('content-disposition'), /^attachment; filename="[\w.-]+"$/)
  t.equal(claims.headers.get('x-content-type-options'), 'nosniff')
})
