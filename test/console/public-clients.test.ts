/**
 * What public clients of MCP and OAuth send, from discovery to refresh, as their sources say it: `public-clients.json` holds the requests.
 */
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t, { type Test as TapTest } from 'tap'
import { type Fields, ledTo, post, whoami } from '../support/application.ts'
import { type Answer, type Host, Installation } from '../support/installation.ts'
import { post as toMcp } from '../support/mcp.ts'
import { Visitor } from '../support/visitor.ts'

type Method = 'none' | 'client_secret_post' | 'client_secret_basic'

/** In braces stands what differs from one sign-in to another. */
interface PublicClient {
  readonly client: string
  readonly version: string
  readonly sources: readonly string[]
  readonly note?: string
  /** Paths in the order in which it asks for them, until one answers. */
  readonly discovery: readonly string[]
  /** Absent: people configure it, with these addresses. */
  readonly registration?: Readonly<Record<string, unknown>>
  readonly redirectUris?: readonly string[]
  readonly authorize: Fields
  readonly token: Fields
  readonly refresh: Fields
  /** How it authenticates, in the order in which it tries. */
  readonly authentication: readonly Method[]
  readonly discoveryBeforeRefresh?: readonly string[]
  readonly granted: string
}

interface Registered {
  readonly client_id: string
  readonly client_secret?: string
}

const CLIENTS = JSON.parse(readFileSync('test/console/public-clients.json', 'utf8')) as readonly PublicClient[]
const configured = CLIENTS.filter(({ registration }) => registration === undefined)
const SECRET = 's'.repeat(40)
const OAUTH = {
  dynamic_registration: true,
  clients: configured.map(({ client, redirectUris, authentication }) => ({
    client_id: idOf(client),
    client_name: client,
    redirect_uris: redirectUris,
    ...(authentication.includes('none') ? {} : { client_secret: SECRET }),
  })),
}

/** As a user of a client that cannot register writes it into the configuration. */
function idOf(client: string): string {
  return client.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}

t.test('public clients', async (t) => {
  const { host } = await Installation.during(t, {
    file: { oauth: OAUTH, rate_limits: { network: 0, refusals: 0 } },
  })
  const owner = await Visitor.owner(host)
  t.ok(new Set(CLIENTS.map(({ client }) => client.split(',')[0])).size >= 10)
  for (const client of CLIENTS) {
    await t.test(`${client.client} ${client.version}`, async (t) => {
      t.ok(client.sources.every((source) => source.startsWith('https://github.com/')))
      const { endpoints, fill } = await discovered(host, client)
      t.equal(endpoints.issuer, host.url)
      const registered = await register(t, host, client)
      const port = 49152 + Math.floor(Math.random() * 10_000)
      const verifier = randomBytes(32).toString('base64url')
      const values: Record<string, string> = {
        port: String(port),
        client_id: registered.client_id,
        state: randomBytes(16).toString('hex'),
        verifier,
        challenge: createHash('sha256').update(verifier).digest('base64url'),
      }
      const ask = fill(client.authorize, values)
      const back = await allowed(owner, new URL(`${endpoints.authorization_endpoint}?${new URLSearchParams(ask)}`))
      t.ok(`${back}`.startsWith(ask.redirect_uri!), 'it is led back to the address that it named')
      t.equal(back.searchParams.get('state') ?? undefined, ask.state)
      t.equal(back.searchParams.get('iss'), host.url)

      values.code = back.searchParams.get('code')!
      const tokens = await authenticated(host, client, registered, fill(client.token, values))
      t.match(tokens, { status: 200, body: { token_type: 'Bearer', expires_in: 3600, scope: client.granted } })
      t.notOk('id_token' in tokens.body)
      const audience = `${host.url}/mcp`
      t.match(await whoami(host, tokens.body.access_token), { status: 200, body: { audience } })

      for (const path of client.discoveryBeforeRefresh ?? []) t.equal((await host.request(path)).status, 200, path)
      values.refresh_token = tokens.body.refresh_token
      const refresh = () => authenticated(host, client, registered, fill(client.refresh, values))
      const [refreshed, again] = [await refresh(), await refresh()]
      t.match(refreshed, { status: 200, body: { scope: client.granted } })
      t.strictSame(again.body, refreshed.body, 'and so is a second process of it')
      t.match(await whoami(host, refreshed.body.access_token), { status: 200, body: { audience } })
    })
  }
})

