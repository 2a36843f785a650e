/** Claims of messages that are not in Sent, or are others: lies, look-alikes, other mailboxes and other recipients. */
import { letter } from './account.ts'
import { COURIER, DOVECOT, DOVECOT_WITHOUT_SAVEDATE, GMAIL } from './dialects.ts'
import {
  AGENT,
  ARCHIVE,
  CLIENT,
  DAY,
  FAILED,
  fingerprint,
  home,
  ID,
  MINUTE,
  NOT_DONE,
  OTHER,
  offer,
  params,
  type Row,
  rowOf as row,
  SECOND,
  sent,
  to,
  UNKNOWABLE,
} from './row.ts'

const OTHER_ID = 'someone-else-1@acme.example'

/** Messages that are not the claimed one, and have its id somewhere. */
const LOOK_ALIKES: readonly (readonly [title: string, given: Parameters<typeof letter>[0]])[] = [
  ['an id that contains it', { id: `x${ID}` }],
  ['an id that goes on', { id: `${ID}.other.example` }],
  ['an id of which it is the middle', { id: `re-${ID}.eu` }],
  ['the id in another field', { id: OTHER_ID, more: [`In-Reply-To: <${ID}>`] }],
  ['the id among the references', { id: OTHER_ID, more: [`References: <first@acme.example>\r\n <${ID}>`] }],
  ['a message that was sent on', { id: OTHER_ID, more: [`Resent-Message-ID: <${ID}>`] }],
  ['the id in a comment', { id: OTHER_ID, idLines: `Message-ID: <${OTHER_ID}> (<${ID}>)` }],
  ['the id in a field that begins alike', { id: OTHER_ID, more: [`Message-ID-Hash: <${ID}>`] }],
  ['the id in a field of the program', { id: OTHER_ID, more: [`X-Message-ID: <${ID}>`] }],
  ['the id in a folded subject', { id: OTHER_ID, more: [`X-Note: about the message\r\n Message-ID: <${ID}>`] }],
  ['the id in the body', { id: OTHER_ID, body: `Message-ID: <${ID}>\r\n\r\nforwarded` }],
  ['the id in the domain of another', { id: `1@${ID.replace('@', '.')}` }],
  ['no id at all', { id: OTHER_ID, idLines: '' }],
  ['an empty id', { id: OTHER_ID, idLines: 'Message-ID: <>' }],
]

const lookAlikeRows: readonly Row[] = LOOK_ALIKES.map(([title, given]) =>
  row(title.endsWith('a comment') ? NOT_DONE : FAILED, title, 'the message of this id is not in Sent', () => ({
    account: home().file(-SECOND, 'Sent', letter(given)),
    params,
  })),
)

/** Recipients who are not among those of the copy, and seem to be. */
const OTHERS: readonly (readonly [title: string, address: string, lines: string])[] = [
  ['another recipient', CLIENT, 'To: other@customer.example'],
  ['a name that is an address', CLIENT, `To: "${CLIENT}" <mallory@evil.example>`],
  ['a name that is an address in brackets', CLIENT, `To: "Jo <${CLIENT}>" <mallory@evil.example>`],
  ['a comment that is an address', CLIENT, `To: mallory@evil.example (${CLIENT})`],
  ['a name of an encoded address', CLIENT, 'To: =?utf-8?q?client=40customer=2Eexample?= <mallory@evil.example>'],
  ['a group that is called so', CLIENT, `To: "${CLIENT}": mallory@evil.example;`],
  ['an address that contains it', CLIENT, `To: the-${CLIENT}`],
  ['a domain that goes on', CLIENT, `To: ${CLIENT}.evil.example`],
  ['a local part that contains an address', CLIENT, `To: "${CLIENT}"@evil.example`],
  ['a recipient in Reply-To', CLIENT, `To: mallory@evil.example\r\nReply-To: ${CLIENT}`],
  ['a recipient of who sent it on', CLIENT, `To: mallory@evil.example\r\nResent-To: ${CLIENT}`],
  ['a recipient in the references', CLIENT, `To: mallory@evil.example\r\nX-Original-To: ${CLIENT}`],
  ['a recipient in the folded subject', CLIENT, `To: mallory@evil.example\r\nX-Note: for\r\n To: ${CLIENT}`],
  ['the sender alone', AGENT, `To: ${CLIENT}`],
  ['nobody', CLIENT, 'To: undisclosed-recipients:;'],
  ['no field of recipients', CLIENT, ''],
  ['a letter of another script', 'client@customer.example', 'To: client@xn--ustomer-uhg.example'],
]

