// Test run: both-databases, every-node
/** The ways into the console: the first set-up, invitations, passwords, and what is refused. Threats N1, K4 and S2 of `security.md`. */
import { GROWTH } from '@claimcheck/server/features/people/login-throttle'
import t from 'tap'
import { Installation, sharedInstallation } from '../support/installation.ts'
import { emailOf, PASSWORD, textOf, Visitor } from '../support/visitor.ts'

const shared = sharedInstallation()

t.test('the first person by the set-up link owns the first workspace, and the link works once', async (t) => {
  const { host } = await Installation.during(t)
  const token = await host.claimcheck.accounts.setupToken()
  const owner = await Visitor.enter(host, `/console/setup/${token}`, 'Ann Owner', { workspace: 'acme' })
  const page = await owner.get('/console/workspaces/new')
  t.match(textOf(page.html), /acme owner/)
  t.match(textOf(page.html), /Ann Owner/)

  const again = await new Visitor(host).get(`/console/setup/${token}`)
  t.equal(again.status, 404)
  t.match(textOf(again.html), /This link cannot be used/)
  t.equal(await host.claimcheck.accounts.setupToken(), undefined, 'there is no other once somebody is there')
})

t.test('an address that is longer than any page’s is not kept for after the sign-in', async (t) => {
  const { host } = await shared()
  const visitor = new Visitor(host)
  const { path } = await visitor.get(`/console/account?a=${'%61'.repeat(3000)}`)
  t.equal(path, '/console/sign-in?next=%2Fconsole')
})

t.test('of two people with two set-up links at once, one is the first', async (t) => {
  const { host } = await Installation.during(t)
  const { accounts } = host.claimcheck
  const tokens = [await accounts.setupToken(), await accounts.setupToken()]
  const outcomes = await Promise.allSettled(
    tokens.map((token, index) =>
      Visitor.enter(host, `/console/setup/${token}`, `p${index}`, { workspace: `w${index}` }),
    ),
  )
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
})

t.test('workspaces that the command line made belong to the first person', async (t) => {
  const { host } = await Installation.during(t)
  await host.claimcheck.workspaces.create('made-before')
  const owner = await Visitor.first(host)
  t.match(textOf((await owner.get('/console/workspaces/new')).html), /made-before owner/)
  t.notMatch(textOf((await owner.get('/console/workspaces/new')).html), /acme/)
})

t.test('an invitation makes one member, of the role that it names', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const workspaceId = await owner.workspaceId()
  const member = await Visitor.joining(host, workspaceId, 'member', 'Mia')
  t.equal(await member.workspaceId(), workspaceId)
  t.match(textOf((await member.get('/console/workspaces/new')).html), /acme(-\d+)? member/)

  const token = await host.claimcheck.accounts.inviteToken(workspaceId, 'member', null)
  const known = await member.post(`/console/join/${token}`)
  t.equal(known.status, 422)
  t.match(textOf(known.html), /You are a member of this workspace already/)
  const taken = await new Visitor(host).post(`/console/join/${token}`, {
    name: 'Other',
    email: member.email.toUpperCase(),
    password: PASSWORD,
  })
  t.equal(taken.status, 422)
  t.match(textOf(taken.html), /there is an account with this address/i)
  t.equal((await new Visitor(host).get('/console/join/none')).status, 404)
})

t.test('what a new account may not be is told beside what was given', async (t) => {
  const { host } = await Installation.during(t)
  const token = await host.claimcheck.accounts.setupToken()
  const good = { name: 'Ann', email: 'ann@example.com', password: PASSWORD, workspace: 'acme' }
  const rows = [
    [{ password: 'short' }, /at least 12 characters/],
    [{ password: 'x'.repeat(257) }, /at most 256 characters/],
    [{ email: 'nobody' }, /e-mail address is not valid/],
    [{ name: ' ' }, /name is not valid: use 1 to 100 characters/],
    [{ workspace: 'ws_x' }, /workspace name is not valid/],
    [{ workspace: '' }, /workspace name is not valid/],
  ] as const
  for (const [wrong, message] of rows) {
    const page = await new Visitor(host).post(`/console/setup/${token}`, { ...good, ...wrong }, {})
    t.equal(page.status, 422)
    t.match(textOf(page.html), message)
    t.notMatch(page.html, good.password, 'a password is never sent back')
    t.match(page.html, `value="${{ ...good, ...wrong }.email}"`)
  }
})

