/** Times and clocks: late copies, copies that went, mailboxes that were made anew, restored or moved, and servers that lag. */
import type { Kind } from '../../../../test/traps/verifier-table.ts'
import { CYRUS, DOVECOT, DOVECOT_WITHOUT_SAVEDATE, GMAIL } from './dialects.ts'
import {
  ARCHIVE,
  CLIENT,
  DAY,
  FAILED,
  HOUR,
  home,
  ID,
  LATE,
  LATE_UNTOLD,
  MINUTE,
  NOT_DONE,
  offer,
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

/** Dates that their author wrote, to seem in time. */
const FORGED = { ...offer({ date: 'Wed, 11 Mar 2026 09:30:00 +0000' }), internalDate: START }

const LATE_ROWS: readonly Row[] = [
  row(LATE, 'a copy after fifteen minutes', 'all looks before did not show it', () => ({
    account: sent({ at: 15 * MINUTE }),
    params,
  })),
  row(LATE, 'a copy after fifteen minutes, dated as in time', 'the dates are the author’s', () => ({
    account: home().file(15 * MINUTE, 'Sent', FORGED),
    params,
  })),
  row(LATE, 'a late copy without SAVEDATE', 'all looks before did not show it', () => ({
    account: home(DOVECOT_WITHOUT_SAVEDATE).file(15 * MINUTE, 'Sent', FORGED),
    dialect: DOVECOT_WITHOUT_SAVEDATE,
    params,
  })),
  row(LATE, 'a late copy at Gmail', 'all looks before did not show it', () => ({
    account: sent({ dialect: GMAIL, at: 14 * MINUTE }),
    dialect: GMAIL,
    params,
  })),
  row(LATE, 'a late copy at Cyrus, with its recipient', 'all looks before did not show it', () => ({
    account: sent({ dialect: CYRUS, at: 12 * MINUTE }),
    dialect: CYRUS,
    params: to(CLIENT),
  })),
  row(LATE, 'a draft that is sent too late', 'it came into Sent after the tolerance', () => ({
    account: home()
      .file(0, 'Drafts', FORGED)
      .move(14 * MINUTE, ID, 'Drafts', 'Sent'),
    params,
  })),
  row(LATE_UNTOLD, 'a late copy that the program files', 'the message may have been sent in time', () => ({
    account: sent({ at: 15 * MINUTE }),
    params,
    connection: { server_files_sent: false },
  })),
  row(
    ['late', 'unverifiable', 'late', 'failed'],
    'a late copy, claimed half an hour after the deed',
    'no look was in time',
    () => ({
      account: sent({ at: 20 * MINUTE }),
      params,
      submittedMs: 25 * MINUTE,
    }),
  ),
  row(['never', 'failed'], 'a copy after the deadline', 'it was not there by then', () => ({
    account: home().file(40 * MINUTE, 'Sent', FORGED),
    params,
  })),
  row(
    ['late', 'unverifiable', 'late', 'failed'],
    'a late copy, and a server in trouble until then',
    'it may have come before',
    () => ({
      account: sent({ at: 15 * MINUTE }),
      params,
      troubles: {
        instead: ({ name }, now) =>
          name === 'EXAMINE' && now > START + 4 * MINUTE && now < START + 14 * MINUTE
            ? { lines: ['TAG NO [UNAVAILABLE] Temporary failure'] }
            : undefined,
      },
    }),
  ),
]

const GONE_ROWS: readonly Row[] = [
  row(UNKNOWABLE, 'a copy that came and went between two looks', 'the number that it had is missing', () => ({
    account: sent({ at: 23 * SECOND }).expunge(25 * SECOND, 'Sent', ID),
    params,
  })),
  row(UNKNOWABLE, 'a copy that a rule files elsewhere at once', 'the number that it had is missing', () => ({
    account: sent({ at: 25 * SECOND }).move(26 * SECOND, ID, 'Sent', ARCHIVE),
    params,
  })),
  row(UNKNOWABLE, 'a mailbox that is emptied between two looks', 'what came before is gone with the rest', () => ({
    account: sent({ at: 40 * SECOND }).expunge(42 * SECOND, 'Sent'),
    params,
  })),
  row(FAILED, 'a mailbox that is emptied, and nothing came', 'no number was given', () => ({
    account: home().expunge(42 * SECOND, 'Sent'),
    params,
  })),
  row(UNKNOWABLE, 'a mailbox that is numbered anew, and empty', 'another UIDVALIDITY is another mailbox', () => ({
    account: home().renumber(30 * SECOND, 'Sent', { keeps: false }),
    params,
  })),
  row(UNKNOWABLE, 'a mailbox that is deleted and made again', 'what was in it is gone', () => ({
    account: sent({ at: 23 * SECOND })
      .delete(24 * SECOND, 'Sent')
      .create(25 * SECOND, 'Sent', { attributes: ['\\Sent'], uidValidity: 1_773_221_423 }),
    params,
  })),
  row(UNKNOWABLE, 'a mailbox that is made again by the end of the tolerance', 'what was in it is gone', () => ({
    account: home()
      .delete(9 * MINUTE, 'Sent')
      .create(9 * MINUTE, 'Sent', { attributes: ['\\Sent'], uidValidity: 1_773_222_000 }),
    params,
  })),
  row(TRUE, 'a mailbox that is numbered anew, with its messages', 'the message is there', () => ({
    account: sent({ at: 2 * MINUTE }).renumber(2 * MINUTE + SECOND, 'Sent', { keeps: true }),
    params,
  })),
  row(UNKNOWABLE, 'a mailbox that another takes the place of', 'the mark of sent messages moved to a new one', () => ({
    account: sent({ at: 23 * SECOND })
      .mark(24 * SECOND, 'Sent', [])
      .create(24 * SECOND, 'Sent Messages', { attributes: ['\\Sent'] }),
    params,
  })),
  row(
    UNKNOWABLE,
    'another mailbox in its place, with another UIDVALIDITY',
    'the mark of sent messages moved to a new one',
    () => ({
      account: sent({ at: 23 * SECOND })
        .mark(24 * SECOND, 'Sent', [])
        .create(24 * SECOND, 'Sent Messages', { attributes: ['\\Sent'], uidValidity: 1_773_221_424 }),
      params,
    }),
  ),
  row(UNKNOWABLE, 'one of two mailboxes goes', 'the message may have been in it', () => ({
    account: home()
      .create(-DAY, 'Sent Messages', { attributes: ['\\Sent'] })
      .file(23 * SECOND, 'Sent Messages', offer())
      .delete(24 * SECOND, 'Sent Messages'),
    params,
  })),
  row(UNKNOWABLE, 'the mark of sent messages goes', 'no mailbox is for sent messages any more', () => ({
    account: home().mark(20 * SECOND, 'Sent', []),
    params,
  })),
  row(UNKNOWABLE, 'the mailbox goes', 'it is hidden, or gone', () => ({
    account: home().delete(20 * SECOND, 'Sent'),
    params,
  })),
  row(TRUE, 'the mailbox is renamed', 'its use and its messages stay', () => ({
    account: home()
      .mark(2 * MINUTE, 'Sent', [])
      .create(2 * MINUTE, 'Versendet', { attributes: ['\\Sent'], uidNext: 40 })
      .file(2 * MINUTE, 'Versendet', offer()),
    params,
  })),
  row(TRUE_UNTOLD, 'a copy that was filed elsewhere before the claim', 'the claim is an hour old', () => ({
    account: sent().move(MINUTE, ID, 'Sent', ARCHIVE),
    params,
    submittedMs: HOUR,
  })),
  row(UNKNOWABLE, 'nothing, claimed an hour after the deed', 'what was sent may be gone', () => ({
    account: home(),
    params,
    submittedMs: HOUR,
  })),
  row(UNKNOWABLE, 'nothing, claimed a minute after the deed', 'what was sent may be gone', () => ({
    account: home(),
    params,
    submittedMs: MINUTE,
  })),
]

/** A claim that is submitted when the tolerance is over: only the server's times can say more. */
const afterwards = { params, submittedMs: 20 * MINUTE, deadlineMs: HOUR }
const MAYBE_LATE: Kind = ['late', 'unverifiable', 'late', 'failed']

const CLOCK_ROWS: readonly Row[] = [
  row(TRUE_HARD, 'claimed afterwards, by a clock that is an hour ahead', 'both times are of one clock', () => ({
    account: sent(),
    ...afterwards,
    troubles: { aheadMs: HOUR },
  })),
  row(TRUE_HARD, 'claimed afterwards, dated 2001', 'SAVEDATE says that it was in time', () => ({
    account: home().file(0, 'Sent', { ...offer(), internalDate: Date.UTC(2001, 0, 1) }),
    ...afterwards,
  })),
  row(TRUE_HARD, 'claimed afterwards, dated next year', 'SAVEDATE says that it was in time', () => ({
    account: home().file(0, 'Sent', { ...offer(), internalDate: Date.UTC(2027, 2, 11) }),
    ...afterwards,
  })),
  row(TRUE_HARD, 'claimed afterwards at Cyrus', 'SAVEDATE says that it was in time', () => ({
    account: sent({ dialect: CYRUS }),
    dialect: CYRUS,
    ...afterwards,
  })),
  row(TRUE_UNTOLD, 'claimed afterwards at Gmail', 'dates of the author say nothing', () => ({
    account: sent({ dialect: GMAIL }),
    dialect: GMAIL,
    ...afterwards,
  })),
  row(
    MAYBE_LATE,
    'late and claimed afterwards, by a clock that is an hour ahead',
    'its times say that it was late',
    () => ({
      account: sent({ at: 18 * MINUTE }),
      ...afterwards,
      troubles: { aheadMs: HOUR },
    }),
  ),
  row(MAYBE_LATE, 'late and claimed afterwards, dated as in time', 'dates of the author say nothing', () => ({
    account: home().file(18 * MINUTE, 'Sent', FORGED),
    ...afterwards,
  })),
  row(MAYBE_LATE, 'late and claimed afterwards at Gmail, dated as in time', 'dates of the author say nothing', () => ({
    account: home(GMAIL).file(18 * MINUTE, GMAIL.sent, FORGED),
    dialect: GMAIL,
    ...afterwards,
  })),
  row(TRUE_UNTOLD, 'stored again without its attachment', 'both times of the copy are of the second time', () => ({
    account: sent()
      .expunge(15 * MINUTE, 'Sent', ID)
      .file(15 * MINUTE, 'Sent', offer()),
    ...afterwards,
  })),
  row(
    TRUE_UNTOLD,
    'stored again without its attachment, and others since',
    'both times of the copy are of the second time',
    () => ({
      account: sent()
        .file(2 * MINUTE, 'Sent', offer({ id: 'next@acme.example' }))
        .expunge(15 * MINUTE, 'Sent', ID)
        .file(15 * MINUTE, 'Sent', offer())
        .file(16 * MINUTE, 'Sent', offer({ id: 'last@acme.example' })),
      ...afterwards,
    }),
  ),
  row(TRUE_UNTOLD, 'moved away and back at Cyrus', 'SAVEDATE is of the second time', () => ({
    account: sent({ dialect: CYRUS })
      .move(5 * MINUTE, ID, 'Sent', ARCHIVE)
      .move(12 * MINUTE, ID, ARCHIVE, 'Sent'),
    dialect: CYRUS,
    ...afterwards,
  })),
  row(TRUE_UNTOLD, 'a copy that was moved away and back', 'SAVEDATE is of the second time', () => ({
    account: sent()
      .move(5 * MINUTE, ID, 'Sent', ARCHIVE)
      .move(12 * MINUTE, ID, ARCHIVE, 'Sent'),
    params,
    submittedMs: 13 * MINUTE,
    deadlineMs: HOUR,
  })),
  row(
    TRUE_UNTOLD,
    'a mailbox that was converted',
    'dsync gave all messages new times (dovecot/core, pull 106)',
    () => ({
      account: sent().saveAgain(20 * MINUTE, 'Sent'),
      params,
      submittedMs: 21 * MINUTE,
      deadlineMs: HOUR,
    }),
  ),
  row(
    TRUE_UNTOLD,
    'a flag, and an index that was made anew',
    'Dovecot 2.3.19 takes the time of the last rename for SAVEDATE',
    () => ({
      account: sent()
        .flag(11 * MINUTE, 'Sent', ID, ['\\Seen', '\\Flagged'])
        .saveAgain(11 * MINUTE, 'Sent'),
      params,
      submittedMs: 12 * MINUTE,
      deadlineMs: HOUR,
    }),
  ),
  row(TRUE, 'an index that is made anew after an absence', 'the message is there in time', () => ({
    account: sent({ at: MINUTE }).saveAgain(2 * MINUTE, 'Sent'),
    params,
  })),
  row(
    ['in time', 'verified', 'unverifiable'],
    'claimed twenty minutes after the deed',
    'SAVEDATE says that it was in time',
    () => ({
      account: sent(),
      params,
      submittedMs: 20 * MINUTE,
      deadlineMs: HOUR,
    }),
  ),
  row(
    TRUE_UNTOLD,
    'claimed twenty minutes after the deed, without SAVEDATE',
    'dates of the author say nothing',
    () => ({
      account: sent({ dialect: DOVECOT_WITHOUT_SAVEDATE }),
      dialect: DOVECOT_WITHOUT_SAVEDATE,
      params,
      submittedMs: 20 * MINUTE,
      deadlineMs: HOUR,
    }),
  ),
  row(
    ['late', 'unverifiable', 'late', 'failed'],
    'late and forged, claimed twenty minutes after',
    'dates of the author say nothing',
    () => ({
      account: home(DOVECOT_WITHOUT_SAVEDATE).file(18 * MINUTE, 'Sent', FORGED),
      dialect: DOVECOT_WITHOUT_SAVEDATE,
      params,
      submittedMs: 20 * MINUTE,
      deadlineMs: HOUR,
    }),
  ),
  row(
    ['late', 'unverifiable', 'late', 'failed'],
    'late by a server whose clock is an hour behind',
    'its times say that it was in time',
    () => ({
      account: sent({ at: 18 * MINUTE }),
      params,
      submittedMs: 20 * MINUTE,
      deadlineMs: HOUR,
      troubles: { aheadMs: -HOUR },
    }),
  ),
  row(TRUE, 'a server whose clock is an hour ahead', 'the look is within the tolerance', () => ({
    account: sent(),
    params,
    troubles: { aheadMs: HOUR },
  })),
  row(TRUE, 'a server whose clock is an hour behind', 'the look is within the tolerance', () => ({
    account: sent({ at: MINUTE }),
    params,
    troubles: { aheadMs: -HOUR },
  })),
  row(TRUE_HARD, 'a server whose clock is three days ahead', 'its times are later than its answers', () => ({
    account: sent(),
    params,
    troubles: { aheadMs: 3 * DAY },
  })),
  row(TRUE, 'a server that tells other zones', 'a time has a zone', () => ({
    account: sent(),
    dialect: { ...DOVECOT, zone: '-0730' },
    params,
  })),
]

/** A copy that lags behind by a time, until a moment. */
const lag = (byMs: number, untilMs: number) => ({ shows: (now: number) => (now < START + untilMs ? now - byMs : now) })

const REPLICA_ROWS: readonly Row[] = [
  row(TRUE, 'a copy of the server that lags for a minute', 'it shows the message within the tolerance', () => ({
    account: sent(),
    params,
    troubles: lag(MINUTE, 2 * MINUTE),
  })),
  row(TRUE, 'a copy of the server that lags for five minutes', 'it shows the message within the tolerance', () => ({
    account: sent(),
    params,
    troubles: lag(5 * MINUTE, DAY),
  })),
  row(TRUE_UNTOLD, 'a failover to the backup of the night', 'its next number is lower than one that was told', () => ({
    account: sent({ at: 10 * SECOND }).file(5 * SECOND + 10 * SECOND, 'Sent', offer({ id: 'next@acme.example' })),
    params,
    troubles: { shows: (now) => (now < START + 5 * SECOND ? now : START - 40 * DAY) },
  })),
  row(TRUE_UNTOLD, 'a failover to a copy that has other messages', 'the numbers of its messages are others', () => ({
    account: home()
      .file(SECOND, 'Sent', offer({ id: 'before@acme.example' }))
      .file(10 * SECOND, 'Sent', offer()),
    params,
    troubles: { shows: (now) => (now < START + 8 * SECOND ? now : START) },
  })),
  row(TRUE, 'looks at two servers in turn', 'one of them has the message', () => ({
    account: sent({ at: 10 * SECOND }),
    params,
    troubles: { shows: (now) => (Math.floor(now / MINUTE) % 2 === 0 ? now : now - 20 * MINUTE) },
  })),
  row(NOT_DONE, 'looks at two servers in turn: no message', 'one of them is older', () => ({
    account: home().file(5 * SECOND, 'Sent', offer({ id: 'other@acme.example' })),
    params,
    troubles: { shows: (now) => (Math.floor(now / MINUTE) % 2 === 0 ? now : now - 20 * MINUTE) },
  })),
]

export const TIMES: readonly Row[] = [...LATE_ROWS, ...GONE_ROWS, ...CLOCK_ROWS, ...REPLICA_ROWS]
