// Test run: every-node
/** The host's logins at servers of IMAP that attack them. Threat P8 of `security.md`. */
import type { Socket as NodeSocket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import type { CommandGrant, LoginMechanism } from '@claimcheck/core/hosting'
import type { Login } from '@claimcheck/core/plugin'
import type { TrialRequest } from '@claimcheck/core/testkit'
import { traced } from '@claimcheck/server/outbound/trace'
import t, { type Test } from 'tap'
import { AUTHORITY, code, guardOf, INNER, LOCALHOST, outboundTo, resolveTo, serveSockets } from '../support/loopback.ts'
import { talker } from '../support/talker.ts'

const SECRET = 'victim-pass-0123456789'
const OTHER_SECRET = 'another-pass-0123456789'

interface Place extends Partial<Pick<CommandGrant, 'tls'>> {
  /** `127.0.0.1:port` */
  readonly host: string
  readonly name?: string
  readonly secret?: string
  readonly ca?: string
  /** As `claimcheck try` checks. */
  readonly trace?: TrialRequest[]
}

function checkAt(t: Test, place: Place) {
  const { host, tls = 'starttls', name = 'inner.example', secret = SECRET, ca, trace } = place
  const port = Number(host.split(':')[1])
  const url = `${tls ? 'tls' : 'tcp'}://${name}:${port}`
  const outbound = outboundTo(t, [`${name}:${port}`], { resolver: resolveTo('127.0.0.1'), ca: ca ?? AUTHORITY })
  const grant: CommandGrant = { port, tls, protocol: 'imap', commands: ['NOOP', 'EXAMINE'] }
  const reach = { hosts: ['connection.url'], sockets: [grant], mayReveal: false }
  const secrets = new Map([
    ['secret:password', secret],
    ['secret:other', OTHER_SECRET],
  ])
  const check = (trace ? traced(outbound, trace) : outbound).forCheck(guardOf(url, { reach, secrets }))
  const connect = (login?: Login) => check.connect(url, login ? { login } : {})
  return { url, check, connect }
}

const login = (mechanism: LoginMechanism, user = 'ann'): Login => ({ mechanism, user, secret: 'secret:password' })

/** A server that says what a script says, and what it got. */
async function scripted(t: Test, script: (line: string, socket: NodeSocket) => string, greeting: string) {
  const seen: string[] = []
  const host = await serveSockets(t, (socket) => {
    socket.write(greeting)
    let rest = ''
    socket.on('data', (chunk) => {
      const lines = (rest + chunk).split('\r\n')
      rest = lines.pop()!
      for (const line of lines) {
        seen.push(line)
        socket.write(script(line, socket))
      }
    })
  })
  return { host, seen }
}

/** What servers and people on the way do before TLS. None may get a login. */
const BEFORE_TLS: readonly (readonly [
  what: string,
  greeting: string,
  /** The answer to STARTTLS. */
  answer: string,
  code: string,
])[] = [
  ['takes STARTTLS out', '* OK ready\r\n', 'claimcheck BAD what?\r\n', 'unavailable'],
  ['offers it, and refuses', '* OK [CAPABILITY STARTTLS] ready\r\n', 'claimcheck NO not now\r\n', 'unavailable'],
  ['is logged in already', '* PREAUTH hello ann\r\n', '', 'unexpected_response'],
  ['says good-bye', '* BYE overloaded\r\n', '', 'unavailable'],
  [
    'writes an answer for within TLS',
    '* OK ready\r\n',
    'claimcheck OK begin\r\n* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\nclaimcheck OK\r\n',
    'unexpected_response',
  ],
  ['says OK, and does not go over', '* OK ready\r\n', 'claimcheck OK begin\r\n', 'timeout'],
  ['greets without an end', `* OK ${'x'.repeat(100_000)}`, '', 'too_large'],
  ['answers without an end', '* OK ready\r\n', '* OK still here\r\n'.repeat(20_000), 'too_large'],
  ['greets as a web server', 'HTTP/1.1 400 Bad Request\r\n', '', 'unexpected_response'],
  ['greets as POP3', '+OK ready\r\n', '', 'unexpected_response'],
]
for (const [what, greeting, answer, expected] of BEFORE_TLS) {
  t.test(`no login is sent to what ${what}`, async (t) => {
    const { host, seen } = await scripted(t, (line) => (line.includes('STARTTLS') ? answer : ''), greeting)
    const { connect, check } = checkAt(t, { host })
    t.equal(await code(connect(login('plain'))), expected)
    t.strictSame(
      seen.filter((line) => /AUTH|LOGIN|USER|PASS|ann/.test(line)),
      [],
    )
    t.equal(check.breach(), undefined, 'the destination is to blame')
  })
}

/** Goes over to TLS, and says within it what a script says. */
function afterStartTls(t: Test, script: (line: string) => string, identity = INNER) {
  return scripted(
    t,
    (line, socket) => {
      if (!line.endsWith('STARTTLS')) return ''
      socket.write('claimcheck OK begin\r\n')
      socket.removeAllListeners('data')
      const secure = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(identity) })
      secure
        .on('error', () => {})
        .on('data', (chunk) => {
          for (const one of String(chunk).split('\r\n').slice(0, -1)) secure.write(script(one))
        })
      return ''
    },
    '* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN AUTH=SCRAM-SHA-256] ready\r\n',
  )
}

