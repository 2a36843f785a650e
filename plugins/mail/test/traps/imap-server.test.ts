/** The stand-in itself: it answers as a real Dovecot does, and in each dialect as published. */
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { START } from '../../../../test/traps/verifier-table.ts'
import { Account, letter } from './account.ts'
import { COURIER, CYRUS, type Dialect, DOVECOT, EXCHANGE, GMAIL } from './dialects.ts'
import { startImap } from './imap-server.ts'

const account = new Account(START)
  .create(0, 'INBOX')
  .create(0, 'Sent', { attributes: ['\\Sent'] })
  .file(0, 'Sent', {
    ...letter({ id: 'abc.1@acme.example', idLines: 'Message-ID:\r\n <abc.1@acme.example>' }),
    internalDate: Date.UTC(2001, 0, 1),
  })
  .file(1000, 'Sent', letter({ id: 'xabc.1@acme.example' }))

/** Logs in, says the lines, and returns all answers behind the login. */
async function talk(t: Test, dialect: Dialect, ...lines: readonly string[]) {
  const server = await startImap({ account, dialect, user: 'ann', password: () => 'pw', now: () => START + 5000 })
  const { port } = new URL(server.url)
  const socket = connect(Number(port), '127.0.0.1')
  const all = ['a LOGIN ann pw', ...lines, 'z LOGOUT'].map((line) => `${line}\r\n`).join('')
  socket.write(all)
  let text = ''
  for await (const bytes of socket) text += String(bytes)
  t.teardown(() => server.close())
  return { text: text.slice(text.indexOf('\r\na ')), faults: server.faults }
}

t.test('answers that Dovecot 2.3.19 gave', async (t) => {
  const { text, faults } = await talk(
    t,
    DOVECOT,
    'b EXAMINE "Sent"',
    'c UID SEARCH HEADER Message-ID "ABC.1@acme.example"',
    'd UID FETCH 1 (UID INTERNALDATE SAVEDATE BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)])',
    'e UID FETCH 3:* (UID)',
    'f UID FETCH 99 (UID)',
    'g LIST "" "*"',
    'h LIST (SPECIAL-USE) "" "*"',
    'i UID SEARCH SAVEDSINCE 11-Mar-2026 NOT HEADER Message-ID xabc',
    'm UID SEARCH UID 2 YOUNGER 5 OLDER 3',
    'j STATUS Sent (UIDNEXT UIDVALIDITY)',
    'k UID FETCH 1 (BODY.PEEK[HEADER]<0.20>)',
    'l EXAMINE Nothing',
  )
  for (const answer of [
    '* OK [UIDVALIDITY 1773000000] UIDs valid\r\n* OK [UIDNEXT 3] Predicted next UID\r\nb OK [READ-ONLY]',
    '* SEARCH 1 2\r\nc OK',
    '* 1 FETCH (UID 1 INTERNALDATE "01-Jan-2001 00:00:00 +0000" SAVEDATE "11-Mar-2026 09:30:00 +0000" BODY[HEADER.FIELDS (MESSAGE-ID)] {38}\r\nMessage-ID:\r\n <abc.1@acme.example>\r\n\r\n)\r\nd OK',
    '* 2 FETCH (UID 2)\r\ne OK',
    '\r\nf OK',
    '* LIST (\\HasNoChildren \\Sent) "." Sent',
    '* LIST (\\HasNoChildren \\Sent) "." Sent\r\nh OK',
    '* SEARCH 1\r\ni OK',
    '* SEARCH 2\r\nm OK',
    '* STATUS Sent (UIDNEXT 3 UIDVALIDITY 1773000000)',
    "l NO Mailbox doesn't exist: Nothing",
    'BODY[HEADER]<0> {20}',
    '* BYE Logging out\r\nz OK',
  ])
    t.ok(text.includes(answer), answer)
  t.strictSame(faults, [])
})

t.test('dialects', async (t) => {
  const cyrus = await talk(t, CYRUS, 'b LIST "" "*"', 'c LIST "" "*" RETURN (SPECIAL-USE)')
  t.match(cyrus.text, /\(\\HasNoChildren\) "\/" Sent\r\nb OK/)
  t.match(cyrus.text, /\\Sent\) "\/" Sent\r\nc OK/)
  const exchange = await talk(t, EXCHANGE, 'b LIST "" "*" RETURN (SPECIAL-USE)', 'c LIST "" "*"')
  t.match(exchange.text, /b BAD/)
  t.match(exchange.text, /\\Sent\) "\/" Sent\r\nc OK/)
  t.equal(exchange.faults.length, 1)
  const courier = await talk(
    t,
    COURIER,
    'b LIST "" "*"',
    'c EXAMINE Sent',
    'd FETCH 1 (BODY.PEEK[HEADER.FIELDS (TO CC)])',
  )
  t.notMatch(courier.text, /\\Sent|UIDNEXT/)
  t.match(courier.text, /BODY\[HEADER.FIELDS \("TO" "CC"\)\]/)
  const gmail = await talk(t, GMAIL, 'b EXAMINE "Sent"', 'c UID FETCH 1 (SAVEDATE)')
  t.match(gmail.text, /b OK \[READ-ONLY\] Sent selected. \(Success\)/)
  t.match(gmail.text, /c BAD/)
})

t.test('what a reader must not write', async (t) => {
  const { faults } = await talk(
    t,
    DOVECOT,
    'b SELECT Sent',
    'c EXAMINE Sent',
    'd FETCH 1 (BODY[])',
    'd STORE 1 +FLAGS (\\Seen)',
  )
  t.match(
    faults.join('\n'),
    /SELECT Sent may change something[\s\S]*marks what it reads[\s\S]*the tag d is used twice[\s\S]*STORE/,
  )
})

t.test('the steps of an account', async (t) => {
  const moved = new Account(START)
    .create(0, 'Sent', { uidNext: 7 })
    .create(0, 'Archive')
    .file(1, 'Sent', letter({ id: 'a@b' }))
    .move(2, 'a@b', 'Sent', 'Archive')
    .move(3, 'a@b', 'Archive', 'Sent')
    .at(START + 3)
    .get('Sent')!
  t.match(moved, { uidNext: 9, messages: [{ uid: 8, savedAt: START + 3, internalDate: START + 1 }] })
  t.throws(() => new Account(START).file(0, 'Sent', letter({ id: 'a@b' })), /no mailbox/)
  t.throws(() => new Account(START).create(5, 'Sent').create(4, 'Other'), /order/)
})
