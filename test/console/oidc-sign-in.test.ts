// Test run: slow
/** Signing in through an outside OpenID provider: a real one, on this machine. */
import t, { type Test as TapTest } from 'tap'
import { afterFile } from '../support/after-file.ts'
import { Installation, sharedInstallation } from '../support/installation.ts'
import { minuteWithRoom } from '../support/minute.ts'
import { NAMELESS, OpenIdProvider } from '../support/openid-provider.ts'
import { PASSWORD, type Page, textOf, Visitor } from '../support/visitor.ts'

const BEGIN = '/console/sign-in/outside'
const CALLBACK = `${BEGIN}/callback`
const ACCOUNT = '/console/account'

const provider = await OpenIdProvider.start()
afterFile(() => provider.close())
const file = { sign_in: provider.section, rate_limits: { sign_in: 0 } }
const shared = sharedInstallation({ env: provider.env, file })
let people = 0

/** A login at the provider that no account is linked to. */
function newLogin(name = 'ann'): string {
  return `${name}-${++people}`
}

/** The installation that the tests share. */
async function served() {
  const { host } = await shared()
  provider.open(host.url + CALLBACK)
  return { host }
}

/** An installation of the test's own, in which there is no account yet. */
async function fresh(t: TapTest) {
  const { host } = await Installation.during(t, { env: provider.env, file })
  provider.open(host.url + CALLBACK)
  return { host }
}

/** Where the browser is sent. */
async function begin(visitor: Visitor, fields: Readonly<Record<string, string>>): Promise<string> {
  const page = await visitor.post(BEGIN, fields)
  const url = /^0;url=(.*)$/.exec(page.headers.get('refresh') ?? '')?.[1]
  if (url === undefined) throw new Error(`${page.status} ${textOf(page.html)}`)
  return url
}

/** To the provider and back. */
async function goThrough(visitor: Visitor, fields: Readonly<Record<string, string>>, login: string): Promise<Page> {
  const back = await provider.signIn(await begin(visitor, fields), login)
  return visitor.get(back.pathname + back.search)
}

/** An owner whose account is linked to a login at the provider. */
async function linked(host: Visitor['host']) {
  const owner = await Visitor.owner(host)
  const ann = newLogin()
  await owner.get(ACCOUNT)
  await goThrough(owner, { purpose: 'link' }, ann)
  return { owner, ann }
}

t.test('the first person sets up through the provider, and comes in by it again', async (t) => {
  const { host } = await fresh(t)
  const token = (await host.claimcheck.accounts.setupToken())!
  const visitor = new Visitor(host)
  t.match((await visitor.get(`/console/setup/${token}`)).html, /Continue with Example/)
  const unnamed = await visitor.post(BEGIN, { purpose: 'setup', token, workspace: '' })
  t.equal(unnamed.status, 400)
  const page = await goThrough(visitor, { purpose: 'setup', token, workspace: 'acme' }, 'ann')
  t.match(page.path, /^\/console\/w\/ws_/)
  const account = await visitor.get(ACCOUNT)
  t.match(textOf(account.html), /ann of Example.*You sign in as ann@example\.com.*Linked/)
  t.match(textOf(account.html), /You have no password yet/)

  const again = new Visitor(host)
  t.match((await again.get('/console/sign-in')).html, /Continue with Example/)
  t.equal((await goThrough(again, { purpose: 'sign_in', next: ACCOUNT }, 'ann')).path, ACCOUNT)
})

t.test('the provider is asked with a state, a nonce and the digest of a verifier that stays here', async (t) => {
  const { host } = await served()
  await Visitor.owner(host)
  const visitor = new Visitor(host)
  const url = new URL(await begin(visitor, { purpose: 'sign_in', next: '//evil.example' }))
  t.equal(url.searchParams.get('response_type'), 'code')
  t.equal(url.searchParams.get('code_challenge_method'), 'S256')
  for (const name of ['state', 'nonce', 'code_challenge']) t.match(url.searchParams.get(name), /^[\w-]{43}$/)
  const other = new URL(await begin(visitor, { purpose: 'sign_in' }))
  t.not(other.searchParams.get('state'), url.searchParams.get('state'))
  t.equal((await new Visitor(host).post(BEGIN, { purpose: 'sign_in' }, { origin: 'https://evil.example' })).status, 403)
  t.equal(provider.issuer, url.origin)
})