t.test('what was offered before TLS counts for nothing', async (t) => {
  const got: string[] = []
  const { host } = await afterStartTls(t, (line) => {
    got.push(line)
    return line.endsWith('CAPABILITY')
      ? '* CAPABILITY IMAP4rev1 LOGINDISABLED\r\nclaimcheck OK\r\n'
      : 'claimcheck NO\r\n'
  })
  for (const mechanism of ['plain', 'scram-sha-256', 'xoauth2', 'login'] as const)
    t.equal(await code(checkAt(t, { host }).connect(login(mechanism))), 'misconfigured', mechanism)
  t.strictSame([...new Set(got)], ['claimcheck CAPABILITY'])
})

t.test('an IP address is verified as such after STARTTLS, and `localhost` is another name', async (t) => {
  for (const [identity, ca, expected] of [
    [INNER, AUTHORITY, 'no error'],
    [LOCALHOST, LOCALHOST.cert, 'unavailable'],
  ] as const) {
    const got: string[] = []
    const answer = (line: string) => {
      got.push(line)
      return line.endsWith('CAPABILITY') ? '* CAPABILITY IMAP4rev1\r\nclaimcheck OK\r\n' : 'claimcheck OK\r\n'
    }
    const { host } = await afterStartTls(t, answer, identity)
    t.equal(await code(checkAt(t, { host, name: '127.0.0.1', ca }).connect(login('login'))), expected)
    t.equal(got.length, expected === 'no error' ? 2 : 0)
  }
})

const REFUSALS: readonly (readonly [answer: string, code: string])[] = [
  ['NO [AUTHENTICATIONFAILED] no', 'unauthorized'],
  ['NO [UNAVAILABLE] later', 'unavailable'],
  ['NO [LIMIT] too often', 'rate_limited'],
  ['BAD what?', 'unexpected_response'],
]
t.test('a refused login has its meaning, and the plugin sees none of its text', async (t) => {
  for (const [answer, expected] of REFUSALS) {
    const { host } = await afterStartTls(t, (line) => {
      if (line.endsWith('CAPABILITY')) return '* CAPABILITY IMAP4rev1\r\nclaimcheck OK\r\n'
      return `* OK you said ${line}\r\nclaimcheck ${answer} you said ${line}\r\n`
    })
    const { connect, check } = checkAt(t, { host })
    const error = await connect(login('login')).catch((thrown: unknown) => thrown)
    t.match(error, { code: expected })
    t.notMatch(JSON.stringify([error, String((error as Error).cause), (error as Error).stack]), SECRET)
    t.equal(check.breach(), undefined)
  }
})

t.test('a secret that the server repeats after the login is found in what the plugin says', async (t) => {
  let said = ''
  const { host } = await afterStartTls(t, (line) => {
    if (line.endsWith('CAPABILITY')) return '* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\nclaimcheck OK\r\n'
    if (line.endsWith('AUTHENTICATE PLAIN')) return '+ \r\n'
    if (line.startsWith('a ')) return `* OK ${said} ${Buffer.from(said, 'base64')}\r\na OK\r\n`
    said = line
    return 'claimcheck OK\r\n'
  })
  const { connect, check } = checkAt(t, { host })
  const { until, say } = talker(await connect(login('plain')))
  await say('a NOOP')
  const seen = await until('a ')
  t.match(seen, SECRET)
  t.ok(check.leaks().isInValue({ facts: { text: seen } }))
  t.ok(check.leaks().isIn(Buffer.from(`\0ann\0${SECRET}`).toString('base64')), 'as SASL writes it')
})

