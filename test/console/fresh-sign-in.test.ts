/** What changes who can get in needs a sign-in of the last ten minutes, and goes on afterwards as it was typed. */
import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import { afterFile } from '../support/after-file.ts'
import { filled, routesOf } from '../support/console-routes.ts'
import { SCRIPTED, sharedInstallation } from '../support/installation.ts'
import { OpenIdProvider } from '../support/openid-provider.ts'
import { signedInBefore } from '../support/time-passes.ts'
import { PASSWORD, type Page, textOf, Visitor } from '../support/visitor.ts'

const MINUTES_MS = 60_000

const provider = await OpenIdProvider.start()
afterFile(() => provider.close())
const shared = sharedInstallation({
  plugins: [SCRIPTED, { use: resolve('build/test/plugins/connected.js'), trusted: true }],
  // With the routes that need mail. No mail arrives.
  env: { ...provider.env, SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'a@example.com' },
  file: { sign_in: provider.section, rate_limits: { sign_in: 0 } },
})

/** Every route that needs it, with a form that would change something. */
const ROUTES: readonly (readonly [route: string, fields: Readonly<Record<string, string>>])[] = [
  ['POST /console/account/passkeys/options', {}],
  ['POST /console/account/passkeys', { passkey_name: 'laptop', credential: '{}' }],
  ['POST /console/account/passkeys/remove', { passkey: 'pky_none' }],
  ['POST /console/account/sessions/end', { session: 'ses_none' }],
  ['POST /console/account/sessions/end-others', {}],
  ['POST /console/account/unlink', {}],
  ['POST /console/account/applications/:grant/revoke', {}],
  ['POST /console/account/machines/:machine/revoke', {}],
  ['GET /console/account/second-step', {}],
  ['POST /console/account/second-step', { code: '123456' }],
  ['POST /console/account/second-step/codes', {}],
  ['POST /console/account/second-step/off', {}],
  ['GET /console/account/close', {}],
  ['POST /console/account/close', { email: 'nobody@example.com' }],
  ['POST /console/sign-in/outside', { purpose: 'link' }],
  ['POST /console/w/:workspace/developers/keys', { name: 'planted' }],
  ['POST /console/w/:workspace/developers/keys/:key', { name: 'wider' }],
  ['POST /console/w/:workspace/developers/keys/:key/rotate', {}],
  ['POST /console/w/:workspace/claims/export', {}],
  ['POST /console/w/:workspace/audit-trail/export', {}],
  ['POST /console/w/:workspace/developers/agents/release', { agent: 'bot' }],
  ['POST /console/w/:workspace/developers/sites', { sites: 'https://planted.example' }],
  ['POST /console/w/:workspace/developers/domain', { domain: 'planted.com' }],
  ['GET /console/w/:workspace/developers/webhooks/new', {}],
  ['POST /console/w/:workspace/developers/webhooks/new', { url: 'https://planted.example' }],
  ['GET /console/w/:workspace/developers/webhooks/new-report', {}],
  ['POST /console/w/:workspace/developers/webhooks/new-report', { credential: 'planted' }],
  ['GET /console/w/:workspace/developers/webhooks/:webhook/change', {}],
  ['POST /console/w/:workspace/developers/webhooks/:webhook/change', { url: 'https://planted.example' }],
  ['POST /console/w/:workspace/developers/webhooks/:webhook/secret', { overlap: '0m' }],
  ['POST /console/w/:workspace/developers/webhooks/:webhook/on', {}],
  ['POST /console/account/machines', { name: 'planted' }],
  ['GET /console/w/:workspace/connections/new/:provider', {}],
  ['POST /console/w/:workspace/connections/new/:provider', { option_token: 'planted', connection_name: 'planted' }],
  ['GET /console/w/:workspace/connections/:connection/credentials', {}],
  ['POST /console/w/:workspace/connections/:connection/credentials', { option_token: 'planted' }],
  ['POST /console/w/:workspace/connections/:connection/hints', {}],
  ['POST /console/w/:workspace/members/invitations', { role: 'owner' }],
  ['POST /console/w/:workspace/members/:member/role', { role: 'owner' }],
  ['POST /console/w/:workspace/members/:member/remove', {}],
  ['POST /console/w/:workspace/retention', { days: '30' }],
  ['POST /console/w/:workspace/sign-in-rule', { rule: 'any' }],
  ['GET /console/w/:workspace/delete', {}],
  ['POST /console/w/:workspace/delete', { name: 'x' }],
]
/** Only of an account without a password: below. */
const FIRST_PASSWORD = 'POST /console/account/password'

