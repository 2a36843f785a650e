// Test run: slow
/**
 * Passkeys: what is refused of an answer, whoever sends it. That browsers and these pages understand each other is tested with one.
 * Threat K8 of `security.md`.
 */
import t, { type Test as TapTest } from 'tap'
import { createDatabase } from '../support/database.ts'
import { Device } from '../support/device.ts'
import { Installation, type InstallationOptions, sharedInstallation } from '../support/installation.ts'
import { emailOf, PASSWORD, type Page, textOf, Visitor } from '../support/visitor.ts'

const ORIGIN = 'https://claims.example.com'
const ACCOUNT = '/console/account'
const SIGN_IN = '/console/sign-in/passkey'

const HEADERS = { origin: ORIGIN }

const ENV = { PUBLIC_URL: ORIGIN }
const shared = sharedInstallation({ env: ENV })
let people = 0

async function installed(t: TapTest, options: InstallationOptions = {}): Promise<Installation> {
  const file = { rate_limits: { sign_in: 0 } }
  return await Installation.during(t, { file, env: ENV, ...options })
}

/** Signed in at the public address, in a workspace. */
async function joining(host: Visitor['host'], workspaceId: string, role: 'owner' | 'member'): Promise<Visitor> {
  const token = await host.claimcheck.accounts.inviteToken(workspaceId, role, null)
  const name = `person-${++people}`
  const visitor = new Visitor(host, emailOf(name))
  await visitor.post(`/console/join/${token}`, { name, email: visitor.email, password: PASSWORD }, HEADERS)
  await visitor.get(ACCOUNT)
  return visitor
}

/** The owner of a new workspace. */
async function first(host: Visitor['host']): Promise<Visitor> {
  const { id } = await host.claimcheck.workspaces.create(`workspace-${++people}`)
  return joining(host, id, 'owner')
}

async function optionsFor(visitor: Visitor, path: string) {
  const { status, html } = await visitor.post(`${path}/options`, {}, HEADERS)
  if (status !== 200) throw new Error(`${status} ${textOf(html)}`)
  return JSON.parse(html)
}

async function register(visitor: Visitor, device: Device, wrong = {}): Promise<Page> {
  const credential = device.create(await optionsFor(visitor, `${ACCOUNT}/passkeys`), wrong)
  return visitor.post(`${ACCOUNT}/passkeys`, { credential, passkey_name: 'laptop' }, HEADERS)
}

async function signIn(host: Visitor['host'], device: Device, wrong = {}, visitor = new Visitor(host)): Promise<Page> {
  const credential = device.get(await optionsFor(visitor, SIGN_IN), wrong)
  return visitor.post(SIGN_IN, { credential, next: ACCOUNT }, HEADERS)
}

t.test('a passkey signs in to the account that it was added to, at the page that was asked for', async (t) => {
  const { host } = await shared()
  const owner = await first(host)
  const device = new Device(ORIGIN)
  const added = await register(owner, device)
  t.equal(added.path, `${ACCOUNT}?done=passkey-added`)
  const page = await signIn(host, device)
  t.equal(page.path, ACCOUNT)
  t.match(textOf(page.html), `You sign in as ${owner.email}`)
  t.equal((await signIn(host, device)).path, ACCOUNT, 'again and again')
})

t.test('a form that was sent too late is kept over a sign-in with a passkey', async (t) => {
  const { host } = await installed(t)
  const device = new Device(ORIGIN)
  await register(await first(host), device)
  const visitor = new Visitor(host)
  const unsent = { unsent_action: '/console/workspaces/new', unsent_fields: '[["name","second"]]' }
  const send = async (wrong: object) => {
    const credential = device.get(await optionsFor(visitor, SIGN_IN), wrong)
    return visitor.post(SIGN_IN, { credential, next: ACCOUNT, ...unsent }, HEADERS)
  }
  const refused = await send({ origin: 'https://evil.example' })
  t.match(refused, { status: 422, html: /name="unsent_fields" value="[^"]*second/ })
  t.match(textOf((await send({})).html), /Send your form\? .* second/)
})