t.test('an identity that is linked to no account is told to ask for an invitation', async (t) => {
  const { host } = await served()
  await linked(host)
  const visitor = new Visitor(host)
  const page = await goThrough(visitor, { purpose: 'sign_in' }, newLogin('bob'))
  t.equal(page.status, 403)
  t.match(textOf(page.html), /ask an owner of a workspace for an invitation/)
  t.equal(visitor.cookies.size, 0)
})

t.test(
  'an invitation is accepted through the provider; an address that has an account is never linked to it',
  async (t) => {
    const { host } = await served()
    const bobs = newLogin('bob')
    const owner = await Visitor.owner(host)
    const sameAddress = owner.email.split('@')[0]!
    const id = await owner.workspaceId()
    const invite = () => host.claimcheck.accounts.inviteToken(id, 'member', null)
    const token = await invite()
    const bob = new Visitor(host)
    t.match((await bob.get(`/console/join/${token}`)).html, /Continue with Example/)
    const joined = await goThrough(bob, { purpose: 'join', token }, bobs)
    t.match(joined.path, new RegExp(`^/console/w/${id}/`))
    t.equal((await new Visitor(host).post(BEGIN, { purpose: 'join', token })).status, 404, 'the link was used')

    const taken = new Visitor(host)
    const page = await goThrough(taken, { purpose: 'join', token: await invite() }, sameAddress)
    t.equal(page.status, 422, `the account ${owner.email} has a password of its own`)
    t.match(textOf(page.html), /There is an account with this address/)
    t.equal(taken.cookies.size, 0)
    t.equal((await goThrough(new Visitor(host), { purpose: 'sign_in' }, sameAddress)).status, 403)

    const nameless = await goThrough(new Visitor(host), { purpose: 'join', token: await invite() }, NAMELESS)
    t.equal(nameless.status, 422)
    t.match(textOf(nameless.html), /Example did not send your e-mail address: make the account with a password/)

    const secondLink = await invite()
    const twice = await goThrough(new Visitor(host), { purpose: 'join', token: secondLink }, bobs)
    t.equal(twice.status, 422, 'who has an account is not given another')
    t.equal((await new Visitor(host).get(`/console/join/${secondLink}`)).status, 200, 'and the link can still be used')
  },
)

t.test(
  'an account that never confirmed a verified address keeps it from its person no longer than they want',
  async (t) => {
    const { host } = await served()
    const owner = await Visitor.owner(host)
    const login = newLogin('verified')
    const invite = async () => host.claimcheck.accounts.inviteToken(await owner.workspaceId(), 'member', null)
    const squatter = new Visitor(host, `${login}@example.com`)
    await squatter.post(`/console/join/${await invite()}`, { name: 'Sam', email: squatter.email, password: PASSWORD })
    provider.verified.add(login)
    const token = await invite()
    const person = new Visitor(host)
    const asked = await goThrough(person, { purpose: 'join', token }, login)
    t.match(
      [asked.path, textOf(asked.html)],
      [`/console/join/${token}?held=on`, /It is not mine: it loses the address/],
    )
    t.equal(person.cookies.has('claimcheck'), false)
    const joined = await goThrough(person, { purpose: 'join', token, takes_address: 'on' }, login)
    t.match(joined.path, /\/claims$/)
    t.match(textOf((await squatter.get(ACCOUNT)).html), /@unconfirmed\.invalid/)
  },
)

