/** The IMAP servers that people run, in what they say differently. Greetings, lists and completions are as their published logs have them. */
import type { SearchStyle } from './syntax.ts'

export interface Dialect {
  /** The address that connections have. */
  readonly address: string
  readonly greeting: string
  /** Capabilities before the login. */
  readonly before: string
  /** Capabilities after it. */
  readonly after: string
  /** Tells whether the completion of a login lists the capabilities. */
  readonly tellsAfterLogin?: boolean
  /** When LIST shows the use of a mailbox: always, only where RETURN or the selection asks for it (Cyrus without `specialusealways`), or never. */
  readonly showsUse: 'always' | 'asked' | 'never'
  readonly delimiter: string
  readonly sent: string
  readonly search: SearchStyle
  /** Texts of the untagged answers to EXAMINE. */
  readonly opened: Readonly<Record<'validity' | 'next' | 'flags', string>>
  /** Left out where the server predicts no UID. */
  readonly tellsNext?: boolean
  /** Completes a command. */
  done(command: string, name?: string): string
  /** Refuses to open a mailbox that does not exist. */
  missing(name: string): string
  readonly unknown: string
  /** The answer to a search that finds nothing. */
  readonly nothing: '* SEARCH' | '* SEARCH ' | ''
  /** Writes the section of a body as the answer names it. */
  section?(asked: string): string
  /** The zone of its dates. */
  readonly zone?: string
  /** The sign before a day of one digit. */
  readonly padding?: ' '
  readonly quotesNames?: true
}

const EXTENDED_AFTER =
  'IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE SORT THREAD=REFERENCES MULTIAPPEND UNSELECT CHILDREN NAMESPACE UIDPLUS LIST-EXTENDED CONDSTORE QRESYNC ESEARCH SEARCHRES WITHIN LIST-STATUS BINARY MOVE PREVIEW'
const OPENED = { validity: 'UIDs valid', next: 'Predicted next UID', flags: 'Read-only mailbox.' }

/** Dovecot 2.3.19, as Debian 12 has it: SAVEDATE and SPECIAL-USE are announced after the login alone. */
export const DOVECOT: Dialect = {
  address: 'tls://mail.acme.example:993',
  greeting:
    '[CAPABILITY IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE LITERAL+ AUTH=PLAIN AUTH=LOGIN] Dovecot (Debian) ready.',
  before: 'IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE LITERAL+ AUTH=PLAIN AUTH=LOGIN',
  after: `${EXTENDED_AFTER} SAVEDATE LITERAL+ NOTIFY SPECIAL-USE`,
  tellsAfterLogin: true,
  showsUse: 'always',
  delimiter: '.',
  sent: 'Sent',
  search: 'substring',
  opened: OPENED,
  done: (command) => `${command} completed (0.001 + 0.000 secs).`,
  missing: (name) => `NO Mailbox doesn't exist: ${name} (0.001 + 0.000 secs).`,
  unknown: 'BAD Error in IMAP command: Unknown command (0.001 + 0.000 secs).',
  nothing: '* SEARCH',
}

/** Dovecot before it knew RFC 8514, or with another `imap_capability`. */
export const DOVECOT_WITHOUT_SAVEDATE: Dialect = { ...DOVECOT, after: `${EXTENDED_AFTER} LITERAL+ NOTIFY SPECIAL-USE` }

/** Cyrus without `specialusealways`: LIST shows uses only where it is asked for them. */
export const CYRUS: Dialect = {
  ...DOVECOT,
  greeting:
    '[CAPABILITY IMAP4rev1 LITERAL+ ID ENABLE AUTH=PLAIN AUTH=LOGIN SASL-IR] mail Cyrus IMAP 3.2.6-Debian-3.2.6-2 server ready',
  before: 'IMAP4rev1 LITERAL+ ID ENABLE AUTH=PLAIN AUTH=LOGIN SASL-IR',
  after:
    'IMAP4rev1 LITERAL+ ID ENABLE ACL RIGHTS=kxten QUOTA NAMESPACE UIDPLUS CHILDREN UNSELECT ESEARCH SPECIAL-USE LIST-EXTENDED LIST-STATUS WITHIN SAVEDATE MOVE CONDSTORE',
  tellsAfterLogin: true,
  showsUse: 'asked',
  delimiter: '/',
  opened: { validity: 'Ok', next: 'Ok', flags: 'Ok' },
  done: () => 'Completed (0.000 sec)',
  missing: () => 'NO Mailbox does not exist',
  unknown: 'BAD Unrecognized command',
}

