// Test run: slow
/** One's own account: name, password, and sessions that end where they are told to. Threat K2 of `security.md`. */
import { inspect } from 'node:util'
import { GROWTH } from '@claimcheck/server/features/people/login-throttle'
import { paths } from '@claimcheck/server/web/console-paths'
import t from 'tap'
import { createDatabase, TEST_DATABASE } from '../support/database.ts'
import { Installation, sharedInstallation } from '../support/installation.ts'
import { query } from '../support/sql.ts'
import { emailOf, PASSWORD, textOf, Visitor } from '../support/visitor.ts'

const ACCOUNT = '/console/account'

const shared = sharedInstallation()

/** The same person once more, in another browser. */
async function signedIn({ host, email }: Visitor, userAgent: string): Promise<Visitor> {
  const visitor = new Visitor(host, email)
  await visitor.post('/console/sign-in', { email, password: PASSWORD }, { 'user-agent': userAgent })
  return visitor
}

/** The ids of the sessions that can be ended. */
function sessionIds(html: string): string[] {
  return [...html.matchAll(/name="id" value="(ses_[^"]+)"/g)].map(([, id]) => id!)
}

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
const EDGE =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36 Edg/143.0.0.0'

t.test('the account shows who one is, and takes another name', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const page = await owner.get(ACCOUNT)
  t.match(textOf(page.html), `You sign in as ${owner.email}`)
  const renamed = await owner.post(`${ACCOUNT}/name`, { name: ' Ann <b> ' })
  t.equal(renamed.path, `${ACCOUNT}?done=name-changed`)
  t.match(textOf(renamed.html), /Ann <b> Sign out Account The name is changed/)
  t.notMatch(renamed.html, /<b>/)
  for (const name of ['', ' ', 'x'.repeat(101), 'a\u0007b']) {
    const refused = await owner.post(`${ACCOUNT}/name`, { name })
    t.equal(refused.status, 422)
    t.match(
      textOf(refused.html),
      name.includes('\u0007') ? /U\+0007/ : /The name is not valid: use 1 to 100 characters/,
    )
    t.match(refused.html, /<input id="name"[^>]*aria-describedby="name-problem"[^>]*aria-invalid="true"[^>]*autofocus/)
    t.equal(refused.html.match(/ autofocus/g)?.length, 1)
  }
})

t.test('a new password takes the current one, and ends every other session', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const other = await signedIn(owner, FIREFOX)
  await owner.get(ACCOUNT)
  const next = 'another password altogether'
  const rows = [
    [{ current: 'wrong password', next }, /The current password is wrong/],
    [{ current: '', next }, /The current password is wrong/],
    [{ current: PASSWORD, next: 'short' }, /at least 12 characters/],
  ] as const
  for (const [fields, message] of rows) {
    const refused = await owner.post(`${ACCOUNT}/password`, fields)
    t.equal(refused.status, 422)
    t.match(textOf(refused.html), message)
    t.notOk(
      [PASSWORD, next].some((secret) => refused.html.includes(secret)),
      'no password is sent back',
    )
  }
  const changed = await owner.post(`${ACCOUNT}/password`, { current: PASSWORD, next })
  t.equal(changed.path, `${ACCOUNT}?done=password-changed`)
  t.match((await other.get(ACCOUNT)).path, /sign-in/)
  t.equal((await owner.get(ACCOUNT)).status, 200)
  const old = await new Visitor(host).post('/console/sign-in', { email: owner.email, password: PASSWORD })
  t.equal(old.status, 422)
})

t.test('browsers hide each password that is typed, and their password managers may fill it in', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const link = await host.claimcheck.accounts.resetToken(owner.email)
  const pages = [await owner.get(ACCOUNT), await new Visitor(host).get('/console/sign-in')]
  pages.push(await new Visitor(host).get(`/console/reset/${link}`))
  for (const { html, path } of pages) {
    const fields = [...html.matchAll(/<input[^>]*name="(?:current|password|new_password)"[^>]*>/g)].map(
      ([input]) => input,
    )
    t.ok(fields.length > 0, path)
    for (const field of fields) {
      t.match(field, /type="password"/, path)
      t.match(field, /autocomplete="(?:current|new)-password"/, path)
    }
  }
})

t.test('guesses at the current password wait as those at signing in do', async (t) => {
  const { host } = await Installation.during(t, {})
  const owner = await Visitor.owner(host)
  await owner.get(ACCOUNT)
  const change = (current: string) => owner.post(`${ACCOUNT}/password`, { current, next: `${PASSWORD} 2` })
  for (let count = 0; count < GROWTH.pair.free; count++) t.equal((await change('wrong password')).status, 422)
  const refused = await change(PASSWORD)
  t.equal(refused.status, 429, 'the right one is not looked at, either')
  t.equal(refused.headers.get('retry-after'), '2')
})

