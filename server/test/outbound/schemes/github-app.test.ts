/** Tokens of a GitHub App's installation, at a stand-in for GitHub that checks signatures and times. Threat P9 of `security.md`. */
import { generateKeyPairSync } from 'node:crypto'
import { type Credential, createMemoryRefreshes } from '@claimcheck/core/hosting'
import { credential } from '@claimcheck/core/plugin'
import t, { type Test } from 'tap'
import { type Fault, status } from '../../../../test/destinations/faults.ts'
import { startGitHub } from '../../../../test/destinations/forge/github.ts'
import { addApp, type Installation, tokensGiven } from '../../../../test/destinations/forge/github-apps.ts'
import { KEYS } from '../../support/authorization-server.ts'
import { code } from '../../support/loopback.ts'
import { seenIn, spendingAt } from '../../support/spending.ts'

const AUTH = { auth: credential('account') }
/** The host remembers tokens by the machine's own clock. */
const NOON = Math.floor(Date.now() / 1000) * 1000
const MINUTE = 60_000
const APP = { id: 12345, clientId: 'Iv23liAbCdEf' }
const READ = { contents: 'read', issues: 'read', metadata: 'read' } as const
const OTHER_KEY = String(
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }),
)

/** An app that is installed for a private repository, and may write. */
async function atGitHub(t: Test) {
  const clock = { now: NOON, hostAheadMs: 0 }
  const github = await startGitHub({ now: () => clock.now })
  t.teardown(() => github.close())
  const repositories = [await github.createRepository('acme/app', { isPrivate: true })]
  const installation: Installation = {
    ...{ id: 678, repositories },
    permissions: { contents: 'write', metadata: 'read', administration: 'write' },
  }
  const app = addApp(github, { ...APP, publicKey: KEYS.RS256.publicKey, installations: [installation] })
  addApp(github, { id: 999, publicKey: KEYS.RS256.publicKey, installations: [] })

  const connect = (options: Readonly<Record<string, string>> = {}) =>
    spendingAt(t, {
      url: github.url,
      credentials: {
        account: {
          ...{ scheme: 'oauth2', grant: 'githubApp', apiUrl: '{option.url}' },
          ...{ appId: 'app', installationId: 'installation', privateKey: 'key', permissions: READ },
        } as Credential,
      },
      options: { app: '12345', installation: '678', key: KEYS.RS256.older, ...options },
      secret: ['key'],
      refreshes: createMemoryRefreshes(),
      now: () => clock.now + clock.hostAheadMs,
    })
  return { clock, github, app, installation, connect, url: `${github.url}/repos/acme/app` }
}

t.test('a token of an hour has what is declared, as far as the installation has it, and writes nothing', async (t) => {
  const { clock, github, connect, url } = await atGitHub(t)
  const check = connect()
  const seen = await check().fetch(url, AUTH)
  t.equal(seen.status, 200)
  const text = await seenIn(seen)
  t.notMatch(text, /PRIVATE KEY|ghs_/)
  t.strictSame(tokensGiven(github), [{ contents: 'read', metadata: 'read' }])
  t.strictSame(github.requests, [
    'GET /app/installations/678',
    'POST /app/installations/678/access_tokens',
    'GET /repos/acme/app',
  ])
  clock.now += 58 * MINUTE
  t.equal((await check({ limits: { requests: 1 } }).fetch(url, AUTH)).status, 200)
  t.equal(tokensGiven(github).length, 1)
  clock.now += 1.5 * MINUTE
  const both = await Promise.all([1, 2].map(() => check().fetch(url, AUTH)))
  t.strictSame(
    both.map(({ status }) => status),
    [200, 200],
  )
  t.equal(tokensGiven(github).length, 2, 'a minute before the end there is another one')
})

t.test('an app is named by its id or its client id, and its key is written in either form', async (t) => {
  const { connect, url } = await atGitHub(t)
  for (const app of ['12345', APP.clientId])
    for (const key of [KEYS.RS256.pem, KEYS.RS256.older, KEYS.RS256.pem.replaceAll('\n', '')])
      t.equal((await connect({ app, key })().fetch(url, AUTH)).status, 200)
})

