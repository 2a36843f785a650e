/** Headers that anybody may write: recipients and ids that programs read differently, that cannot be decoded, or that take long to read. */
import type { Kind } from '../../../../test/traps/verifier-table.ts'
import { type Dialect, DOVECOT, EXCHANGE, GMAIL } from './dialects.ts'
import {
  CLIENT,
  home,
  ID,
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

const OTHER_OR_UNTOLD: Kind = ['other', 'mismatch', 'unverifiable']
const utf8 = (text: string) => Buffer.from(text).toString('latin1')
const LONG_DOMAIN = Array.from({ length: 20_000 }, (_, index) =>
  String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000)),
)

/** Fields of recipients that are no usual list of addresses, and have the claimed one in them. */
const UNCLEAR: readonly (readonly [title: string, lines: string])[] = [
  ['two fields of one name', `To: mallory@evil.example\r\nTo: ${CLIENT}`],
  ['a quotation that stays open', `To: "mallory, ${CLIENT}, x@evil.example`],
  ['a quotation that stays open behind it', `To: mallory@evil.example, "x@evil.example, ${CLIENT}`],
  ['blanks within an address', 'To: cli ent@customer.exam ple'],
  ['a bracket that stays open', `To: <mallory@evil.example, ${CLIENT}`],
  ['two signs of an address', `To: mallory@evil.example@${CLIENT}`],
  ['a domain with a percent sign', 'To: client@customer%2eexample'],
]

const NEVER_UNTOLD: Kind = ['never', 'failed', 'unverifiable']
const formerIds = (...ids: readonly string[]) => ids.map((id) => `X-Google-Original-Message-ID: <${id}>`)

/** Messages that name the claimed id as one that they had, and never had it. */
const FORMER: readonly (readonly [title: string, dialect: Dialect, id: string, fields: readonly string[]])[] = [
  ['of a server that replaces none', DOVECOT, 'mx.1@mx.google.com', formerIds(ID)],
  ["of an id that is not the provider's", GMAIL, 'x1@acme.example', formerIds(ID)],
  ['of an id of which the provider’s is a part', GMAIL, 'x1@mx.google.com.acme.example', formerIds(ID)],
  ['of another provider', EXCHANGE, 'x1@mx.google.com', formerIds(ID)],
  ['several', GMAIL, 'x1@mx.google.com', formerIds('a@acme.example', 'b@acme.example', ID)],
]

export const HEADERS: readonly Row[] = [
  ...UNCLEAR.map(([title, lines]) =>
    row(OTHER_OR_UNTOLD, `to: ${title}`, 'not every program reads the claimed recipient there', () => ({
      account: sent({ to: lines }),
      params: to(CLIENT),
    })),
  ),
  row(TRUE, 'to: two fields with the same recipient', 'whichever counts, the copy names it', () => ({
    account: sent({ to: `To: ${CLIENT}\r\nTo: Jo <${CLIENT}>` }),
    params: to(CLIENT),
  })),
  row(TRUE, 'to: blanks around the dots and the @', 'an old form of addresses has them (RFC 5322 4.4)', () => ({
    account: sent({ to: `To: Jo < ${CLIENT.replaceAll(/[.@]/g, ' $& ')} >` }),
    params: to(CLIENT),
  })),
  row(TRUE, 'to: a list that takes long to read', 'an address behind it is no less read', () => ({
    account: sent({ to: `Cc: ${CLIENT}\r\nTo: "${'\\"'.repeat(60_000)}` }),
    params: to(CLIENT),
  })),
  row(TRUE, 'to: a long domain of Chinese letters', 'no domain is so long', () => ({
    account: sent({ to: `To: ${CLIENT}, a@${utf8(LONG_DOMAIN.join(''))}.example` }),
    params: to(CLIENT),
  })),
  row(TRUE, 'another message has an id that cannot be decoded', 'it is another message', () => ({
    account: sent().file(0, 'Sent', offer({ id: '', idLines: 'Message-ID: =?utf-8?b?A?=' })),
    params,
  })),
  row(TRUE_HARD, 'an id with blanks', 'an old form of ids has them (RFC 5322 4.5.4)', () => ({
    account: home().file(0, 'Sent', offer({ idLines: `Message-ID: <${ID.replaceAll(/[.@]/g, ' $& ')}>` })),
    params,
  })),
  ...FORMER.map(([title, dialect, id, fields]) =>
    row(NEVER_UNTOLD, `former ids: ${title}`, 'the agent wrote the fields', () => ({
      account: home(dialect).file(0, dialect.sent, offer({ id, more: fields })),
      dialect,
      params,
    })),
  ),
  row(UNKNOWABLE, 'a message with two ids has the recipients, and another copy not', 'either id may count', () => ({
    account: home()
      .file(0, 'Sent', offer({ idLines: `Message-ID: <${ID}>\r\nMessage-ID: <b@acme.example>` }))
      .file(SECOND, 'Sent', offer({ to: 'To: other@customer.example' })),
    params: to(CLIENT),
  })),
]