/** Gmail: localized names in modified UTF-7, and completions with a mark. */
export const GMAIL: Dialect = {
  ...DOVECOT,
  address: 'tls://imap.gmail.com:993',
  greeting: 'Gimap ready for requests from 192.0.2.7 c15-v6mb154934016edt',
  before:
    'IMAP4rev1 UNSELECT IDLE NAMESPACE QUOTA ID XLIST CHILDREN X-GM-EXT-1 SASL-IR AUTH=XOAUTH2 AUTH=PLAIN AUTH=PLAIN-CLIENTTOKEN AUTH=OAUTHBEARER',
  after:
    'IMAP4rev1 UNSELECT IDLE NAMESPACE QUOTA ID XLIST CHILDREN X-GM-EXT-1 UIDPLUS COMPRESS=DEFLATE ENABLE MOVE CONDSTORE ESEARCH UTF8=ACCEPT LIST-EXTENDED LIST-STATUS LITERAL- SPECIAL-USE APPENDLIMIT=35651584',
  delimiter: '/',
  sent: '[Gmail]/Messages envoy&AOk-s',
  opened: { validity: 'UIDs valid.', next: 'Predicted next UID.', flags: 'Flags permitted.' },
  done: (command, name) => (command === 'EXAMINE' ? `${name} selected. (Success)` : 'Success'),
  missing: (name) => `NO [NONEXISTENT] Unknown Mailbox: ${name} (Failure)`,
  unknown: 'BAD Unknown command',
  quotesNames: true,
}

/** Exchange Online: no SPECIAL-USE among its capabilities, and uses in every LIST. */
export const EXCHANGE: Dialect = {
  ...DOVECOT,
  address: 'tls://outlook.office365.com:993',
  greeting: 'The Microsoft Exchange IMAP4 service is ready. [RgBSADMAUAAyADgAMQBDAEEAMAAxADUANwA=]',
  before: 'IMAP4 IMAP4rev1 AUTH=PLAIN AUTH=XOAUTH2 SASL-IR UIDPLUS ID UNSELECT CHILDREN IDLE NAMESPACE LITERAL+',
  after:
    'IMAP4 IMAP4rev1 AUTH=PLAIN AUTH=XOAUTH2 SASL-IR UIDPLUS MOVE ID UNSELECT CLIENTACCESSRULES CLIENTNETWORKPRESENCELOCATION BACKENDAUTHENTICATE CHILDREN IDLE NAMESPACE LITERAL+',
  tellsAfterLogin: false,
  delimiter: '/',
  sent: 'Sent Items',
  opened: { validity: 'UIDVALIDITY value', next: 'The next unique identifier value', flags: 'Permanent flags' },
  done: (command) => `${command} completed.`,
  missing: (name) => `NO ${name} doesn't exist.`,
  padding: ' ',
  unknown: 'BAD Command Error. 12',
}

/** Courier: no use of a mailbox is shown, no UID is predicted, and names of header fields come back in quotes. */
export const COURIER: Dialect = {
  ...DOVECOT,
  greeting:
    '[CAPABILITY IMAP4rev1 UIDPLUS CHILDREN NAMESPACE THREAD=ORDEREDSUBJECT THREAD=REFERENCES SORT QUOTA IDLE AUTH=PLAIN ACL ACL2=UNION] Courier-IMAP ready.',
  before:
    'IMAP4rev1 UIDPLUS CHILDREN NAMESPACE THREAD=ORDEREDSUBJECT THREAD=REFERENCES SORT QUOTA IDLE AUTH=PLAIN ACL ACL2=UNION',
  after:
    'IMAP4rev1 UIDPLUS CHILDREN NAMESPACE THREAD=ORDEREDSUBJECT THREAD=REFERENCES SORT QUOTA IDLE AUTH=PLAIN ACL ACL2=UNION',
  tellsAfterLogin: false,
  showsUse: 'never',
  sent: 'INBOX.Sent',
  opened: { validity: 'Ok', next: 'Ok', flags: 'No permanent flags permitted' },
  tellsNext: false,
  done: (command) => `${command} completed`,
  missing: () => 'NO Unable to open this mailbox.',
  unknown: 'NO Error in IMAP command received by server.',
  section: (asked) =>
    asked.replace(
      /\(([^)]*)\)/,
      (_, names: string) =>
        `(${names
          .split(' ')
          .map((name) => `"${name}"`)
          .join(' ')})`,
    ),
  quotesNames: true,
}

