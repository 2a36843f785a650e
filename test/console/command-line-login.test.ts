/** `claimcheck login` in the browser: from the consent page to a key, and everything that must not lead to one. Threat K10 of `security.md`. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout } from 'node:timers/promises'
import { signIn } from '@claimcheck/cli/service/oauth-login'
import t, { type Test } from 'tap'
import { Application, ledTo, OAUTH, whoami } from '../support/application.ts'
import { runClaimcheck } from '../support/command.ts'
import { type Host, sharedInstallation } from '../support/installation.ts'
import { serving } from '../support/serving.ts'
import { signedInBefore } from '../support/time-passes.ts'
import { PASSWORD, textOf, Visitor } from '../support/visitor.ts'

const shared = sharedInstallation({ file: { oauth: OAUTH } })
const CLIENT = { client_id: 'claimcheck-cli', redirect_uris: ['http://127.0.0.1/callback'] }
const SCOPE = { scope: 'keys:create' }

/** What the person's browser does at the address that the command shows. Returns the answer of the loopback. */
type Browse = (address: URL, visitor: Visitor) => Promise<void>

const allow: Browse = async (address, visitor) => {
  const { status } = await fetch(await decided(address, visitor, 'allow'))
  if (status !== 200) throw new Error(`the loopback answered ${status}`)
}

/** The address to which the service sends the browser back. */
async function decided(address: URL, visitor: Visitor, decision: string): Promise<string> {
  const asked = await visitor.once(address.pathname + address.search)
  const path = asked.headers.get('location')!
  const { html } = await visitor.get(path)
  const workspace = /name="workspace" value="([^"]*)"/.exec(html)?.[1] ?? ''
  const body = new URLSearchParams({ _csrf: visitor.csrf!, decision, workspace })
  const answer = await visitor.once(path, { method: 'POST', body, headers: { origin: visitor.host.url } })
  const resume = ledTo(answer)!
  return (await visitor.once(resume.pathname + resume.search)).headers.get('location')!
}

async function login(visitor: Visitor, browse: Browse, over: { url?: string; timeoutMs?: number } = {}) {
  let browsed: Promise<void> | undefined
  const { signal } = new AbortController()
  const signedIn = signIn({
    url: visitor.host.url,
    name: 'command line on desk',
    signal,
    timeoutMs: 10_000,
    show: async (address) => {
      browsed = browse(new URL(address), visitor)
      browsed.catch(() => {})
    },
    ...over,
  })
  const [outcome] = await Promise.allSettled([signedIn])
  await browsed
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}

const refusal = (message: RegExp) => ({ code: 'not_signed_in', message })

t.test('who allows it gets a key of their own, which the audit trail says they made', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  let consent = ''
  const made = await login(owner, async (address, visitor) => {
    t.equal(address.searchParams.get('code_challenge_method'), 'S256')
    t.match(address.searchParams.get('redirect_uri'), /^http:\/\/127\.0\.0\.1:\d+\/callback$/)
    const asked = await visitor.once(address.pathname + address.search)
    consent = (await visitor.get(asked.headers.get('location')!)).html
    await allow(address, visitor)
  })
  t.match(consent, /Claimcheck command line/)
  t.match(consent, /Make one API key for this machine\. For 90 days/)
  t.match(consent, /an application on this device/)

  const workspaceId = await owner.workspaceId()
  t.match(made, { workspaceId, key: /^svc_sk_/, keyId: /^key_/ })
  t.match((await whoami(host, made.key)).body, { workspace_id: workspaceId, kind: 'key', scopes: null })
  const [key] = await host.claimcheck.keys.list(workspaceId)
  t.match(key, { id: made.keyId, name: 'command line on desk', createdBy: /^usr_|^user_|./ })
  const days = (key!.expiresAt! - key!.createdAt) / 86_400_000
  t.ok(Math.abs(days - 90) < 0.01, `${days} days`)
  const events = await host.claimcheck.auditTrail.list({ scope: { workspaceId } }, { limit: 20 })
  const told = JSON.stringify(events)
  t.match(told, /key\.created/)
  t.match(told, /application\.returned/)

  const end = (path: string) => host.request(path, { method: 'POST', headers: { authorization: `Bearer ${made.key}` } })
  t.equal((await end('/v1/keys/self/revoke?key_id=key_1')).status, 422, 'it takes no other key')
  t.equal((await end('/v1/keys/self/revoke')).status, 204)
  t.equal((await whoami(host, made.key)).status, 401)
  t.match(
    JSON.stringify(await host.claimcheck.auditTrail.list({ scope: { workspaceId } }, { limit: 20 })),
    /key\.revoked/,
  )
})

