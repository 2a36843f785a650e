/** Claims of messages that were sent: ids, headers, recipients and mailboxes as they are in the world. */
import { DOVECOT, EXCHANGE, GMAIL, PLAIN_SPECIAL_USE } from './dialects.ts'
import {
  AGENT,
  ARCHIVE,
  CLIENT,
  DAY,
  fingerprint,
  HOUR,
  home,
  ID,
  KEY,
  MINUTE,
  offer,
  params,
  type Row,
  rowOf as row,
  SECOND,
  sent,
  TRUE,
  TRUE_HARD,
  to,
  UNKNOWABLE,
} from './row.ts'

const named = (id: string) => ({ message_id: id })
const LONG_ID = `${'DB7PR04MB4252A9F1E0B1C2D3E4F5A6B7C8'.repeat(3)}@DB7PR04MB4252.eurprd04.prod.outlook.example`

/** Ids as programs write them. */
const IDS: readonly (readonly [title: string, id: string, idLines?: string])[] = [
  ['an id of Gmail', 'CAK7PmTx=4+Qd_a-8vUq8Zk@mail.gmail.com'],
  ['an id of git', 'ff34e9d4a97a39847919695ede44527637a65e05.1744293019.git.jo@acme.example'],
  ['an id with signs', "!&!AAAAAAAAAAAYAAAAAAAAAKD8x'{}|~#$%*+-/=?^_`@acme.example"],
  ['an id of JavaMail', '172438598.40853.1538530152968.JavaMail.ATG{profileId=826351164}@lb.acme.example'],
  ['an id with a literal domain', 'a71c@[192.0.2.17]'],
  ['an id without a domain of the internet', '7c1e.1773221400@agent-worker-3'],
  ['an id in upper case', '0C9B6E6E-3F0A-4E55-8E0F@ACME.EXAMPLE'],
  ['a long id on a folded line', LONG_ID, `Message-ID:\r\n\t<${LONG_ID}>`],
  ['an id on the next line', ID, `Message-ID: \r\n <${ID}>`],
  ['the field in lower case', ID, `message-id: <${ID}>`],
  ['the field as Apple writes it', ID, `Message-Id: <${ID}>`],
  ['an id without a space before it', ID, `Message-ID:<${ID}>`],
  ['an id with a comment behind it', ID, `Message-ID: <${ID}> (sent by the shop)`],
  ['an id with spaces behind it', ID, `Message-ID: <${ID}>  `],
]

const idRows: readonly Row[] = IDS.map(([title, id, idLines]) =>
  row(title === 'an id with a comment behind it' ? TRUE_HARD : TRUE, title, 'it is the id of the copy', () => ({
    account: sent({ id, ...(idLines !== undefined && { idLines }) }),
    params: named(id),
  })),
)

/** Recipients as headers write them. */
const RECIPIENTS: readonly (readonly [title: string, address: string, lines: string])[] = [
  ['the only recipient', CLIENT, `To: ${CLIENT}`],
  ['a recipient in brackets', CLIENT, `To: <${CLIENT}>`],
  ['a recipient with a name', CLIENT, `To: Jo Customer <${CLIENT}>`],
  ['a name with a comma', CLIENT, `To: "Customer, Jo" <${CLIENT}>, other@customer.example`],
  ['a name with quotes', CLIENT, `To: "Jo \\"the client\\" Customer" <${CLIENT}>`],
  ['a name that is encoded', CLIENT, `To: =?utf-8?q?J=C3=B6_=3Cx=40y=3E?= <${CLIENT}>`],
  ['a recipient in Cc', CLIENT, `To: other@customer.example\r\nCc: ${CLIENT}`],
  ['a recipient in Bcc', CLIENT, `To: other@customer.example\r\nBcc: ${CLIENT}`],
  ['no recipient but in Bcc', CLIENT, `To: undisclosed-recipients:;\r\nBcc: Jo <${CLIENT}>`],
  ['a recipient of a group', CLIENT, `To: The customers: other@customer.example, Jo <${CLIENT}>;`],
  ['a recipient behind a comment', CLIENT, `To: (our best) ${CLIENT} (Jo Customer)`],
  ['a recipient on a folded line', CLIENT, `To: other@customer.example,\r\n\tJo Customer\r\n <${CLIENT}>`],
  ['the domain in upper case', CLIENT, 'To: client@CUSTOMER.Example'],
  ['a local part in quotes', '"jo customer"@customer.example', 'To: "jo customer"@customer.example'],
  ['a local part with a plus', 'jo+offers@customer.example', 'To: <jo+offers@customer.example>'],
  ['a local part in upper case', 'Jo.Customer@customer.example', 'To: Jo.Customer@customer.example'],
  ['a domain in ASCII of another script', 'jo@xn--bcher-kva.example', 'To: jo@xn--bcher-kva.example'],
  [
    'the last of two hundred',
    CLIENT,
    `To: ${Array.from({ length: 199 }, (_, index) => `reader${index}@list.example`).join(',\r\n ')},\r\n ${CLIENT}`,
  ],
]

