// Test run: slow
/** Copies are read at a real Dovecot: with SAVEDATE and without it, by TLS, STARTTLS and XOAUTH2. */
import { createMemoryRefreshes, type Manifest } from '@claimcheck/core/hosting'
import type { CheckContext, Claim, ConnectionType } from '@claimcheck/core/plugin'
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import mail from '@claimcheck/plugin-mail'
import t, { type Test } from 'tap'
import { AUTHORITY, guardOf, INNER, outboundTo, resolveTo, serve } from '../../../server/test/support/loopback.ts'
import { type Dovecot, dovecotProblem, fileSent, SENT, startDovecot } from '../../../test/support/dovecot.ts'
import { fingerprintOf, KEY } from './fingerprints.ts'

const PASSWORD = 'a-password-of-ann'
const ID = 'a1@agent.acme.example'
const MINUTE = 60_000
/** What Dovecot announces but SAVEDATE and WITHIN, as before version 2.3.8. */
const OLD = 'imap_capability = IMAP4rev1 LITERAL+ NAMESPACE UIDPLUS LIST-EXTENDED SPECIAL-USE\n'

const problem = dovecotProblem()
const skip = problem === undefined ? {} : { skip: problem }

async function start(t: Test, more = '', introspection?: string): Promise<Dovecot> {
  const tokens = introspection === undefined ? {} : { introspection }
  const dovecot = await startDovecot({ users: { ann: PASSWORD }, messages: [], more: SENT + more, ...tokens, ...INNER })
  t.teardown(() => dovecot.stop())
  return dovecot
}

/** @param date the date that the program chooses, quoted, with a space behind it; empty for the server's own */
async function append(dovecot: Dovecot, id: string, date = '"02-Jan-2001 10:00:00 +0000" '): Promise<void> {
  const message = `Date: Tue, 02 Jan 2001 10:00:00 +0000\r\nMessage-ID:\r\n <${id}>\r\nTo: Bob <bob@ACME.example>\r\n\r\nhi\r\n`
  await fileSent(dovecot, { user: 'ann', password: PASSWORD, message, date })
}

const options = {
  mailbox: 'agent@acme.example',
  address: 'tls://inner.example:993',
  user: 'ann',
  password: PASSWORD,
  server_files_sent: true,
  fingerprint_key: KEY,
}

/** The life of a claim of a deed so long ago, by the machine's clock at its beginning. */
async function live(dovecot: Dovecot, claimedAgoMs: number, id = ID) {
  const now = Date.now()
  const { decision, records, requests } = await liveClaim({
    plugin: mail,
    connection: { provider: 'imap', options },
    destination: `tcp://127.0.0.1:${dovecot.ports.imap}`,
    claim: {
      action: 'mail.message.send',
      target: 'agent@acme.example',
      params: { message_id: id, to_fingerprint: [fingerprintOf('bob@acme.example')] },
      claimedAt: now - claimedAgoMs,
    },
    submittedAt: now,
    clock: createVirtualClock(now),
    reach: async () => {},
  })
  const [first] = records
  const observation = first && 'observation' in first ? first.observation : undefined
  return { verdict: decision?.verdict.value, observation, requests: requests.length, now }
}

t.test('a copy at a Dovecot with SAVEDATE, whose date its writer chose', skip, async (t) => {
  const dovecot = await start(t)
  // An id that contains the claimed one, which a search finds, too.
  await append(dovecot, `x${ID}`)
  await append(dovecot, ID)
  const { verdict, observation, now, requests } = await live(dovecot, 1000)
  t.equal(verdict, 'verified')
  t.match(observation, { kind: 'present', facts: { message_id: ID, uid: 2, recipients_missing: 0 } })
  const savedAt = Date.parse(String(observation?.facts.saved_at))
  t.ok(savedAt > now - 10_000 && savedAt <= now, 'SAVEDATE is the time of the APPEND')
  t.equal(requests, 8)
})

t.test('a claim that arrives after its tolerance is placed by SAVEDATE and the clock', skip, async (t) => {
  const dovecot = await start(t)
  await append(dovecot, ID)
  t.equal((await live(dovecot, 9 * MINUTE)).verdict, 'verified')
  t.equal((await live(dovecot, 29 * MINUTE)).verdict, 'unverifiable', 'a flag may have moved SAVEDATE')
  await append(dovecot, 'b2@agent.acme.example', '')
  const { verdict } = await live(dovecot, 15 * MINUTE, 'b2@agent.acme.example')
  t.equal(verdict, 'unverifiable', 'a mailbox without a message of before may be a restored one')
})

