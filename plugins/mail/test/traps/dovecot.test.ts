// Test run: slow
/** Rows at a real Dovecot, with SAVEDATE and without it: what is there is read in real time, and only the waiting of a claim is virtual. */
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import plugin from '@claimcheck/plugin-mail'
import t from 'tap'
import { INNER } from '../../../../server/test/support/loopback.ts'
import { dovecotProblem, startDovecot } from '../../../../test/support/dovecot.ts'
import { type Kind, playTable, row, type TrapRow } from '../../../../test/traps/verifier-table.ts'
import { type Letter, letter } from './account.ts'
import {
  AGENT,
  CLIENT,
  FAILED,
  ID,
  KEY,
  LATE,
  MINUTE,
  NOT_DONE,
  OTHER,
  params,
  SECOND,
  TRUE,
  TRUE_UNTOLD,
  to,
  UNKNOWABLE,
} from './row.ts'
import { Writer } from './writer.ts'

interface Scene {
  readonly params: Readonly<Record<string, unknown>>
  /** What happens in the mailbox, each some time after the claim. */
  readonly steps: readonly (readonly [afterMs: number, step: (writer: Writer) => Promise<void>])[]
  readonly isWithoutTimes?: boolean
  readonly password?: string
  readonly deadlineMs?: number
}

interface Row extends TrapRow<Scene> {
  readonly user: string
}

const PASSWORD = 'real-pass-0123456789'
const MAILBOXES = `
namespace inbox {
 inbox = yes
 mailbox Sent {
  special_use = \\Sent
  auto = create
 }
 mailbox "Sent Messages" {
  special_use = \\Sent
 }
 mailbox "Envoyés" {
  special_use = \\Sent
 }
 mailbox Drafts {
  special_use = \\Drafts
  auto = create
 }
}
`
const WITHOUT_TIMES =
  'imap_capability = IMAP4rev1 ID ENABLE IDLE UNSELECT CHILDREN NAMESPACE UIDPLUS LIST-EXTENDED ESEARCH LIST-STATUS SPECIAL-USE\n'

const file =
  (message: Letter, name = 'Sent') =>
  (writer: Writer) =>
    writer.append(name, message)
const offer = (given: Partial<Parameters<typeof letter>[0]> = {}) => letter({ id: ID, ...given })
/** A message that is there when it is claimed. */
const filed = (message: Letter, name?: string): Scene => ({ params, steps: [[0, file(message, name)]] })
const RECIPIENTS = `To: "Customer, Jo" <${CLIENT}>,\r\n The readers: one@list.example, "jo customer"@list.example;\r\nBcc: =?utf-8?q?J=C3=B6?= <boss@Customer.EXAMPLE>`

