/** Which mails follow from what the audit trail tells, and who gets them. */
import { BY_SERVICE } from '@claimcheck/server/base/actor'
import { createOwnAddress } from '@claimcheck/server/config/address'
import type { Message } from '@claimcheck/server/features/mail/messages'
import { createNotices } from '@claimcheck/server/features/mail/notices'
import type { NewMail } from '@claimcheck/server/features/mail/outbox'
import type { NewAuditEntry } from '@claimcheck/server/storage/audit-trail'
import type { Writes } from '@claimcheck/server/storage/storage'
import t, { type Test } from 'tap'
import { newDatabase, opened } from '../../support/databases.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const DAY_MS = 86_400_000
const HOME = '192.0.2.7'
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0'
const NEWER_FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0'
const CHROME = 'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/130.0 Safari/537.36'

async function begin(t: Test) {
  const storage = await opened(t, await newDatabase(t, 'sqlite'))
  await storage.write(async (tx) => {
    await tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON } as never)
    for (const id of ['ann', 'bob', 'mia']) {
      const user = { id, email: `${id}@example.com`, name: id, passwordHash: null, createdAt: NOON, confirmedAt: NOON }
      await tx.users.insert(user)
      const role = id === 'mia' ? 'member' : 'owner'
      await tx.members.insert({ id: `mem_${id}`, workspaceId: 'ws_1', userId: id, role, createdAt: NOON })
    }
  })
  const mails: { to: readonly string[]; message: Message }[] = []
  const outbox = {
    isOn: true,
    async add(_: Writes, added: readonly NewMail[]) {
      for (const { kind, message } of added.filter(
        (mail, at) => added.findIndex(({ kind }) => kind === mail.kind) === at,
      ))
        mails.push({ to: added.filter((mail) => mail.kind === kind).map(({ recipient }) => recipient), message })
    },
  }
  const ownAddress = createOwnAddress({ publicUrl: 'https://claims.example.com', host: '', port: 0 })
  const notices = createNotices({ outbox, ownAddress })
  const tell = async (event: string, more: Partial<NewAuditEntry> = {}) => {
    const by = { actor: { kind: 'user', id: 'ann' }, address: HOME } as const
    await storage.write((tx) => notices.queue(tx, [{ at: NOON, by, ...more, event } as NewAuditEntry]))
    return mails.splice(0)
  }
  return { storage, tell }
}

t.test('a person is told what changes who can get into their account', async (t) => {
  const { tell } = await begin(t)
  const events: readonly (readonly [string, RegExp])[] = [
    ['passkey.added', /^A passkey was added/],
    ['passkey.removed', /^A passkey was removed/],
    ['identity.linked', /^An outside sign-in/],
    ['second_step.on', /switched on/],
    ['second_step.off', /switched off$/],
    ['second_step.codes_replaced', /new recovery codes$/],
    ['password.changed', /password was changed$/],
    ['password.chosen', /has a password now$/],
    ['password.reset', /changed with a link$/],
  ]
  for (const [event, subject] of events) {
    const [mail, ...others] = await tell(event, { userId: 'bob', details: { name: 'laptop' } })
    t.strictSame(others, [])
    t.match(mail, { to: ['bob@example.com'], message: { subject } }, event)
    t.match(mail!.message.text, /From: 192\.0\.2\.7\n\n.*https:\/\/claims\.example\.com\/console\/account/s)
  }
  t.strictSame(await tell('passkey.added', { userId: null }), [], 'of nobody')
  t.strictSame(await tell('session.ended', { userId: 'bob' }), [], 'nor of what is no news')
})

