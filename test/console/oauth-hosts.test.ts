// Test run: slow
/** OAuth over several hosts, and where two ask for one thing at once. Also applications that make themselves known. */
import { REGISTRATIONS_A_DAY } from '@claimcheck/server/features/oauth/registration-quota'
import { COSTS } from '@claimcheck/server/http/costs'
import t, { type Test as TapTest } from 'tap'
import { Application, INVALID_GRANT, OAUTH, whoami, withOAuth } from '../support/application.ts'
import { createDatabase, DIALECTS, type Dialect } from '../support/database.ts'
import { type Installation, sharedInstallation } from '../support/installation.ts'
import { minuteWithRoom } from '../support/minute.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const shared = sharedInstallation({ file: { oauth: OAUTH } })

const PUBLIC_URL = 'http://claims.example'

/** Two hosts where the database serves several; on SQLite the one that there is. */
async function twoHosts(t: TapTest, dialect: Dialect) {
  const installation = await withOAuth(t, { env: { PUBLIC_URL }, database: await createDatabase(dialect) })
  const { host: one } = installation
  return { one, two: dialect === 'postgres' ? await installation.addHost() : one }
}

const [KEY, NEXT_KEY] = ['a1'.repeat(32), 'b2'.repeat(32)]

/** In the second step of a change of the secret key: one host seals under the old key, the other under the new one. */
async function hostsUnderTwoKeys(t: TapTest) {
  const env = { PUBLIC_URL, SECRET_KEY: KEY, SECRET_KEY_ALSO: NEXT_KEY }
  const installation = await withOAuth(t, { env, database: await createDatabase('postgres') })
  const two = await installation.addHost({ DATA_DIR: 'data-2', SECRET_KEY: NEXT_KEY, SECRET_KEY_ALSO: KEY })
  return { one: installation.host, two }
}

const pairs = {
  'one host begins': (t: TapTest) => twoHosts(t, 'postgres'),
  'a host under the old secret key begins, under the new one,': hostsUnderTwoKeys,
} as const