/** Every other route that changes something, and the reason that it declares for asking for none. */
const WITHOUT: Readonly<Record<string, string>> = {
  'POST /console/sign-in': 'is a sign-in',
  'POST /console/sign-in/code': 'is a sign-in',
  'POST /console/sign-in/passkey/options': 'is a sign-in',
  'POST /console/sign-in/passkey': 'is a sign-in',
  'POST /console/setup/:token': 'the link is the proof',
  'POST /console/join/:token': 'the link is the proof',
  'POST /console/reset/:token': 'the link is the proof',
  'POST /oauth/consent/:uid': 'asks in the handler, where the answer is to allow',
  'POST /console/forgotten': 'sends a mail to the person',
  'POST /console/sign-out': 'ends access',
  'POST /console/w/:workspace/developers/keys/:key/revoke': 'a leaked key ends at once',
  'POST /console/w/:workspace/connections/:connection/disconnect': 'ends access',
  'POST /console/w/:workspace/connections/:connection/hints/end': 'ends access',
  'POST /console/w/:workspace/members/invitations/withdraw': 'ends access',
  'POST /console/account/name': 'changes words alone',
  'POST /console/account/address': 'sends a mail to the person',
  'POST /console/account/address/:token': 'the link is the proof',
  'POST /console/w/:workspace/name': 'changes words alone',
  'POST /console/w/:workspace/connections/:connection/name': 'changes words alone',
  'POST /console/w/:workspace/payer': 'counts what is used for who asks',
  'POST /console/workspaces/new': 'an empty workspace trusts nothing yet',
  'POST /console/w/:workspace/claims/new': 'is checked like every claim',
  'POST /console/w/:workspace/connections/:connection/test': 'uses what is connected',
  'POST /console/w/:workspace/silence': 'changes what the workspace is told',
  'POST /console/w/:workspace/developers/webhooks/:webhook/test': 'sends to what owners named',
  'POST /console/w/:workspace/developers/webhooks/:webhook/resend': 'sends to what owners named',
  'POST /console/w/:workspace/developers/webhooks/:webhook/off': 'ends sending',
  'POST /console/w/:workspace/claims/:claim_id/revisit': 'it only reads, three times for a claim at most',
  'POST /console/w/:workspace/revisits': 'it only reads',
  'POST /console/w/:workspace/developers/webhooks/:webhook/remove': 'ends sending',
}

const ids = {
  grant: 'none',
  machine: 'mch_none',
  key: 'key_none',
  provider: 'mailbox',
  connection: 'con_none',
  webhook: 'wht_none',
}

async function acme() {
  const installation = await shared()
  const { host } = installation
  const owner = await Visitor.owner(host)
  const workspace = await owner.workspaceId()
  const mia = await Visitor.joining(host, workspace, 'member', 'Mia')
  const members = await host.claimcheck.members.list(workspace)
  const member = members.find(({ email }) => email === mia.email)!.id
  await owner.get('/console/account')
  return { installation, host, owner, workspace, member, base: `/console/w/${workspace}` }
}

/** The fields that the form to this path carries by itself. */
function hiddenFields({ html }: Page, action: string): Record<string, string> {
  const form = html.split('<form').find((part) => part.includes(`action="${action}"`)) ?? ''
  const inputs = form.split('</form>')[0]!.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)
  return Object.fromEntries(
    [...inputs].map(([, name, value]) => [name!, value!.replaceAll('&quot;', '"').replaceAll('&amp;', '&')]),
  )
}

async function stateOf({ host, workspace }: Awaited<ReturnType<typeof acme>>) {
  const { keys, members, accounts, allowedOrigins, workspaces, connections, webhooks } = host.claimcheck
  return {
    keys: await keys.list(workspace),
    connections: await connections.list(workspace),
    webhooks: await webhooks.list(workspace),
    members: await members.list(workspace),
    invitations: await members.invitations(workspace),
    workspace: await workspaces.find(workspace),
    allowedOrigins: await allowedOrigins.list(workspace),
    users: await accounts.list(),
  }
}

function ask(visitor: Visitor, route: string, values: Readonly<Record<string, string>>, fields = {}) {
  const [method, url] = route.split(' ') as ['GET' | 'POST', string]
  const path = filled({ url }, values)
  return method === 'GET' ? visitor.get(path) : visitor.post(path, fields)
}