t.test('an account is linked and unlinked by its owner, and no identity belongs to two', async (t) => {
  const { host } = await served()
  const { owner, ann } = await linked(host)
  t.match(textOf((await owner.get(ACCOUNT)).html), /Linked: you can sign in with Example/)
  t.equal((await goThrough(new Visitor(host), { purpose: 'sign_in', next: ACCOUNT }, ann)).path, ACCOUNT)

  const mia = await Visitor.joining(host, await owner.workspaceId(), 'member', 'Mia')
  await mia.get(ACCOUNT)
  const taken = await goThrough(mia, { purpose: 'link' }, ann)
  t.equal(taken.status, 422)
  t.match(textOf(taken.html), /This sign-in is linked to another account/)
  t.match(textOf((await goThrough(owner, { purpose: 'link' }, newLogin('zoe'))).html), /unlink that one first/)

  t.equal((await owner.post(`${ACCOUNT}/unlink`)).path, `${ACCOUNT}?done=sign-in-unlinked`)
  t.equal((await goThrough(new Visitor(host), { purpose: 'sign_in' }, ann)).status, 403)
  t.equal((await owner.post(`${ACCOUNT}/unlink`)).status, 404)
})

t.test('the only way in cannot be unlinked', async (t) => {
  const { host } = await fresh(t)
  const token = (await host.claimcheck.accounts.setupToken())!
  const ann = new Visitor(host)
  await goThrough(ann, { purpose: 'setup', token, workspace: 'acme' }, 'ann')
  await ann.get(ACCOUNT)
  const refused = await ann.post(`${ACCOUNT}/unlink`)
  t.equal(refused.status, 422)
  t.match(textOf(refused.html), /This is the only sign-in method of your account/)
  const next = 'a password of her own'
  const kept = { next, keep_identity: provider.issuer }
  t.equal((await ann.post(`${ACCOUNT}/password`, kept)).path, `${ACCOUNT}?done=password-changed`)
  t.equal((await ann.post(`${ACCOUNT}/unlink`)).path, `${ACCOUNT}?done=sign-in-unlinked`)
})

t.test('linking takes a form of the session that is linked, and the same person at both ends', async (t) => {
  const { host } = await served()
  const owner = await Visitor.owner(host)
  const ann = newLogin()
  await owner.get(ACCOUNT)
  t.equal((await owner.post(BEGIN, { purpose: 'link', _csrf: 'x' })).status, 403)
  t.equal((await new Visitor(host).post(BEGIN, { purpose: 'link' })).status, 404)
  const back = await provider.signIn(await begin(owner, { purpose: 'link' }), ann)
  owner.cookies.delete('claimcheck')
  t.equal((await owner.get(back.pathname + back.search)).status, 403, 'signed out meanwhile')
  t.equal((await goThrough(new Visitor(host), { purpose: 'sign_in' }, ann)).status, 403)
})