t.test('signing in takes the right password, and leads back to the page that was asked for', async (t) => {
  const { host } = await shared()
  const { email } = await Visitor.owner(host)
  const visitor = new Visitor(host)
  const asked = await visitor.get('/console/workspaces/new')
  t.equal(asked.path, '/console/sign-in?next=%2Fconsole%2Fworkspaces%2Fnew')
  const next = '/console/workspaces/new'
  for (const wrong of [
    { email, password: 'wrong password' },
    { email: 'nobody@example.com', password: PASSWORD },
  ]) {
    const page = await visitor.post('/console/sign-in', { ...wrong, next })
    t.equal(page.status, 422)
    t.match(textOf(page.html), /The e-mail address or the password is not right/)
  }
  const page = await visitor.post('/console/sign-in', { email: ` ${email.toUpperCase()} `, password: PASSWORD, next })
  t.equal(page.path, next)

  const signedOut = await visitor.post('/console/sign-out')
  t.match(textOf(signedOut.html), /You are signed out/)
  t.match((await visitor.get(next)).path, /sign-in/)
})

t.test('no address but our own is led to after signing in', async (t) => {
  const { host } = await shared()
  const { email } = await Visitor.owner(host)
  const elsewhere = [
    'https://evil.example',
    '//evil.example/console',
    '/\\evil.example',
    'javascript:alert(1)',
    '/v1/claims',
    '\\\\evil',
  ]
  for (const next of elsewhere) {
    const visitor = new Visitor(host)
    const body = new URLSearchParams({ email, password: PASSWORD, next })
    const response = await visitor.once('/console/sign-in', { method: 'POST', body, headers: { origin: host.url } })
    t.equal(response.headers.get('location'), '/console', next)
  }
})

t.test('wrong passwords wait longer and longer, and lock nobody out', async (t) => {
  const { host } = await Installation.during(t, { env: { TRUST_PROXY: '1' } })
  const owner = await Visitor.first(host)
  await owner.get('/console/account')
  const email = emailOf('owner')
  const signIn = (visitor: Visitor, password: string, address: string) =>
    visitor.post('/console/sign-in', { email, password }, { 'x-forwarded-for': address })
  const waitAt = async (visitor: Visitor, password: string, address: string) => {
    const { status, headers, html } = await signIn(visitor, password, address)
    if (status !== 429) return 0
    t.match(textOf(html), /Too many wrong guesses: wait [\d.]+ (s|min)/)
    return Number(headers.get('retry-after'))
  }

  const stranger = new Visitor(host)
  for (let count = 0; count < GROWTH.pair.free; count++) {
    t.equal((await signIn(stranger, 'wrong password', '192.0.2.1')).status, 422)
  }
  t.match(await waitAt(stranger, 'wrong password', '192.0.2.1'), 2)
  t.not(await waitAt(new Visitor(host), PASSWORD, '203.0.113.9, 192.0.2.1'), 0, 'whatever they write of themselves')
  t.match((await signIn(new Visitor(host), PASSWORD, '192.0.2.2')).path, /^\/console\/w/, 'elsewhere it is free')

  for (let bot = 0; bot < GROWTH.account.free; bot++) await signIn(stranger, 'wrong password', `198.51.100.${bot}`)
  t.not(await waitAt(new Visitor(host), PASSWORD, '192.0.2.3'), 0, 'strangers slow each other at this account')
  await owner.post('/console/sign-out')
  t.match(
    (await signIn(owner, PASSWORD, '192.0.2.1')).path,
    /^\/console\/w/,
    'a browser that is known waits for none of this',
  )
  const other = { email: 'nobody@example.com', password: PASSWORD }
  t.equal((await stranger.post('/console/sign-in', other, { 'x-forwarded-for': '192.0.2.4' })).status, 422)

  const reset = await host.claimcheck.accounts.resetToken(email)
  const next = 'another password altogether'
  await new Visitor(host).post(`/console/reset/${reset}`, { password: next }, { 'x-forwarded-for': '192.0.2.5' })
  t.not(await waitAt(owner, next, '192.0.2.6'), 0, 'a new password makes every browser a stranger')
})

