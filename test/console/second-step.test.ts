/** Signing in with a password and a code, the page that sets it up, and workspaces that ask for it. */
import { GROWTH } from '@claimcheck/server/features/people/login-throttle'
import t from 'tap'
import { Application, OAUTH, whoami } from '../support/application.ts'
import { codeOf, setUpSecondStep } from '../support/authenticator.ts'
import { filled, routesOf } from '../support/console-routes.ts'
import { Device } from '../support/device.ts'
import { Installation, sharedInstallation } from '../support/installation.ts'
import { PASSWORD, type Page, textOf, Visitor } from '../support/visitor.ts'

const ACCOUNT = '/console/account'
const SECOND_STEP = `${ACCOUNT}/second-step`
const shared = sharedInstallation({ file: { oauth: OAUTH } })

/** Up to the page that asks for the code. */
async function begin({ host, email }: Visitor, next = ACCOUNT): Promise<{ visitor: Visitor; page: Page }> {
  const visitor = new Visitor(host, email)
  return { visitor, page: await visitor.post('/console/sign-in', { email, password: PASSWORD, next }) }
}

t.test(
  'it is set up with a picture or a key, by a code that proves it, and shows ten recovery codes once',
  async (t) => {
    const { host } = await shared()
    const owner = await Visitor.owner(host)
    const page = await owner.get(SECOND_STEP)
    t.match(page.html, /<svg class="qr" role="img" aria-label="[^"]+" viewBox="0 0 \d+ \d+"/)
    t.match(page.html, /<path d="M\d+ \d+h1v1h-1z/)
    t.match(page.html, /href="otpauth:\/\/totp\/Claimcheck:owner[^"]*secret=[A-Z2-7]{32}/)
    t.notMatch(page.html, /https?:\/\/(?!localhost)[^"]*qr/i, 'nothing is loaded from elsewhere')
    const ticket = /name="ticket" value="([^"]+)"/.exec(page.html)![1]!
    const wrong = await owner.post(SECOND_STEP, { ticket, code: '12345' })
    t.equal(wrong.status, 422)
    t.match(textOf(wrong.html), /The code is not right: .* check the time of your phone/)
    const secretOf = ({ html }: Page) => /data-copy="([A-Z2-7]+)"/.exec(html)?.[1]
    t.equal(secretOf(wrong), secretOf(page))
    t.match((await owner.get(ACCOUNT)).html, /Set up a second step/)

    const { recoveryCodes } = await setUpSecondStep(owner)
    t.equal(recoveryCodes.length, 10)
    t.match(textOf((await owner.get(ACCOUNT)).html), /On since now.* 10 recovery codes are left/)
    const shown = await owner.get(SECOND_STEP)
    for (const code of recoveryCodes) t.notMatch(shown.html, code)
    const others = await owner.post(`${SECOND_STEP}/codes`)
    t.equal(others.status, 201)
    t.notMatch(others.html, recoveryCodes[0]!)
    t.equal((await owner.post(`${SECOND_STEP}/off`)).path, `${ACCOUNT}?done=second-step-off`)
    t.equal((await owner.post(`${SECOND_STEP}/off`)).status, 422)
    t.equal((await owner.post(`${SECOND_STEP}/codes`)).status, 422)
    t.equal((await begin(owner)).page.path, ACCOUNT, 'the password alone signs in again')
  },
)

t.test('after the right password the code is asked for, and without it nothing is open', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const { secret, recoveryCodes } = await setUpSecondStep(owner)
  const next = '/console/workspaces/new'
  const { visitor, page } = await begin(owner, next)
  t.match(textOf(page.html), /Your password is right\. Now type the code/)
  t.match((await visitor.get(next)).path, /sign-in/)
  const wrong = await visitor.post('/console/sign-in/code', { next, code: '' })
  t.equal(wrong.status, 422)
  t.match(textOf(wrong.html), /The code is not right/)
  const entered = await visitor.post('/console/sign-in/code', { next, code: codeOf(secret, Date.now()) })
  t.equal(entered.path, next)

  const byCode = (await begin(owner, next)).visitor
  t.equal((await byCode.post('/console/sign-in/code', { next, code: recoveryCodes[4]! })).path, next)
  const elsewhere = new Visitor(host)
  const stolen = await elsewhere.post('/console/sign-in/code', { next, code: recoveryCodes[5]! })
  t.match(textOf(stolen.html), /Signing in took too long or was begun in another browser/)
  const wrongPassword = await elsewhere.post('/console/sign-in', { email: owner.email, password: 'wrong' })
  t.notMatch(textOf(wrongPassword.html), /type the code/)

  const tired = (await begin(owner)).visitor
  let last: Page | undefined
  for (let count = 0; count < 5; count++) last = await tired.post('/console/sign-in/code', { code: 'no-such-code' })
  t.match(last!.html, /name="password"/, 'after five wrong codes the password is asked for again')
})

