// Test run: slow
/** What applications are refused, where they are told, and what people are shown in place of being led on. Threat S4 of `security.md`. */
import t from 'tap'
import {
  Application,
  CLIENT,
  CONFIDENTIAL,
  INVALID_GRANT,
  OAUTH,
  post,
  RESOURCE,
  returned,
  whoami,
  withOAuth,
} from '../support/application.ts'
import { byExtent } from '../support/extent.ts'
import { sharedInstallation } from '../support/installation.ts'
import { rows } from '../support/sql.ts'
import { PASSWORD, textOf, Visitor } from '../support/visitor.ts'

const shared = sharedInstallation({ file: { oauth: OAUTH } })

const DAY_MS = 24 * 60 * 60_000

t.test('nobody is led to an address that is not the application’s own', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const wrong = [
    'https://evil.example/back',
    'https://backend.example/back/',
    'https://backend.example/back?more',
    'https://backend.example:444/back',
    'http://backend.example/back',
    'http://127.0.0.1/other',
    'http://localhost/back',
    'com.example.backend:/other',
    'https://backend.example/back\n',
    'http://127.0.0.1:1234/back\r\nSet-Cookie: a=b',
    'http://127.0.0.1:12\n34/back',
    'http://127.0.0.1/ba\tck',
    'com.example.backend:/back\u0000',
    'javascript:alert(1)',
    undefined,
  ]
  for (const redirect_uri of wrong) {
    for (const more of [{}, { prompt: 'none' }, { scope: 'unknown' }]) {
      const response = await owner.once(new Application().request({ redirect_uri, ...more }))
      t.equal(response.status, 400, JSON.stringify(redirect_uri))
      t.equal(response.headers.get('location'), null)
    }
  }
  const page = await owner.get(new Application().request({ redirect_uri: 'https://evil.example/back' }))
  t.match(textOf(page.html), /This request cannot be answered .* address that is not registered for it/)
  t.match(page.headers.get('content-security-policy'), /^default-src 'none'/)
  t.match(page.headers.get('x-content-type-options'), 'nosniff')
})

t.test('an application that is not known is told to the person, as text', async (t) => {
  const { host } = await shared()
  const path = new Application().request({ client_id: '<script>alert(1)</script>', state: '<script>' })
  const page = await new Visitor(host).get(path)
  t.equal(page.status, 400)
  t.match(textOf(page.html), /This service does not know the application/)
  t.notMatch(page.html, /<script>|at .*\.js/)
})

t.test('what is wrong with a request is told to the application, with its state', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const rows = [
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ response_type: 'code id_token', nonce: 'n' }, 'unsupported_response_type'],
    [{ response_type: undefined }, 'invalid_request'],
    [{ response_mode: 'form_post' }, 'unsupported_response_mode'],
    [{ response_mode: 'fragment' }, 'unsupported_response_mode'],
    [{ code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge_method: undefined }, 'invalid_request'],
    [{ scope: 'claims:read\u00e9' }, 'invalid_scope'],
    [{ resource: 'https://other.example' }, 'invalid_target'],
    [{ resource: 'no address' }, 'invalid_target'],
    [{ request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
    [{ request_uri: 'https://evil.example/request' }, 'request_uri_not_supported'],
    [{ prompt: 'login' }, 'invalid_request'],
    [{ prompt: 'none' }, 'consent_required'],
  ] as const
  for (const client of [CLIENT, CONFIDENTIAL]) {
    for (const [over, error] of rows) {
      const application = new Application(client)
      const response = await owner.once(application.request(over))
      const back = returned(response, application.redirectUri)
      t.equal(back.get('error'), error, JSON.stringify(over))
      t.equal(back.get('state'), application.state)
    }
  }
  const application = new Application()
  const signedOut = await new Visitor(host).once(application.request({ prompt: 'none' }))
  t.equal(returned(signedOut, application.redirectUri).get('error'), 'login_required')
})

t.test('what belongs to OpenID Connect alone is left out', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const openid = { nonce: 'n', max_age: '0', acr_values: 'urn:x', claims: '{', id_token_hint: 'x', login_hint: 'ann' }
  for (const scope of [undefined, 'openid', 'openid email claims:read claims:read offline_access', 'keys:create']) {
    const application = new Application()
    const tokens = await application.tokens(owner, { ...openid, scope })
    t.equal(tokens.scope, 'claims:read', String(scope))
    t.notOk('id_token' in tokens)
  }
})

t.test('a person who says no sends the application away without a code', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const application = new Application()
  const { path } = await application.consentPage(owner)
  const back = await application.decide(owner, path, { decision: 'deny' })
  t.equal(back.get('error'), 'access_denied')
  t.equal(back.get('state'), application.state)
  t.notOk(back.has('code'))
  t.equal((await owner.get(path)).status, 404, 'it is answered')
})

