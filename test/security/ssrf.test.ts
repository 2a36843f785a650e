// Test run: slow
/**
 * Whoever may name an address to the service reaches nothing of its machine and its network, however the address is written, and wherever it
 * is named: in a connection, a claim, the configuration, and what an application says of itself.
 * Threats W2 and D4 of `security.md`.
 */
import { createRequire } from 'node:module'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { NO_FILTERS } from '@claimcheck/server/storage/webhooks'
import t, { type Test } from 'tap'
import {
  code,
  guardOf,
  listen,
  outboundTo,
  type Resolver,
  resolveTo,
  serve,
} from '../../server/test/support/loopback.ts'
import { afterFile } from '../support/after-file.ts'
import { Application, CLIENT, OAUTH, post } from '../support/application.ts'
import { Client } from '../support/client.ts'
import { commandLine } from '../support/command-line.ts'
import { byExtent, shareOf } from '../support/extent.ts'
import { Installation, SCRIPTED, sharedInstallation } from '../support/installation.ts'
import { textOf, Visitor } from '../support/visitor.ts'
import { ADDRESS_FORMS, LOCAL_NAMES } from './address-forms.ts'

const { resolve } = createRequire(join(process.cwd(), 'package.json'))
const SHIPPED = ['codehost', 'http', 'registry'].map((name) => ({ use: resolve(`@claimcheck/plugin-${name}`) }))

/** Somebody who listens here, and what has arrived. */
async function listener(t: Test) {
  let arrived = 0
  const server = createServer((socket: Socket) => {
    arrived += 1
    socket.destroy()
  })
  const port = Number((await listen(t, server)).split(':')[1])
  return { port, arrived: () => arrived }
}

t.test('who listens here is reached where the operator allows it, so that silence below means something', async (t) => {
  const { port, arrived } = await listener(t)
  const url = `https://127.0.0.1:${port}/`
  const outbound = outboundTo(t, [`127.0.0.1:${port}`])
  t.equal(await code(outbound.request(url, { method: 'GET', headers: {} })), 'unavailable')
  t.equal(arrived(), 1)
})

/** `ambiguous_claim`: the address is read as another one than it is written as. */
const REFUSALS = ['unavailable', 'ambiguous_claim', 'breach']

t.test('no form of a private address is reached by what sends requests', async (t) => {
  const { port, arrived } = await listener(t)
  // Whatever a name server would say of what is no address: it leads here.
  const outbound = outboundTo(t, [], { resolver: resolveTo('127.0.0.1') })
  t.ok(ADDRESS_FORMS.length > 60)
  for (const { what, authority } of ADDRESS_FORMS) {
    for (const scheme of ['https', 'http', 'tls', 'tcp']) {
      const url = `${scheme}://${authority(port)}`
      const own = await code(outbound.request(`${url}/`, { method: 'GET', headers: {} }))
      t.equal(own, 'unavailable', `${what}: a request of the service's own to ${url}`)
      await t.rejects(outbound.addressesOf(url), `${what}: the addresses of ${url}`)
      const check = outbound.forCheck(guardOf('https://good.example'))
      const checked = await code(check.fetch(`${url}/`))
      t.ok(REFUSALS.includes(checked), `${what}: a check of ${url}: ${checked}`)
    }
  }
  t.equal(arrived(), 0)
})

t.test('a check that may read only where it was sent cannot be sent to a private address', async (t) => {
  const { port, arrived } = await listener(t)
  const outbound = outboundTo(t, [], { resolver: resolveTo('127.0.0.1') })
  let tried = 0
  for (const { what, authority } of ADDRESS_FORMS) {
    const url = `https://${authority(port)}/`
    // What is no URL is no origin, either.
    const origin = urlOf(url)?.origin
    if (origin === undefined) continue
    tried += 1
    for (const connected of [{ id: 'conn_1', options: { url: origin } }, undefined]) {
      const reach = { hosts: ['connection.url', 'target'], mayReveal: false }
      const check = outbound.forCheck(guardOf(origin, { reach, connected }))
      for (const asked of [check.fetch(url), check.resolve(url)])
        t.ok(REFUSALS.slice(0, 2).includes(await code(asked)), what)
    }
  }
  t.ok(tried > 40, `${tried} forms`)
  t.equal(arrived(), 0)
})