t.test(
  'the tables are whole: each route that changes something asks, and is tested here, or declares a reason not to',
  async (t) => {
    const { host } = await shared()
    const routes = (await routesOf(host.claimcheck)).map((route) => ({
      ...route,
      named: `${route.method} ${route.url}`,
    }))
    const named = (which: typeof routes) => which.map((route) => route.named).sort()
    const asking = [...ROUTES.map(([route]) => route), FIRST_PASSWORD].sort()
    t.strictSame(named(routes.filter(({ isFresh }) => isFresh)), asking)
    const others = routes.filter(({ method, isFresh }) => method === 'POST' && !isFresh)
    t.same(Object.fromEntries(others.map(({ named, freshSignIn }) => [named, freshSignIn])), WITHOUT)
    t.ok(
      routes.every(({ isFresh, freshSignIn }) => isFresh === (freshSignIn === true)),
      'what a route declares is what it does',
    )
  },
)

t.test('ten minutes after signing in, each of them asks who it is, and changes nothing', async (t) => {
  const world = await acme()
  const { installation, owner, workspace, member } = world
  await signedInBefore(installation, owner, 10 * MINUTES_MS)
  const before = await stateOf(world)
  for (const [route, fields] of ROUTES) {
    const page = await ask(owner, route, { ...ids, workspace, member }, fields)
    t.equal(page.status, route.startsWith('GET') ? 200 : 403, route)
    t.match(textOf(page.html), /Confirm that it is you .* needs a sign-in of the last ten minutes/, route)
    t.match(page.html, `action="/console/sign-in"`, route)
    t.match(page.html, 'Continue with Example', route)
  }
  t.strictSame(await stateOf(world), before)
})

t.test('within ten minutes none of them asks', async (t) => {
  const { installation, owner, workspace, member } = await acme()
  await signedInBefore(installation, owner, 9 * MINUTES_MS)
  for (const [route, fields] of ROUTES) {
    const page = await ask(owner, route, { ...ids, workspace, member }, fields)
    t.notMatch(textOf(page.html), /Confirm that it is you/, route)
  }
})

t.test('a member is removed after the sign-in, with every key that was ticked', async (t) => {
  const { installation, owner, workspace, member, base } = await acme()
  const { keys, members } = installation.claimcheck
  const { userId } = (await members.list(workspace)).find(({ id }) => id === member)!
  const by = { actor: { kind: 'user', id: userId }, address: null } as const
  for (const name of ['one', 'two', 'three']) await keys.create(workspace, name, {}, by)
  await signedInBefore(installation, owner, 10 * MINUTES_MS)
  const action = `${base}/members/${member}/remove`
  const ticked = (await keys.list(workspace)).slice(0, 2).map(({ id }) => ['revoke', id] as const)
  const asked = await owner.post(action, ticked)
  t.match([asked.status, (await members.list(workspace)).length], [403, 2])
  const fields = { ...hiddenFields(asked, '/console/sign-in'), password: PASSWORD }
  const confirmed = await owner.post('/console/sign-in', fields)
  const resent = [...confirmed.html.matchAll(/name="(revoke)" value="([^"]*)"/g)].map(
    ([, name, id]) => [name!, id!] as const,
  )
  t.strictSame(resent, ticked)
  t.match((await owner.post(action, resent)).path, /done=member-removed/)
  t.match(await keys.list(workspace), [{ revokedAt: Number }, { revokedAt: Number }, { revokedAt: null }])
})

t.test('leaving a workspace needs none: it ends what the person may do', async (t) => {
  const { installation, host, workspace, member } = await acme()
  const [mia] = (await host.claimcheck.members.list(workspace)).filter(({ id }) => id === member)
  const visitor = new Visitor(host, mia!.email)
  await visitor.post('/console/sign-in', { email: mia!.email, password: PASSWORD })
  await visitor.get('/console/account')
  await signedInBefore(installation, visitor, 10 * MINUTES_MS)
  const path = `/console/w/${workspace}/members`
  t.equal((await visitor.post(`${path}/mem_none/remove`)).status, 404, 'what is refused in any case asks for none')
  t.equal((await visitor.post(`${path}/${member}/remove`)).status, 200)
  t.notMatch(await host.claimcheck.members.list(workspace), [{}, { id: member }])
})