t.test('what clients look for, and is not there, is not found, whoever asks', async (t) => {
  const { host } = await Installation.during(t, { file: { oauth: OAUTH } })
  const headers = { origin: 'http://localhost:6274' }
  const at = (path: string) => host.request(path, { headers })
  for (const path of ['oauth-authorization-server', 'openid-configuration']) {
    const { status, body, headers } = await at(`/.well-known/${path}`)
    t.equal(status, 200)
    t.equal(headers.get('access-control-allow-origin'), '*')
    t.match(headers.get('content-type'), /^application\/json/)
    t.strictSame((await at(`/.well-known/${path}/mcp`)).body, body, 'the same for the address of the MCP server')
    t.equal((await at(`/.well-known/${path}/other`)).status, 404)
  }
  for (const path of ['/mcp/.well-known/openid-configuration', '/.well-known/oauth-protected-resource/other']) {
    t.equal((await at(path)).status, 404, path)
  }
  const { body } = await at('/.well-known/openid-configuration')
  // OpenID Connect Discovery 1.0, 3: clients refuse a document without one of these.
  for (const member of [
    'issuer',
    'authorization_endpoint',
    'token_endpoint',
    'jwks_uri',
    'response_types_supported',
    'subject_types_supported',
    'id_token_signing_alg_values_supported',
  ]) {
    t.ok(member in body, member)
  }
  t.notOk(body.scopes_supported.includes('openid'))
  t.strictSame((await host.request(new URL(body.jwks_uri).pathname)).body, { keys: [] })
})

/** The endpoints by the documents that the client reads, and what fills its requests. */
async function discovered(host: Host, { discovery, authorize }: PublicClient) {
  let resource = `${host.url}/mcp`
  let endpoints: Record<string, string> = {}
  if (authorize.resource !== undefined) {
    const challenge = (await toMcp(host, {})).headers.get('www-authenticate')!
    const metadata = /resource_metadata="([^"]*)"/.exec(challenge)![1]!
    resource = (await host.request(new URL(metadata).pathname)).body.resource
  }
  // A client that people configure by hand reads nothing.
  for (const path of discovery.length > 0 ? discovery : ['/.well-known/oauth-authorization-server']) {
    const { status, body } = await host.request(path)
    if (status === 200 && body.issuer !== undefined) endpoints = body
  }
  const fill = (fields: Fields, values: Fields) => {
    const all: Fields = { ...values, host: resource.slice(0, -'/mcp'.length) }
    const entries = Object.entries(fields).map(([name, text]) => [name, filled(text, all)] as const)
    return Object.fromEntries(entries) as Record<string, string>
  }
  return { endpoints, fill }
}

function filled(text: string, values: Fields): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`nothing is known for {${name}}`)
    return value
  })
}

/** With another port than the one on which it waits later (RFC 8252 7.3). */
async function register(
  t: TapTest,
  host: Host,
  { client, registration, authentication }: PublicClient,
): Promise<Registered> {
  if (!registration)
    return { client_id: idOf(client), ...(authentication.includes('none') ? {} : { client_secret: SECRET }) }
  const body = filled(JSON.stringify(registration).replaceAll('{port}', '49151'), {})
  const headers = { 'content-type': 'application/json' }
  const answer = await host.request('/oauth/register', { method: 'POST', headers, body })
  t.equal(answer.status, 201, JSON.stringify(answer.body))
  t.strictSame(answer.body.redirect_uris, JSON.parse(body).redirect_uris)
  t.strictSame(answer.body.grant_types, ['authorization_code', 'refresh_token'], 'what it registered, and no more')
  t.strictSame(answer.body.response_types, ['code'])
  for (const absent of ['scope', 'client_uri', 'software_id']) t.notOk(absent in answer.body, absent)
  const { token_endpoint_auth_method: method = 'client_secret_basic' } = registration
  t.equal(answer.body.token_endpoint_auth_method, method)
  t.equal('client_secret' in answer.body, method !== 'none')
  return answer.body
}

/** The person allows it in their browser. */
async function allowed(owner: Visitor, request: URL): Promise<URL> {
  const page = await owner.get(request.pathname + request.search)
  const workspace = /name="workspace" value="([^"]*)"/.exec(page.html)?.[1] ?? ''
  const body = new URLSearchParams({ _csrf: owner.csrf ?? '', decision: 'allow', workspace })
  const decided = await owner.once(page.path, { method: 'POST', body, headers: { origin: owner.host.url } })
  const resume = ledTo(decided)!
  return new URL((await owner.once(resume.pathname + resume.search)).headers.get('location')!)
}

/** Tries the ways of the client until one is accepted. */
async function authenticated(
  host: Host,
  { authentication }: PublicClient,
  { client_id, client_secret = '' }: Registered,
  fields: Fields,
): Promise<Answer> {
  const credentials = [client_id, client_secret].map(encodeURIComponent).join(':')
  const ways: Readonly<Record<Method, () => Promise<Answer>>> = {
    none: () => post(host, '/oauth/token', { ...fields, client_id }),
    client_secret_post: () => post(host, '/oauth/token', { ...fields, client_id, client_secret }),
    client_secret_basic: () =>
      post(host, '/oauth/token', fields, { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
  }
  let answer: Answer | undefined
  for (const method of authentication) {
    answer = await ways[method]()
    if (answer.status === 200) break
  }
  return answer!
}
