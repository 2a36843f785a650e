/** A new password: whoever had the account before it is out, and of the other ways in only those stay that are ticked. */
import t, { type Test } from 'tap'
import { Application, OAUTH, whoami } from '../support/application.ts'
import { codeOf, setUpSecondStep } from '../support/authenticator.ts'
import { createDatabase } from '../support/database.ts'
import { Device } from '../support/device.ts'
import { Installation, sharedInstallation } from '../support/installation.ts'
import { PASSWORD, type Page, textOf, Visitor } from '../support/visitor.ts'

const ACCOUNT = '/console/account'
const NEXT = 'another password altogether'
const shared = sharedInstallation({ file: { oauth: OAUTH } })

type Host = Visitor['host']

async function optionsFor(visitor: Visitor, path: string) {
  return JSON.parse((await visitor.post(`${path}/options`)).html)
}

async function addPasskey(visitor: Visitor, name: string): Promise<Device> {
  const device = new Device(visitor.host.url)
  const credential = device.create(await optionsFor(visitor, `${ACCOUNT}/passkeys`))
  const { path } = await visitor.post(`${ACCOUNT}/passkeys`, { credential, passkey_name: name })
  if (!path.endsWith('done=passkey-added')) throw new Error(path)
  return device
}

async function signInWith(host: Host, device: Device): Promise<Page> {
  const visitor = new Visitor(host)
  const credential = device.get(await optionsFor(visitor, '/console/sign-in/passkey'), { origin: host.url })
  return visitor.post('/console/sign-in/passkey', { credential, next: ACCOUNT })
}

async function signedIn({ email }: Visitor, host: Host, password = PASSWORD): Promise<Visitor> {
  const visitor = new Visitor(host, email)
  await visitor.post('/console/sign-in', { email, password })
  return visitor
}

