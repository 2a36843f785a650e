// Test run: every-node
/** Mailboxes are read at a real Dovecot, by every way in, and nothing is written there. Threat P8 of `security.md`. */
import {
  type CommandGrant,
  type Credential,
  createMemoryRefreshes,
  type LoginMechanism,
} from '@claimcheck/core/hosting'
import { credential } from '@claimcheck/core/plugin'
import t, { type Test } from 'tap'
import { type Dovecot, dovecotProblem, startDovecot } from '../../../test/support/dovecot.ts'
import { KEYS } from '../support/authorization-server.ts'
import { AUTHORITY, code, guardOf, INNER, outboundTo, resolveTo, serve } from '../support/loopback.ts'
import { talker } from '../support/talker.ts'

const SECRET = 'victim-pass-0123456789'
const secrets = new Map([['secret:password', SECRET]])
const READING = ['EXAMINE', 'FETCH', 'UID FETCH', 'UID SEARCH', 'SEARCH', 'LOGOUT', 'NOOP']

const problem = dovecotProblem()
const dovecot = problem === undefined ? await started() : undefined

function started(): Promise<Dovecot> {
  return startDovecot({
    users: { ann: SECRET, mallory: 'mallorys-own-pass' },
    messages: ['Message-ID: <seven@example.com>\r\nSubject: hello\r\n\r\nThe text\r\n'],
    ...INNER,
  })
}

t.teardown(() => dovecot?.stop())

interface Place extends Pick<CommandGrant, 'tls' | 'protocol' | 'commands'> {
  readonly port: number
}

function checkAt(t: Test, place: Place, name = 'inner.example', port: CommandGrant['port'] = place.port) {
  const url = `tls://${name}:${place.port}`
  const outbound = outboundTo(t, [`${name}:${place.port}`], { resolver: resolveTo('127.0.0.1'), ca: AUTHORITY })
  const reach = { hosts: ['connection.url'], sockets: [{ ...place, port }], mayReveal: false }
  return { url, check: outbound.forCheck(guardOf(url, { reach, secrets })) }
}

const login = (mechanism: LoginMechanism, user = 'ann') => ({ mechanism, user, secret: 'secret:password' })

const skip = problem === undefined ? {} : { skip: problem }
for (const mechanism of ['login', 'plain', 'scram-sha-256'] as const) {
  for (const tls of [true, 'starttls'] as const) {
    t.test(
      `IMAP with ${mechanism} and TLS ${tls === true ? 'from the first byte' : 'after STARTTLS'}`,
      skip,
      async (t) => {
        const { imap, imaps } = dovecot!.ports
        const { url, check } = checkAt(t, {
          port: tls === true ? imaps : imap,
          tls,
          protocol: 'imap',
          commands: READING,
        })
        const { until, say, close } = talker(await check.connect(url, { login: login(mechanism) }))
        await say('a EXAMINE INBOX')
        t.match(await until('a '), /\[READ-ONLY\]/)
        await say('b UID SEARCH HEADER Message-ID "<seven@example.com>"')
        t.match(await until('b '), /\* SEARCH 1\r\n/)
        await say('c UID FETCH 1 (FLAGS INTERNALDATE BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)])')
        t.match(await until('c '), /Message-ID: <seven@example.com>/)
        await close()
        t.equal(await code(check.connect(url, { login: login(mechanism, 'mallory') })), 'unauthorized')
        t.equal(check.breach(), undefined)
      },
    )
  }
}

t.test('a port that the workspace typed is read, and no other one of its host', skip, async (t) => {
  const { imap, imaps } = dovecot!.ports
  for (const [port, tls] of [
    [imaps, true],
    [imap, 'starttls'],
  ] as const) {
    const place = { port, tls, protocol: 'imap', commands: READING } as const
    const { url, check } = checkAt(t, place, 'inner.example', 'connection')
    const { until, say, close } = talker(await check.connect(url, { login: login('plain') }))
    await say('a EXAMINE INBOX')
    t.match(await until('a '), /\[READ-ONLY\]/)
    await close()
    t.equal(check.breach(), undefined)
    const other = port === imap ? imaps : imap
    t.equal(await code(check.connect(`tls://inner.example:${other}`, { login: login('plain') })), 'breach')
  }
})

t.test('a certificate of another name gets no login, by either way in', skip, async (t) => {
  const { imap, imaps } = dovecot!.ports
  for (const [port, tls] of [
    [imaps, true],
    [imap, 'starttls'],
  ] as const) {
    const grant = { port, tls, protocol: 'imap', commands: READING } as const
    const { url, check } = checkAt(t, grant, 'other.example')
    t.equal(await code(check.connect(url, { login: login('plain') })), 'unavailable')
  }
})