t.test('the clocks may differ by minutes', async (t) => {
  const { clock, connect, url } = await atGitHub(t)
  for (const [aheadMs, expected] of [
    [-295_000, 'no error'],
    [-60_000, 'no error'],
    [60_000, 'no error'],
    [235_000, 'no error'],
    [-310_000, 'unauthorized'],
    [250_000, 'unauthorized'],
  ] as const) {
    clock.hostAheadMs = aheadMs
    t.equal(await code(connect()().fetch(url, AUTH)), expected, `${aheadMs} ms`)
  }
})

t.test('what GitHub gives no token to reads nothing, and has a code that says why', async (t) => {
  const { github, connect, url } = await atGitHub(t)
  const rows: readonly (readonly [what: string, options: Readonly<Record<string, string>>, code: string])[] = [
    ['the key of another app', { key: OTHER_KEY }, 'unauthorized'],
    ['a key of another kind', { key: KEYS.ES256.pem }, 'misconfigured'],
    ['an app that there is not', { app: '54321' }, 'unauthorized'],
    ['the installation of another app', { app: '999' }, 'unauthorized'],
    ['an installation that there is not', { installation: '679' }, 'unauthorized'],
    ['a path in place of an installation', { installation: '678/../..' }, 'misconfigured'],
    ['no key', { key: 's3cret' }, 'misconfigured'],
  ]
  for (const [what, options, expected] of rows) {
    t.equal(await code(connect(options)().fetch(url, AUTH)), expected, what)
    t.notOk(github.requests.some((line) => line.includes('/repos/')))
  }
  const faults: readonly (readonly [fault: Fault, on: RegExp, code: string])[] = [
    [status(403, { 'retry-after': '30' }), /access_tokens/, 'rate_limited'],
    [status(403, { 'x-ratelimit-remaining': '0' }), /installations\/678$/, 'rate_limited'],
    [status(500), /installations/, 'unavailable'],
    [status(302, { location: '/' }), /installations/, 'unexpected_response'],
    [status(200, {}, { permissions: ['contents'] }), /installations\/678$/, 'forbidden'],
    [status(200, {}, { permissions: { administration: 'write' } }), /installations\/678$/, 'forbidden'],
    [status(200, {}, { token: 'one\r\ntwo' }), /access_tokens/, 'unexpected_response'],
  ]
  for (const [fault, on, expected] of faults) {
    github.faults.inject({ fault, on, times: 1 })
    t.equal(await code(connect()().fetch(url, AUTH)), expected)
    github.faults.clear()
  }
  t.notOk(github.requests.some((line) => line.includes('/repos/')))
})

t.test('an installation that is suspended or removed ends, and one that is back reads again', async (t) => {
  const { clock, github, app, installation, connect, url } = await atGitHub(t)
  const check = connect()
  const reading = () => code(check().fetch(url, AUTH))
  t.equal(await reading(), 'no error')
  clock.now += 61 * MINUTE
  installation.isSuspended = true
  t.equal(await reading(), 'forbidden')
  installation.isSuspended = false
  t.equal(await reading(), 'no error')
  clock.now += 61 * MINUTE
  app.installations.pop()
  t.equal(await reading(), 'unauthorized')
  app.installations.push(installation)
  t.equal(await reading(), 'no error')
  t.equal(tokensGiven(github).length, 3)
  installation.permissions = { metadata: 'read' }
  clock.now += 61 * MINUTE
  t.equal(await reading(), 'no error')
  t.strictSame(tokensGiven(github).at(-1), { metadata: 'read' })
})

t.test('a token that GitHub refuses before its end is replaced', async (t) => {
  const { clock, github, connect, url } = await atGitHub(t)
  const check = connect()
  await check().fetch(url, AUTH)
  clock.now += 2 * MINUTE
  github.revokeToken()
  t.equal((await check().fetch(url, AUTH)).status, 200)
  t.equal(tokensGiven(github).length, 2)
})