/** An account that somebody else has got into: with a session, an application, an invitation and a passkey of theirs. */
async function taken(t: Test, host: Host, elsewhere = host) {
  const owner = await Visitor.owner(host)
  await owner.get(ACCOUNT)
  const own = await addPasskey(owner, 'my laptop')
  const planted = await addPasskey(owner, 'planted')
  const application = new Application()
  const tokens = await application.tokens(owner)
  const thief = await signedIn(owner, elsewhere)
  const path = `/console/w/${await owner.workspaceId()}/members`
  await thief.get(path)
  const invited = await thief.post(`${path}/invitations`, { role: 'owner' })
  const invitation = new URL(/https?:\/\/[^"<]+\/console\/join\/[\w-]{43}/.exec(invited.html)![0]).pathname
  t.equal((await whoami(elsewhere, tokens.access_token)).status, 200)
  return { owner, own, planted, application, tokens, thief, invitation }
}

t.test(
  'a reset ends sessions, tokens, links and invitations on every host, and only the ticked passkey stays',
  async (t) => {
    const installation = await Installation.during(t, {
      database: await createDatabase('postgres'),
      file: { oauth: OAUTH, rate_limits: { sign_in: 0 } },
    })
    const { host } = installation
    const elsewhere = await installation.addHost()
    const { owner, own, planted, application, tokens, thief, invitation } = await taken(t, host, elsewhere)
    const { accounts } = host.claimcheck
    const other = await accounts.resetToken(owner.email)
    const link = `/console/reset/${await accounts.resetToken(owner.email)}`

    const visitor = new Visitor(host, owner.email)
    const page = await visitor.get(link)
    t.match(
      textOf(page.html),
      /Which other ways in stay\? Passkey my laptop added .* , last used never Passkey planted/,
    )
    t.notMatch(page.html, /<input type="checkbox"[^>]*checked/, 'nothing stays silently')
    const short = await visitor.post(link, { password: 'short', keep_passkey: own.id })
    t.equal(short.status, 422)
    t.match(short.html, new RegExp(`value="${own.id}" checked`), 'what was ticked stays ticked')
    const after = await visitor.post(link, { password: NEXT, keep_passkey: own.id })
    t.equal(after.path, `${ACCOUNT}?done=password-reset`)

    for (const at of [host, elsewhere]) {
      t.equal((await whoami(at, tokens.access_token)).status, 401)
      t.match(await application.refresh(at, tokens.refresh_token), { status: 400, body: { error: 'invalid_grant' } })
      t.equal((await new Visitor(at).get(`/console/reset/${other}`)).status, 404)
      t.equal((await new Visitor(at).get(invitation)).status, 404)
      t.match((await signInWith(at, planted)).html, /belongs to no account, or was removed/)
      t.equal((await signInWith(at, own)).path, ACCOUNT)
      t.match((await (await signedIn(owner, at)).get(ACCOUNT)).path, /sign-in/, 'the old password')
    }
    for (const old of [thief, owner]) t.match((await old.get(ACCOUNT)).path, /sign-in/)
    t.equal((await visitor.get(ACCOUNT)).status, 200)
  },
)

t.test('the signed-in person keeps this session, and the passkeys that stay ticked', async (t) => {
  const { host } = await shared()
  const { owner, own, planted, tokens, thief, invitation } = await taken(t, host)
  const page = await owner.get(ACCOUNT)
  const ticked = [...page.html.matchAll(/name="keep_passkey" value="([^"]+)" checked/g)].map(([, id]) => id)
  t.strictSame(ticked.sort(), [own.id, planted.id].sort())
  const wrong = await owner.post(`${ACCOUNT}/password`, { current: 'wrong', next: NEXT, keep_passkey: own.id })
  t.equal(wrong.status, 422)
  t.notMatch(wrong.html, new RegExp(`value="${planted.id}" checked`), 'as it was sent')
  t.equal((await whoami(host, tokens.access_token)).status, 200)
  const changed = await owner.post(`${ACCOUNT}/password`, { current: PASSWORD, next: NEXT, keep_passkey: own.id })
  t.equal(changed.path, `${ACCOUNT}?done=password-changed`)
  t.equal((await whoami(host, tokens.access_token)).status, 401)
  t.match((await thief.get(ACCOUNT)).path, /sign-in/)
  t.equal((await signInWith(host, planted)).status, 422)
  t.equal((await signInWith(host, own)).path, ACCOUNT)
  t.equal((await new Visitor(host).get(invitation)).status, 200, 'who changes it themselves keeps their invitations')
})

t.test('a request of a stolen session that comes too late plants nothing', async (t) => {
  const { host, claimcheck } = await shared()
  const { accounts, identities, sessions, passkeys } = claimcheck
  const owner = await Visitor.owner(host)
  const [stale] = (await accounts.list()).filter(({ email }) => email === owner.email)
  await accounts.passwords.reset(await accounts.resetToken(owner.email), NEXT, { passkeys: [], identities: [] })
  const refused = { code: 'conflict', message: /sign in again/ }
  await t.rejects(identities.add(stale!, { issuer: 'https://id.example', subject: 'thief' }), refused)
  await t.rejects(sessions.start(stale!, 'password', { userAgent: '', address: '' }), refused)
  await t.rejects(sessions.confirm(stale!), refused)
  const party = { id: 'localhost', origin: host.url }
  const device = new Device(host.url)
  const { options, ticket } = await passkeys.beginRegistration(stale!, party)
  const credential = device.create(options as never)
  await t.rejects(passkeys.register(stale!, { party, ticket, credential, name: 'late' }), refused)
})

t.test('a second step stays over a reset, and its code is asked for; the operator can switch it off', async (t) => {
  const { host, claimcheck } = await shared()
  const owner = await Visitor.owner(host)
  const { secret } = await setUpSecondStep(owner)
  const { accounts, secondSteps } = claimcheck
  const link = `/console/reset/${await accounts.resetToken(owner.email)}`
  const visitor = new Visitor(host)
  t.match(textOf((await visitor.get(link)).html), /Your second step stays: you are asked for a code next/)
  const asked = await visitor.post(link, { password: NEXT })
  t.match(textOf(asked.html), /Now type the code/)
  t.match((await visitor.get(ACCOUNT)).path, /sign-in/, 'not yet')
  const next = /name="next" value="([^"]+)"/.exec(asked.html)![1]!
  const entered = await visitor.post('/console/sign-in/code', { next, code: codeOf(secret, Date.now()) })
  t.equal(entered.path, `${ACCOUNT}?done=password-reset`)

  t.equal(await secondSteps.remove(owner.email), true)
  t.equal(await secondSteps.remove(owner.email), false)
  t.equal(await secondSteps.remove('nobody@example.com'), false)
  t.equal((await (await signedIn(owner, host, NEXT)).get(ACCOUNT)).status, 200)
})
