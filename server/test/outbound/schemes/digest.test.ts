// Test run: every-node
/** HTTP digest authentication: at Apache httpd, by the examples of RFC 7616, and at servers that ask for less than they should. Threat P9 of `security.md`. */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { basic, credential } from '@claimcheck/core/plugin'
import t, { type Test } from 'tap'
import { findProgram } from '../../../../test/support/programs.ts'
import { NO_APACHE, startApache } from '../../support/apache.ts'
import { code, serve } from '../../support/loopback.ts'
import { seenIn, spendingAt } from '../../support/spending.ts'

const PASSWORD = 'Circle of Life'
const AUTH = { auth: credential('account') }

function through(t: Test, url: string, username = 'user', password = PASSWORD) {
  return spendingAt(t, {
    url,
    credentials: { account: { scheme: 'digest', username: 'username', password: 'password' } },
    options: { username, password },
    secret: ['password'],
  })
}

t.test('Apache httpd', { skip: NO_APACHE }, async (t) => {
  const { url } = await startApache(t, findProgram('apache2')!, PASSWORD)
  const check = through(t, url)
  const response = await check().fetch(`${url}/digest/report.txt?a=1`, AUTH)
  t.equal(response.status, 200)
  t.equal(response.headers.get('authentication-info'), null)
  t.equal(await response.text(), 'the report')
  const head = await check({ limits: { requests: 1 } }).fetch(`${url}/digest/report.txt`, { ...AUTH, method: 'HEAD' })
  t.equal(head.status, 200, 'the nonce serves again')
  const wrong = await through(t, url, 'user', 'an0ther-password')().fetch(`${url}/digest/report.txt`, AUTH)
  t.equal(wrong.status, 401)
  t.equal(wrong.headers.get('www-authenticate'), null)
})

function fieldsOf({ headers }: IncomingMessage): Record<string, string> {
  const found = (headers.authorization ?? '').matchAll(/(\w+)=(?:"([^"]*)"|([^\s,]+))/g)
  return Object.fromEntries([...found].map(([, name, quoted, token]) => [name!, quoted ?? token!]))
}

const HASHES = { MD5: 'md5', 'SHA-256': 'sha256', 'SHA-512-256': 'sha512-256' } as const

function isRight(request: IncomingMessage, password: string): boolean {
  const { username, realm, nonce, uri, response, algorithm = 'MD5', nc, cnonce, qop } = fieldsOf(request)
  const hash = (text: string) =>
    createHash(HASHES[algorithm.replace('-sess', '').replace('-SESS', '') as 'MD5'])
      .update(text)
      .digest('hex')
  const plain = hash(`${username}:${realm}:${password}`)
  const secret = /-sess$/i.test(algorithm) ? hash(`${plain}:${nonce}:${cnonce}`) : plain
  const expected = hash([secret, nonce, nc, cnonce, qop, hash(`${request.method}:${uri}`)].join(':'))
  return uri === request.url && qop === 'auth' && response === expected
}

async function asking(t: Test, challenge: string | string[], password = PASSWORD) {
  const arrived: Record<string, string>[] = []
  const host = await serve(t, (request, response) => {
    if (request.headers.authorization === undefined) {
      response.writeHead(401, { 'www-authenticate': challenge }).end()
      return
    }
    arrived.push(fieldsOf(request))
    response
      .writeHead(isRight(request, password) ? 200 : 401, { 'authentication-info': 'rspauth="6629fae4"' })
      .end('in')
  })
  return { url: `http://${host}`, arrived }
}

const challenges: [what: string, challenge: string | string[], algorithm: string][] = [
  ['MD5, left out', 'Digest realm="r", nonce="n", qop="auth"', 'MD5'],
  ['MD5 of sessions', 'Digest realm="r", nonce="n", qop="auth,auth-int", algorithm=MD5-sess', 'MD5-SESS'],
  ['SHA-256', 'Digest realm="a \\"b\\" c", nonce="n", qop=auth, algorithm=SHA-256, opaque="o"', 'SHA-256'],
  ['SHA-512-256', 'Digest realm="r", nonce="n", qop="auth", algorithm=SHA-512-256', 'SHA-512-256'],
  [
    'the strongest of several',
    [
      'Digest realm="r", nonce="m", qop="auth"',
      'Basic realm="r", Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256',
    ],
    'SHA-256',
  ],
]
for (const [what, challenge, algorithm] of challenges) {
  t.test(`a challenge with ${what} is answered`, async (t) => {
    const { url, arrived } = await asking(t, challenge)
    const check = through(t, url)
    const response = await check().fetch(`${url}/dir/index.html?q=1`, AUTH)
    if (!String(challenge).includes('\\"')) t.equal(response.status, 200)
    t.equal(arrived[0]?.algorithm, algorithm)
    t.notOk((await seenIn(response)).includes('rspauth'))
    await check().fetch(`${url}/other`, AUTH)
    t.match(arrived[1], { nc: '00000002', nonce: 'n' })
    t.not(arrived[1]?.cnonce, arrived[0]?.cnonce)
  })
}

for (const challenge of [
  'Digest realm="r", nonce="n"',
  'Digest realm="r", nonce="n", qop="auth-int"',
  'Digest realm="r", nonce="n", qop="auth", algorithm=MD4',
  'Digest realm="r", qop="auth"',
  'Basic realm="r"',
  'Bearer realm="http://evil.example"',
  '',
]) {
  t.test(`the password is not spent on ${challenge || 'no challenge'}`, async (t) => {
    const { url, arrived } = await asking(t, challenge)
    t.equal((await through(t, url)().fetch(url, AUTH)).status, 401)
    t.strictSame(arrived, [])
  })
}

t.test('a name that would become another field is not sent', async (t) => {
  const { url, arrived } = await asking(t, 'Digest realm="r", nonce="n", qop="auth"')
  for (const name of ['a", username="admin', 'a\\'])
    t.equal(await code(through(t, url, name)().fetch(url, AUTH)), 'misconfigured')
  t.strictSame(arrived, [])
})

t.test('a plugin does not get the password sent as it is', async (t) => {
  const { url, arrived } = await asking(t, 'Basic realm="r"')
  t.equal(await code(through(t, url)().fetch(url, { auth: basic('user', 'secret:password') })), 'breach')
  t.strictSame(arrived, [])
})