/** Says the one, and from the second question on the other. */
function changing(first: readonly string[], then: readonly string[]): Resolver {
  let asked = 0
  return (hostname, options, done) => resolveTo(...(asked++ === 0 ? first : then))(hostname, options, done)
}

const CHANGING = 'a public one once, and then this machine'

/** What a name server says. A new one for each name: the last changes its mind. */
const NAME_SERVERS: readonly (readonly [what: string, resolver: () => Resolver])[] = [
  ['this machine', () => resolveTo('127.0.0.1')],
  ['this machine, over IPv6', () => resolveTo('::1')],
  ['a mapped address', () => resolveTo('::ffff:127.0.0.1')],
  ['NAT64', () => resolveTo('64:ff9b::7f00:1')],
  ['metadata', () => resolveTo('169.254.169.254')],
  ['a public one first', () => resolveTo('8.8.8.8', '127.0.0.1')],
  ['a public one last', () => resolveTo('127.0.0.1', '8.8.8.8')],
  ['nothing', () => resolveTo()],
  ['no address', () => resolveTo('localhost')],
  [CHANGING, () => changing(['8.8.8.8'], ['127.0.0.1'])],
]

t.test('no name leads to a private address, whatever its name server says, and whenever', async (t) => {
  const { port, arrived } = await listener(t)
  for (const [what, resolverOf] of NAME_SERVERS) {
    for (const name of LOCAL_NAMES) {
      const outbound = outboundTo(t, [], { resolver: resolverOf() })
      const url = `https://${name}:${port}/`
      if (what === CHANGING) t.strictSame(await outbound.addressesOf(url), ['8.8.8.8'], 'the first answer')
      const { origin } = new URL(url)
      t.equal(await code(outbound.forCheck(guardOf(origin)).fetch(url)), 'unavailable', `${name}: ${what}`)
      t.equal(await code(outbound.request(url, { method: 'GET', headers: {} })), 'unavailable', `${name}: ${what}`)
    }
  }
  t.equal(arrived(), 0)
})

t.test('what the operator allows leads nowhere else by a redirect', async (t) => {
  const { port, arrived } = await listener(t)
  for (const { what, authority } of ADDRESS_FORMS) {
    const location = Buffer.from(`http://${authority(port)}/`, 'utf8')
      .toString('latin1')
      .replace(/[\t\n]/g, '')
    const host = await serve(t, (_request, response) => response.writeHead(302, { location }).end())
    const outbound = outboundTo(t, [host])
    const url = `http://${host}/`
    const outcome = await code(outbound.forCheck(guardOf(`http://${host}`)).fetch(url))
    t.not(outcome, 'no error', `${what}: ${location}`)
    const own = await outbound.request(url, { method: 'GET', headers: {} })
    t.equal(own.status, 302, 'the service itself follows none')
    await own.body?.cancel()
  }
  t.equal(arrived(), 0)
})