t.test('an answer that does not fit what was asked is refused', async (t) => {
  const { host } = await shared()
  const owner = await first(host)
  const device = new Device(ORIGIN)
  await register(owner, device)
  const rows = [
    ['another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['another origin', { origin: 'https://evil.example' }],
    ['another port of the host', { origin: `${ORIGIN}:8443` }],
    ['another host name', { rpId: 'evil.example' }],
    ['a counter that stands still', { counter: 0 }],
    ['an owner who was not recognised', { isRecognised: false }],
    ["another account's handle", { userHandle: Buffer.from('usr_other').toString('base64url') }],
    ['no account', { userHandle: '' }],
    ['an answer to something else', { type: 'webauthn.create' }],
  ] as const
  t.equal((await signIn(host, device)).path, ACCOUNT)
  for (const [what, wrong] of rows) {
    const visitor = new Visitor(host)
    const page = await signIn(host, device, wrong, visitor)
    t.equal(page.status, 422, what)
    t.match(textOf(page.html), /This passkey (was not accepted|belongs to no account)/, what)
    t.equal(visitor.cookies.size, 0, 'nobody is signed in')
  }
  t.equal((await signIn(host, device, { counter: 100 })).path, ACCOUNT)
  t.equal((await signIn(host, device, { counter: 100 })).status, 422, 'the same count twice')
  t.equal((await signIn(host, device, { counter: 99 })).status, 422, 'a count that went back')

  const stranger = new Device(ORIGIN)
  stranger.create({
    challenge: '',
    rp: { id: 'claims.example.com' },
    user: { id: Buffer.from('x').toString('base64url') },
  })
  t.equal((await signIn(host, stranger)).status, 422, 'a passkey that nobody added')
})

t.test('an answer is good once, from the browser that was asked, and for five minutes', async (t) => {
  let now = Date.now()
  const { host } = await installed(t, { now: () => now })
  const owner = await first(host)
  const device = new Device(ORIGIN)
  await register(owner, device)

  const visitor = new Visitor(host)
  const credential = device.get(await optionsFor(visitor, SIGN_IN))
  const [ticket] = [...visitor.cookies]
  t.match(ticket![0], /^__Host-claimcheck-passkey$/)
  const other = new Visitor(host)
  const fields = { credential, next: ACCOUNT }
  t.match(
    textOf((await other.post(SIGN_IN, fields, HEADERS)).html),
    /was started in another browser/,
    'without the cookie',
  )
  t.equal((await visitor.post(SIGN_IN, fields, HEADERS)).path, ACCOUNT)
  const replaying = new Visitor(host)
  replaying.cookies.set(...ticket!)
  const replayed = await replaying.post(SIGN_IN, fields, HEADERS)
  t.equal(replayed.status, 422)
  t.match(textOf(replayed.html), /was started in another browser/)

  const late = new Visitor(host)
  const lateCredential = device.get(await optionsFor(late, SIGN_IN))
  now += 5 * 60_000
  t.equal((await late.post(SIGN_IN, { credential: lateCredential }, HEADERS)).status, 422)

  for (const garbage of ['', 'x', 'null', '[]', '{}', '{"id":1,"response":{"userHandle":2}}', '{"id":"__proto__"}']) {
    const page = new Visitor(host)
    await optionsFor(page, SIGN_IN)
    t.equal((await page.post(SIGN_IN, { credential: garbage }, HEADERS)).status, 422, garbage)
  }
})

t.test('a passkey is added by the person who asked, from our own pages, and not twice', async (t) => {
  const { host } = await shared()
  const owner = await first(host)
  const device = new Device(ORIGIN)
  const rows = [
    { challenge: Buffer.alloc(32).toString('base64url') },
    { origin: 'https://evil.example' },
    { rpId: 'evil.example' },
    { isRecognised: false },
    { type: 'webauthn.get' },
  ]
  for (const wrong of rows) t.equal((await register(owner, device, wrong)).status, 422, JSON.stringify(wrong))
  t.equal((await owner.post(`${ACCOUNT}/passkeys/options`, {}, { origin: 'https://evil.example' })).status, 403)
  t.equal((await owner.post(`${ACCOUNT}/passkeys/options`, { _csrf: 'x' }, HEADERS)).status, 403)

  const credential = device.create(await optionsFor(owner, `${ACCOUNT}/passkeys`))
  const unnamed = await owner.post(`${ACCOUNT}/passkeys`, { credential, passkey_name: ' ' }, HEADERS)
  t.equal(unnamed.status, 422)
  t.match(textOf(unnamed.html), /The name is not valid: use 1 to 100 characters/)

  // What was asked for one account is no answer for another, and no sign-in.
  const mia = await joining(host, await owner.workspaceId(), 'member')
  const asked = await optionsFor(owner, `${ACCOUNT}/passkeys`)
  const name = '__Host-claimcheck-passkey'
  mia.cookies.set(name, owner.cookies.get(name)!)
  const fields = { credential: device.create(asked), passkey_name: 'x' }
  t.match(textOf((await mia.post(`${ACCOUNT}/passkeys`, fields, HEADERS)).html), /was started in another browser/)

  t.equal((await register(owner, device)).path, `${ACCOUNT}?done=passkey-added`)
  const again = await register(mia, device)
  t.equal(again.status, 422)
  t.match(textOf(again.html), /This passkey is already registered/)
})

t.test('a passkey that is removed signs in no more, and nobody removes that of another', async (t) => {
  const { host } = await shared()
  const owner = await first(host)
  const device = new Device(ORIGIN)
  await register(owner, device)
  const mia = await joining(host, await owner.workspaceId(), 'owner')
  t.notOk((await mia.get(ACCOUNT)).html.includes(device.id))
  t.equal((await mia.post(`${ACCOUNT}/passkeys/remove`, { id: device.id }, HEADERS)).status, 404)
  t.equal((await signIn(host, device)).path, ACCOUNT)
  t.equal(
    (await owner.post(`${ACCOUNT}/passkeys/remove`, { id: device.id }, HEADERS)).path,
    `${ACCOUNT}?done=passkey-removed`,
  )
  const page = await signIn(host, device)
  t.equal(page.status, 422)
  t.match(textOf(page.html), /belongs to no account, or was removed/)
  t.equal((await owner.post(`${ACCOUNT}/passkeys/remove`, { id: device.id }, HEADERS)).status, 404)
})

t.test('a sign-in that was begun at one host is finished at another', async (t) => {
  const installation = await installed(t, { database: await createDatabase('postgres') })
  const other = await installation.addHost()
  const owner = await first(installation.host)
  const device = new Device(ORIGIN)
  await register(owner, device)
  const visitor = new Visitor(installation.host)
  const credential = device.get(await optionsFor(visitor, SIGN_IN))
  const elsewhere = new Visitor(other)
  for (const [name, value] of visitor.cookies) elsewhere.cookies.set(name, value)
  t.equal((await elsewhere.post(SIGN_IN, { credential, next: ACCOUNT }, HEADERS)).path, ACCOUNT)
})

t.test('attempts with passkeys are limited by themselves: no guess at a password uses them up', async (t) => {
  const { host } = await installed(t, { file: { rate_limits: { sign_in: 1 } } })
  await host.claimcheck.accounts.setupToken()
  const visitor = new Visitor(host)
  for (let count = 0; count < 20; count++) await visitor.post(SIGN_IN, { email: 'a@b.example', password: 'x' })
  const statuses = []
  for (let count = 0; count < 11; count++) {
    statuses.push((await visitor.post(`${SIGN_IN}/options`, {}, HEADERS)).status)
  }
  t.same(statuses, [...Array.from({ length: 10 }, () => 200), 429])
  const { storage } = host.claimcheck
  const before = await storage.read.audit.ends()
  t.equal((await visitor.post(SIGN_IN, { credential: '{}' }, HEADERS)).status, 429)
  t.same(await storage.read.audit.ends(), before, 'what is not looked at leaves nothing in the audit trail')
})

t.test('where passkeys cannot be used, none are offered or taken', async (t) => {
  const rows = [
    [{ PUBLIC_URL: 'http://claims.example.com' }, /Passkeys need https/],
    [{ PUBLIC_URL: 'https://192.0.2.7' }, /192\.0\.2\.7 is an IP address\. The operator of this service/],
    [{ PUBLIC_URL: 'https://[2001:db8::1]' }, /is an IP address/],
  ] as const
  for (const [env, message] of rows) {
    const { host } = await installed(t, { env })
    const origin = env.PUBLIC_URL
    const visitor = new Visitor(host)
    const token = await host.claimcheck.accounts.setupToken()
    const fields = { name: 'Ann', email: 'ann@example.com', password: PASSWORD, workspace: 'acme' }
    await visitor.post(`/console/setup/${token}`, fields, { origin })
    t.match(textOf((await visitor.get(ACCOUNT)).html), message)
    t.equal((await visitor.post(`${ACCOUNT}/passkeys/options`, {}, { origin })).status, 422)
    t.equal((await new Visitor(host).post(`${SIGN_IN}/options`, {}, { origin })).status, 422)
  }
})