/** A token endpoint, and a Dovecot that takes the tokens which it has not taken back. */
async function withTokens(t: Test) {
  const asked: URLSearchParams[] = []
  const given = new Set<string>()
  const state = { status: 200 }
  const host = await serve(t, async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    response.setHeader('content-type', 'application/json')
    if (request.url === '/token') {
      asked.push(new URLSearchParams(body))
      const token = `t0ken-of-the-mailbox-${asked.length}`
      given.add(token)
      return response
        .writeHead(state.status)
        .end(JSON.stringify({ access_token: token, refresh_token: 'n3xt-refresh' }))
    }
    const token = request.headers.authorization?.replace('Bearer ', '') ?? ''
    response.end(JSON.stringify({ active: given.has(token), sub: 'ann' }))
  })
  const server = await startDovecot({
    users: { ann: SECRET },
    messages: ['Message-ID: <seven@example.com>\r\n\r\nThe text\r\n'],
    introspection: `http://${host}/introspect`,
    ...INNER,
  })
  t.teardown(() => server.stop())
  const port = server.ports.imaps
  const url = `tls://inner.example:${port}`
  const outbound = outboundTo(t, [`inner.example:${port}`, host], {
    resolver: resolveTo('127.0.0.1'),
    ca: AUTHORITY,
  })
  let now = Date.now()
  const refreshes = createMemoryRefreshes()
  const reach = {
    hosts: ['connection.url'],
    sockets: [{ port, tls: true, protocol: 'imap', commands: READING } as const],
    mayReveal: false,
  }

  /** Logs in at the mailbox by a declared credential, in a check of its own. */
  async function enter(account: object, login: object = {}) {
    const credentials = { account: account as Credential }
    const options = {
      url,
      token_host: host,
      id: 'reader',
      secret: SECRET,
      key: JSON.stringify({ client_email: 'reader@acme.example', private_key: KEYS.RS256.pem }),
      refresh: 'f1rst-refresh',
    }
    const check = outbound.forCheck(
      guardOf(url, {
        now: () => now,
        reach,
        secrets: new Map([['secret:secret', SECRET]]),
        connected: { id: 'conn_1', options, credentials, tokenHosts: [host], refreshes },
      }),
    )
    const secret = credential('account')
    const entering = check.connect(url, { login: { mechanism: 'xoauth2', user: 'ann', secret, ...login } })
    const entered = await code(entering)
    if (entered === 'no error') {
      const { until, say, close } = talker(await entering)
      await say('a EXAMINE INBOX')
      t.match(await until('a '), /\[READ-ONLY\]/)
      await close()
    }
    return { entered, check }
  }

  return {
    asked,
    state,
    enter,
    takeBack: () => given.clear(),
    later(ms: number) {
      now += ms
    },
  }
}

const TOKEN = { scheme: 'oauth2', tokenUrl: 'http://{option.token_host}/token' }
const BY_CLIENT = { ...TOKEN, grant: 'clientCredentials', clientId: 'id', clientSecret: 'secret' }
const GRANTS: readonly (readonly [grant: string, account: object])[] = [
  ['client_credentials', BY_CLIENT],
  ['refresh_token', { ...TOKEN, grant: 'refreshToken', clientId: 'id', refreshToken: 'refresh' }],
  ['urn:ietf:params:oauth:grant-type:jwt-bearer', { ...TOKEN, grant: 'jwtBearer', privateKey: 'key' }],
]

t.test('XOAUTH2 by the access token of a declared credential', skip, async (t) => {
  for (const [grant, account] of GRANTS) {
    const { asked, enter, takeBack, later } = await withTokens(t)
    const first = await enter(account)
    t.equal(first.entered, 'no error', grant)
    t.equal(first.check.breach(), undefined)
    t.ok(first.check.leaks().isIn('it said t0ken-of-the-mailbox-1'), 'what the server repeats of it is found')
    t.equal((await enter(account)).entered, 'no error', 'a stored token')
    t.equal(asked.length, 1)
    t.equal(asked[0]!.get('grant_type'), grant)
    takeBack()
    t.equal((await enter(account)).entered, 'unauthorized', 'one that was made just now is not made again')
    t.equal(asked.length, 1)
    later(61_000)
    t.equal((await enter(account)).entered, 'no error', 'a refused one is made again')
    t.equal(asked.length, 2)
    later(61_000)
    t.equal((await enter(account, { user: 'mallory' })).entered, 'unauthorized', 'once')
    t.equal(asked.length, 3)
  }
})