function urlOf(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

const shared = sharedInstallation({
  plugins: [...SHIPPED, SCRIPTED],
  file: { oauth: { ...OAUTH, dynamic_registration: true } },
})

const ALL_FORMS_AT = new Set(['git', 'npm', 'site'])

t.test('nobody connects a private address in the console, at any provider, and is told what is missing', async (t) => {
  const { port, arrived } = await listener(t)
  const { host, claimcheck } = await shared()
  const owner = await Visitor.owner(host)
  const workspace = await owner.workspaceId()
  await owner.get('/console/account')
  const types = claimcheck.registry.connectionTypes()
  t.ok(types.length >= 10, `${types.length} providers`)
  for (const { provider, options } of types) {
    const names = Object.keys((options as { properties?: object }).properties ?? {})
    t.ok(names.includes('base_url'), `${provider}: its address is tried below`)
    const required = Object.fromEntries(
      names.filter((name) => /token|password/.test(name)).map((name) => [`option_${name}`, 'a-secret-text']),
    )
    // The forms of each plugin go through one gate: one provider of each tries all.
    const forms = ALL_FORMS_AT.has(provider)
      ? ADDRESS_FORMS
      : shareOf(ADDRESS_FORMS, 0, byExtent({ short: 24, usual: 8, thorough: 1 }))
    for (const { what, authority } of forms) {
      const fields = { ...required, option_base_url: `https://${authority(port)}` }
      const page = await owner.post(`/console/w/${workspace}/connections/new/${provider}`, fields)
      t.equal(page.status, 422, `${provider}: ${what}`)
      t.match(
        textOf(page.html),
        /Not connected: .*(ALLOW_PRIVATE|operator|correct the fields|options)/,
        `${provider}: ${what}`,
      )
    }
  }
  t.strictSame(await claimcheck.connections.list(workspace), [])
  t.equal(arrived(), 0)
})

/** The settings of a webhook beside its address. */
const SENT = { format: 'standard', filters: NO_FILTERS } as const

t.test('what checks may read is not what webhooks may call, and neither is the other way round', async (t) => {
  const { port, arrived } = await listener(t)
  const place = `127.0.0.1:${port}`
  const url = `http://${place}/`
  for (const [setting, reads, calls] of [
    [{ env: { ALLOW_PRIVATE: place } }, true, false],
    [{ file: { webhooks: { allow_private: [place] } } }, false, true],
  ] as const) {
    const installation = await Installation.during(t, setting)
    const { claimcheck } = installation
    const { workspaceId } = await installation.client('calling')
    const read = await claimcheck.outbound.addressesOf(url).then(
      () => true,
      () => false,
    )
    const added = await claimcheck.webhooks.add(workspaceId, { ...SENT, url }).then(
      () => true,
      () => false,
    )
    t.strictSame([read, added], [reads, calls])
    const before = arrived()
    await claimcheck.webhooks.send(
      { workspaceId, format: 'standard', url, secrets: [] },
      { id: 'msg_1', event: undefined, more: 0 },
    )
    t.equal(arrived() > before, calls)
  }
  await t.rejects(
    Installation.start({ file: { webhooks: { allow_private: ['http://host/'] } } }),
    /webhooks\.allow_private: entry 1/,
  )
})
t.test('nobody has events sent to a private address, however it is written', async (t) => {
  const { port, arrived } = await listener(t)
  const { webhooks } = (await shared()).claimcheck
  const { workspaceId } = await (await shared()).client('sending')
  const forms = shareOf(ADDRESS_FORMS, 0, byExtent({ short: 24, usual: 4, thorough: 1 }))
  const hosts = [...forms, { what: 'metadata', authority: () => '169.254.169.254' }]
  for (const { what, authority } of hosts) {
    for (const scheme of ['https', 'http']) {
      const settings = { ...SENT, url: `${scheme}://${authority(port)}/` }
      await t.rejects(webhooks.add(workspaceId, settings), { code: 'bad_request' }, `${what} by ${scheme}`)
    }
  }
  for (const url of ['', 'hooks', 'ftp://example.com/', 'https://user:pass@example.com/', 'https://example.com/#part'])
    await t.rejects(webhooks.add(workspaceId, { ...SENT, url }), { code: 'bad_request' }, url)
  t.strictSame(await webhooks.list(workspaceId), [])
  t.equal(arrived(), 0)
})

t.test('what was connected although nothing answered is read no more than before', async (t) => {
  const { port, arrived } = await listener(t)
  const { host, claimcheck } = await shared()
  const client = await (await shared()).client('insisting')
  for (const [provider, authority] of [
    ['gitea', `127.0.0.1:${port}`],
    ['git', `[::ffff:127.0.0.1]:${port}`],
    ['npm', `0x7f.1:${port}`],
  ] as const) {
    const options = { base_url: `https://${authority}` }
    const kept = await claimcheck.connections.connect(client.workspaceId, provider, options, {
      userId: null,
      insists: true,
    })
    if ('isRefused' in kept) throw new Error(kept.failure)
    t.match(await claimcheck.connections.test(kept.id), { failure: 'unavailable', state: null })
  }
  const { body } = await new Client(host, client.workspaceId, client.key).submit({
    action: 'codehost.commit.push',
    target: 'acme/api',
    params: { sha: 'a'.repeat(40), branch: 'main', host: `127.0.0.1:${port}` },
  })
  t.match(body, { state: 'queued', attempts: 1 }, 'it was tried, and could not be read')
  t.equal(arrived(), 0)
})

t.test('no claim has a private address read', async (t) => {
  const { port, arrived } = await listener(t)
  const client = await (await shared()).client('claiming')
  for (const { what, authority } of ADDRESS_FORMS) {
    for (const target of [`https://${authority(port)}/`, `https://${authority(443)}/`, `http://${authority(port)}/`]) {
      const { status, body } = await client.submit({ action: 'http.url.status', target, params: { status: 200 } })
      const isRefused = status === 422 || (status === 202 && body.verdict !== 'verified')
      t.ok(isRefused, `${what}: ${target}: ${status} ${JSON.stringify(body)}`)
    }
  }
  t.equal(arrived(), 0)
})

t.test('no application has a private address read by what it says of itself', async (t) => {
  const { port, arrived } = await listener(t)
  const { host } = await shared()
  const url = `http://127.0.0.1:${port}/`
  const uris = [
    'jwks_uri',
    'logo_uri',
    'client_uri',
    'policy_uri',
    'tos_uri',
    'sector_identifier_uri',
    'initiate_login_uri',
    'backchannel_logout_uri',
    'software_statement',
  ]
  const metadata = {
    client_name: 'Fuzz',
    redirect_uris: ['https://backend.example/back'],
    token_endpoint_auth_method: 'none',
  }
  for (const name of uris) {
    // One address may register 20 clients a day.
    for (const value of [url, name === 'jwks_uri' ? [url] : `${url}.well-known/jwks.json`]) {
      const registered = await host.request('/oauth/register', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          ...metadata,
          [name]: value,
          request_uris: [url],
          subject_type: 'pairwise',
          token_endpoint_auth_method: 'none',
        }),
      })
      t.ok([201, 400].includes(registered.status), `${name}: ${registered.status}`)
      t.notMatch(JSON.stringify(registered.body), url, `${name} is not kept`)
    }
  }
  const visitor = new Visitor(host)
  for (const over of [
    { request_uri: url },
    { resource: url },
    { redirect_uri: url },
    { client_id: url },
    { id_token_hint: url },
  ]) {
    const { status } = await visitor.once(new Application().request(over))
    t.ok(status === 303 || status === 400, `${Object.keys(over)}: ${status}`)
  }
  const assertion = {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: 'e30.e30.e30',
  }
  t.ok(
    (await post(host, '/oauth/token', { grant_type: 'authorization_code', client_id: CLIENT.client_id, ...assertion }))
      .status < 500,
  )
  t.equal(arrived(), 0)
})

