/** Servers as people run them, and their troubles: each with a message that is there, and one that is not. */
import {
  COURIER,
  CYRUS,
  type Dialect,
  DOVECOT,
  DOVECOT_WITHOUT_SAVEDATE,
  EXCHANGE,
  GMAIL,
  ICLOUD,
  PLAIN_SPECIAL_USE,
  YAHOO,
  YANDEX,
} from './dialects.ts'
import type { Instead, Troubles } from './imap-server.ts'
import {
  AGENT,
  at,
  CLIENT,
  DAY,
  FAILED,
  HOUR,
  home,
  ID,
  instead,
  insteadOfAll,
  MINUTE,
  NOT_DONE,
  offer,
  PASSWORD,
  params,
  type Row,
  rowOf as row,
  SECOND,
  START,
  sent,
  TRUE,
  TRUE_HARD,
  TRUE_UNTOLD,
  to,
  UNKNOWABLE,
} from './row.ts'

/** Servers that mark the mailbox of sent messages. */
const MARKING: readonly (readonly [name: string, dialect: Dialect])[] = [
  ['Dovecot without SAVEDATE', DOVECOT_WITHOUT_SAVEDATE],
  ['Cyrus', CYRUS],
  ['Gmail', GMAIL],
  ['Exchange', EXCHANGE],
  ['a server of plain LIST', PLAIN_SPECIAL_USE],
]

const markingRows: readonly Row[] = MARKING.flatMap(([name, dialect]) => [
  row(TRUE, `${name}: a message`, 'its copy is in Sent', () => at(dialect)),
  row(TRUE, `${name}: with its recipient`, 'the copy names the recipient', () => ({
    ...at(dialect, { idLines: `Message-ID:\r\n <${ID}>` }),
    params: to(CLIENT),
  })),
  row(TRUE, `${name}: a copy that comes after a minute`, 'within the tolerance', () => ({
    account: sent({ dialect, at: MINUTE }),
    dialect,
    params,
  })),
  row(FAILED, `${name}: no message`, 'nothing was sent', () => ({ account: home(dialect), dialect, params })),
  row(FAILED, `${name}: an id that contains it`, 'it is another', () => ({
    account: home(dialect).file(0, dialect.sent, offer({ id: `x${ID}` })),
    dialect,
    params,
  })),
])

/** Servers that do not mark it. */
const HIDING: readonly (readonly [name: string, dialect: Dialect])[] = [
  ['Courier', COURIER],
  ['iCloud', ICLOUD],
]

const hidingRows: readonly Row[] = HIDING.flatMap(([name, dialect]) => [
  row(TRUE_HARD, `${name}: a message`, 'no mailbox is marked', () => at(dialect)),
  row(NOT_DONE, `${name}: no message`, 'no mailbox is marked', () => ({ account: home(dialect), dialect, params })),
  row(['never', 'unverifiable', 'refused'], `${name}: a message in a mailbox for receipts`, 'a name is no use', () => ({
    account: home(dialect).create(-DAY, 'Sent receipts').file(0, 'Sent receipts', offer()),
    dialect,
    params,
  })),
])

/** Times after which a trouble is over, within the tolerance. */
const BRIEF = { untilMs: 3 * MINUTE }
const bye = (text: string): Instead => ({ lines: [`* BYE ${text}`], ends: true })
const no = (text: string): Instead => ({ lines: [`TAG NO ${text}`] })

/** Troubles that say nothing of what is there. */
const TROUBLES: readonly (readonly [title: string, make: (span: { untilMs?: number }) => Troubles])[] = [
  ['no mailbox can be opened', (span) => instead('EXAMINE', no('[UNAVAILABLE] Temporary failure'), span)],
  [
    'the index is broken',
    (span) =>
      instead('EXAMINE', no('[SERVERBUG] Internal error occurred. Refer to server log for more information.'), span),
  ],
  ['the mailbox is in use', (span) => instead('EXAMINE', no('[INUSE] Mailbox is locked'), span)],
  ['opening is refused without a reason', (span) => instead('EXAMINE', no('Server Unavailable. 15'), span)],
  ['searching fails', (span) => instead('SEARCH', no('[SERVERBUG] Internal error occurred.'), span)],
  ['searching is limited', (span) => instead('SEARCH', no('[LIMIT] Too many searches'), span)],
  [
    'a search that warns',
    (span) =>
      instead('SEARCH', { lines: ['* NO Search index is being rebuilt', '* SEARCH', 'TAG NO Search failed'] }, span),
  ],
  ['listing fails', (span) => instead('LIST', no('[UNAVAILABLE] Backend is down'), span)],
  ['a list of nothing', (span) => instead('LIST', { lines: ['TAG OK LIST completed.'] }, span)],
  [
    'the account is not connected',
    (span) => insteadOfAll({ lines: ['TAG BAD User is authenticated but not connected.'] }, span),
  ],
  ['the connection ends at each command', (span) => insteadOfAll(bye('Connection closed. 14'), span)],
  ['the connection ends without a word', (span) => insteadOfAll({ lines: [], ends: true }, span)],
  [
    'the connection ends within an answer',
    (span) => instead('EXAMINE', { lines: ['* FLAGS (\\Seen)', '* 4 EXISTS'], ends: true }, span),
  ],
  ['the connection ends within a search', (span) => instead('SEARCH', { lines: ['* SEARCH'], ends: true }, span)],
  ['the greeting is a goodbye', (span) => instead('GREETING', bye('[ALERT] Too many simultaneous connections'), span)],
  ['too many logins', (span) => instead('LOGIN', no('[LIMIT] Too many simultaneous connections. (Failure)'), span)],
]