t.test('a login by a declared credential that cannot be', skip, async (t) => {
  const { state, enter } = await withTokens(t)
  state.status = 401
  t.match(await enter(BY_CLIENT), { entered: 'unauthorized' }, 'whose token host refuses it')
  state.status = 200
  const breaches: readonly (readonly [what: string, account: object, login: object])[] = [
    ['is not declared', BY_CLIENT, { secret: credential('other') }],
    ['has no name', BY_CLIENT, { secret: {} }],
    ['is null', BY_CLIENT, { secret: null }],
    ['is of a scheme without tokens', { scheme: 'challenge', username: 'id', password: 'secret' }, {}],
    ['is the secret that it binds', BY_CLIENT, { mechanism: 'plain', secret: 'secret:secret' }],
    ['is of a mechanism that is none', BY_CLIENT, { mechanism: 'oauthbearer' }],
  ]
  for (const [what, account, login] of breaches) {
    const { entered, check } = await enter(account, login)
    t.equal(entered, 'breach', what)
    t.ok(check.breach(), what)
  }
})

/** What a plugin tries with the victim's password, or in the victim's mailbox. */
const ATTACKS: readonly (readonly [what: string, lines: string])[] = [
  ['appends the handle to a mailbox', 'b APPEND INBOX {20}\r\nsecret:password text\r\n'],
  ['appends it by a literal without a stop', 'b APPEND INBOX {15+}\r\nsecret:password\r\n'],
  ['logs in by itself', 'b LOGIN mallory mallorys-own-pass'],
  ['authenticates by itself', 'b AUTHENTICATE PLAIN'],
  ['opens a mailbox for writing', 'b SELECT INBOX'],
  ['opens one in lower case', 'b select INBOX'],
  ['marks a message', 'b STORE 1 +FLAGS (\\Deleted)'],
  ['marks one by its id', 'b UID STORE 1 +FLAGS (\\Deleted)'],
  ['copies one', 'b UID COPY 1 Sent'],
  ['makes a mailbox', 'b CREATE stolen'],
  ['renames one', 'b RENAME INBOX stolen'],
  ['reads so that it is seen', 'b FETCH 1 BODY[]'],
  ['reads so that it is seen, in a list', 'b FETCH 1 (FLAGS BODY.PEEK[] RFC822)'],
  ['reads so that it is seen, behind a section', 'b FETCH 1 (BODY.PEEK[HEADER] BODY[TEXT])'],
  ['writes a command in an argument', 'b EXAMINE "a\r\nc APPEND INBOX {5}"'],
  ['writes one behind a line feed', 'b EXAMINE a\nc CREATE stolen'],
  ['writes one in a literal', 'b EXAMINE {25}\r\nINBOX\r\nc CREATE stolen'],
  ['writes one in a search by a literal', 'b SEARCH SUBJECT {30+}\r\nx\r\nc CREATE stolen'],
  ['writes one in a literal of bytes', 'b SEARCH SUBJECT ~{3}\r\nc X'],
  ['leaves a quotation open', 'b EXAMINE "INBOX'],
  ['uses a tab for a space', 'b\tSELECT\tINBOX'],
  ['has a tag with a space', 'b  SELECT INBOX'],
  ['has no tag', 'SELECT INBOX'],
  ['compresses what follows', 'b COMPRESS DEFLATE'],
  ['goes over to TLS again', 'b STARTTLS'],
]
t.test(`a plugin cannot write into a mailbox: ${ATTACKS.length} ways`, skip, async (t) => {
  const { imaps } = dovecot!.ports
  const grant = { port: imaps, tls: true, protocol: 'imap', commands: READING } as const
  for (const [what, lines] of ATTACKS) {
    const { url, check } = checkAt(t, grant)
    const { until, say, close } = talker(await check.connect(url, { login: login('plain') }))
    await say('a EXAMINE INBOX')
    await until('a ')
    t.equal(await code(say(lines)), 'breach', what)
    t.ok(check.breach())
    await close()
  }
  const own = { mechanism: 'plain', user: 'mallory', secret: 'mallorys-own-pass' } as const
  const { url, check } = checkAt(t, grant)
  t.equal(await code(check.connect(url, { login: own })), 'breach', 'its own account')
  for (const user of ['ann', 'mallory']) {
    const texts = await dovecot!.mailbox(user)
    t.equal(texts.length, 1, user)
    t.notOk(texts.some((text) => text.includes(SECRET)))
  }
})