/** iCloud: names that cannot be opened are listed, and no use of any mailbox (Cocoanetics/SwiftMail, issue 30). */
export const ICLOUD: Dialect = {
  ...COURIER,
  greeting: '[CAPABILITY XAPPLEPUSHSERVICE IMAP4 IMAP4rev1 SASL-IR AUTH=ATOKEN AUTH=PLAIN] iSCREAM ready to rumble',
  before: 'XAPPLEPUSHSERVICE IMAP4 IMAP4rev1 SASL-IR AUTH=ATOKEN AUTH=PLAIN',
  after:
    'XAPPLEPUSHSERVICE IMAP4 IMAP4rev1 ACL QUOTA LITERAL+ NAMESPACE UIDPLUS CHILDREN BINARY UNSELECT SORT LANGUAGE ESEARCH ESORT QRESYNC CONTEXT=SEARCH CONTEXT=SORT WITHIN SASL-IR IDLE ID',
  delimiter: '/',
  sent: 'Sent Messages',
  tellsNext: true,
  missing: () => 'NO [NONEXISTENT] Mailbox does not exist (took 1 ms)',
}

/** Yahoo: searches of header fields find nothing (MailCore/mailcore2, issue 823), and uses are in every LIST. */
export const YAHOO: Dialect = {
  ...EXCHANGE,
  address: 'tls://imap.mail.yahoo.com:993',
  greeting:
    '[CAPABILITY IMAP4rev1 SASL-IR AUTH=PLAIN AUTH=XOAUTH2 AUTH=OAUTHBEARER ID MOVE NAMESPACE UIDPLUS LITERAL+ CHILDREN UNSELECT X-MSG-EXT OBJECTID] IMAP4rev1 Hello',
  before:
    'IMAP4rev1 SASL-IR AUTH=PLAIN AUTH=XOAUTH2 AUTH=OAUTHBEARER ID MOVE NAMESPACE UIDPLUS LITERAL+ CHILDREN UNSELECT X-MSG-EXT OBJECTID',
  after: 'IMAP4rev1 ID MOVE NAMESPACE UIDPLUS LITERAL+ CHILDREN UNSELECT X-MSG-EXT OBJECTID',
  sent: 'Sent',
  search: 'nothing',
  done: (command) => `${command} completed`,
  unknown: 'BAD [CLIENTBUG] Invalid command',
}

/** Yandex: a search of an id finds the whole id alone (ikvk/imap_tools, issue 170). */
export const YANDEX: Dialect = {
  ...DOVECOT,
  greeting:
    'Yandex IMAP4rev1 at sas1-77a.mail.yandex.net:993 ready to talk with 192.0.2.7:50200, 2026-Mar-11 12:30:00, c1Xq',
  before:
    'IMAP4rev1 CHILDREN UNSELECT LITERAL+ NAMESPACE XLIST BINARY UIDPLUS ENABLE ID AUTH=PLAIN AUTH=XOAUTH2 IDLE MOVE',
  after:
    'IMAP4rev1 CHILDREN UNSELECT LITERAL+ NAMESPACE XLIST BINARY UIDPLUS ENABLE ID AUTH=PLAIN AUTH=XOAUTH2 IDLE MOVE',
  tellsAfterLogin: false,
  delimiter: '|',
  search: 'whole',
  nothing: '* SEARCH ',
  done: (command) => `${command} Completed.`,
  unknown: 'BAD Command syntax error.',
}

/** A server of RFC 6154 without RFC 5258: it announces SPECIAL-USE, and takes LIST of RFC 3501 alone. */
export const PLAIN_SPECIAL_USE: Dialect = {
  ...EXCHANGE,
  address: DOVECOT.address,
  greeting: 'IMAP4rev1 server ready',
  before: 'IMAP4rev1 AUTH=PLAIN AUTH=LOGIN',
  after: 'IMAP4rev1 NAMESPACE UIDPLUS SPECIAL-USE',
  unknown: 'BAD Unknown or NULL command',
  zone: '+0100',
}