t.test('a destination is connected after the sign-in, with what was typed but its secrets', async (t) => {
  const { installation, owner, workspace, base } = await acme()
  const action = `${base}/connections/new/mailbox`
  t.match((await owner.get(action)).html, `action="${action}"`)
  await signedInBefore(installation, owner, 10 * MINUTES_MS)
  const asked = await owner.post(action, { option_token: 'a-secret-of-the-box', connection_name: 'Box', insist: 'on' })
  t.match([asked.status, textOf(asked.html)], [403, /Confirm that it is you .*Box.*Secrets are not kept/])
  t.notMatch(asked.html, 'a-secret-of-the-box')
  t.strictSame(await installation.claimcheck.connections.list(workspace), [])
  const fields = { ...hiddenFields(asked, '/console/sign-in'), password: PASSWORD }
  t.match(textOf((await owner.post('/console/sign-in', fields)).html), /Send your form\?.*Box/)
})

t.test('the form goes on as it was typed once they have signed in again, in a session that begins anew', async (t) => {
  const { installation, host, owner, workspace, base } = await acme()
  await signedInBefore(installation, owner, 11 * MINUTES_MS)
  const action = `${base}/developers/keys`
  const asked = await owner.post(action, { name: 'build "server" & more' })
  t.match(textOf(asked.html), /build "server" & more/)
  const cookie = owner.cookies.get('claimcheck')

  const fields = hiddenFields(asked, '/console/sign-in')
  const wrong = await owner.post('/console/sign-in', { ...fields, password: 'not the password' })
  t.equal(wrong.status, 422)
  t.match(textOf(wrong.html), /Confirm that it is you .*password is not right/)
  const confirmed = await owner.post('/console/sign-in', {
    ...hiddenFields(wrong, '/console/sign-in'),
    password: PASSWORD,
  })
  t.match(textOf(confirmed.html), /Send your form\? .*build "server" & more/)
  t.not(owner.cookies.get('claimcheck'), cookie)
  t.strictSame(await host.claimcheck.keys.list(workspace), [])
  const made = await owner.post(action, { ...hiddenFields(confirmed, action), name: 'build "server" & more' })
  t.equal(made.status, 201)
  t.match(await host.claimcheck.keys.list(workspace), [{ name: 'build "server" & more' }])
  const [{ id } = { id: '' }] = (await host.claimcheck.accounts.list()).filter(({ email }) => email === owner.email)
  t.equal((await host.claimcheck.sessions.list(id)).length, 1, 'the old session is over')
})

t.test('the account page leads to the sign-in in place of forms that would be refused', async (t: Test) => {
  const { installation, owner } = await acme()
  t.match((await owner.get('/console/account')).html, /value="link"/)
  await signedInBefore(installation, owner, 10 * MINUTES_MS)
  const page = await owner.get('/console/account')
  t.notMatch(page.html, /value="link"/)
  t.match(page.html, /To link it, <a href="\/console\/confirm\?next=%2Fconsole%2Faccount">confirm that it is you<\/a>/)
  const confirm = await owner.get('/console/confirm?next=%2Fconsole%2Faccount')
  const back = { ...hiddenFields(confirm, '/console/sign-in'), password: PASSWORD }
  const after = await owner.post('/console/sign-in', back)
  t.equal(after.path, '/console/account')
  t.match(after.html, /value="link"/)
})

t.test('a first password needs it, and one in place of another does not', async (t) => {
  const { installation, host, owner, workspace } = await acme()
  provider.open(`${host.url}/console/sign-in/outside/callback`)
  const token = await host.claimcheck.accounts.inviteToken(workspace, 'member', null)
  const newcomer = new Visitor(host, 'newcomer@example.com')
  const begun = await newcomer.post('/console/sign-in/outside', { purpose: 'join', token })
  const url = /^0;url=(.*)$/.exec(begun.headers.get('refresh') ?? '')![1]!
  const back = await provider.signIn(url, 'newcomer')
  await newcomer.get(back.pathname + back.search)
  await newcomer.get('/console/account')
  await signedInBefore(installation, newcomer, 10 * MINUTES_MS)
  const next = 'quite another password'
  const form = { next, keep_identity: provider.issuer }
  const asked = await newcomer.post('/console/account/password', form)
  t.equal(asked.status, 403)
  t.match(textOf(asked.html), /Confirm that it is you/)
  t.notMatch(asked.html, next)
  t.notMatch(asked.html, 'name="password"', 'there is none to ask for')
  t.match(
    textOf((await newcomer.get('/console/account')).html),
    /To choose one , confirm that it is you|To choose one, confirm/,
  )

  await signedInBefore(installation, owner, 10 * MINUTES_MS)
  const changed = await owner.post('/console/account/password', { current: PASSWORD, next })
  t.match(changed.path, /done=password-changed/)
})
