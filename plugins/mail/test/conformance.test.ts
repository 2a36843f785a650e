// Test run: slow
/** The plugin passes the conformance kit at a mailbox. */
import { type Destination, verifierConformance } from '@claimcheck/core/testkit'
import mail from '@claimcheck/plugin-mail'
import t from 'tap'
import { fingerprintOf, KEY } from './fingerprints.ts'
import { headerOf, ImapOfTests, type MessageOfTests } from './imap-server.ts'

t.setTimeout(500_000)

const PASSWORD = 'a-password-of-ann'
const ID = '20260302.1@agent.acme.example'

let imap: ImapOfTests
let begunAt = 0
const old = (): MessageOfTests => ({
  uid: 1,
  header: headerOf('older@agent.acme.example'),
  savedAt: begunAt - 3_600_000,
})

const SITUATIONS: Readonly<Record<string, () => readonly MessageOfTests[]>> = {
  before: () => [old()],
  sent: () => [old(), { uid: 2, header: headerOf(ID), savedAt: begunAt - 1000 }],
  similar: () => [old(), { uid: 2, header: headerOf(`x${ID}`), savedAt: begunAt - 1000 }],
  gone: () => [old()],
}

const destination: Destination<string, undefined> = {
  async start({ now }) {
    begunAt = now()
    imap = new ImapOfTests({ password: PASSWORD, now })
    return imap.start()
  },
  set(situation) {
    imap.messages = SITUATIONS[situation]!()
    imap.uidNext = situation === 'gone' ? 3 : undefined
    return undefined
  },
}

const claim = { target: 'agent@acme.example', params: { message_id: ID } }
const to = (...addresses: string[]) => ({
  ...claim,
  params: { ...claim.params, to_fingerprint: addresses.map(fingerprintOf) },
})

t.test('at a mailbox', async (t) => {
  const report = await verifierConformance(t, {
    plugin: mail,
    connection: {
      provider: 'imap',
      options: {
        mailbox: 'agent@acme.example',
        address: 'tls://mail.example:993',
        user: 'ann',
        password: PASSWORD,
        server_files_sent: true,
        fingerprint_key: KEY,
      },
    },
    destination,
    before: 'before',
    cases: [
      {
        name: 'sent as claimed',
        situation: 'sent',
        claim: to('bob@acme.example'),
        sees: { kind: 'present', facts: { message_id: ID, uid: 2, recipients_missing: 0 } },
        verdict: 'verified',
      },
      {
        name: 'sent to others',
        situation: 'sent',
        claim: to('eve@acme.example'),
        sees: { kind: 'present', differs: ['to_fingerprint'], facts: { recipients_missing: 1 } },
        verdict: 'mismatch',
      },
      {
        name: 'another message, whose id contains the id',
        situation: 'similar',
        claim,
        sees: { kind: 'absent' },
        verdict: 'failed',
      },
      {
        name: 'not there, and the newest number is of a message that is gone',
        situation: 'gone',
        claim,
        sees: { kind: 'absent', mark: 'may_have_been' },
        verdict: 'unverifiable',
      },
    ],
  })
  t.ok(report.ok)
})