t.test('a code is worth nothing with another verifier, address or application, or none', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const application = new Application()
  const code = (await application.allowed(owner)).get('code')
  const rows = [
    { code_verifier: 'x'.repeat(43) },
    { redirect_uri: CLIENT.redirect_uris[1]! },
    { client_id: CONFIDENTIAL.client_id, client_secret: CONFIDENTIAL.client_secret },
    { code: 'x'.repeat(43) },
  ]
  for (const over of rows) {
    t.match(await application.exchange(host, code, over), INVALID_GRANT, JSON.stringify(over))
  }
  const without = {
    grant_type: 'authorization_code',
    client_id: CLIENT.client_id,
    redirect_uri: CLIENT.redirect_uris[0]!,
  }
  t.match(await post(host, '/oauth/token', { ...without, code: code! }), INVALID_GRANT, 'no verifier')
  t.equal((await application.exchange(host, code)).status, 200)
})

t.test('a code that is used again is refused, and ends what came of it', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const application = new Application()
  const code = (await application.allowed(owner)).get('code')
  const { body } = await application.exchange(host, code)
  t.equal((await whoami(host, body.access_token)).status, 200)
  t.match(await application.exchange(host, code), INVALID_GRANT)
  t.equal((await whoami(host, body.access_token)).status, 401)
  t.match(await application.refresh(host, body.refresh_token), INVALID_GRANT)
})

t.test('codes, requests and tokens run out', async (t) => {
  let now = Date.now()
  const { host } = await withOAuth(t, { now: () => now })
  const owner = await Visitor.owner(host)
  const application = new Application()
  const late = (await application.allowed(owner)).get('code')
  const { path } = await application.consentPage(owner)
  now += 61_000
  t.match(await application.exchange(host, late), INVALID_GRANT, 'a code after a minute')

  const { access_token: token, refresh_token: refresh } = await application.tokens(owner)
  now += 59 * 60_000
  t.equal((await whoami(host, token)).status, 200)
  t.equal((await owner.get(path)).status, 404, 'a request after half an hour')
  now += 61_000
  t.equal((await whoami(host, token)).status, 401, 'a token after an hour')
  t.equal((await application.refresh(host, refresh)).status, 200)
  // Who signed in an hour ago is asked again before an application is allowed.
  const fresh = await Visitor.joining(host, await owner.workspaceId(), 'owner', 'Fay')
  const other = await application.tokens(fresh)
  now += 31 * 24 * 60 * 60_000
  t.match(await application.refresh(host, other.refresh_token), INVALID_GRANT, 'a refresh token after 30 days')
})

t.test('an application asks the person again after a year, however often it refreshes', async (t) => {
  let now = Date.now()
  const { host } = await withOAuth(t, { now: () => now })
  const application = new Application()
  let { refresh_token: refresh } = await application.tokens(await Visitor.owner(host))
  const monthsOf29Days = 12
  for (let month = 0; month < monthsOf29Days; month++) {
    now += 29 * DAY_MS
    const { status, body } = await application.refresh(host, refresh)
    t.equal(status, 200)
    refresh = body.refresh_token
  }
  now += 18 * DAY_MS
  t.match(await application.refresh(host, refresh), INVALID_GRANT)
})

t.test('nobody decides a request that was made in another browser', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const other = await Visitor.joining(host, await owner.workspaceId(), 'owner', 'Other')
  const application = new Application()
  const { path } = await application.consentPage(owner)
  t.equal((await other.get(path)).status, 404)
  await other.get('/console/workspaces/new')
  const workspace = await owner.workspaceId()
  t.equal((await application.send(other, path, { decision: 'allow', workspace })).status, 404)
  await application.ask(other)
  t.equal((await other.get(path)).status, 404, 'with a request of their own, too')
})

t.test('a person who is not signed in does so first, and comes back to the request', async (t) => {
  const { host } = await shared()
  const { email } = await Visitor.owner(host)
  const visitor = new Visitor(host)
  const application = new Application()
  // As long as a state may be.
  const request = application.request({ state: 'x'.repeat(6900) })
  const asked = await visitor.once(request)
  t.equal(asked.headers.get('location'), `/console/sign-in?${new URLSearchParams({ next: request })}`)
  t.same([asked.headers.getSetCookie(), asked.headers.get('cache-control')], [[], 'no-store'])
  const entrance = await visitor.get(request)
  const next = textOf(/name="next" value="([^"]*)"/.exec(entrance.html)![1]!)
  const page = await visitor.post('/console/sign-in', { email, password: PASSWORD, next })
  t.match(page.path, /^\/oauth\/consent\//)
  t.match(textOf(page.html), /Allow Backend/)
  const { path } = page

  await visitor.post('/console/sign-out')
  const decided = await application.send(visitor, path, { decision: 'allow' })
  t.equal(decided.status, 401, 'nor is anything allowed after signing out')
})