t.test('wrong codes wait as wrong passwords do, and keep out nobody who is known', async (t) => {
  const { host } = await Installation.during(t)
  const owner = await Visitor.owner(host)
  await owner.get(ACCOUNT)
  const { secret, recoveryCodes } = await setUpSecondStep(owner)
  const { visitor: stranger } = await begin(owner)
  const answer = (visitor: Visitor, code: string) => visitor.post('/console/sign-in/code', { next: ACCOUNT, code })
  for (let count = 0; count < GROWTH.pair.free; count++) t.equal((await answer(stranger, 'no-such-code')).status, 422)
  const { visitor } = await begin(owner)
  for (const code of ['no-such-code', codeOf(secret, Date.now()), recoveryCodes[0]!]) {
    const refused = await answer(visitor, code)
    t.equal(refused.status, 429, 'nothing is looked at')
    t.match(refused.headers.get('retry-after'), /^[12]$/)
    t.match(refused.html, /name="code"/, 'the page stays, for when the time has come')
  }
  await owner.post('/console/sign-out')
  await owner.post('/console/sign-in', { email: owner.email, password: PASSWORD, next: ACCOUNT })
  t.equal((await answer(owner, recoveryCodes[0]!)).path, ACCOUNT)
})

t.test('a form that was sent too late is kept over both steps', async (t) => {
  const { host, claimcheck } = await shared()
  const owner = await Visitor.owner(host)
  const { recoveryCodes } = await setUpSecondStep(owner)
  const unsent = { unsent_action: '/console/workspaces/new', unsent_fields: '[["name","typed before"]]' }
  const visitor = new Visitor(host)
  const asked = await visitor.post('/console/sign-in', { email: owner.email, password: PASSWORD, ...unsent })
  t.match(asked.html, /name="unsent_fields"/)
  const entered = await visitor.post('/console/sign-in/code', { code: recoveryCodes[0]!, ...unsent })
  t.match(textOf(entered.html), /Send your form\? .* typed before/)
  await t.rejects(claimcheck.workspaces.find('typed before'), { code: 'not_found' })
})

t.test('a passkey needs no code', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const device = await withPasskey(owner)
  await setUpSecondStep(owner)
  t.equal((await signInWith(host, device)).page.path, ACCOUNT)
})

async function withPasskey(visitor: Visitor): Promise<Device> {
  const device = new Device(visitor.host.url)
  await visitor.get(ACCOUNT)
  const options = JSON.parse((await visitor.post(`${ACCOUNT}/passkeys/options`)).html)
  await visitor.post(`${ACCOUNT}/passkeys`, { credential: device.create(options), passkey_name: 'key' })
  return device
}

async function signInWith(host: Visitor['host'], device: Device) {
  const visitor = new Visitor(host)
  const options = JSON.parse((await visitor.post('/console/sign-in/passkey/options')).html)
  const fields = { credential: device.get(options), next: ACCOUNT }
  return { visitor, page: await visitor.post('/console/sign-in/passkey', fields) }
}