t.test('a server that does not know the password is not believed by SCRAM', async (t) => {
  const scramWith = (challenge: (nonce: string) => string, last: string) => {
    let step = 0
    return (line: string) => {
      if (line.endsWith('CAPABILITY')) return '* CAPABILITY IMAP4rev1 AUTH=SCRAM-SHA-256\r\nclaimcheck OK\r\n'
      const [, nonce = ''] = /r=([^,]*)/.exec(Buffer.from(line, 'base64').toString()) ?? []
      const say = [() => '+ \r\n', () => `+ ${Buffer.from(challenge(nonce)).toString('base64')}\r\n`, () => last][
        step++
      ]
      return say?.() ?? 'claimcheck OK\r\n'
    }
  }
  const sound = (nonce: string) => `r=${nonce}server,s=c2FsdA==,i=4096`
  const rows: readonly (readonly [what: string, (line: string) => string, code: string])[] = [
    ['skips its proof', scramWith(sound, 'claimcheck OK\r\n'), 'unexpected_response'],
    ['proves otherwise', scramWith(sound, `+ ${Buffer.from('v=AAAA').toString('base64')}\r\n`), 'unexpected_response'],
    ['has another nonce', scramWith(() => 'r=other,s=c2FsdA==,i=4096', ''), 'unexpected_response'],
    ['adds nothing to the nonce', scramWith((nonce) => `r=${nonce},s=c2FsdA==,i=4096`, ''), 'unexpected_response'],
    ['hashes once', scramWith((nonce) => `r=${nonce}x,s=c2FsdA==,i=1`, ''), 'unexpected_response'],
    ['hashes for ever', scramWith((nonce) => `r=${nonce}x,s=c2FsdA==,i=999999999`, ''), 'unexpected_response'],
    ['says what is no challenge', scramWith(() => 'hello', ''), 'unexpected_response'],
  ]
  for (const [what, script, expected] of rows) {
    const { host } = await afterStartTls(t, script)
    t.equal(await code(checkAt(t, { host }).connect(login('scram-sha-256'))), expected, what)
  }
})

t.test('a login names a secret of the connection, and a user', async (t) => {
  const { host, seen } = await scripted(t, () => '', '* OK ready\r\n')
  const bad: readonly object[] = [
    { mechanism: 'plain', user: 'ann', secret: SECRET },
    { mechanism: 'plain', user: 'ann', secret: 'secret:unknown' },
    { mechanism: 'plain', user: 'secret:password', secret: 'secret:password' },
    { mechanism: 'plain', user: ['ann'], secret: 'secret:password' },
    { mechanism: 'cram-md5', user: 'ann', secret: 'secret:password' },
  ]
  for (const one of bad) {
    const { connect, check } = checkAt(t, { host })
    t.equal(await code(connect(one as Login)), 'breach', JSON.stringify(one))
    t.ok(check.breach())
  }
  for (const one of ['a\r\nb', 'a\0b', 'a\u0001b']) {
    t.equal(await code(checkAt(t, { host }).connect(login('plain', one))), 'misconfigured')
    t.equal(await code(checkAt(t, { host, secret: one }).connect(login('plain'))), 'misconfigured')
  }
  t.strictSame(seen, [], 'nothing is sent')
})

t.test('a check that is tried logs in, too', async (t) => {
  const got: string[] = []
  const { host } = await afterStartTls(t, (line) => {
    got.push(line)
    return line.endsWith('CAPABILITY') ? '* CAPABILITY IMAP4rev1\r\nclaimcheck OK\r\n' : 'claimcheck OK\r\n'
  })
  const trace: TrialRequest[] = []
  const { url, connect } = checkAt(t, { host, trace })
  const { close } = talker(await connect(login('login')))
  await close()
  t.strictSame(got, ['claimcheck CAPABILITY', `claimcheck LOGIN "ann" "${SECRET}"`])
  t.match(trace, [{ method: 'CONNECT', url }])
})
