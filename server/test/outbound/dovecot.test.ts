/** Mailboxes are read at a real Dovecot, by every way in, and nothing is written there. Threat P14 of `security.md`. */
import type { CommandGrant, LoginMechanism } from '@claimcheck/core/plugin'
import t, { type Test } from 'tap'
import { type Dovecot, dovecotProblem, startDovecot } from '../../../test/support/dovecot.ts'
import { AUTHORITY, code, guardOf, INNER, outboundTo, resolveTo } from '../support/loopback.ts'
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

function checkAt(t: Test, grant: Place) {
  const url = `${grant.tls ? 'tls' : 'tcp'}://inner.example:${grant.port}`
  const outbound = outboundTo(t, [`inner.example:${grant.port}`], { resolver: resolveTo('127.0.0.1'), ca: AUTHORITY })
  const reach = { hosts: ['connection.url'], sockets: [grant], mayReveal: false }
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