t.test('a person who signed out before answering comes back to the request', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const application = new Application()
  const path = await application.ask(owner, { resource: RESOURCE })
  await owner.get('/console/account')
  await owner.post('/console/sign-out')
  const resumed = await owner.once(path.replace('/consent/', '/authorize/'))
  t.equal(resumed.status, 303)
  const next = new URL(resumed.headers.get('location')!, host.url).searchParams.get('next')!
  t.match(next, /^\/oauth\/authorize\?/)
  await owner.get(`/console/sign-in?${new URLSearchParams({ next })}`)
  const page = await owner.post('/console/sign-in', { email: owner.email, password: PASSWORD, next })
  t.match(textOf(page.html), /Allow Backend/)
  const workspace = /name="workspace" value="([^"]*)"/.exec(page.html)![1]!
  const back = await application.decide(owner, page.path, { decision: 'allow', workspace })
  t.equal(back.get('state'), application.state)
  const { body } = await application.exchange(host, back.get('code'))
  t.match((await whoami(host, body.access_token)).body, { audience: RESOURCE })
})

t.test('an answer is kept to a request that an earlier version stored before the person signed in', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const application = new Application()
  const page = await application.consentPage(owner)
  const uid = page.path.split('/').at(-1)!
  const { oauthRecords } = host.claimcheck
  const { payload } = (await oauthRecords.find('Interaction', uid))!
  const prompt = { name: 'login', reasons: ['signed_out'], details: {} }
  await oauthRecords.put({ model: 'Interaction', id: uid, payload: { ...payload, prompt }, ttlMs: 60_000 })
  const workspace = /name="workspace" value="([^"]*)"/.exec(page.html)![1]!
  t.ok((await application.decide(owner, page.path, { decision: 'allow', workspace })).has('code'))
})

t.test('a request that no address can hold is sent back, and served to who is signed in', async (t) => {
  const { host } = await shared()
  const application = new Application()
  const request = application.request({ state: 'ü'.repeat(800) })
  const back = returned(await new Visitor(host).once(request), application.redirectUri)
  t.equal(back.get('error'), 'invalid_request')
  t.match(back.get('error_description'), /too long to go on after signing in: send a shorter state/)
  t.match((await (await Visitor.owner(host)).get(request)).path, /^\/oauth\/consent\//)
})

const ANONYMOUS = byExtent({ short: 50, usual: 200, thorough: 1000 })

t.test(`${ANONYMOUS} requests of people who are not there store nothing`, async (t) => {
  const file = { oauth: { ...OAUTH, dynamic_registration: true }, rate_limits: { network: 0 } }
  const installation = await withOAuth(t, { file })
  const { host } = installation
  const before = await rows(installation.config.databaseUrl)
  const requests = [
    {},
    { prompt: 'none' },
    { prompt: 'consent' },
    { scope: undefined },
    { redirect_uri: 'https://evil.example' },
  ]
  const statuses = new Map<number, number>()
  for (let count = 0; count < ANONYMOUS; count += requests.length) {
    await Promise.all(
      requests.map(async (over) => {
        const { status } = await new Visitor(host).once(new Application().request(over))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }),
    )
  }
  t.same([...statuses].sort(), [
    [303, (ANONYMOUS * 4) / 5],
    [400, ANONYMOUS / 5],
  ])
  t.same(await rows(installation.config.databaseUrl), before)
  t.equal(before.records?.length, 0)
})

t.test('every request is asked about anew', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  await new Application().tokens(owner)
  t.ok(await new Application().ask(owner))
  const application = new Application()
  const response = await owner.once(application.request({ prompt: 'none' }))
  t.equal(returned(response, application.redirectUri).get('error'), 'consent_required')
  t.notOk(
    [...owner.cookies.keys()].some((name) => name.startsWith('claimcheck_oauth')),
    'there is no second session',
  )
})

t.test('a decision needs the session’s own form, from our own page', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const application = new Application()
  const { path } = await application.consentPage(owner)
  const workspace = await owner.workspaceId()
  const fields = { decision: 'allow', workspace }
  t.equal((await application.send(owner, path, { ...fields, _csrf: 'x' })).status, 403)
  const body = new URLSearchParams({ _csrf: owner.csrf!, ...fields })
  const foreign = { method: 'POST', body, headers: { origin: 'https://evil.example' } }
  t.equal((await owner.once(path, foreign)).status, 403)
  t.equal((await application.send(owner, path, { workspace })).status, 422, 'without a decision')
  for (const other of ['ws_none', '']) {
    const refused = await application.send(owner, path, { decision: 'allow', workspace: other })
    t.equal(refused.status, 422)
    t.match(refused.headers.get('content-security-policy'), /form-action 'self';/)
  }
  t.ok((await application.decide(owner, path, fields)).has('code'))
})