t.test('owners are told of keys, machines and new owners', async (t) => {
  const { tell } = await begin(t)
  const owners = ['ann@example.com', 'bob@example.com']
  for (const event of ['key.created', 'key.rotated', 'machine.created']) {
    const [mail] = await tell(event, { workspaceId: 'ws_1', subject: 'key_1', details: { name: 'ci\r\nBcc: x' } })
    t.strictSame([...mail!.to].sort(), owners, event)
    t.match(mail!.message.text, /“ci Bcc\[:\] x” .*“acme”/)
  }
  const about = { workspaceId: 'ws_1', userId: 'mia' }
  t.match(await tell('member.role_changed', { ...about, details: { from: 'member', to: 'owner' } }), [
    { message: { subject: /^A new owner/ } },
  ])
  t.match(await tell('member.joined', { ...about, details: { role: 'owner' } }), [
    { message: { subject: /^A new owner/ } },
  ])
  t.strictSame(await tell('member.role_changed', { ...about, details: { from: 'owner', to: 'member' } }), [])
  t.strictSame(await tell('member.joined', { ...about, details: { role: 'member' } }), [])
})

t.test('owners are told of a connection that breaks, mends or ends soon, and of no actor', async (t) => {
  const { tell } = await begin(t)
  const about = { workspaceId: 'ws_1', subject: 'conn_1', by: BY_SERVICE }
  const name = 'https://evil.example/\r\nBcc: x'
  const told = [
    ['connection.failing', { failure: 'unauthorized' }, /cannot be read: the destination refused the credentials\. /],
    ['connection.recovered', {}, /is read again\./],
    ['connection.expiring', { expires_at: '2026-09-30T12:00:00.000Z' }, /end on 2026-09-30T12:00:00\.000Z\. /],
  ] as const
  for (const [event, details, words] of told) {
    const [mail] = await tell(event, { ...about, details: { name, ...details } })
    t.strictSame([...mail!.to].sort(), ['ann@example.com', 'bob@example.com'], event)
    const { text } = mail!.message
    t.match(text, words)
    t.match(text, /“https\[:\/\/\]evil\[\.\]example\[\/\] Bcc\[:\] x” of the workspace “acme”/)
    t.notMatch(text, /From:/)
    t.match(text, /https:\/\/claims\.example\.com\/console\/w\/ws_1\/connections\n$/)
  }
})

t.test('a sign-in is told where browser or network are new to the account', async (t) => {
  const { storage, tell } = await begin(t)
  let sessions = 0
  async function signIn(userAgent: string, address = HOME, at = NOON) {
    const id = `ses_${++sessions}`
    const session = {
      id,
      tokenHash: id,
      userId: 'ann',
      createdAt: at,
      lastSeenAt: at,
      expiresAt: at + DAY_MS,
      userAgent,
      address,
    }
    await storage.write((tx) => tx.sessions.insert({ ...session, method: 'password' } as never))
    const by = { actor: { kind: 'user', id: 'ann' }, address } as const
    return (await tell('sign_in.succeeded', { at, by, userId: 'ann', subject: id })).length
  }
  t.equal(await signIn(FIREFOX), 0, 'the first of an account is no news')
  t.equal(await signIn(FIREFOX), 0)
  t.equal(await signIn(NEWER_FIREFOX), 0, 'a browser that was updated is the same')
  t.equal(await signIn(FIREFOX, '192.0.2.200'), 0, 'a provider changes addresses')
  t.equal(await signIn(CHROME), 1)
  t.equal(await signIn(CHROME), 0)
  t.equal(await signIn(FIREFOX, '198.51.100.1'), 1)
  t.equal(await signIn(FIREFOX, '2001:db8:1::1'), 1)
  t.equal(await signIn(FIREFOX, '2001:db8:1:ff::1'), 0)
  t.equal(await signIn(FIREFOX, '::ffff:192.0.2.9'), 0)
  t.equal(await signIn(CHROME, HOME, NOON + 100 * DAY_MS), 0)
  t.equal(await signIn('Lynx', HOME, NOON + 900 * DAY_MS), 1, 'also where nobody has signed in for long')
  await tell('account.closed', { userId: 'ann' })
  t.equal(await signIn(FIREFOX), 0, 'a closed account leaves nothing')
})