t.test('an answer is good once, and in the browser that was sent', async (t) => {
  const { host } = await served()
  const { ann } = await linked(host)
  const visitor = new Visitor(host)
  const back = await provider.signIn(await begin(visitor, { purpose: 'sign_in' }), ann)
  const ticket = visitor.cookies.get('claimcheck-outside')!
  const path = back.pathname + back.search
  const elsewhere = await new Visitor(host).get(path)
  t.equal(elsewhere.status, 422)
  t.match(textOf(elsewhere.html), /was started in another browser/)
  t.match((await visitor.get(path)).path, /^\/console\/w\//)
  const replaying = new Visitor(host)
  replaying.cookies.set('claimcheck-outside', ticket)
  t.equal((await replaying.get(path)).status, 422)
  t.equal(replaying.cookies.has('claimcheck'), false)
})

t.test('a stranger who sends invented answers fills no audit trail', async (t) => {
  const limited = { ...file, rate_limits: { sign_in: 2 } }
  const { host } = await Installation.during(t, { env: provider.env, file: limited })
  const { audit } = host.claimcheck.storage.read
  await minuteWithRoom()
  const visitor = new Visitor(host)
  for (let count = 0; count < 2; count++) t.equal((await visitor.get(CALLBACK)).status, 422)
  const before = await audit.ends()
  t.ok(before)
  t.equal((await visitor.get(CALLBACK)).status, 429)
  t.same(await audit.ends(), before)
})

t.test('an answer that does not fit what was asked lets nobody in', async (t) => {
  const { host } = await served()
  const { ann } = await linked(host)

  async function refused(what: string, change: (back: URL, asked: URL) => Promise<void> | void, message: RegExp) {
    const visitor = new Visitor(host)
    const asked = await begin(visitor, { purpose: 'sign_in' })
    const back = await provider.signIn(asked, ann)
    await change(back, new URL(asked))
    const page = await visitor.get(back.pathname + back.search)
    provider.alter = (tokens) => tokens
    t.equal(page.status, 422, what)
    t.match(textOf(page.html), message, what)
    t.equal(visitor.cookies.has('claimcheck'), false, what)
  }

  const misfit = /The answer of Example does not belong to this sign-in/
  await refused('another state', (back) => back.searchParams.set('state', 'x'.repeat(43)), misfit)
  await refused('no state', (back) => back.searchParams.delete('state'), misfit)
  await refused('another issuer', (back) => back.searchParams.set('iss', 'https://evil.example'), misfit)
  await refused('an invented code', (back) => back.searchParams.set('code', 'x'.repeat(43)), misfit)
  const nothing = (back: URL) => {
    back.search = ''
  }
  await refused('nothing', nothing, misfit)
  const oidcError = (back: URL) => {
    back.searchParams.delete('code')
    back.searchParams.set('error', 'server_error')
    back.searchParams.set('error_description', '<script>')
  }
  await refused('an error', oidcError, /Example refused the sign-in/)

  const forOther = async (_back: URL, asked: URL) => {
    const idToken = await provider.idTokenForOther(ann, asked.searchParams.get('nonce')!)
    provider.alter = (tokens) => ({ ...tokens, id_token: idToken })
  }
  await refused('an ID token for another client', forOther, misfit)
  let stolen: unknown
  provider.alter = (tokens) => {
    stolen = tokens.id_token
    return tokens
  }
  t.match((await goThrough(new Visitor(host), { purpose: 'sign_in' }, ann)).path, /^\/console\/w\//)
  const ofEarlier = () => {
    provider.alter = (tokens) => ({ ...tokens, id_token: stolen })
  }
  await refused('the ID token of an earlier sign-in', ofEarlier, misfit)
  const resigned = () => {
    provider.alter = (tokens) => ({
      ...tokens,
      id_token: String(tokens.id_token).replace(/\.[^.]+$/, `.${'A'.repeat(342)}`),
    })
  }
  await refused('an ID token that is not signed by the provider', resigned, misfit)
  const without = () => {
    provider.alter = ({ id_token: _, ...tokens }) => tokens
  }
  await refused('no ID token', without, misfit)
})

t.test('who says no over there is not signed in', async (t) => {
  const { host } = await served()
  await Visitor.owner(host)
  const visitor = new Visitor(host)
  const back = await provider.refuse(await begin(visitor, { purpose: 'sign_in' }))
  const page = await visitor.get(back.pathname + back.search)
  t.equal(page.status, 422)
  t.match(textOf(page.html), /Example did not let you in/)
})

t.test('a provider that is away costs only this way in', async (t) => {
  const { host } = await fresh(t)
  t.teardown(() => {
    provider.isDown = false
  })
  const visitor = new Visitor(host)
  provider.isDown = true
  await Visitor.owner(host)
  const page = await visitor.post(BEGIN, { purpose: 'sign_in' })
  t.equal(page.status, 503)
  t.match(textOf(page.html), /Example cannot be reached now: use another sign-in method, or try again later/)
  t.equal((await visitor.get('/console/sign-in')).status, 200)
  provider.isDown = false
  const url = await begin(visitor, { purpose: 'sign_in' })
  t.ok(url, 'it is asked again once it is back')
  const back = await provider.signIn(url, 'ann')
  provider.isDown = true
  t.equal((await visitor.get(back.pathname + back.search)).status, 503, 'also half-way')
})

t.test('where no provider is configured there is none', async (t) => {
  const { host } = await Installation.during(t)
  const owner = await Visitor.first(host)
  await owner.get(ACCOUNT)
  for (const path of [BEGIN, `${ACCOUNT}/unlink`]) t.equal((await owner.post(path)).status, 404)
  t.equal((await owner.get(CALLBACK)).status, 404)
  t.notMatch((await new Visitor(host).get('/console/sign-in')).html, /Continue with/)
})