t.test('without SAVEDATE the looks alone tell when', skip, async (t) => {
  const dovecot = await start(t, OLD)
  await append(dovecot, ID)
  const { verdict, observation } = await live(dovecot, 1000)
  t.equal(verdict, 'verified')
  t.notOk('saved_at' in observation!.facts)
  t.equal((await live(dovecot, 29 * MINUTE)).verdict, 'unverifiable')
})

/** Makes one check of the plugin as a host makes it, over TLS, and a trial of its connection. */
async function checkOver(t: Test, port: number, tls: true | 'starttls', more: object, tokenHost?: string) {
  const own = { logger: { info() {}, warn() {} } }
  const { verifiers, connections } = await mail.setup(own, {} as never)
  const type = connections![0] as ConnectionType
  const given: Record<string, unknown> = { ...options, address: `tls://inner.example:${port}`, ...more }
  const secrets = new Map<string, string>()
  const shown = { ...given }
  for (const name of ['password', 'client_secret', 'refresh_token', 'fingerprint_key']) {
    if (typeof given[name] !== 'string') continue
    secrets.set(`secret:${name}`, given[name])
    shown[name] = `secret:${name}`
  }
  const sockets = mail.manifest.sockets!.map((one) => (one.tls === tls ? { ...one, port } : one))
  const reach = { ...mail.manifest, sockets: sockets as Manifest['sockets'], mayReveal: false }
  const hosts = [`inner.example:${port}`, ...(tokenHost === undefined ? [] : [tokenHost])]
  const outbound = outboundTo(t, hosts, { resolver: resolveTo('127.0.0.1'), ca: AUTHORITY })
  const connected = {
    id: 'conn_1',
    options: given,
    credentials: type.credentials,
    tokenHosts: tokenHost === undefined ? [] : [tokenHost],
    refreshes: createMemoryRefreshes(),
  }
  const context = () => {
    const check = outbound.forCheck(guardOf(given.address as string, { reach, secrets, connected } as never))
    const { connect, fingerprint } = check
    const connection = { id: 'conn_1', provider: 'imap', options: shown }
    return {
      check,
      context: { ...own, connection, connect, fingerprint, previous: [], now: Date.now } as unknown as CheckContext,
    }
  }
  const claimedAt = Date.now()
  const claim = {
    action: 'mail.message.send',
    target: 'agent@acme.example',
    params: { message_id: ID, to_fingerprint: [fingerprintOf('bob@acme.example')] },
    claimedAt,
    submittedAt: claimedAt,
    deadlineAt: claimedAt + 30 * MINUTE,
  } satisfies Claim
  const one = context()
  const observation = await verifiers![0]!.check(claim, one.context)
  t.equal(one.check.breach(), undefined)
  return { observation, probe: await type.probe(shown, context().context) }
}

t.test('a copy read over TLS and STARTTLS, and the trial of the connection', skip, async (t) => {
  const dovecot = await start(t)
  await append(dovecot, ID)
  for (const [port, tls] of [
    [dovecot.ports.imaps, true],
    [dovecot.ports.imap, 'starttls'],
  ] as const) {
    const { observation, probe } = await checkOver(t, port, tls, {})
    t.match(observation, { kind: 'present', differs: [], facts: { recipients_missing: 0 } })
    t.match(probe, { proves: 'works', warnings: [/can change the mailbox/] })
  }
  await t.rejects(checkOver(t, dovecot.ports.imaps, true, { password: 'another-password' }), { code: 'unauthorized' })
})

t.test('a copy read by an access token', skip, async (t) => {
  const asked: URLSearchParams[] = []
  const host = await serve(t, async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    response.setHeader('content-type', 'application/json')
    if (request.url !== '/token') return response.end(JSON.stringify({ active: true, sub: 'ann' }))
    asked.push(new URLSearchParams(body))
    response.end(JSON.stringify({ access_token: 't0ken-of-the-mailbox' }))
  })
  const dovecot = await start(t, '', `http://${host}/introspect`)
  await append(dovecot, ID)
  const client = {
    password: undefined,
    token_url: `http://${host}/token`,
    client_id: 'reader',
    client_secret: PASSWORD,
  }
  for (const [more, grant] of [
    [{ refresh_token: 'the-first-refresh-token' }, 'refresh_token'],
    [{ scope: 'https://outlook.office365.com/.default' }, 'client_credentials'],
  ] as const) {
    const { observation } = await checkOver(t, dovecot.ports.imaps, true, { ...client, ...more }, host)
    t.match(observation, { kind: 'present', differs: [] })
    t.equal(asked.at(-1)!.get('grant_type'), grant)
  }
})