t.test('sessions are listed by browser and address, and end one by one or all others at once', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const firefox = await signedIn(owner, FIREFOX)
  const edge = await signedIn(owner, EDGE)
  const page = await owner.get(ACCOUNT)
  t.match(textOf(page.html), /Firefox on Linux/)
  t.match(textOf(page.html), /Edge on Windows/)
  t.match(textOf(page.html), /Unknown browser \(this one\) 127\.0\.0\.1/)
  t.notMatch(page.html, owner.cookies.get('claimcheck')!)
  const ids = sessionIds(page.html)
  t.equal(ids.length, 2)

  const ended = await owner.post(`${ACCOUNT}/sessions/end`, { id: ids[0]! })
  t.equal(ended.path, `${ACCOUNT}?done=session-ended`)
  t.match((await edge.get(ACCOUNT)).path, /sign-in/, 'the newest is the first of the list')
  t.equal((await firefox.get(ACCOUNT)).status, 200)

  const third = await signedIn(owner, EDGE)
  await owner.get(ACCOUNT)
  t.match((await owner.post(`${ACCOUNT}/sessions/end-others`)).path, /done=sessions-ended/)
  for (const visitor of [firefox, third]) t.match((await visitor.get(ACCOUNT)).path, /sign-in/)
  t.same(sessionIds((await owner.get(ACCOUNT)).html), [])
})

t.test("nobody ends or sees somebody else's session", async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const mia = await Visitor.joining(host, await owner.workspaceId(), 'member', 'Mia')
  const again = await signedIn(mia, FIREFOX)
  const [id] = sessionIds((await mia.get(ACCOUNT)).html)
  await owner.get(ACCOUNT)
  await owner.post(`${ACCOUNT}/sessions/end`, { id: id! })
  t.equal((await again.get(ACCOUNT)).status, 200)
  t.notMatch(textOf((await owner.get(ACCOUNT)).html), /Firefox/)
})

t.test('a session that is ended on one host is over on every other', async (t) => {
  const installation = await Installation.during(t, { database: await createDatabase('postgres') })
  const other = await installation.addHost()
  const owner = await Visitor.owner(installation.host)
  const elsewhere = new Visitor(other)
  await elsewhere.post('/console/sign-in', { email: owner.email, password: PASSWORD })
  t.equal((await elsewhere.get(ACCOUNT)).status, 200)
  await owner.get(ACCOUNT)
  await owner.post(`${ACCOUNT}/sessions/end-others`)
  t.match((await elsewhere.get(ACCOUNT)).path, /sign-in/)
})

t.test('whoever is not signed in is sent to sign in', async (t) => {
  const { host } = await shared()
  t.equal((await new Visitor(host).get(ACCOUNT)).path, '/console/sign-in?next=%2Fconsole%2Faccount')
  for (const path of [
    'name',
    'password',
    'sessions/end',
    'sessions/end-others',
    'passkeys/options',
    'passkeys/remove',
  ]) {
    const page = await new Visitor(host).post(`${ACCOUNT}/${path}`)
    t.match(page, { status: 401, html: /<title>Sign in/ }, path)
  }
})

t.test('of a password that cannot be kept the error tells nothing, which is logged', async (t) => {
  const { host, claimcheck, config } = await Installation.during(t, {})
  const { email } = await Visitor.owner(host)
  const refuse = {
    sqlite: [`CREATE TRIGGER full BEFORE UPDATE ON users BEGIN SELECT RAISE(ABORT, 'full'); END`],
    postgres: [
      `CREATE FUNCTION full_now() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'full'; END $$`,
      'CREATE TRIGGER full_now BEFORE UPDATE ON users FOR EACH ROW EXECUTE FUNCTION full_now()',
    ],
  }
  for (const sql of refuse[TEST_DATABASE]) await query(config.databaseUrl, sql)
  const { accounts } = claimcheck
  const error = await accounts.passwords
    .reset(await accounts.resetToken(email), PASSWORD, { passkeys: [], identities: [] })
    .catch((error) => error)
  t.match(error.message, /full/)
  t.notMatch(inspect(error, { depth: 9 }), /argon2/)
})

t.test('the account says with whom it shares an allowance, and how the operator gives one', async (t) => {
  const { host, claimcheck } = await Installation.during(t, {})
  const owner = await Visitor.first(host)
  const [ann] = await claimcheck.accounts.list()
  const allowanceOf = async (visitor: Visitor) =>
    /Allowance (.*?) Sessions/.exec(textOf((await visitor.get(ACCOUNT)).html))?.[1]
  t.equal(await allowanceOf(owner), undefined, 'it shares with none')
  const invite = async () => claimcheck.accounts.inviteToken(await owner.workspaceId(), 'member', ann!.id)
  const bob = await Visitor.enter(host, paths.invitation(await invite()), 'bob')
  t.match(
    await allowanceOf(owner),
    /^One account shares your allowance.* your equal part of it .* user allowance EMAIL --separate/,
  )
  t.match(
    await allowanceOf(bob),
    /^You share the allowance of owner : .* your equal part of it .* claimcheck user allowance bob@example\.com --separate \./,
  )
  await Visitor.enter(host, paths.invitation(await invite()), 'cyn')
  t.match(await allowanceOf(owner), /^2 accounts share your allowance/)
  await claimcheck.allowances.separate(emailOf('bob'))
  t.equal(await allowanceOf(bob), undefined)
})
