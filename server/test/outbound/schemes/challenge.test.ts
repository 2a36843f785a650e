// Test run: every-node
/** Tokens of container registries: at Debian's docker-registry with an issuer, and at registries that ask for more than they should. Threat P9 of `security.md`. */
import type { RequestListener } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { bearer, type ConnectionType, credential } from '@claimcheck/core/plugin'
import t, { type Test } from 'tap'
import { findProgram } from '../../../../test/support/programs.ts'
import { AUTHORITY, code, guardOf, outboundTo, serve, serveTls } from '../../support/loopback.ts'
import { seenIn, spendingAt } from '../../support/spending.ts'
import { startRegistry } from '../../support/token-issuer.ts'

const PASSWORD = 's3cret-pass-word'
const AUTH = { auth: credential('registry') }
const ACCEPT = { accept: 'application/vnd.oci.image.manifest.v1+json' }
const DECLARED = { registry: { scheme: 'challenge', username: 'username', password: 'password' } } as const

function through(
  t: Test,
  url: string,
  issuer: string | undefined,
  options: object = { username: 'user', password: PASSWORD },
  credentials: ConnectionType['credentials'] = DECLARED,
) {
  return spendingAt(t, {
    url,
    credentials,
    options: { ...options },
    secret: ['password'],
    tokenHosts: issuer === undefined ? [] : [issuer],
    allowed: issuer === undefined ? [] : [issuer],
  })
}

const program = findProgram('docker-registry')
const skip = program === undefined ? 'there is no docker-registry: apt-get install docker-registry' : false

t.test('a registry of Debian with a token issuer', { skip }, async (t) => {
  const { url, issuer, asked, push } = await startRegistry(t, program!, PASSWORD)
  const check = through(t, url, issuer)
  const manifestOf = (repository: string, begun = check()) =>
    begun.fetch(`${url}/v2/${repository}/manifests/v1`, { ...AUTH, headers: ACCEPT })

  await t.test(
    'a first push to a repository that did not exist is seen, in spite of a token from before',
    async (t) => {
      t.equal((await manifestOf('team/first')).status, 403, 'the issuer took the credentials')
      const digest = await push('team/first', 'v1')
      const seen = await manifestOf('team/first')
      t.equal(seen.status, 200)
      t.equal(seen.headers.get('docker-content-digest'), digest)
      t.notOk((await seenIn(seen)).includes(PASSWORD))
    },
  )

  await t.test('a token is kept, and pull is all that is ever asked for', async (t) => {
    const before = asked.length
    t.equal((await manifestOf('team/first', check({ limits: { requests: 1 } }))).status, 200)
    t.equal(asked.length, before)
    for (const { scopes, service } of asked) {
      t.strictSame(scopes, ['repository:team/first:pull'])
      t.equal(service, 'registry')
    }
  })

  await t.test('a repository that is there and a tag that is not are told apart', async (t) => {
    const answer = await check().fetch(`${url}/v2/team/first/manifests/v2`, { ...AUTH, headers: ACCEPT })
    t.equal(answer.status, 404)
    t.equal((await check().fetch(`${url}/v2/`, AUTH)).status, 200)
  })

  await t.test('what is public is read as anybody, and what is not stays hidden', async (t) => {
    await push('public/image', 'v1')
    const anybody = through(t, url, issuer, {})
    t.equal((await manifestOf('public/image', anybody())).status, 200)
    t.equal((await manifestOf('team/first', anybody())).status, 403)
  })

  await t.test('a declaration spends its own credentials, and no token that another one got', async (t) => {
    const anyone = { scheme: 'challenge' } as const
    const check = through(t, url, issuer, { username: 'user', password: 'an0ther-password' }, { ...DECLARED, anyone })
    const asAnyone = { auth: credential('anyone'), headers: ACCEPT }
    t.equal((await check().fetch(`${url}/v2/public/image/manifests/v1`, asAnyone)).status, 200)
    t.equal(await code(manifestOf('public/image', check())), 'unauthorized', 'the password is tried')
    const good = through(t, url, issuer, undefined, { ...DECLARED, anyone })
    t.equal((await manifestOf('team/first', good())).status, 200)
    t.equal((await good().fetch(`${url}/v2/team/first/manifests/v1`, asAnyone)).status, 403)
  })

  await t.test('credentials that the issuer refuses are unauthorized', async (t) => {
    const wrong = through(t, url, issuer, { username: 'user', password: 'an0ther-password' })
    t.equal(await code(manifestOf('team/first', wrong())), 'unauthorized')
  })

  await t.test('an issuer that the manifest does not name gets no request', async (t) => {
    const before = asked.length
    t.equal(await code(manifestOf('team/first', through(t, url, undefined)())), 'unexpected_response')
    t.equal(asked.length, before)
  })
})