const loginAlso = (troubles: Troubles): Troubles => ({
  ...troubles,
  instead: (command, now) =>
    troubles.instead?.(command.name === 'AUTHENTICATE' ? { ...command, name: 'LOGIN' } : command, now),
})

/** Troubles around which a reader finds another way. */
const PASSABLE = new Set([
  'searching fails',
  'searching is limited',
  'a search that warns',
  'the connection ends within a search',
])

const troubleRows: readonly Row[] = TROUBLES.flatMap(([title, make]) => [
  row(NOT_DONE, `${title} for three minutes: no message`, 'an error is no absence', () => ({
    account: home(),
    params,
    troubles: loginAlso(make(BRIEF)),
  })),
  row(TRUE, `${title} for three minutes`, 'an error says nothing', () => ({
    account: sent(),
    params,
    troubles: loginAlso(make(BRIEF)),
  })),
  row(PASSABLE.has(title) ? TRUE_HARD : TRUE_UNTOLD, `${title} for good`, 'an error says nothing', () => ({
    account: sent(),
    params,
    troubles: loginAlso(make({})),
  })),
])

export const SERVERS: readonly Row[] = [
  ...markingRows,
  ...hidingRows,
  ...troubleRows,
  row(TRUE_HARD, 'Yahoo: a message', 'a search of its id finds nothing', () => at(YAHOO)),
  row(NOT_DONE, 'Yahoo: no message', 'a search of its id finds nothing', () => ({
    account: home(YAHOO),
    dialect: YAHOO,
    params,
  })),
  row(TRUE_HARD, 'Yahoo: a message in a long mailbox', 'a search of its id finds nothing', () => {
    const account = home(YAHOO)
    for (let index = 0; index < 400; index++) account.file(-DAY, 'Sent', offer({ id: `${index}@acme.example` }))
    return { account: account.file(0, 'Sent', offer()), dialect: YAHOO, params }
  }),
  row(TRUE, 'Yandex: a message', 'a search of its id finds the whole id alone', () =>
    at({ ...YANDEX, showsUse: 'always' }),
  ),
  row(TRUE, 'a search that finds whole ids', 'the id is whole', () => at({ ...DOVECOT, search: 'whole' })),
  row(FAILED, 'a search that finds whole ids: no message', 'nothing was sent', () => ({
    account: home(),
    dialect: { ...DOVECOT, search: 'whole' },
    params,
  })),
  row(TRUE_HARD, 'Gmail does not find an id that begins with signs', 'jstedfast/MailKit, issue 647', () => {
    const id = '!&!AAAAAAAAAAAYAAAAAAAAAKD8xN0CRe1OpCsx8tRCulPC@acme.example'
    return { ...at({ ...GMAIL, search: 'nothing' }, { id }), params: { message_id: id } }
  }),
  row(TRUE, 'the index of searches lags for two minutes', 'it finds the message within the tolerance', () => ({
    account: sent(),
    params,
    troubles: { indexes: ({ savedAt }, now) => now - savedAt > 2 * MINUTE },
  })),
  row(TRUE_HARD, 'the index of searches lags for half an hour', 'the message is there to be read', () => ({
    account: sent(),
    params,
    troubles: { indexes: ({ savedAt }, now) => now - savedAt > 30 * MINUTE },
  })),
  row(TRUE_HARD, 'the index of searches has lost all', 'the message is there to be read', () => ({
    account: sent(),
    params,
    troubles: { indexes: () => false },
  })),
  row(TRUE_HARD, 'the index of searches has lost this message', 'the message is there to be read', () => ({
    account: sent(),
    params,
    troubles: { indexes: ({ header }) => !header.includes(ID) },
  })),
  row(TRUE, 'news between the answers', 'untagged lines of other kinds may come at any time', () => ({
    account: sent(),
    params: to(CLIENT),
    troubles: {
      noise: [
        '* OK Still here',
        '* 1 FETCH (FLAGS (\\Seen))',
        '* 5 EXISTS',
        '* 0 RECENT',
        '* FLAGS (\\Seen $Forwarded)',
      ],
    },
  })),
  row(FAILED, 'news between the answers: no message', 'untagged lines of other kinds may come at any time', () => ({
    account: home(),
    params,
    troubles: { noise: ['* OK Still here', '* 1 FETCH (FLAGS (\\Seen) UID 40)', '* 3 EXISTS'] },
  })),
  row(TRUE, 'a search without an answer where it finds nothing', 'older servers leave it out', () => ({
    account: sent({ at: 2 * MINUTE }),
    dialect: { ...DOVECOT, nothing: '' },
    params,
  })),
  row(NOT_DONE, 'a search without an answer: no message', 'older servers leave it out', () => ({
    account: home(),
    dialect: { ...DOVECOT, nothing: '' },
    params,
  })),
  row(FAILED, 'a search that ends with a space: no message', 'Yandex and others write one', () => ({
    account: home(),
    dialect: { ...DOVECOT, nothing: '* SEARCH ' },
    params,
  })),
  row(TRUE, 'answers in small letters', 'words of the protocol have no case', () => ({
    account: sent(),
    params: to(CLIENT),
    troubles: { isSmall: true },
  })),
  row(FAILED, 'answers in small letters: no message', 'words of the protocol have no case', () => ({
    account: home(),
    params,
    troubles: { isSmall: true },
  })),
  row(TRUE, 'names of mailboxes as literals', 'a name may be any string', () => ({
    account: sent().create(0, 'a3 OK done'),
    params,
    troubles: { hasLiteralNames: true },
  })),
  row(FAILED, 'names of mailboxes as literals: no message', 'a name may be any string', () => ({
    account: home(),
    params,
    troubles: { hasLiteralNames: true },
  })),
  row(TRUE, 'NIL for a header without the field', 'another message has no id', () => ({
    account: sent().file(0, 'Sent', offer({ id: 'none', idLines: '' })),
    params,
    troubles: { isNilEmpty: true, indexes: () => false },
  })),
  row(TRUE, 'no UID is predicted', 'a message that is there needs none', () => ({
    account: sent(),
    params,
    troubles: { isWithoutNext: true },
  })),
  row(NOT_DONE, 'no UID is predicted: no message', 'nothing tells what came and went', () => ({
    account: home(),
    params,
    troubles: { isWithoutNext: true },
  })),
  row(TRUE, 'names of fields in quotes', 'Courier answers so', () => at({ ...DOVECOT, section: COURIER.section! })),
  row(TRUE, 'a password that is refused for two minutes', 'the backend of passwords was down', () => ({
    account: sent(),
    params,
    password: (now) => (now < START + 2 * MINUTE ? 'none' : PASSWORD),
  })),
  row(TRUE_UNTOLD, 'a password that was revoked', 'nobody can look', () => ({
    account: sent(),
    params,
    password: () => 'another-app-password',
  })),
  row(UNKNOWABLE, 'a password that is revoked after the first look', 'nobody can look any more', () => ({
    account: home(),
    params,
    password: (now) => (now < START + 30 * SECOND ? PASSWORD : 'another-app-password'),
  })),
  row(TRUE_UNTOLD, 'a mailbox that may be listed, and not read', 'NOPERM is no absence', () => ({
    account: sent(),
    params,
    troubles: { unreadable: ['Sent'] },
  })),
  row(TRUE_UNTOLD, 'a mailbox that is not shown', 'Gmail hides what is not to be shown in IMAP', () => ({
    ...at(GMAIL),
    troubles: { hidden: [GMAIL.sent] },
  })),
  row(TRUE_UNTOLD, 'the second of two mailboxes may not be read', 'it may have the message', () => ({
    account: home()
      .create(-DAY, 'Sent Messages', { attributes: ['\\Sent'] })
      .file(0, 'Sent Messages', offer()),
    params,
    troubles: { unreadable: ['Sent Messages'] },
  })),
  row(UNKNOWABLE, 'no mailbox has the use', 'the account has no mailbox for sent messages', () => ({
    account: home(DOVECOT, { attributes: [] }),
    params,
  })),
  row(TRUE_UNTOLD, 'the address is of another service', 'a proxy greets otherwise', () => ({
    account: sent(),
    params,
    troubles: instead('GREETING', { lines: ['+OK POP3 ready'] }),
  })),
  row(TRUE_UNTOLD, 'a captive portal', 'a web server answers', () => ({
    account: sent(),
    params,
    troubles: instead('GREETING', {
      lines: ['HTTP/1.1 400 Bad Request', 'Content-Type: text/html', '', '<html>'],
      ends: true,
    }),
  })),
  row(TRUE, 'in trouble for eight minutes', 'the last look within the tolerance is enough', () => ({
    account: sent(),
    params,
    troubles: insteadOfAll(bye('Server shutting down.'), { untilMs: 8 * MINUTE }),
  })),
  row(TRUE_HARD, 'in trouble from the claim to after the tolerance', 'no look tells when it came', () => ({
    account: sent(),
    params,
    troubles: insteadOfAll(bye('Server shutting down.'), { untilMs: 11 * MINUTE }),
    deadlineMs: HOUR / 2,
  })),
  row(NOT_DONE, 'in trouble for the middle of the tolerance', 'a message may have come and gone', () => ({
    account: home(),
    params,
    troubles: insteadOfAll(bye('Server shutting down.'), { fromMs: 2 * MINUTE, untilMs: 6 * MINUTE }),
  })),
  row(TRUE, 'the account of the agent, in words', 'the address is the target', () => ({
    ...at(DOVECOT),
    target: AGENT,
  })),
]