for (const [what, hosts] of Object.entries(pairs)) {
  t.test(`what ${what} another goes on with`, async (t) => {
    const { one, two } = await hosts(t)
    const owner = await Visitor.firstAt(one, PUBLIC_URL)
    const application = new Application(undefined, PUBLIC_URL)

    const path = await application.ask(owner)
    const elsewhere = new Visitor(two)
    for (const [name, value] of owner.cookies) elsewhere.cookies.set(name, value)
    const page = await elsewhere.get(path)
    t.match(textOf(page.html), /Allow Backend/, 'the request was made at one host, and is shown by the other')
    const workspace = /name="workspace" value="([^"]*)"/.exec(page.html)![1]!
    const code = (await application.decide(elsewhere, path, { decision: 'allow', workspace })).get('code')

    const { status, body } = await application.exchange(one, code)
    t.equal(status, 200)
    t.equal((await whoami(two, body.access_token)).body.audience, PUBLIC_URL)
    const refreshed = (await application.refresh(two, body.refresh_token)).body
    t.equal((await whoami(one, refreshed.access_token)).status, 200)
    t.same((await application.refresh(one, body.refresh_token)).body, refreshed, 'repeated elsewhere')
    await application.revoke(two, refreshed.access_token)
    t.equal((await whoami(one, refreshed.access_token)).status, 401)
  })
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, of two who use one code at once one is served, and nothing remains of it`, async (t) => {
    const { one, two } = await twoHosts(t, dialect)
    const owner = await Visitor.firstAt(one, PUBLIC_URL)
    const application = new Application(undefined, PUBLIC_URL)
    for (let round = 0; round < 5; round++) {
      const code = (await application.allowed(owner)).get('code')
      const answers = await Promise.all([one, two].map((host) => application.exchange(host, code)))
      t.same(answers.map(({ status }) => status).sort(), [200, 400])
      t.match(
        answers.find(({ status }) => status === 400),
        INVALID_GRANT,
      )
      const { body } = answers.find(({ status }) => status === 200)!
      t.equal((await whoami(two, body.access_token)).status, 401)
      t.match(await application.refresh(one, body.refresh_token), INVALID_GRANT)
    }
  })
}

const REGISTRATION = {
  client_name: 'New <i>one</i>',
  redirect_uris: ['https://new.example/back'],
  token_endpoint_auth_method: 'none',
}

function register(host: Installation['host'], body: object, more: Readonly<Record<string, string>> = {}) {
  const headers = { 'content-type': 'application/json', ...more }
  return host.request('/oauth/register', { method: 'POST', body: JSON.stringify(body), headers })
}

t.test('applications do not make themselves known unless the configuration lets them', async (t) => {
  const { host } = await shared()
  t.equal((await register(host, REGISTRATION)).status, 404)
})

t.test('an application that made itself known asks as any other', async (t) => {
  let now = Date.now()
  const file = { oauth: { ...OAUTH, dynamic_registration: true } }
  const { host } = await withOAuth(t, { file, now: () => now })
  const owner = await Visitor.owner(host)
  const metadata = await host.request('/.well-known/oauth-authorization-server')
  t.equal(metadata.body.registration_endpoint, `${host.url}/oauth/register`)

  const { status, body } = await register(host, REGISTRATION)
  t.equal(status, 201)
  t.match(body, { client_id: /^app_/, token_endpoint_auth_method: 'none', client_name: REGISTRATION.client_name })
  t.notOk('client_secret' in body)
  const { token_endpoint_auth_method: _, ...unsaid } = REGISTRATION
  const confidential = (await register(host, unsaid)).body
  t.match(
    confidential,
    { token_endpoint_auth_method: 'client_secret_basic', client_secret: /^[\w-]{43}$/ },
    'RFC 7591 2',
  )
  const application = new Application(body)
  t.match(textOf((await application.consentPage(owner)).html), /Allow New <i>one<\/i>\?/)
  const tokens = await application.tokens(owner)
  t.equal((await whoami(host, tokens.access_token)).status, 200)
  t.match(textOf((await owner.get('/console/account/applications')).html), /New <i>one<\/i>/)

  const unused = new Application((await register(host, REGISTRATION)).body)
  now += 8 * 24 * 60 * 60_000
  t.equal((await application.refresh(host, tokens.refresh_token)).status, 200, 'once used it stays')
  t.equal((await owner.once(unused.request())).status, 400, 'unused it is forgotten')
})

/** What a client that registered earlier may have, and a new one may not. */
const REFUSED_NOW = {
  'a name that is refused now': { metadata: { client_name: 'Acme\u200b' }, isKnown: true },
  'an address that is refused now': { metadata: { redirect_uris: ['ftp://new.example/back'] }, isKnown: false },
} as const

t.test('an application that registered under earlier rules is listed and stopped', async (t) => {
  const { host } = await withOAuth(t, { file: { oauth: { ...OAUTH, dynamic_registration: true } } })
  const owner = await Visitor.owner(host)
  const { oauthRecords, applications, storage } = host.claimcheck
  const [user] = await storage.read.users.list()
  for (const [what, { metadata, isKnown }] of Object.entries(REFUSED_NOW)) {
    const { body } = await register(host, REGISTRATION)
    const application = new Application(body)
    const { refresh_token: token } = await application.tokens(owner)
    await new Application().tokens(owner)
    const { payload } = (await oauthRecords.find('Client', body.client_id))!
    await oauthRecords.put({
      model: 'Client',
      id: body.client_id,
      payload: { ...payload, ...metadata },
      ttlMs: undefined,
    })
    t.equal((await application.refresh(host, token)).status, isKnown ? 200 : 400, what)
    const page = await owner.get('/console/account/applications')
    t.equal(page.status, 200)
    t.match(textOf(page.html), isKnown ? /Acme/ : /\(no longer registered\)/)
    const listed = await applications.list(user!.id)
    t.equal(listed.length, 2)
    for (const { grantId } of listed) await applications.revoke(user!.id, grantId)
    t.same(await applications.list(user!.id), [])
  }
})

t.test('what cannot be taken of an application is refused or left out', async (t) => {
  const { host } = await withOAuth(t, { file: { oauth: { ...OAUTH, dynamic_registration: true } } })
  const refused = [
    { redirect_uris: ['http://new.example/back'] },
    { redirect_uris: ['javascript:alert(1)'] },
    { redirect_uris: ['https://new.example/back#x'] },
    { redirect_uris: ['https://new.example/back\nSet-Cookie: a=b'] },
    { redirect_uris: ['http://127.0.0.1/\tback'] },
    { redirect_uris: [] },
    { redirect_uris: 'https://new.example' },
    { redirect_uris: [7] },
    { client_name: 'x'.repeat(101) },
    { client_name: { a: 1 } },
    { client_name: ' ' },
    { client_name: 'New\nbuttiH\u202e' },
    { client_name: '\u202eelgooG' },
    // Half a character.
    { client_name: '\ud800' },
    { grant_types: ['client_credentials'] },
    { grant_types: ['refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'] },
    { grant_types: [] },
    { token_endpoint_auth_method: 'private_key_jwt' },
    { token_endpoint_auth_method: JSON.parse('['.repeat(3000) + ']'.repeat(3000)) },
    { redirect_uris: [JSON.parse('['.repeat(3000) + ']'.repeat(3000))] },
    { application_type: { a: 1 } },
  ]
  for (const wrong of refused) {
    const { status, body } = await register(host, { ...REGISTRATION, ...wrong })
    t.equal(status, 400, JSON.stringify(wrong).slice(0, 100))
    t.match(body.error, /^invalid_(client_metadata|redirect_uri)$/)
  }
  const more = { sector_identifier_uri: `${host.url}/x`, jwks_uri: `${host.url}/y`, response_types: ['token'] }
  const { status, body } = await register(host, { ...REGISTRATION, ...more, application_type: 'web' })
  t.equal(status, 201)
  t.notOk('sector_identifier_uri' in body || 'jwks_uri' in body)
  t.same(body.response_types, ['code'])
})

t.test('an application that makes itself known is small, and one address has few of them a day', async (t) => {
  let now = Date.now()
  const file = { oauth: { ...OAUTH, dynamic_registration: true } }
  const { host } = await withOAuth(t, { file, now: () => now, env: { TRUST_PROXY: '1' } })
  const from = (address: string, more: object = {}) =>
    register(host, { ...REGISTRATION, ...more }, { 'x-forwarded-for': address })
  const uris = (count: number) =>
    Array.from({ length: count }, (_, index) => `https://new.example/${index}/${'x'.repeat(400)}`)
  for (let count = 0; count < REGISTRATIONS_A_DAY + 1; count++) {
    const refused = await from('192.0.2.1', { redirect_uris: uris(10) })
    t.match(refused, { status: 400, body: { error_description: /at most 4096 bytes/ } }, 'which does not count')
  }
  t.equal((await from('192.0.2.1', { redirect_uris: uris(7) })).status, 201)
  const made = await Promise.all(Array.from({ length: REGISTRATIONS_A_DAY + 5 }, () => from('192.0.2.1')))
  t.equal(made.filter(({ status }) => status === 201).length, REGISTRATIONS_A_DAY - 1)
  const refused = await from('203.0.113.5, 192.0.2.1')
  t.match(refused, { status: 429, body: { detail: /too many applications were registered from this address/ } })
  t.match(refused.headers.get('retry-after'), /^86[34]\d\d$/)
  t.equal((await from('192.0.2.2')).status, 201, 'another address has its own')
  now += 24 * 60 * 60_000
  t.equal((await from('192.0.2.1')).status, 201)
})

t.test('requests of one address are limited', async (t) => {
  const limits = { network: 3 * COSTS.oauth.tokens }
  const { host } = await withOAuth(t, { file: { oauth: OAUTH, rate_limits: limits } })
  await minuteWithRoom()
  const ask = () => host.request(new Application().request(), { redirect: 'manual' })
  t.same([(await ask()).status, (await ask()).status, (await ask()).status], [303, 303, 303])
  const limited = await ask()
  t.equal(limited.status, 429)
  t.match(limited.headers.get('retry-after'), /^\d+$/)
  t.match(textOf(String(limited.body)), /Too many/)
})

t.test('a refused token is a refused credential', async (t) => {
  const { host } = await withOAuth(t, { file: { oauth: OAUTH, rate_limits: { refusals: 3 } } })
  await minuteWithRoom()
  for (let count = 0; count < 3; count++) t.equal((await whoami(host, 'A'.repeat(43))).status, 401)
  t.equal((await whoami(host, 'A'.repeat(43))).status, 429)
})