t.test('a token gives one key, and is worth nothing afterwards', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const { access_token: token, ...rest } = await new Application(CLIENT).tokens(owner, SCOPE)
  t.notOk('refresh_token' in rest, 'and is not renewed')
  const answers = await Promise.all([ask(host, token), ask(host, token), ask(host, token)])
  t.strictSame(answers.filter(({ status }) => status === 201).length, 1)
  t.ok(answers.every(({ status }) => [201, 401, 403].includes(status)))
  t.equal(answers.find(({ status }) => status === 201)!.headers.get('cache-control'), 'no-store')
  t.equal((await whoami(host, token)).status, 401)
  t.equal((await host.claimcheck.keys.list(await owner.workspaceId())).length, 1)
})

t.test('no other credential makes a key', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const { key } = await host.claimcheck.keys.create(await owner.workspaceId(), 'test')
  t.match(await ask(host, key), { status: 401 })
  const { access_token: backend } = await new Application().tokens(owner)
  t.match(await ask(host, backend), { status: 403, body: { detail: /lacks the scope keys:create/ } })
  t.match(await host.request('/v1/keys', { method: 'POST', body: '{}' }), { status: 401 })
  const token = (await new Application(CLIENT).tokens(owner, SCOPE)).access_token
  t.match(await ask(host, token, { name: '' }), { status: 422 })
  t.match(await ask(host, token, { name: 'x', workspace_id: 'ws_other' }), { status: 422 })
  t.match(await ask(host, token, { name: '\u202e' }), { status: 400 })
  t.equal((await ask(host, token)).status, 201, 'a mistake in the name does not use the token up')

  const elsewhere = { ...SCOPE, resource: 'https://mcp.example.com' }
  const other = (await new Application(CLIENT).tokens(owner, elsewhere)).access_token
  t.match(await ask(host, other), { status: 403, body: { detail: /its token is for https:\/\/mcp/ } })
})

t.test('no other application may ask for the scope, and the command line for no other', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  for (const [application, over] of [
    [new Application(), SCOPE],
    [new Application(), { scope: 'claims:read keys:create' }],
  ] as const) {
    t.notMatch((await application.consentPage(owner, over)).html, /keys:create/)
    t.equal((await application.tokens(owner, over)).scope, 'claims:read', 'it is left out as an unknown one')
  }
  const response = await owner.once(new Application(CLIENT).request({ scope: 'claims:submit' }))
  t.match(response.headers.get('location') ?? (await response.text()), /invalid_scope/)
  const wide = new Application({ ...CLIENT, redirect_uris: ['https://evil.example/callback'] })
  t.equal((await owner.once(wide.request(SCOPE))).status, 400, 'and codes go to this machine alone')
  const workspaceId = await owner.workspaceId()
  await t.rejects(
    host.claimcheck.machines.create(workspaceId, 'm', ['keys:create']),
    /choose one or more of the scopes/,
  )
})

t.test('a browser that was left open gives no key: it asks who it is first, and then goes on', async (t) => {
  const installation = await shared()
  const { host } = installation
  const owner = await Visitor.owner(host)
  const workspaceId = await owner.workspaceId()
  const made = await login(owner, async (address, visitor) => {
    const asked = await visitor.once(address.pathname + address.search)
    const path = asked.headers.get('location')!
    await visitor.get(path)
    await signedInBefore(installation, owner, 11 * 60_000)
    const page = await visitor.get(path)
    t.match(textOf(page.html), /Confirm that it is you/)
    const body = new URLSearchParams({ _csrf: visitor.csrf!, decision: 'allow', workspace: workspaceId })
    const answer = await visitor.once(path, { method: 'POST', body, headers: { origin: host.url } })
    t.match(answer.headers.get('location'), /^\/console\/confirm\?next=/, 'also where the page was shown before')
    t.strictSame(await host.claimcheck.keys.list(workspaceId), [])

    const next = /name="next" value="([^"]*)"/.exec(page.html)?.[1] ?? ''
    const again = await visitor.post('/console/sign-in', { password: PASSWORD, email: owner.email, next })
    t.match(textOf(again.html), /Make one API key for this machine/)
    await allow(address, visitor)
  })
  t.match(made, { workspaceId, key: /^svc_sk_/ })
})

