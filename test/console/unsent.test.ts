/** Forms that were sent after their session had ended: what was typed is not lost, and secrets are not repeated. */
import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import { filled, routesOf } from '../support/console-routes.ts'
import { Installation, SCRIPTED } from '../support/installation.ts'
import { emailOf, PASSWORD, type Page, textOf, Visitor } from '../support/visitor.ts'

const CONNECTED = { use: resolve('build/test/plugins/connected.js'), trusted: true }

async function installed(t: Test) {
  const { host } = await Installation.during(t, {
    plugins: [SCRIPTED, CONNECTED],
    file: { rate_limits: { sign_in: 0 } },
  })
  const owner = await Visitor.first(host)
  const workspaceId = await owner.workspaceId()
  /** As an administrator, or a password chosen elsewhere, ends it. */
  const endSessions = async () => {
    const [{ id } = { id: '' }] = await host.claimcheck.accounts.list()
    for (const session of await host.claimcheck.sessions.list(id)) await host.claimcheck.sessions.end(id, session.id)
  }
  return { host, owner, workspaceId, base: `/console/w/${workspaceId}`, endSessions }
}

/** The fields that the form to this path carries by itself. */
function hiddenFields({ html }: Page, action: string): Record<string, string> {
  const form = html.split('<form').find((part) => part.includes(`action="${action}"`)) ?? ''
  const inputs = form.split('</form>')[0]!.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)
  return Object.fromEntries([...inputs].map(([, name, value]) => [name!, unescaped(value!)]))
}

function unescaped(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
}

function signIn(visitor: Visitor, page: Page, password = PASSWORD): Promise<Page> {
  const fields = hiddenFields(page, '/console/sign-in')
  return visitor.post('/console/sign-in', { ...fields, email: emailOf('owner'), password })
}

t.test('a claim that was typed while the session ended is submitted after signing in', async (t) => {
  const { host, owner, base, workspaceId, endSessions } = await installed(t)
  const action = `${base}/claims/new`
  const typed = {
    action: 'test.outcome.reach',
    target: 'a "target" & more',
    'params.see': 'present',
    agent_id: 'agent <1>',
    client_claim_id: 'by-hand-1',
    claimed_at: new Date().toISOString(),
  }
  await owner.get(action)
  await endSessions()

  const page = await owner.post(action, typed)
  t.equal(page.status, 401)
  t.match(textOf(page.html), /Nothing is saved yet, because your session has ended/)
  t.match(textOf(page.html), typed.target)
  t.notMatch(page.html, '<1>')

  const wrong = await signIn(owner, page, 'not the password')
  t.equal(wrong.status, 422)
  const signedIn = await signIn(owner, wrong)
  t.equal(signedIn.status, 200)
  t.match(textOf(signedIn.html), /Send your form\?.*Your form is not saved yet.*agent <1>/)
  t.strictSame((await host.claimcheck.claims.list(workspaceId, { limit: 1 })).claims, [], 'nothing is sent by itself')

  const { _csrf, ...fields } = hiddenFields(signedIn, action)
  t.strictSame(fields, typed)
  const sent = await owner.post(action, fields)
  t.match(sent.path, /claims\/clm_\w+\?done=claim-submitted$/)
})

t.test('who signs in in another tab sends the form from the page that holds it', async (t) => {
  const { owner, endSessions } = await installed(t)
  const action = '/console/workspaces/new'
  await endSessions()
  const held = await owner.post(action, { name: 'second' })
  t.equal(held.status, 401)
  await owner.post('/console/sign-in', { email: emailOf('owner'), password: PASSWORD })

  const page = await owner.post(action, { ...hiddenFields(held, action), _csrf: '' })
  t.equal(page.status, 409, 'the form is not of this session, and has to be confirmed')
  t.match(textOf(page.html), /second/)
  const again = await owner.post('/console/sign-in', {
    ...hiddenFields(held, '/console/sign-in'),
    email: emailOf('owner'),
    password: PASSWORD,
    _csrf: '',
  })
  t.match(again, { status: 409, html: /second/ }, 'also when they sign in here after all')
  t.match((await owner.post(action, hiddenFields(page, action))).path, /\/console\/w\/.*\/claims/)
})

t.test('a connection is typed again only as far as its secrets', async (t) => {
  const { owner, base, endSessions } = await installed(t)
  const action = `${base}/connections/new/mailbox`
  await endSessions()
  const pages = [await owner.post(action, { option_token: 'a-secret-token', insist: 'yes' })]
  t.match(textOf(pages[0]!.html), /Secrets are not kept: you will be asked for them again/)
  pages.push(await signIn(owner, pages[0]!))
  t.match(textOf(pages[1]!.html), /Secrets are not kept/)
  pages.push(await owner.post(action, hiddenFields(pages[1]!, action)))
  t.equal(pages[2]!.status, 422)
  t.match(pages[2]!.html, 'name="option_token"')
  for (const { html } of pages) t.notMatch(html, 'a-secret-token')
})

t.test('a form that is not kept leads back to its page', async (t) => {
  const { host, owner, endSessions } = await installed(t)
  await endSessions()
  const fields = { current: PASSWORD, next: 'another long password' }
  const rows = [
    [`${host.url}/console/account?done=x`, '/console/account?done=x'],
    ['https://evil.example/console/account', '/console'],
    ['', '/console'],
  ] as const
  for (const [referer, next] of rows) {
    const page = await owner.post('/console/account/password', fields, { referer })
    t.equal(page.status, 401)
    t.match(textOf(page.html), /Nothing was changed, because your session has ended/)
    t.equal(hiddenFields(page, '/console/sign-in').next, next)
    for (const value of Object.values(fields)) t.notMatch(page.html, value)
  }
  await owner.post('/console/sign-in', { email: emailOf('owner'), password: PASSWORD })
  const stale = await owner.post('/console/account/password', { ...fields, _csrf: 'old' })
  t.equal(stale.status, 403)
})

t.test('no page repeats a secret, and what other sites send is held nowhere', async (t) => {
  const { host, owner, workspaceId, endSessions } = await installed(t)
  const names = ['password', 'current', 'next', 'credential', 'option_token']
  const secrets = Object.fromEntries(names.map((name) => [name, `secret-${name}`]))
  const routes = await routesOf(host.claimcheck)
  const posts = routes.filter(({ method, url }) => method === 'POST' && url.includes('/w/'))
  const values = {
    workspace: workspaceId,
    provider: 'mailbox',
    connection: 'conn_1',
    member: 'mem_1',
    key: 'key_1',
    webhook: 'wht_1',
    claim_id: 'clm_1',
  }
  t.ok(posts.length > 5)
  await endSessions()
  for (const route of posts) {
    const path = filled(route, values)
    const { status, html } = await owner.post(path, { ...secrets, name: 'typed' })
    t.equal(status, 401, path)
    if (path.includes('/connections/')) t.notMatch(html, /secret-/, path)
    const foreign = await owner.post(path, { name: 'typed' }, { origin: 'https://evil.example' })
    t.equal(foreign.status, 403, path)
    t.notMatch(foreign.html, 'typed', path)
  }
})