t.test(
  'a workspace that asks for a second step shows nothing to who signed in with less, and says what to set up',
  async (t) => {
    const { host, claimcheck } = await shared()
    const owner = await Visitor.owner(host)
    const workspace = await owner.workspaceId()
    const base = `/console/w/${workspace}`
    const mia = await Visitor.joining(host, workspace, 'owner', 'Mia')
    await mia.get(ACCOUNT)
    const application = new Application()
    const tokens = await application.tokens(mia)

    await owner.get(`${base}/members`)
    const early = await owner.post(`${base}/sign-in-rule`, { rule: 'second_step' })
    t.equal(early.status, 422)
    t.match(textOf(early.html), /sign in with a passkey, or a password and a second step yourself first/)
    t.equal((await owner.post(`${base}/sign-in-rule`, { rule: 'nonsense' })).status, 422)
    const { secret } = await setUpSecondStep(owner)
    await owner.get(`${base}/members`)
    const set = await owner.post(`${base}/sign-in-rule`, { rule: 'second_step' })
    t.equal(set.path, `${base}/members?done=sign-in-rule-changed`)
    t.match(set.html, /<option value="second_step" selected/)

    const routes = (await routesOf(claimcheck)).filter(({ url }) => url.includes(':workspace'))
    t.ok(routes.length > 20)
    const values = {
      workspace,
      provider: 'p',
      claim_id: 'c',
      agent_id: 'a',
      key: 'k',
      connection: 'c',
      member: 'm',
      webhook: 'w',
    }
    for (const route of routes) {
      const path = filled(route, values)
      const page = route.method === 'GET' ? await mia.get(path) : await mia.post(path, { name: 'x', role: 'member' })
      t.equal(page.status, 403, `${route.method} ${route.url}`)
      t.match(textOf(page.html), /asks for more .* You signed in with a password alone/, route.url)
    }
    t.match((await mia.get(`${base}/claims`)).html, /href="\/console\/account\/second-step"/)

    t.equal((await whoami(host, tokens.access_token)).status, 401, 'what was allowed before is allowed again')
    const consent = await application.consentPage(mia)
    t.match(textOf(consent.html), /is left out: it asks for a passkey, or a password and a second step/)
    t.notMatch(consent.html, 'value="allow"')
    const forced = await application.send(mia, consent.path, { decision: 'allow', workspace })
    t.equal(forced.status, 422)
    t.match(textOf(await forced.text()), /asks for a passkey, or a password and a second step at signing in/)

    await setUpSecondStep(mia)
    t.equal((await mia.get(`${base}/claims`)).status, 200, 'once it is set up, in the same session')
    t.ok(await application.tokens(mia))
    t.equal((await owner.get(`${base}/claims`)).status, 200)
    await owner.get(`${base}/members`)
    await owner.post(`${base}/sign-in-rule`, { rule: 'second_step' })
    const kept = await application.tokens(owner, {}, workspace)
    await owner.get(`${base}/members`)
    await owner.post(`${base}/sign-in-rule`, { rule: 'second_step' })
    t.equal((await whoami(host, kept.access_token)).status, 200, 'the same rule once more ends nothing')
    const again = (await begin(owner)).visitor
    await again.post('/console/sign-in/code', { next: ACCOUNT, code: codeOf(secret, Date.now()) })
    t.equal((await again.get(`${base}/claims`)).status, 200)
    await mia.get(SECOND_STEP)
    await mia.post(`${SECOND_STEP}/off`)
    t.equal((await mia.get(`${base}/claims`)).status, 403)
  },
)

t.test('a workspace that asks for passkeys takes nothing else', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const workspace = await owner.workspaceId()
  const base = `/console/w/${workspace}`
  const device = await withPasskey(owner)
  await setUpSecondStep(owner)
  await owner.get(`${base}/members`)
  t.equal((await owner.post(`${base}/sign-in-rule`, { rule: 'passkey' })).status, 422, 'it is there, and was not used')
  const { visitor } = await signInWith(host, device)
  await visitor.get(`${base}/members`)
  t.match((await visitor.post(`${base}/sign-in-rule`, { rule: 'passkey' })).path, /done=sign-in-rule-changed/)
  const closed = await owner.get(`${base}/claims`)
  t.equal(closed.status, 403)
  t.match(textOf(closed.html), /ask for a passkey at signing in\. You signed in with a password and a code/)
  t.match(closed.html, /href="\/console\/confirm\?next=%2Fconsole%2Fw%2F/, 'with the passkey that is there')
  t.equal((await visitor.get(`${base}/claims`)).status, 200)
  t.match((await visitor.post(`${base}/sign-in-rule`, { rule: 'any' })).path, /done=sign-in-rule-changed/)
  t.equal((await owner.get(`${base}/claims`)).status, 200)
})