t.test('an OpenID provider at a private address is asked nothing, unless the operator allows it', async (t) => {
  const { port, arrived } = await listener(t)
  const section = (issuer: string) => ({ oidc: { issuer, client_id: 'c', client_secret: 's', name: 'Example' } })
  await t.rejects(Installation.start({ file: { sign_in: section(`http://127.0.0.1:${port}`) } }), /ALLOW_PRIVATE/)
  await t.rejects(Installation.start({ file: { sign_in: section(`https://a@127.0.0.1:${port}`) } }), /without user/)
  const installation = await Installation.start({ file: { sign_in: section(`https://0x7f.1:${port}`) } })
  afterFile(() => installation.remove())
  const page = await new Visitor(installation.host).post('/console/sign-in/outside', { purpose: 'sign_in' })
  t.equal(page.status, 503)
  t.match(textOf(page.html), /Example cannot be reached/)
  t.equal(arrived(), 0)
})

t.test('nobody connects a private address on the command line without its being allowed', async (t) => {
  const { port, arrived } = await listener(t)
  const cli = await commandLine(t, { plugins: SHIPPED })
  await cli.json('workspace', 'create', 'acme')
  for (const [provider, authority] of [
    ['gitea', `127.0.0.1:${port}`],
    ['git', `[::ffff:7f00:1]:${port}`],
    ['npm', `0x7f000001:${port}`],
    ['site', `2130706433:${port}`],
  ] as const) {
    const outcome = await cli.run([
      'connection',
      'add',
      provider,
      '--workspace',
      'acme',
      '--set',
      `base_url=https://${authority}`,
    ])
    t.match(outcome, { code: 1, stdout: '', stderr: /ALLOW_PRIVATE/ }, provider)
  }
  t.equal(arrived(), 0)
})