/** A registry that challenges, and an address that tells what it got. */
async function evil(t: Test, challenge: (elsewhere: string) => string, answer?: RequestListener) {
  const got: string[] = []
  const elsewhere = await serve(t, (request, response) => {
    got.push(`${request.url} ${request.headers.authorization}`)
    if (answer) return void answer(request, response)
    response.end('{"token":"t0ken"}')
  })
  const authorizations: (string | undefined)[] = []
  const host = await serve(t, (request, response) => {
    const { authorization } = request.headers
    authorizations.push(authorization)
    const isIn = authorization === 'Bearer t0ken' || authorization?.startsWith('Basic')
    response.writeHead(isIn ? 200 : 401, { 'www-authenticate': challenge(elsewhere) }).end()
  })
  return { url: `http://${host}`, elsewhere, got, authorizations }
}

const AT = '/v2/team/image/manifests/v1'

t.test('a token is found in what is read, also by a check that shares it', async (t) => {
  const { url, elsewhere } = await evil(
    t,
    (issuer) => `Bearer realm="http://${issuer}/token",scope="repository:team/image:pull"`,
    (_request, response) => void response.end('{"token":"an-access-token"}'),
  )
  const [check, other] = [through(t, url, elsewhere)(), through(t, url, elsewhere)()]
  t.notOk(check.leaks().isInValue({ seen: 'an-access-token' }))
  await check.fetch(`${url}${AT}`, AUTH)
  t.ok(check.leaks().isInValue({ seen: 'an-access-token' }))
  other.inherit(check.readings())
  t.ok(other.leaks().isInValue({ seen: 'an-access-token' }))
})

t.test('a registry gets no credentials sent to where it likes', async (t) => {
  for (const realm of [
    'http://ELSEWHERE/token',
    'http://user:x@ELSEWHERE/',
    '//ELSEWHERE',
    'http://127.0.0.1:1/',
    'file:///etc/passwd',
    'x',
  ]) {
    const { url, elsewhere, got, authorizations } = await evil(
      t,
      (host) => `Bearer realm="${realm.replace('ELSEWHERE', host)}",service="s",scope="repository:team/image:pull"`,
    )
    // The operator allows it, and the manifest does not name it.
    const check = spendingAt(t, {
      url,
      credentials: DECLARED,
      options: { username: 'user', password: PASSWORD },
      secret: ['password'],
      tokenHosts: ['auth.example.com', 'connection.url'],
      allowed: [elsewhere],
    })
    t.equal(await code(check().fetch(url + AT, AUTH)), 'unexpected_response', realm)
    t.strictSame(got, [])
    t.strictSame(authorizations, [undefined])
  }
})

t.test('a token host does not send the credentials on', async (t) => {
  const { url, elsewhere, got } = await evil(
    t,
    (host) => `Bearer realm="http://${host}/token",service="s"`,
    (_request, response) => void response.writeHead(307, { location: '/other' }).end(),
  )
  t.equal(await code(through(t, url, elsewhere)().fetch(url + AT, AUTH)), 'unexpected_response')
  t.equal(got.length, 1)
})

t.test('only pull of the repository of the request is asked for, whatever the registry says', async (t) => {
  for (const scope of [
    'repository:team/image:pull,push',
    'repository:other/image:pull',
    'registry:catalog:*',
    'repository:team/image:*',
  ]) {
    const { url, elsewhere, got } = await evil(
      t,
      (host) => `Basic realm="x", Bearer realm="http://${host}/token?scope=mine&a=b",service="s",scope="${scope}"`,
    )
    t.equal((await through(t, url, elsewhere)().fetch(url + AT, AUTH)).status, 200)
    t.match(got[0], /^\/token\?a=b&service=s&scope=repository%3Ateam%2Fimage%3Apull Basic /)
    t.equal(got.length, 1, scope)
  }
})

t.test('the catalog, which belongs to no repository, is not asked for', async (t) => {
  const { url, elsewhere, got } = await evil(
    t,
    (host) => `Bearer realm="http://${host}/token",scope="registry:catalog:*"`,
  )
  const response = await through(t, url, elsewhere)().fetch(`${url}/v2/_catalog`, AUTH)
  t.equal(response.status, 401)
  t.equal(response.headers.get('www-authenticate'), null)
  t.strictSame(got, [])
})

t.test('a registry that wants basic credentials gets them itself', async (t) => {
  const { url, authorizations } = await evil(t, () => 'Basic realm="https://ecr.example",service="ecr.amazonaws.com"')
  t.equal((await through(t, url, undefined)().fetch(url + AT, AUTH)).status, 200)
  t.strictSame(authorizations, [undefined, `Basic ${Buffer.from(`user:${PASSWORD}`).toString('base64')}`])
})