t.test('a member may not allow it', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const member = await Visitor.joining(host, await owner.workspaceId(), 'member', 'member')
  const page = await new Application(CLIENT).consentPage(member, SCOPE)
  t.match(page.html, /only owners of a workspace may allow this/)
  t.notMatch(page.html, /value="allow"/)
})

t.test('an owner who is no owner any more, or has stopped the application, gives no key', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const token = (await new Application(CLIENT).tokens(owner, SCOPE)).access_token
  const { members } = host.claimcheck
  const workspaceId = await owner.workspaceId()
  await Visitor.joining(host, workspaceId, 'owner', 'second')
  const own = (await members.list(workspaceId)).find(({ email }) => email === owner.email)!
  await members.setRole(workspaceId, own.id, 'member')
  t.match(await ask(host, token), { status: 403 })
  await members.remove(workspaceId, own.id)
  t.match(await ask(host, token), { status: 401 })
  t.equal((await host.claimcheck.keys.list(workspaceId)).length, 0)
})

t.test('the loopback takes the one answer that belongs to it', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const made = await login(owner, async (address, visitor) => {
    const back = new URL(await decided(address, visitor, 'allow'))
    const forged = new URL(back)
    forged.searchParams.set('state', 'x'.repeat(43))
    t.equal((await fetch(forged)).status, 400, 'another state, as of another site')
    forged.searchParams.set('state', '\u00e9'.repeat(43))
    t.equal((await fetch(forged)).status, 400, 'as many characters, and more bytes')
    forged.searchParams.delete('state')
    t.equal((await fetch(forged)).status, 400)
    t.equal((await fetch(back, { method: 'POST' })).status, 404)
    t.equal((await fetch(`${back.origin}/`)).status, 404)
    const answer = await fetch(back)
    t.equal(answer.status, 200)
    t.notMatch(await answer.text(), back.searchParams.get('code')!)
  })
  t.match(made.key, /^svc_sk_/)
})

t.test('what does not end well keeps nothing, and says why', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const deny: Browse = async (address, visitor) => void (await fetch(await decided(address, visitor, 'deny')))
  await t.rejects(login(owner, deny), refusal(/It was not allowed/))
  const nothing: Browse = async () => {}
  await t.rejects(login(owner, nothing, { timeoutMs: 50 }), refusal(/Nobody answered in the browser in time/))
  const changed =
    (name: string, value: string | undefined): Browse =>
    async (address, visitor) => {
      const back = new URL(await decided(address, visitor, 'allow'))
      if (value === undefined) back.searchParams.delete(name)
      else back.searchParams.set(name, value)
      await fetch(back)
    }
  await t.rejects(login(owner, changed('iss', 'https://evil.example')), refusal(/not of the service that was asked/))
  await t.rejects(login(owner, changed('iss', undefined)), refusal(/not of the service that was asked/))
  await t.rejects(login(owner, changed('code', 'x'.repeat(43))), refusal(/gave no token/))
  await t.rejects(login(owner, changed('code', undefined)), refusal(/has no code/))
  const numeric = host.url.replace('localhost', '127.0.0.1')
  await t.rejects(login(owner, nothing, { url: numeric }), refusal(/calls itself http:\/\/localhost/))
  await t.rejects(login(owner, nothing, { url: 'http://127.0.0.1:1' }), { code: 'unreachable' })
  t.equal((await host.claimcheck.keys.list(await owner.workspaceId())).length, 0)
})

