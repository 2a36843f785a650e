// Test run: slow
/** What may be said of copies that come, go and are filed otherwise, over the life of a claim. */
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import mail from '@claimcheck/plugin-mail'
import t, { type Test } from 'tap'
import { fingerprintOf, KEY } from './fingerprints.ts'
import { headerOf, ImapOfTests, type MessageOfTests } from './imap-server.ts'

const START = Date.UTC(2026, 2, 2, 9)
const MINUTE = 60_000
const PASSWORD = 'a-password-of-ann'
const ID = '20260302.1@agent.acme.example'

const message = (uid: number, id: string, afterMs: number, more?: string): MessageOfTests => ({
  uid,
  header: headerOf(id, more),
  savedAt: START + afterMs,
})
const OLD = message(1, 'older@agent.acme.example', -60 * MINUTE)
const FOREIGN = message(1, 'older@mail.gmail.com', -60 * MINUTE)

interface World {
  /** The messages from some time after the claim on. */
  readonly there: readonly (readonly [afterMs: number, messages: readonly MessageOfTests[]])[]
  readonly server?: Partial<
    Pick<ImapOfTests, 'attributes' | 'capabilities' | 'others' | 'isIndexed' | 'aheadMs' | 'uidNext'>
  >
  readonly options?: object
  readonly params?: object
  readonly submittedAfterMs?: number
  readonly uidValidityAt?: (afterMs: number) => number
}

async function live(t: Test, { there, server = {}, options, params, submittedAfterMs = 500, uidValidityAt }: World) {
  const clock = createVirtualClock(START)
  const imap = Object.assign(new ImapOfTests({ password: PASSWORD, now: clock.now }), server)
  const { url, stop } = await imap.start()
  t.teardown(stop)
  const { decision, records, requests } = await liveClaim({
    plugin: mail,
    connection: {
      provider: 'imap',
      options: {
        mailbox: 'agent@ACME.example',
        address: 'tls://mail.example:993',
        user: 'ann',
        password: PASSWORD,
        server_files_sent: true,
        fingerprint_key: KEY,
        ...options,
      },
    },
    destination: url,
    claim: {
      action: 'mail.message.send',
      target: 'agent@Acme.example',
      params: { message_id: `<${ID}>`, ...params },
      claimedAt: START,
    },
    submittedAt: START + submittedAfterMs,
    clock,
    async reach(until) {
      imap.messages = there.findLast(([afterMs]) => until >= START + afterMs)![1]
      imap.uidValidity = uidValidityAt?.(until - START) ?? 7
    },
  })
  const last = records.at(-1)!
  const facts = 'observation' in last ? last.observation.facts : {}
  return { verdict: decision?.verdict.value, facts, requests: requests.length, commands: imap.commands }
}

const BEFORE = -120 * MINUTE
const sent = message(2, ID, -1000)
const HOUR = 60 * MINUTE
const noAges = { capabilities: 'IMAP4rev1 SPECIAL-USE LIST-EXTENDED SAVEDATE' }

