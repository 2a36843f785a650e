/** Mailboxes that do not tell when a copy came first: two of them, restored ones, and such as had more messages than they show. */
import { DOVECOT, DOVECOT_WITHOUT_SAVEDATE, EXCHANGE } from './dialects.ts'
import {
  ARCHIVE,
  CLIENT,
  DAY,
  FAILED,
  HOUR,
  home,
  ID,
  MINUTE,
  offer,
  params,
  type Row,
  rowOf as row,
  SECOND,
  START,
  sent,
  TRUE,
  TRUE_UNTOLD,
  to,
  UNKNOWABLE,
} from './row.ts'

const SENT_ITEMS = 'Sent Items'
/** The claim is looked at first when a late copy is there. */
const LATER = { submittedMs: 3 * HOUR }
const withTwo = () => home().create(-DAY, SENT_ITEMS, { attributes: ['\\Sent'] })

const LATE_ROWS: readonly Row[] = [
  row(TRUE, 'two mailboxes of sent messages: one has it late, the other in time', 'both count', () => ({
    account: withTwo()
      .file(5 * SECOND, SENT_ITEMS, offer())
      .file(HOUR, 'Sent', offer()),
    params,
    ...LATER,
  })),
  row(UNKNOWABLE, 'two mailboxes of sent messages: gone from one, and later in the other', 'a copy moved', () => ({
    account: withTwo()
      .file(5 * SECOND, 'Sent', offer())
      .expunge(HOUR, 'Sent', ID)
      .file(HOUR, SENT_ITEMS, offer()),
    params,
    ...LATER,
  })),
  row(UNKNOWABLE, 'a mailbox that is restored without its dates', 'all of its messages are of one time', () => {
    const account = home().file(5 * SECOND, 'Sent', offer())
    account.create(HOUR, 'Sent', { attributes: ['\\Sent'], uidValidity: 1_773_000_700 })
    for (const id of ['2026.offer-0@acme.example', '2026.offer-1@acme.example', '2026.offer-2@acme.example', ID])
      account.file(HOUR, 'Sent', offer({ id }))
    return { account, params, ...LATER }
  }),
  row(TRUE_UNTOLD, 'a copy without Bcc in time, and a late one with it', 'the message was there before', () => ({
    account: home()
      .file(5 * SECOND, 'Sent', offer())
      .file(HOUR, 'Sent', offer({ more: ['Bcc: boss@customer.example'] })),
    params: to(CLIENT, 'boss@customer.example'),
    ...LATER,
  })),
]

/** An old message that is stored with its date behind a copy that went: its number says when it came, its date does not. */
const gapRow = (title: string, atMs: number) =>
  row(UNKNOWABLE, title, 'the date of the message behind the gap is its author’s', () => ({
    account: home(DOVECOT_WITHOUT_SAVEDATE)
      .file(atMs, 'Sent', offer())
      .move(atMs + SECOND, ID, 'Sent', ARCHIVE)
      .file(atMs + 2 * SECOND, 'Sent', { ...offer({ id: 'old@acme.example' }), internalDate: START - 5 * DAY }),
    dialect: DOVECOT_WITHOUT_SAVEDATE,
    params,
  }))

const GAPS: readonly Row[] = [
  gapRow('a gap behind which an old message is stored', 20 * SECOND),
  gapRow('a gap of before the submission, behind which an old message was stored', -20 * SECOND),
]

/** A mailbox in which a relay has put its own ids in place of all others, so that none is as claimed. */
const relayed = (dialect = DOVECOT) =>
  home({ ...dialect, sent: 'Old' }, { attributes: [] })
    .create(-DAY, 'Sent', { attributes: ['\\Sent'] })
    .file(-DAY, 'Sent', offer({ id: 'a@relay.example' }))

const RELAYED: readonly Row[] = [
  row(UNKNOWABLE, 'a relay gave it another id, and the copy has no Bcc', 'its recipients are not all in it', () => ({
    account: relayed().file(0, 'Sent', offer({ id: 'x@relay.example', to: 'To: undisclosed-recipients:;' })),
    params: to(CLIENT),
  })),
  row(FAILED, 'a relay gives messages other ids, and this one is to others', 'the copy has its Bcc', () => ({
    account: relayed().file(
      0,
      'Sent',
      offer({ id: 'x@relay.example', to: 'To: other@customer.example\r\nBcc: boss@customer.example' }),
    ),
    params: to(CLIENT),
  })),
  row(UNKNOWABLE, 'a relay gave it another id, and a date of before', 'a queue dates by the header', () => ({
    account: relayed(DOVECOT_WITHOUT_SAVEDATE).file(0, 'Sent', {
      ...offer({ id: 'x@relay.example' }),
      internalDate: START - 20 * MINUTE,
    }),
    dialect: DOVECOT_WITHOUT_SAVEDATE,
    params,
  })),
]

export const MAILBOXES: readonly Row[] = [
  ...LATE_ROWS,
  ...GAPS,
  ...RELAYED,
  row(TRUE, 'a mailbox whose name has a bracket', 'a name that is an atom may have one (RFC 3501)', () => ({
    account: sent({ dialect: EXCHANGE }).create(0, 'x[1'),
    dialect: EXCHANGE,
    params,
  })),
]