const recipientRows: readonly Row[] = RECIPIENTS.map(([title, address, lines]) =>
  row(title === 'a local part in quotes' ? TRUE_HARD : TRUE, `to: ${title}`, 'the copy names the recipient', () => ({
    account: sent({ to: lines }),
    params: to(address),
  })),
)

/** An account whose mailbox of sent messages has another name. */
function called(name: string, delimiter = '.') {
  return home({ ...DOVECOT, sent: name, delimiter }).file(0, name, offer())
}

const NAMES: readonly (readonly [title: string, name: string])[] = [
  ['in German', 'Gesendete Objekte'],
  ['in modified UTF-7', '&ZeVnLIqe-/&U,BTFw-'],
  ['with quotes', 'Sent "by us"'],
  ['with a backslash', 'Sent\\2026'],
  ['with an ampersand', 'Sent &- filed'],
  ['with wildcards', 'Sent 100% *'],
  ['below the inbox', 'INBOX.Sent'],
  ['in parentheses', 'Sent (all) [1]'],
]

const nameRows: readonly Row[] = NAMES.map(([title, name]) =>
  row(TRUE, `a mailbox ${title}`, 'its use tells what it is, and not its name', () => ({
    account: called(name),
    params,
  })),
)

export const HONEST: readonly Row[] = [
  row(TRUE, 'a message', 'its copy is in Sent', () => ({ account: sent(), params })),
  row(TRUE, 'claimed with brackets', 'they are not part of the id', () => ({
    account: sent(),
    params: named(`<${ID}>`),
  })),
  row(TRUE, 'the domain of the mailbox in upper case', 'domains have no case', () => ({
    account: sent(),
    params,
    target: 'agent@ACME.example',
  })),
  row(TRUE, 'the connection in upper case', 'domains have no case', () => ({
    account: sent(),
    params,
    connection: { mailbox: 'agent@Acme.Example' },
  })),
  row(TRUE, 'a mailbox that the program fills', 'a copy that is there was filed by somebody', () => ({
    account: sent(),
    params,
    connection: { server_files_sent: false },
  })),
  row(TRUE, 'a copy that comes after five minutes', 'within the tolerance', () => ({
    account: sent({ at: 5 * MINUTE }),
    params,
  })),
  row(TRUE, 'a copy that the program files after five minutes', 'within the tolerance', () => ({
    account: sent({ at: 5 * MINUTE }),
    params,
    connection: { server_files_sent: false },
  })),
  row(TRUE, 'a program at a server that keeps no times', 'the looks tell when', () => ({
    account: sent({ at: 3 * MINUTE }),
    params,
    troubles: { hasNoTimes: true },
  })),
  row(
    TRUE,
    'two copies, of the program and of the server',
    'both are the message (iCloud and Outlook make two)',
    () => ({
      account: sent().file(2 * SECOND, 'Sent', offer()),
      params: to(CLIENT),
    }),
  ),
  row(TRUE, 'a copy with a Bcc, and one without', 'one of the two names the recipient', () => ({
    account: sent({ to: 'To: other@customer.example' }).file(
      SECOND,
      'Sent',
      offer({ to: `To: other@customer.example\r\nBcc: ${CLIENT}` }),
    ),
    params: to(CLIENT),
    submittedMs: 3 * SECOND,
  })),
  row(
    TRUE,
    'a copy in the second of two mailboxes for sent messages',
    "Debian's Dovecot marks two (RFC 6154 allows it)",
    () => ({
      account: home()
        .create(-DAY, 'Sent Messages', { attributes: ['\\Sent'] })
        .file(0, 'Sent Messages', offer()),
      params,
    }),
  ),
  row(TRUE, 'a mark of a mailbox that was never made', 'what cannot be opened holds nothing', () => ({
    account: sent().create(0, 'Sent Messages', { attributes: ['\\NonExistent', '\\Sent'] }),
    params,
    submittedMs: 2 * SECOND,
  })),
  row(TRUE, 'an append without sending', 'the words are that a copy is in Sent', () => ({
    account: sent({ more: ['X-Draft-Info: never sent'] }),
    params,
  })),
  row(TRUE, 'a message that bounced', 'the words are that a copy is in Sent', () => ({
    account: sent().file(SECOND, 'INBOX', offer({ id: 'bounce@mx.customer.example', more: [`References: <${ID}>`] })),
    params,
    submittedMs: 2 * SECOND,
  })),
  row(TRUE, 'a header date of 2001', 'the date is the author’s', () => ({
    account: home().file(0, 'Sent', {
      ...offer({ date: 'Mon, 1 Jan 2001 00:00:00 +0000' }),
      internalDate: Date.UTC(2001, 0, 1),
    }),
    params,
  })),
  row(TRUE, 'a header date of next year', 'the date is the author’s', () => ({
    account: home().file(0, 'Sent', {
      ...offer({ date: 'Thu, 11 Mar 2027 09:30:00 +0000' }),
      internalDate: Date.UTC(2027, 2, 11),
    }),
    params,
  })),
  row(TRUE, 'a message that was answered', 'answers repeat the id in other fields', () => ({
    account: sent().file(
      SECOND,
      'Sent',
      offer({ id: 'again@acme.example', more: [`In-Reply-To: <${ID}>`, `References: <${ID}>`] }),
    ),
    params,
    submittedMs: 2 * SECOND,
  })),
  row(TRUE, 'a copy marked as deleted', 'it is in the mailbox until it is expunged', () => ({
    account: sent().flag(SECOND, 'Sent', ID, ['\\Seen', '\\Deleted']),
    params,
    submittedMs: 2 * SECOND,
  })),
  row(TRUE, 'three hundred ids that contain it', 'the search finds them all, and one of them is it', () => {
    const account = home()
    for (let index = 0; index < 300; index++)
      account.file(-DAY, 'Sent', offer({ id: `${index}-x${ID}`, to: `To: r${index}@list.example` }))
    return { account: account.file(0, 'Sent', offer()), params: to(CLIENT) }
  }),
  row(TRUE, 'a message of the day before', 'it was there long before', () => ({ account: sent({ at: -DAY }), params })),
  row(TRUE, 'claimed by another an hour later', 'two claims can be about one message', () => ({
    account: sent(),
    params,
    claimedMs: HOUR,
  })),
  row(TRUE, 'submitted four minutes after', 'the look is within the tolerance', () => ({
    account: sent(),
    params,
    submittedMs: 4 * MINUTE,
  })),
  row(TRUE, 'claimed two minutes before it', 'the clock of the agent was behind', () => ({
    account: sent(),
    params,
    claimedMs: -2 * MINUTE,
    submittedMs: SECOND,
  })),
  row(TRUE, 'claimed for two minutes ahead', 'the clock of the agent was ahead', () => ({
    account: sent(),
    params,
    claimedMs: 2 * MINUTE,
    submittedMs: SECOND,
  })),
  row(TRUE, 'gone an hour after', 'it was there at the first look', () => ({
    account: sent().expunge(HOUR, 'Sent', ID),
    params,
  })),
  row(TRUE, 'gone a minute after', 'it was there at the first look', () => ({
    account: sent().move(MINUTE, ID, 'Sent', ARCHIVE),
    params,
  })),
  row(TRUE, 'all of three recipients', 'the copy names them in three fields', () => ({
    account: sent({ to: `To: one@customer.example\r\nCc: Two <two@customer.example>\r\nBcc: three@customer.example` }),
    params: to('one@customer.example', 'two@customer.example', 'three@customer.example'),
  })),
  row(TRUE, 'sixteen recipients', 'as many as a claim can name', () => {
    const all = Array.from({ length: 16 }, (_, index) => `reader${index}@list.example`)
    return { account: sent({ to: `To: ${all.join(', ')}` }), params: to(...all) }
  }),
  row(TRUE, 'a recipient in two fields', 'a copy may repeat whom it names', () => ({
    account: sent({ to: `To: ${CLIENT}\r\nCc: Jo <${CLIENT}>` }),
    params: to(CLIENT),
  })),
  row(TRUE_HARD, 'two To fields', 'the copy names the recipient in the second', () => ({
    account: sent({ to: `To: other@customer.example\r\nTo: ${CLIENT}` }),
    params: to(CLIENT),
  })),
  row(TRUE_HARD, 'two fields with ids', 'the copy has the claimed one, and another', () => ({
    account: sent({ idLines: `Message-ID: <first@acme.example>\r\nMessage-ID: <${ID}>` }),
    params,
  })),
  row(TRUE, 'a recipient at Gmail', 'its copies keep the Bcc', () => ({
    account: sent({ dialect: GMAIL, to: `To: other@customer.example\r\nBcc: ${CLIENT}` }),
    dialect: GMAIL,
    params: to(CLIENT),
  })),
  row(TRUE, 'a recipient at Exchange', 'names of recipients in quotes', () => ({
    account: sent({ dialect: EXCHANGE, to: `To: "Customer, Jo (Sales)" <${CLIENT}>` }),
    dialect: EXCHANGE,
    params: to(CLIENT),
  })),
  row(TRUE_HARD, 'Outlook gave the message another id', 'its own id is kept beside (chatmail/core, pull 2250)', () => ({
    account: home(EXCHANGE).file(
      -SECOND,
      EXCHANGE.sent,
      offer({
        id: 'DB7PR04MB4252@eurprd04.prod.outlook.com',
        more: [`X-Microsoft-Original-Message-ID:\r\n <${ID}>`],
      }),
    ),
    dialect: EXCHANGE,
    params,
  })),
  row(
    TRUE_HARD,
    'Gmail gave the message another id',
    'its own id is kept beside (xhit/go-simple-mail, issue 47)',
    () => ({
      account: home(GMAIL).file(
        -SECOND,
        GMAIL.sent,
        offer({ id: '613a289c.1c69fb81.fc86c.8403@mx.google.com', more: [`X-Google-Original-Message-ID: ${ID}`] }),
      ),
      dialect: GMAIL,
      params,
    }),
  ),
  row(TRUE, 'six hundred messages', 'an account that has sent much', () => {
    const account = home()
    for (let index = 0; index < 600; index++)
      account.file(
        -DAY + index * SECOND,
        'Sent',
        offer({ id: `${index}.news@acme.example`, to: `To: r${index}@list.example` }),
      )
    return { account: account.file(0, 'Sent', offer()), params: to(CLIENT) }
  }),
  row(TRUE, 'a name in bytes of UTF-8', 'a header may have them (RFC 6532)', () => ({
    account: sent({ to: `To: J\xc3\xb6 Customer <${CLIENT}>` }),
    params: to(CLIENT),
  })),
  row(TRUE_HARD, 'three thousand recipients', 'a header of more than a hundred kilobytes', () => ({
    account: sent({
      to: `To: ${Array.from({ length: 3000 }, (_, index) => `reader${index}@list.customer.example`).join(',\r\n ')},\r\n ${CLIENT}`,
    }),
    params: to(CLIENT),
  })),
  row(TRUE, 'a copy for another, and the right one half a minute later', 'one of the two names the recipient', () => ({
    account: sent({ to: 'To: other@customer.example' }).file(30 * SECOND, 'Sent', offer()),
    params: to(CLIENT),
  })),
  row(TRUE, 'other mailboxes that are named like answers', 'a name is a text', () => ({
    account: sent()
      .create(0, 'a3 OK LIST completed')
      .create(0, '(\\Sent) "." Sent')
      .create(0, '{4}')
      .create(0, '* SEARCH 7'),
    params,
    submittedMs: 2 * SECOND,
  })),
  row(TRUE, 'from an alias', 'the mailbox is claimed, and not the sender', () => ({
    account: home().file(0, 'Sent', { ...offer(), header: offer().header.replace(AGENT, 'sales@acme.example') }),
    params,
  })),
  row(UNKNOWABLE, 'a claim with recipients, and a connection without a key', 'nothing can be compared', () => ({
    account: sent(),
    params: to(CLIENT),
    connection: { fingerprint_key: undefined },
  })),
  ...idRows,
  ...recipientRows,
  ...nameRows,
  row(TRUE, 'a mailbox at a server of plain LIST', 'it announces SPECIAL-USE, and takes no RETURN', () => ({
    account: sent({ dialect: PLAIN_SPECIAL_USE }),
    dialect: PLAIN_SPECIAL_USE,
    params: { message_id: ID, to_fingerprint: [fingerprint(CLIENT, KEY)] },
  })),
]