const rows: readonly (readonly [title: string, verdict: string, world: World, facts?: object])[] = [
  [
    'a copy that is there',
    'verified',
    { there: [[BEFORE, [OLD, sent]]] },
    { uid: 2, saved_at: '2026-03-02T08:59:59.000Z' },
  ],
  [
    'a copy that comes in time',
    'verified',
    {
      there: [
        [BEFORE, [OLD]],
        [4 * MINUTE, [OLD, message(2, ID, 4 * MINUTE)]],
      ],
    },
  ],
  ['no copy', 'failed', { there: [[BEFORE, [OLD]]] }],
  ['no copy in a mailbox that was never used', 'failed', { there: [[BEFORE, []]] }],
  [
    'no copy, and a program files them',
    'unverifiable',
    { there: [[BEFORE, [OLD]]], options: { server_files_sent: false } },
  ],
  [
    'no copy, and another message',
    'failed',
    {
      there: [
        [BEFORE, [OLD]],
        [MINUTE, [OLD, message(2, 'new@agent.acme.example', MINUTE)]],
      ],
    },
  ],
  ['an id that contains the id', 'failed', { there: [[BEFORE, [OLD, message(2, `x${ID}`, -1000)]]] }],
  ['an id in other letters', 'failed', { there: [[BEFORE, [OLD, message(2, ID.toUpperCase(), -1000)]]] }],
  [
    'a copy that comes late',
    'late',
    {
      there: [
        [BEFORE, [OLD]],
        [15 * MINUTE, [OLD, message(2, ID, 15 * MINUTE)]],
      ],
    },
  ],
  [
    'a copy that an index does not know yet',
    'verified',
    { there: [[BEFORE, [OLD, sent]]], server: { isIndexed: false } },
  ],
  [
    'a copy older than the newest hundred',
    'verified',
    {
      there: [
        [BEFORE, [sent, ...Array.from({ length: 120 }, (_, at) => message(3 + at, `${at}@agent.acme.example`, 1000))]],
      ],
    },
  ],
  ['an old copy', 'verified', { there: [[BEFORE, [message(2, ID, -48 * HOUR)]]] }, { preexisting: true }],
  [
    'a copy to others',
    'mismatch',
    { there: [[BEFORE, [OLD, sent]]], params: { to_fingerprint: [fingerprintOf('eve@acme.example')] } },
    { recipients_missing: 1 },
  ],
  [
    'a copy to the claimed recipients among others',
    'verified',
    {
      there: [
        [
          BEFORE,
          [
            OLD,
            message(
              2,
              ID,
              -1000,
              'To: "Doe, J" <j.doe@ACME.example>,\r\n eve@acme.example\r\nBcc: Al <al@b\xc3\xbccher.example>',
            ),
          ],
        ],
      ],
      params: { to_fingerprint: ['j.doe@acme.example', 'al@xn--bcher-kva.example'].map(fingerprintOf) },
    },
    { recipients_missing: 0 },
  ],
  [
    'a copy to others before one to the claimed recipient',
    'verified',
    {
      there: [[BEFORE, [OLD, sent, message(3, ID, -500, 'To: eve@acme.example')]]],
      params: { to_fingerprint: [fingerprintOf('eve@acme.example')] },
    },
    { uid: 3 },
  ],
  [
    'a mailbox that is made again',
    'unverifiable',
    { there: [[BEFORE, [OLD]]], uidValidityAt: (afterMs) => (afterMs > 5 * MINUTE ? 8 : 7) },
  ],
  [
    'a mailbox that is emptied between looks',
    'unverifiable',
    {
      there: [
        [BEFORE, [OLD]],
        [5 * MINUTE, []],
      ],
      server: { uidNext: 3 },
    },
  ],
  ['a copy that a rule moved away', 'unverifiable', { there: [[BEFORE, [OLD]]], server: { uidNext: 3 } }],
  [
    'a copy that a rule moved away before another one',
    'unverifiable',
    { there: [[BEFORE, [OLD, message(3, 'new@agent.acme.example', 0)]]] },
  ],
  [
    'a message that was deleted long before',
    'failed',
    { there: [[BEFORE, [OLD, message(4, 'old@agent.acme.example', -HOUR)]]] },
  ],
  [
    'a message that was seen and deleted',
    'failed',
    {
      there: [
        [BEFORE, [OLD, message(2, 'new@agent.acme.example', 0)]],
        [MINUTE, [OLD]],
      ],
      server: { uidNext: 3 },
    },
  ],
  ['an id of the provider', 'unverifiable', { there: [[BEFORE, [FOREIGN, message(2, 'new@mail.gmail.com', -1000)]]] }],
  [
    'an id of the provider, of a message to others',
    'failed',
    {
      there: [
        [BEFORE, [FOREIGN, message(2, 'new@mail.gmail.com', -1000, 'To: bob@acme.example\r\nBcc: ann@acme.example')]],
      ],
      params: { to_fingerprint: [fingerprintOf('eve@acme.example')] },
    },
  ],
  [
    'an id of another program, beside ids as claimed',
    'failed',
    { there: [[BEFORE, [OLD, message(2, 'new@mail.gmail.com', -1000)]]] },
  ],
  [
    'an id of the provider that keeps the claimed one',
    'verified',
    {
      there: [[BEFORE, [FOREIGN, message(2, 'new@mail.gmail.com', -1000, `X-Google-Original-Message-ID: <${ID}>`)]]],
      options: { address: 'tls://imap.gmail.com:993' },
    },
    { sent_as: 'new@mail.gmail.com' },
  ],
  [
    'no mailbox of sent messages',
    'unverifiable',
    { there: [[BEFORE, [OLD, sent]]], server: { attributes: '\\Archive' } },
  ],
  [
    'another user’s mailbox of sent messages',
    'failed',
    { there: [[BEFORE, [OLD]]], server: { others: ['LIST (\\Sent) "/" "users/bob/Sent"'] } },
  ],
  [
    'a second mailbox of sent messages',
    'unverifiable',
    { there: [[BEFORE, [OLD]]], server: { others: ['LIST (\\Sent) "/" {6}\r\nSent "'] } },
  ],
  ['a claim that arrives late', 'verified', { there: [[BEFORE, [OLD, sent]]], submittedAfterMs: 15 * MINUTE }],
  [
    'a claim that arrives late, at a server that tells no ages',
    'unverifiable',
    { there: [[BEFORE, [OLD, sent]]], submittedAfterMs: 15 * MINUTE, server: noAges },
  ],
  [
    'a claim that arrives late, at a server whose clock is some minutes ahead',
    'verified',
    { there: [[BEFORE, [OLD, sent]]], submittedAfterMs: 25 * MINUTE, server: { aheadMs: 3 * MINUTE + 400 } },
  ],
  [
    'a claim that arrives late, at a server whose clock is wrong',
    'unverifiable',
    { there: [[BEFORE, [OLD, sent]]], submittedAfterMs: 15 * MINUTE, server: { aheadMs: -HOUR } },
  ],
  [
    'a late copy, and a claim that arrives later',
    'late',
    { there: [[BEFORE, [OLD, message(2, ID, 12 * MINUTE)]]], submittedAfterMs: 15 * MINUTE },
  ],
  [
    'a copy whose flags were changed late',
    'unverifiable',
    {
      there: [[BEFORE, [OLD, { ...message(2, ID, 12 * MINUTE), internalDate: START - 1000 }]]],
      submittedAfterMs: 15 * MINUTE,
    },
  ],
  [
    'a late copy that a program filed',
    'unverifiable',
    {
      there: [[BEFORE, [OLD, message(2, ID, 12 * MINUTE)]]],
      submittedAfterMs: 15 * MINUTE,
      options: { server_files_sent: false },
    },
  ],
  [
    'a late copy, which may have been there before',
    'unverifiable',
    { there: [[BEFORE, [OLD, message(3, ID, 12 * MINUTE)]]], submittedAfterMs: 15 * MINUTE },
  ],
]