t.test('a form from another site is refused, and one of another session has to be confirmed', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  await owner.get('/console/workspaces/new')
  const path = '/console/workspaces/new'
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1']) {
    t.equal((await owner.post(path, { name: 'x' }, { origin })).status, 403, origin)
  }
  const body = new URLSearchParams({ name: 'x' })
  t.equal((await owner.once(path, { method: 'POST', body })).status, 403, 'without an origin')
  t.equal((await owner.post(path, { name: 'x', _csrf: '' })).status, 409, 'without the token')
  t.equal((await owner.post(path, { name: 'x', _csrf: 'A'.repeat(43) })).status, 409, 'with another token')
  t.notMatch(textOf((await owner.get(path)).html), 'x owner', 'nothing was made')
  t.equal((await owner.post(path, { name: 'good' })).status, 200, 'the one with both leads on')
})

t.test('a link to a new password works once, and ends every session', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const token = await host.claimcheck.accounts.resetToken(owner.email)
  const visitor = new Visitor(host)
  t.equal((await visitor.post(`/console/reset/${token}`, { password: 'short' })).status, 422)
  const password = 'another password altogether'
  await visitor.post(`/console/reset/${token}`, { password })
  t.match((await owner.get('/console')).path, /sign-in/, 'the old session ended')
  t.notMatch((await visitor.get('/console')).path, /sign-in/)
  t.equal((await new Visitor(host).get(`/console/reset/${token}`)).status, 404)
  const old = await new Visitor(host).post('/console/sign-in', { email: owner.email, password: PASSWORD })
  t.equal(old.status, 422)
  await t.rejects(host.claimcheck.accounts.resetToken('nobody@example.com'), { code: 'not_found' })
})

t.test('every page forbids what it does not need', async (t) => {
  const { host } = await shared()
  const { headers } = await new Visitor(host).get('/console/sign-in')
  t.match(headers.get('content-security-policy'), /^default-src 'none'; .*frame-ancestors 'none'$/)
  t.notMatch(headers.get('content-security-policy'), /unsafe|http/)
  t.equal(headers.get('cache-control'), 'no-store')
  t.strictSame(accessControl(headers), [])
})

t.test('scripts of other sites may read what the API answers, and no page', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const headers = { origin: 'https://elsewhere.example' }
  for (const path of ['/console/account', '/console/nothing']) {
    t.strictSame(accessControl((await owner.get(path, headers)).headers), [], path)
  }
  for (const path of ['/v1/log/head', '/v1/claims']) {
    const answer = await fetch(host.url + path, { headers })
    t.equal(answer.headers.get('access-control-allow-origin'), '*', path)
  }
})

function accessControl(headers: Headers): string[] {
  return [...headers.keys()].filter((name) => name.startsWith('access-control-'))
}

t.test('behind https the cookie is kept to https and to this host', async (t) => {
  const { host } = await Installation.during(t, { env: { PUBLIC_URL: 'https://claims.example.com' } })
  const token = await host.claimcheck.accounts.setupToken()
  const body = new URLSearchParams({ name: 'Ann', email: 'ann@example.com', password: PASSWORD, workspace: 'acme' })
  const enter = (origin: string) =>
    new Visitor(host).once(`/console/setup/${token}`, { method: 'POST', body, headers: { origin } })
  t.equal((await enter(host.url)).status, 403)
  const [cookie] = (await enter('https://claims.example.com')).headers.getSetCookie()
  t.match(cookie, /^__Host-claimcheck=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
})