const GIVEN: readonly (readonly [kind: Kind, title: string, why: string, scene: () => Scene])[] = [
  [TRUE, 'a message', 'its copy is in Sent', () => filed(offer())],
  [TRUE, 'a message, without SAVEDATE', 'the look tells when', () => ({ ...filed(offer()), isWithoutTimes: true })],
  [
    TRUE,
    'a message that is dated 2001',
    'the date is the author’s',
    () => filed({ ...offer(), internalDate: Date.UTC(2001, 0, 1) }),
  ],
  [
    TRUE,
    'an id on a folded line',
    'it is the id of the copy',
    () => filed(offer({ idLines: `Message-ID:\r\n\t<${ID}>` })),
  ],
  [
    TRUE,
    'a message that waits for two minutes',
    'within the tolerance',
    () => ({
      params,
      steps: [[2 * MINUTE, file(offer())]],
      isWithoutTimes: true,
    }),
  ],
  [
    TRUE,
    'a draft that is copied',
    'its copy is in Sent',
    () => ({
      params,
      steps: [
        [
          0,
          async (writer) => {
            await writer.append('Drafts', offer())
            await writer.say('SELECT Drafts', 'COPY 1 Sent')
          },
        ],
      ],
    }),
  ],
  [
    TRUE,
    'a message marked as deleted',
    'it is in the mailbox until it is expunged',
    () => ({
      params,
      steps: [
        [
          0,
          async (writer) => {
            await writer.append('Sent', offer())
            await writer.say('SELECT Sent', 'STORE 1 +FLAGS (\\Deleted)')
          },
        ],
      ],
    }),
  ],
  [
    TRUE,
    'a second mailbox for sent messages',
    'Dovecot marks both',
    () => ({
      params,
      steps: [
        [
          0,
          async (writer) => {
            await writer.say('CREATE "Sent Messages"')
            await writer.append('Sent Messages', offer())
          },
        ],
      ],
    }),
  ],
  [
    TRUE,
    'a mailbox with a French name',
    'its name is in modified UTF-7',
    () => ({
      params,
      steps: [
        [
          0,
          async (writer) => {
            await writer.say('CREATE Envoy&AOk-s')
            await writer.append('Envoy&AOk-s', offer())
          },
        ],
      ],
    }),
  ],
  [
    TRUE,
    'its recipients',
    'the copy names them',
    () => ({
      ...filed(offer({ to: RECIPIENTS })),
      params: to(CLIENT, 'one@list.example', 'boss@customer.example'),
    }),
  ],
  [
    OTHER,
    'the name of another recipient',
    'the copy is for somebody else',
    () => ({
      ...filed(offer({ to: `To: "${CLIENT}" <mallory@evil.example>` })),
      params: to(CLIENT),
    }),
  ],
  [FAILED, 'no message', 'nothing was sent', () => ({ params, steps: [] })],
  [FAILED, 'no message, without SAVEDATE', 'nothing was sent', () => ({ params, steps: [], isWithoutTimes: true })],
  [FAILED, 'an id that contains it', 'it is another', () => filed(letter({ id: `x${ID}` }))],
  [
    NOT_DONE,
    'the id in other letters',
    'ids are told apart by their case',
    () => filed(letter({ id: ID.toUpperCase() })),
  ],
  [FAILED, 'a draft', 'it was written, and not sent', () => filed(offer(), 'Drafts')],
  [
    LATE,
    'a message after fifteen minutes',
    'all looks before did not show it',
    () => ({
      params,
      steps: [[15 * MINUTE, file({ ...offer(), internalDate: Date.UTC(2001, 0, 1) })]],
      isWithoutTimes: true,
      deadlineMs: 30 * MINUTE,
    }),
  ],
  [
    UNKNOWABLE,
    'a message that came and went between two looks',
    'the number that it had is missing',
    () => ({
      params,
      steps: [
        [
          20 * SECOND,
          async (writer) => {
            await writer.append('Sent', offer())
            await writer.say('SELECT Sent', 'STORE 1 +FLAGS (\\Deleted)', 'EXPUNGE')
          },
        ],
      ],
    }),
  ],
  [
    UNKNOWABLE,
    'a mailbox that is deleted and made again',
    'what was in it is gone',
    () => ({
      params,
      steps: [
        [
          20 * SECOND,
          async (writer) => {
            await writer.append('Sent', offer())
            await writer.say('DELETE Sent', 'CREATE Sent')
          },
        ],
      ],
    }),
  ],
  [
    TRUE_UNTOLD,
    'a wrong password',
    'nobody can look',
    () => ({ ...filed(offer()), password: 'another-pass-0123456789' }),
  ],
]
const ROWS: readonly Row[] = GIVEN.map((given, index) => ({ ...row(...given), user: `user${index}` }))

const problem = dovecotProblem()
if (problem === undefined) await playAll()
else t.comment(`not run: ${problem}`)

async function playAll(): Promise<void> {
  const users = Object.fromEntries(ROWS.map(({ user }) => [user, PASSWORD]))
  const options = { users, messages: [], ...INNER }
  const [timed, untimed] = await Promise.all([
    startDovecot({ ...options, more: MAILBOXES }),
    startDovecot({ ...options, more: MAILBOXES + WITHOUT_TIMES }),
  ])
  t.teardown(() => Promise.all([timed.stop(), untimed.stop()]))

  playTable<Row, Awaited<ReturnType<typeof play>>>({ rows: ROWS, play })

  async function play({ user, scene }: Row) {
    const { steps, isWithoutTimes = false, password = PASSWORD, deadlineMs = 12 * MINUTE, params: claimed } = scene()
    const port = (isWithoutTimes ? untimed : timed).ports.imap
    const writer = await Writer.open(port, user, PASSWORD)
    const waiting = [...steps]
    const reach = async (until: number) => {
      while (waiting[0] && claimedAt + waiting[0][0] <= until) await waiting.shift()![1](writer)
    }
    const claimedAt = Date.now()
    await reach(claimedAt)
    // SAVEDATE tells whole seconds of the real clock.
    const submittedAt = Date.now()
    const life = await liveClaim({
      plugin,
      connection: {
        provider: 'imap',
        options: {
          mailbox: AGENT,
          address: 'tls://mail.acme.example:993',
          user,
          password,
          server_files_sent: true,
          fingerprint_key: KEY,
        },
      },
      destination: `tcp://127.0.0.1:${port}`,
      claim: {
        action: 'mail.message.send',
        target: AGENT,
        params: claimed as never,
        claimedAt,
        deadlineAt: claimedAt + deadlineMs,
      },
      submittedAt,
      clock: createVirtualClock(submittedAt),
      reach,
    })
    await writer.close()
    return { life, submittedAt }
  }
}