t.test('the command keeps a key that logout revokes, and revokes at once what it cannot keep', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const workspaceId = await owner.workspaceId()
  const folder = t.testdir({ bin: {} })
  const opened = join(folder, 'opened')
  // The browser of this machine writes down what it is asked to open.
  writeFileSync(
    join(folder, 'bin/xdg-open'),
    `#!/bin/sh\nprintf %s "$1" > ${opened}.new\nmv ${opened}.new ${opened}\n`,
    { mode: 0o755 },
  )
  const env = { XDG_CONFIG_HOME: folder, DISPLAY: ':0', PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
  const run = (...args: string[]) => runClaimcheck(folder, args, env)
  const file = join(folder, 'claimcheck/profiles.json')
  const keys = async () => (await host.claimcheck.keys.list(workspaceId)).map(({ revokedAt }) => revokedAt !== null)

  async function logsIn(meanwhile = () => {}) {
    const ending = run('login', host.url)
    while (!existsSync(opened)) await setTimeout(10)
    const address = new URL(readFileSync(opened, 'utf8'))
    rmSync(opened)
    meanwhile()
    await allow(address, owner)
    return ending
  }

  t.match(await logsIn(), { code: 0, stdout: workspaceId })
  t.match(JSON.parse(readFileSync(file, 'utf8')), { current: host.url.slice('http://'.length) })
  t.strictSame(await keys(), [false])
  t.match(await run('logout'), { code: 0, stdout: /Its key is revoked/ })
  t.strictSame(await keys(), [true])

  const failed = await logsIn(() => writeFileSync(file, 'broken', { mode: 0o600 }))
  t.match(failed, { code: 1, stderr: /not readable as profiles/ })
  t.strictSame(await keys(), [true, true])
})

t.test('a service that leads elsewhere is not followed', async (t) => {
  const owner = await Visitor.owner((await shared()).host)
  for (const [what, answer] of Object.entries({
    'an issuer of another': (own: string) => ({
      issuer: 'https://evil.example',
      authorization_endpoint: `${own}/a`,
      token_endpoint: `${own}/t`,
      revocation_endpoint: `${own}/r`,
    }),
    'a token endpoint elsewhere': (own: string) => ({
      issuer: own,
      authorization_endpoint: `${own}/a`,
      token_endpoint: 'https://evil.example/t',
      revocation_endpoint: `${own}/r`,
    }),
    nothing: () => ({}),
  })) {
    const url = await standIn(t, answer)
    await t.rejects(
      login(owner, async () => {}, { url }),
      { code: 'not_signed_in' },
      what,
    )
  }
})

t.test('what a service writes in its metadata reaches no terminal as it is', async (t) => {
  const url = await standIn(t, (own) => ({
    issuer: own,
    authorization_endpoint: `${own}/a\u001b]0;title\u0007`,
    token_endpoint: `${own}/t`,
    revocation_endpoint: `${own}/r`,
  }))
  let shown = ''
  const show = async (address: string) => {
    shown = address
  }
  const { signal } = new AbortController()
  await t.rejects(signIn({ url, name: 'desk', signal, show, timeoutMs: 50 }), refusal(/Nobody answered/))
  t.match(shown, /\/a%1B\]0;title\?/)
})

t.test('of an answer that never ends only the beginning is read', async (t) => {
  let sent = 0
  const url = await serving(t, async (_request, response) => {
    const part = Buffer.alloc(16 * 1024, ' ')
    function* parts() {
      for (; ; sent += part.length) yield part
    }
    // It ends as the client closes the connection.
    await pipeline(parts(), response).catch(() => {})
  })
  const { signal } = new AbortController()
  await t.rejects(signIn({ url, name: 'desk', signal, show: async () => {} }), { name: 'CommandError' })
  t.ok(sent < 32 * 1024 * 1024, `${sent} bytes, of which most wait in buffers`)
})

async function standIn(t: Test, answer: (own: string) => object): Promise<string> {
  const own: string = await serving(t, (_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer(own)))
  })
  return own
}

function ask(host: Host, token: string, body: object = { name: 'desk' }) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return host.request('/v1/keys', { method: 'POST', headers, body: JSON.stringify(body) })
}