const otherRows: readonly Row[] = OTHERS.map(([title, address, lines]) =>
  row(OTHER, `to: ${title}`, 'the copy is for somebody else', () => ({
    account: sent({ to: lines }),
    params: to(address),
  })),
)

export const FALSE: readonly Row[] = [
  row(FAILED, 'no message', 'nothing was sent', () => ({ account: home(), params })),
  row(FAILED, 'an empty mailbox', 'nothing was ever sent', () => ({
    account: home({ ...DOVECOT, sent: 'Old' }, { attributes: [] }).create(-DAY, 'Sent', { attributes: ['\\Sent'] }),
    params,
  })),
  row(NOT_DONE, 'a mailbox that was emptied the day before', 'nothing shows when its last message came', () => ({
    account: home().expunge(-DAY, 'Sent'),
    params,
  })),
  row(
    FAILED,
    'a mailbox with gaps of long ago',
    'SAVEDATE of the message behind a gap says how old the gap is',
    () => ({
      account: home().expunge(-DAY, 'Sent', 'offer-1@'),
      params,
    }),
  ),
  row(
    NOT_DONE,
    'a mailbox with gaps of long ago, without SAVEDATE',
    'dates of the author do not say how old a gap is',
    () => ({
      account: home(DOVECOT_WITHOUT_SAVEDATE).expunge(-DAY, 'Sent', 'offer-1@'),
      dialect: DOVECOT_WITHOUT_SAVEDATE,
      params,
    }),
  ),
  row(NOT_DONE, 'a mailbox whose last message was deleted', 'nothing shows when it came', () => ({
    account: home().expunge(-DAY, 'Sent', 'offer-2@'),
    params,
  })),
  row(NOT_DONE, 'another message is sent and deleted meanwhile', 'nothing shows which it was', () => ({
    account: home()
      .file(63 * SECOND, 'Sent', offer({ id: 'secret@acme.example' }))
      .expunge(64 * SECOND, 'Sent', 'secret@'),
    params,
  })),
  row(NOT_DONE, 'a server that gives numbers in blocks', 'a number that nobody has may have been a message', () => ({
    account: home().skip(63 * SECOND, 'Sent', 10),
    params,
  })),
  row(FAILED, 'six hundred messages', 'an account that has sent much, and not this', () => {
    const account = home()
    for (let index = 0; index < 600; index++)
      account.file(
        -DAY + index * SECOND,
        'Sent',
        offer({ id: `${index}.news@acme.example`, to: `To: r${index}@list.example` }),
      )
    return { account, params }
  }),
  row(FAILED, 'other mailboxes that are named like answers: no message', 'a name is a text', () => ({
    account: home().create(0, 'a3 OK LIST completed').create(0, '* SEARCH 40').create(0, '{4}'),
    params,
  })),
  row(NOT_DONE, 'a header that looks like an answer', 'what is in a literal is no answer', () => ({
    account: home().file(
      0,
      'Sent',
      offer({
        id: `x${ID}`,
        to: `To: ${CLIENT},\r\n * 1 FETCH (UID 40 BODY[HEADER.FIELDS (MESSAGE-ID)] {${ID.length + 18}}\r\n Message-ID: <${ID}>\r\n )\r\n\tMessage-ID: <${ID}>`,
      }),
    ),
    params,
  })),
  row(NOT_DONE, 'the id that Gmail kept contains it', 'it is another', () => ({
    account: home(GMAIL).file(
      0,
      GMAIL.sent,
      offer({ id: 'mx.1@mx.google.com', more: [`X-Google-Original-Message-ID: <x${ID}>`] }),
    ),
    dialect: GMAIL,
    params,
  })),
  row(NOT_DONE, 'an id with a quote', 'no id has one without another', () => ({
    account: home(),
    params: { message_id: '7f3a"x@acme.example' },
  })),
  row(NOT_DONE, 'an id that would be a search', 'a text is a text', () => ({
    account: home(),
    params: { message_id: '"x\\" OR ALL \\""@acme.example' },
  })),
  row(
    ['other', 'mismatch', 'failed', 'unverifiable'],
    'another recipient, in a mailbox that the program fills',
    'the copy is for somebody else',
    () => ({
      account: sent({ to: 'To: other@customer.example' }),
      params: to(CLIENT),
      connection: { server_files_sent: false },
    }),
  ),
  row(NOT_DONE, 'programs with other ids meanwhile', 'nothing shows which of them is the claimed message', () => ({
    account: home().file(30 * SECOND, 'Sent', offer({ id: '1b2c@laptop.local' })),
    params,
  })),
  row(FAILED, 'no message, with recipients', 'nothing was sent', () => ({ account: home(), params: to(CLIENT) })),
  row(FAILED, 'other messages are sent meanwhile', 'each of them is there to be read', () => ({
    account: home()
      .file(20 * SECOND, 'Sent', offer({ id: 'one@acme.example' }))
      .file(2 * MINUTE, 'Sent', offer({ id: 'two@acme.example' }))
      .file(9 * MINUTE, 'Sent', offer({ id: 'three@acme.example' })),
    params,
  })),
  row(FAILED, 'a draft', 'it was written, and not sent', () => ({
    account: home().file(0, 'Drafts', offer()),
    params,
  })),
  row(FAILED, 'a message that waits in an outbox', 'it was not sent yet', () => ({
    account: home().create(-DAY, 'Outbox').file(0, 'Outbox', offer()),
    params,
  })),
  row(FAILED, 'a message that Gmail will send tomorrow', 'it is among the scheduled ones', () => ({
    account: home(GMAIL).create(-DAY, '[Gmail]/Scheduled').file(0, '[Gmail]/Scheduled', offer()),
    dialect: GMAIL,
    params,
  })),
  row(FAILED, 'a message in the inbox', 'one that came, and was not sent', () => ({
    account: home().file(0, 'INBOX', offer()),
    params,
  })),
  row(FAILED, 'a message in the archive', 'a mailbox without the use of sent messages', () => ({
    account: home().file(0, ARCHIVE, offer()),
    params,
  })),
  row(FAILED, 'a mailbox that is only called Sent', 'the one with the use is another', () => {
    const account = home({ ...DOVECOT, sent: 'Versendet' })
    return { account: account.create(-DAY, 'Sent').file(0, 'Sent', offer()), params }
  }),
  row(FAILED, 'a mailbox below that of sent messages', 'it has no use', () => ({
    account: home().create(-DAY, 'Sent.2026').file(0, 'Sent.2026', offer()),
    params,
  })),
  row(NOT_DONE, 'the id in other letters', 'ids are told apart by their case', () => ({
    account: sent({ id: ID.toUpperCase() }),
    params,
  })),
  row(
    NOT_DONE,
    "another's mailbox for sent messages",
    'it is of the namespace of other users (RFC 2342), and marked, too',
    () => ({
      account: home()
        .create(-DAY, 'shared.bob.Sent', { attributes: ['\\Sent'] })
        .file(0, 'shared.bob.Sent', offer()),
      params,
      troubles: { namespaces: '(("" ".")) (("shared." ".")) NIL' },
    }),
  ),
  row(NOT_DONE, 'a mailbox of the whole company', 'it is of the shared namespace, and marked, too', () => ({
    account: home({ ...DOVECOT, delimiter: '/' })
      .create(-DAY, 'Public/Sent', { attributes: ['\\Sent'] })
      .file(0, 'Public/Sent', offer()),
    dialect: { ...DOVECOT, delimiter: '/' },
    params,
    troubles: { namespaces: '(("" "/")) NIL (("Public/" "/"))' },
  })),
  row(UNKNOWABLE, 'hundreds of mailboxes of sent messages', 'nobody has so many', () => {
    const account = home()
    for (let user = 0; user < 501; user++) account.create(-DAY, `shared.${user}.Sent`, { attributes: ['\\Sent'] })
    return { account, params }
  }),
  row(UNKNOWABLE, 'hundreds of namespaces', 'each would be compared with each mailbox', () => ({
    account: home().create(-DAY, 'shared.bob.Sent', { attributes: ['\\Sent'] }),
    params,
    troubles: {
      namespaces: `(("" ".")) (${Array.from({ length: 501 }, (_, at) => `("user${at}." ".")`).join('')}) NIL`,
    },
  })),
  row(UNKNOWABLE, 'nothing, in a mailbox that the program fills', 'a message can be sent without a copy', () => ({
    account: home(),
    params,
    connection: { server_files_sent: false },
  })),
  row(UNKNOWABLE, 'nothing, and the connection does not say who files', 'no is what it means', () => ({
    account: home(),
    params,
    connection: { server_files_sent: undefined },
  })),
  row(NOT_DONE, 'the mailbox of another', 'the connection is of another mailbox', () => ({
    account: sent(),
    params,
    target: 'billing@acme.example',
  })),
  row(NOT_DONE, 'the mailbox of another company', 'the connection is of another mailbox', () => ({
    account: sent(),
    params,
    target: 'agent@acme.example.evil.example',
  })),
  row(NOT_DONE, 'a relay gave the message another id', 'nothing shows it: the id is not in Sent', () => ({
    account: home().file(-SECOND, 'Sent', offer({ id: '0102018-77e1-000000@email.relay.example' })),
    params,
  })),
  row(NOT_DONE, 'a message that is only kept by its program', 'Courier marks no mailbox', () => ({
    account: home(COURIER),
    dialect: COURIER,
    params,
  })),
  row(
    ['other', 'mismatch', 'failed', 'unverifiable'],
    'a Bcc that the copy does not have',
    'the claim is about the copy',
    () => ({
      account: sent({ to: 'To: other@customer.example' }),
      params: to(CLIENT),
    }),
  ),
  row(OTHER, 'one of two recipients', 'the copy names one of them', () => ({
    account: sent(),
    params: to(CLIENT, 'boss@customer.example'),
  })),
  row(OTHER, 'two copies, and none for all recipients', 'no copy names both', () => ({
    account: sent({ to: 'To: one@customer.example' }).file(0, 'Sent', offer({ to: 'To: two@customer.example' })),
    params: to('one@customer.example', 'two@customer.example'),
  })),
  row(OTHER, 'the recipient of a message with an id that contains it', 'that message is another', () => ({
    account: sent({ to: 'To: other@customer.example' }).file(0, 'Sent', offer({ id: `x${ID}` })),
    params: to(CLIENT),
  })),
  row(['other', 'mismatch', 'failed', 'unverifiable'], 'a fingerprint by another key', 'it is of nobody', () => ({
    account: sent(),
    params: { message_id: ID, to_fingerprint: [fingerprint(CLIENT, 'another key of the workspace 0123456789')] },
  })),
  row(NOT_DONE, 'a fingerprint without a key', 'anyone can compute it, and it is not what the claim takes', () => ({
    account: home(),
    params: { message_id: ID, to_fingerprint: [`sha256:${'0a'.repeat(32)}`] },
  })),
  ...lookAlikeRows,
  ...otherRows,
]