const answers: [what: string, answer: RequestListener, expected: string][] = [
  ['is down', (_, response) => void response.writeHead(503).end(), 'unavailable'],
  ['asks to wait', (_, response) => void response.writeHead(429).end(), 'rate_limited'],
  ['gives no token', (_, response) => void response.end('{}'), 'unexpected_response'],
  ['gives a token with a line break', (_, response) => void response.end('{"token":"a\\nb"}'), 'unexpected_response'],
  ['gives no JSON', (_, response) => void response.end('<html>'), 'unexpected_response'],
  ['finds nothing there', (_, response) => void response.writeHead(404).end(), 'forbidden'],
  [
    'gives a token that no header carries',
    (_, response) => void response.end(`{"token":"${'x'.repeat(20_000)}"}`),
    'unexpected_response',
  ],
  ['gives too much', (_, response) => void response.end('x'.repeat(100_000)), 'too_large'],
]
for (const [what, answer, expected] of answers) {
  t.test(`a token host that ${what} makes the check ${expected}`, async (t) => {
    const { url, elsewhere } = await evil(t, (host) => `Bearer realm="http://${host}/token"`, answer)
    const error = await through(t, url, elsewhere)()
      .fetch(url + AT, AUTH)
      .catch((thrown: unknown) => thrown as { readonly code: string; readonly status?: number })
    t.match(error, { code: expected })
    t.equal(error.status, undefined, 'it is not the answer of the registry')
  })
}

t.test('checks that begin together ask once for a token, and one that ends takes it from no other', async (t) => {
  const asked: (() => void)[] = []
  const { url, elsewhere, got } = await evil(
    t,
    (host) => `Bearer realm="http://${host}/token"`,
    (_, response) => void asked.push(() => response.end('{"token":"t0ken"}')),
  )
  const check = through(t, url, elsewhere)
  const timer = new AbortController()
  const first = code(check({ timer }).fetch(url + AT, AUTH))
  while (asked.length === 0) await setTimeout(10)
  const others = Array.from({ length: 8 }, () => code(check().fetch(url + AT, AUTH)))
  await setTimeout(200)
  timer.abort()
  t.equal(await first, 'timeout')
  for (const answer of asked) answer()
  t.strictSame(await Promise.all(others), Array(8).fill('no error'))
  t.equal(got.length, 1)
})

t.test('a token of one registry is sent to no other, and neither is a password of https in plain', async (t) => {
  const one = await evil(t, (host) => `Bearer realm="http://${host}/token"`)
  const other = await evil(t, (host) => `Bearer realm="http://${host}/token"`)
  const secure = await serveTls(t, (socket) =>
    socket.end(
      `HTTP/1.1 401 No\r\nwww-authenticate: Bearer realm="http://${one.elsewhere}/"\r\ncontent-length: 0\r\n\r\n`,
    ),
  )
  const hosts = [one, other].map(({ url }) => new URL(url).host)
  const outbound = outboundTo(t, [...hosts, one.elsewhere, other.elsewhere, secure], { ca: AUTHORITY })
  const check = (url: string) =>
    outbound.forCheck(
      guardOf(url, {
        connected: {
          id: 'conn_1',
          options: { username: 'user', password: PASSWORD },
          credentials: DECLARED,
          tokenHosts: [one.elsewhere, other.elsewhere],
        },
        secrets: new Map([['secret:password', PASSWORD]]),
        reach: { hosts: [...hosts, secure], mayReveal: false },
      }),
    )
  for (const { url, authorizations } of [one, other]) {
    t.equal((await check(url).fetch(url + AT, AUTH)).status, 200)
    t.strictSame(authorizations, [undefined, 'Bearer t0ken'])
  }
  t.equal(await code(check(`https://${secure}`).fetch(`https://${secure}${AT}`, AUTH)), 'unexpected_response')
  t.equal(one.got.length, 1)
})

t.test('a plugin does not get the password into a header, nor a credential of another name', async (t) => {
  const { url, authorizations, elsewhere } = await evil(t, (host) => `Bearer realm="http://${host}/token"`)
  for (const auth of [
    bearer('secret:password'),
    credential('other'),
    credential('constructor'),
    credential('secret:password'),
    { scheme: 'credential', name: ['registry'] },
    { scheme: 'challenge', password: 'secret:password', realm: 'http://evil.example' },
  ]) {
    const check = through(t, url, elsewhere)()
    t.equal(await code(check.fetch(url + AT, { auth: auth as never })), 'breach', JSON.stringify(auth))
    t.ok(check.breach())
  }
  t.equal(
    await code(through(t, url, elsewhere)().fetch(url + AT, { ...AUTH, headers: { authorization: 'x' } })),
    'breach',
  )
  t.strictSame(authorizations, [])
})

t.test('a token of one connection serves no other', async (t) => {
  const { url, elsewhere, got } = await evil(t, (host) => `Bearer realm="http://${host}/token"`)
  const check = through(t, url, elsewhere)
  await check().fetch(url + AT, AUTH)
  await check().fetch(url + AT, AUTH)
  t.equal(got.length, 1)
  const other = (over: object) => ({
    connected: {
      id: 'conn_1',
      options: { url, username: 'user', password: PASSWORD },
      credentials: DECLARED,
      tokenHosts: [elsewhere],
      ...over,
    },
  })
  await check(other({ id: 'conn_2' })).fetch(url + AT, AUTH)
  t.equal(got.length, 2)
  await check(other({ options: { url, username: 'user', password: 'changed-pass-word' } })).fetch(url + AT, AUTH)
  t.equal(got.length, 3)
})