t.test('lives', async (t) => {
  for (const [title, right, world, facts = {}] of rows) {
    t.test(title, async (t) => {
      const { verdict, facts: seen } = await live(t, world)
      t.equal(verdict, right)
      t.match(seen, facts)
    })
  }
})

t.test('a copy that is there takes five commands behind the login, and changes nothing', async (t) => {
  const { commands, requests } = await live(t, { there: [[BEFORE, [OLD, sent]]] })
  t.strictSame(commands.slice(2), [
    'CAPABILITY',
    'LIST (SPECIAL-USE) "" "*"',
    'EXAMINE "Sent"',
    'FETCH 1:* (UID INTERNALDATE SAVEDATE BODY.PEEK[HEADER.FIELDS (MESSAGE-ID X-GOOGLE-ORIGINAL-MESSAGE-ID X-MICROSOFT-ORIGINAL-MESSAGE-ID)])',
  ])
  t.equal(requests, 7)
})

/** Fields of recipients that took seconds or minutes where each character was looked at again for those behind it. */
const LONG_FIELDS: readonly (readonly [title: string, field: string])[] = [
  ['a quotation that stays open', `"${'\\"'.repeat(40_000)}`],
  ['quotations in an address', `<${'"'.repeat(100_001)}@a.example>`],
  ['blanks in an address', `a${' '.repeat(100_000)}b@a.example`],
  ['brackets that open', '<'.repeat(100_000)],
  ['colons in brackets', `<${'a:'.repeat(50_000)}@a.example>`],
  ['comments that open', '('.repeat(100_000)],
  ['a domain beyond ASCII', `a@${'äö'.repeat(20_000)}.example`],
  ['domains beyond ASCII', Array.from({ length: 25 }, () => `a@${'äö'.repeat(2000)}.example`).join()],
  ['fields of one name', Array.from({ length: 10_000 }, () => 'a@a.example').join('\r\nCc: ')],
]

t.test('a field of recipients takes little time, whatever is in it', async (t) => {
  for (const [title, field] of LONG_FIELDS) {
    const startedAt = performance.now()
    const { verdict } = await live(t, {
      there: [
        [BEFORE, [OLD, message(2, ID, -1000, `To: bob@acme.example\r\nCc: ${Buffer.from(field).toString('latin1')}`)]],
      ],
      params: { to_fingerprint: [fingerprintOf('bob@acme.example')] },
    })
    const tookMs = performance.now() - startedAt
    t.equal(verdict, 'verified', title)
    t.ok(tookMs < 2000, `${title}: ${Math.round(tookMs)} ms`)
  }
})
