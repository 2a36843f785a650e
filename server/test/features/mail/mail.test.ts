/** Mails wait in the database until a server takes them: sent once from many hosts, tried again, dropped after a day. */
import { ServiceError } from '@claimcheck/server/base/errors'
import { openSecrets } from '@claimcheck/server/base/secrets'
import { createOwnAddress } from '@claimcheck/server/config/address'
import { readMail } from '@claimcheck/server/features/mail/config'
import { createMailSender } from '@claimcheck/server/features/mail/mail-worker'
import { invitation, type Message, oneLine, quoted, shownAddress } from '@claimcheck/server/features/mail/messages'
import { createOutbox } from '@claimcheck/server/features/mail/outbox'
import { createSmtp, type Delivery, type OutgoingMail, type Smtp } from '@claimcheck/server/features/mail/smtp'
import t, { type Test } from 'tap'
import { Mailbox } from '../../../../test/support/mailbox.ts'
import { query } from '../../../../test/support/sql.ts'
import { DIALECTS, newDatabase, opened } from '../../support/databases.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const SECRET_KEY = Buffer.alloc(32, 7)
const MESSAGE = { subject: 'A subject', text: 'A secret link\n' }
const mail = readMail({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@example.com' }, () => {})

async function begin(t: Test, dialect: (typeof DIALECTS)[number] = 'sqlite') {
  const url = await newDatabase(t, dialect)
  const storage = await opened(t, url)
  const clock = { now: NOON }
  const now = () => clock.now
  const secrets = openSecrets({ secretKey: SECRET_KEY, secretKeysAlso: [], dataDir: '' })
  const config = { mail }
  const outbox = createOutbox({ storage, secrets, now, config })
  const send = (recipient: string, message: Message) =>
    storage.write((tx) => outbox.add(tx, [{ kind: 'test', recipient, message }]))
  const logged: string[] = []
  const log = (_: object, message: string) => void logged.push(message)
  const resets: string[] = []
  const accounts = {
    async resetToken(email: string) {
      if (email !== 'ann@example.com') throw new ServiceError('not_found', 'no such account')
      resets.push(email)
      return 'TOKEN'
    },
  }
  const ownAddress = createOwnAddress({ publicUrl: 'https://claims.example.com', host: '', port: 0 })
  const logger = { error: log, warn: log } as never
  let problem: string | undefined
  const logGuard = { mayBeRehearsal: async () => problem !== undefined }
  const holdUp = (reason?: string) => {
    problem = reason
  }
  const parts = { storage, logGuard, outbox, accounts, ownAddress, now, logger }
  const sendDue = (smtp: Smtp) => createMailSender(parts, smtp, () => {})()
  const sent: OutgoingMail[] = []
  function deliver(delivery: Delivery = { result: 'sent' }) {
    return sendDue({
      async deliver(outgoing) {
        if (delivery.result === 'sent') sent.push(outgoing)
        return delivery
      },
    })
  }
  return { url, storage, holdUp, clock, outbox, send, logged, resets, sendDue, sent, deliver }
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, hosts that send at once send each mail once`, async (t) => {
    const { sent, deliver, storage, clock, send } = await begin(t, dialect)
    await Promise.all(Array.from({ length: 20 }, (_, number) => send(`p${number}@example.com`, MESSAGE)))
    const host = async () => {
      while (await deliver());
    }
    await Promise.all([host(), host(), host()])
    await host()
    t.equal(sent.length, 20)
    t.equal(new Set(sent.map(({ to }) => to)).size, 20)
    t.equal(await storage.read.mails.anyDue(clock.now + DAY_MS), false)
  })

  t.test(`on ${dialect}, a mail is stored sealed, and with what it tells of or not at all`, async (t) => {
    const { outbox, url, storage, sent, deliver, send } = await begin(t, dialect)
    await send('ann@example.com', MESSAGE)
    t.notMatch(JSON.stringify(await query(url, 'SELECT * FROM mails')), /secret/)
    const failing = storage.write(async (tx) => {
      await outbox.add(tx, [{ kind: 'test', recipient: 'bob@example.com', message: MESSAGE }])
      throw new Error('crashed')
    })
    await t.rejects(failing)
    await deliver()
    t.match(sent, [{ to: 'ann@example.com', ...MESSAGE }])
    t.equal(sent.length, 1)
  })

  t.test(`on ${dialect}, a link to a new password is asked for once in a while, known address or not`, async (t) => {
    const { outbox, url, clock, sent, resets, deliver, send } = await begin(t, dialect)
    const rows = () => query(url, 'SELECT recipient, once, sent_at FROM mails ORDER BY recipient')
    for (const address of ['Ann@example.com ', 'ann@example.com', 'nobody@example.com', 'no address', 'a@b,c@d']) {
      await outbox.askReset(address)
    }
    t.match(await rows(), [{ recipient: 'ann@example.com' }, { recipient: 'nobody@example.com' }])
    await deliver()
    t.match(sent, [{ to: 'ann@example.com', text: /https:\/\/claims\.example\.com\/console\/reset\/TOKEN/ }])
    t.equal((await rows()).length, 2, 'what is stored afterwards does not tell which has an account')
    await outbox.askReset('ann@example.com')
    await deliver()
    t.equal(resets.length, 1)
    clock.now += 15 * MINUTE_MS + 1
    await send('other@example.com', MESSAGE)
    await deliver()
    await outbox.askReset('ann@example.com')
    await deliver()
    t.equal(resets.length, 2)
  })
}

t.test('a mail that fails is tried again, later each time, and dropped after a day, as audited', async (t) => {
  const { storage, clock, logged, deliver, sent, send } = await begin(t)
  await send('ann@example.com', MESSAGE)
  const failed = { result: 'failed', reason: 'connection refused' } as const
  const tries: number[] = []
  for (let minute = 0; minute <= 26 * 60; minute++) {
    clock.now = NOON + minute * MINUTE_MS
    if (!(await storage.read.mails.anyDue(clock.now))) continue
    tries.push(minute)
    await deliver(failed)
  }
  t.strictSame(tries.slice(0, 8), [0, 1, 3, 7, 15, 31, 63, 123])
  t.ok(tries.at(-1)! <= 24 * 60)
  t.match(logged.at(-1), /dropped/)
  t.match(await storage.read.audit.after(0, 10), [
    { event: 'mail.dropped', details: { recipient: 'ann@example.com', reason: 'connection refused' } },
  ])
  await deliver()
  t.strictSame(sent, [])
})

t.test('anonymous people have ten links to a new password a day sent to an address', async (t) => {
  const { outbox, clock, sent, deliver } = await begin(t)
  for (let count = 0; count < 24; count++) {
    await outbox.askReset(count % 2 === 0 ? 'ann@example.com' : 'Ann@Example.com')
    await deliver()
    clock.now += 16 * MINUTE_MS
    // Sending it clears what was sent before.
    await outbox.askReset(`other${count}@example.com`)
    await deliver()
  }
  t.equal(sent.length, 10, 'of 24 in six hours')
  clock.now += DAY_MS
  await outbox.askReset('ann@example.com')
  await deliver()
  t.equal(sent.length, 11)
})

t.test('a mail is not sent after its link has ended', async (t) => {
  const { outbox, storage, sent, deliver } = await begin(t)
  const mail = { recipient: 'ann@example.com', message: MESSAGE, about: 'lnk_gone' }
  await storage.write((tx) => outbox.addLink(tx, mail))
  await deliver()
  t.strictSame(sent, [])
  t.equal(await storage.read.mails.anyDue(NOON + DAY_MS), false)
})

t.test('a mail that the server refuses for good is dropped at once', async (t) => {
  const { storage, clock, deliver, send } = await begin(t)
  await send('gone@example.com', MESSAGE)
  await deliver({ result: 'refused', reason: 'no such mailbox' })
  t.equal(await storage.read.mails.anyDue(clock.now + DAY_MS), false)
  t.match(await storage.read.audit.after(0, 10), [{ event: 'mail.dropped' }])
})

t.test('a mail that no key opens holds up no other, and is dropped after a day', async (t) => {
  const { url, clock, sent, logged, deliver, send } = await begin(t)
  await send('lost@example.com', MESSAGE)
  await query(url, "UPDATE mails SET content = 'v2.00000000.AAAA'")
  clock.now += 1
  await send('ann@example.com', MESSAGE)
  await deliver()
  t.match(sent, [{ to: 'ann@example.com' }])
  t.match(logged, ['a mail could not be sent: it is tried again'])
  clock.now += DAY_MS
  await deliver()
  t.strictSame(await query(url, 'SELECT id FROM mails'), [])
  t.match(await query(url, "SELECT details FROM audit_trail WHERE event = 'mail.dropped'"), [
    { details: /lost@example\.com.*key 00000000, which is not configured/ },
  ])
})

t.test('a host whose database may be an old one mails nothing, until it signs again', async (t) => {
  const { holdUp, sent, deliver, send } = await begin(t)
  await send('ann@example.com', MESSAGE)
  holdUp('the database is an old one')
  t.equal(await deliver(), false)
  t.strictSame(sent, [])
  holdUp()
  await deliver()
  t.equal(sent.length, 1)
})

t.test('a host that dies leaves its mails to others', async (t) => {
  const { clock, sendDue, sent, deliver, send } = await begin(t)
  await send('ann@example.com', MESSAGE)
  const dying = sendDue({
    deliver() {
      throw new Error('the host dies here')
    },
  })
  await t.rejects(dying)
  await deliver()
  t.strictSame(sent, [], 'not at once: the first may still be sending')
  clock.now += 5 * MINUTE_MS
  await deliver()
  t.equal(sent.length, 1)
})

t.test('a real server gets plain text, one recipient, and nothing from names in its headers', async (t) => {
  const mailbox = await Mailbox.open()
  t.teardown(() => mailbox.close())
  const smtp = createSmtp(readMail(mailbox.env, () => {})!)
  const evil = 'acme\r\nBcc: eve@example.com\r\n\r\nClick here\u2028\u202e'
  const message = invitation({
    workspaceName: evil,
    inviterEmail: `${evil}@evil.example`,
    role: 'owner',
    link: 'https://x.example/join/abc',
  })
  t.strictSame(await smtp.deliver({ id: 'mail_1', to: 'ann@example.com', ...message }), { result: 'sent' })
  const [got] = mailbox.mails
  t.strictSame(got!.to, ['ann@example.com'])
  t.equal(got!.from, 'claimcheck@example.com')
  t.notOk(got!.headers.has('bcc'))
  t.match(got!.headers.get('content-type'), 'text/plain')
  t.equal(got!.headers.get('message-id'), '<mail_1@example.com>')
  t.equal(got!.headers.get('auto-submitted'), 'auto-generated')
  t.match(got!.text, 'https://x.example/join/abc')
  t.notMatch(got!.text, /^(Bcc|Click here)/m)
  t.notMatch(got!.text, '\u202e')
})

t.test('a refusal of the recipient is told apart from a server that is busy or away', async (t) => {
  const mailbox = await Mailbox.open()
  const smtp = createSmtp(readMail(mailbox.env, () => {})!)
  const deliver = () => smtp.deliver({ id: 'mail_1', to: 'ann@example.com', ...MESSAGE })
  mailbox.refusals.push(550, 451)
  t.match(await deliver(), { result: 'refused' })
  t.match(await deliver(), { result: 'failed' })
  t.match(await deliver(), { result: 'sent' })
  await mailbox.close()
  t.match(await deliver(), { result: 'failed' })
})

t.test('a server that offers no TLS gets nothing where TLS is needed', async (t) => {
  const mailbox = await Mailbox.open()
  t.teardown(() => mailbox.close())
  const smtp = createSmtp({ ...readMail(mailbox.env, () => {})!, requiresTls: true })
  t.match(await smtp.deliver({ id: 'mail_1', to: 'ann@example.com', ...MESSAGE }), { result: 'failed' })
  t.strictSame(mailbox.mails, [])
})

t.test('words of people are quoted, short, within a line, and no link', async (t) => {
  t.equal(oneLine('a\r\n\tb\u0085c\u2029d\u200b\ue0041'.replace('\ue0041', '\u{e0041}')), 'a b c d<U+200B><U+E0041>')
  t.equal(quoted('acme'), '“acme”')
  t.equal(quoted('www.evil.example pay now'), '“www[.]evil[.]example pay now”')
  t.equal(quoted('https://evil.example'), '“https[://]evil[.]example”')
  t.equal(quoted('ｗｗｗ．evil。example'), '“www[.]evil[。]example”')
  t.equal(quoted('a” Pay now'), "“a' Pay now”")
  t.equal(quoted('x'.repeat(500)), `“${'x'.repeat(64)}…”`)
  t.equal(quoted('a\r\nSubject: b'), '“a Subject[:] b”')
  for (const address of ['ann@example.com', 'ann.lee+work@mail.example.co'])
    t.equal(shownAddress(address), address, 'an address that is nothing else stays as people write it')
  for (const address of [
    'evil.com@x.example',
    'www.evil@x.example',
    `${'a'.repeat(64)}@x.example`,
    'é@x.example',
    'a@b',
  ])
    t.match(shownAddress(address), /^“.*”$/, address)
})

t.test('without a mail server nothing is stored', async (t) => {
  const { storage, url } = await begin(t)
  const outbox = createOutbox({ storage, secrets: {} as never, now: () => NOON, config: { mail: undefined } })
  await storage.write((tx) => outbox.add(tx, [{ kind: 'test', recipient: 'ann@example.com', message: MESSAGE }]))
  await outbox.askReset('ann@example.com')
  t.strictSame(await query(url, 'SELECT * FROM mails'), [])
})
