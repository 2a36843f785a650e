/** Mails that wait to be sent, as rows: every host may take them, and each is handed to one host at a time. */
import type { Instant } from '@claimcheck/core/rules'
import type { Db } from './db.ts'
import { insertRows, selectRows } from './rows.ts'
import { instant, integer, nullable, type RowOf, table, text } from './table.ts'

export const mails = table('mails', ['id'], {
  id: text('id'),
  kind: text<'message' | 'reset'>('kind'),
  recipient: text('recipient'),
  /** The sealed content; null for a reset, which gets its link when it is sent, and for a mail that was sent. */
  content: nullable(text('content')),
  /** A text that keeps the same mail from being stored twice: only the first mail with it is. */
  once: nullable(text('once')),
  /** The link in the mail: a mail is not sent after its link has ended. */
  about: nullable(text('about')),
  createdAt: instant('created_at'),
  /** The time when a host gets the mail next. */
  dueAt: instant('due_at'),
  attempts: integer('attempts'),
  /** The time of sending, set only where `once` keeps the row for a while. */
  sentAt: nullable(instant('sent_at')),
})

export type MailRow = RowOf<typeof mails>

const MOST_BROWSERS = 50

/** The browsers with which a person has signed in. */
export const seenBrowsers = table('seen_browsers', ['userId', 'browser'], {
  userId: text('user_id'),
  /** A hash that identifies the browser. */
  browser: text('browser'),
  seenAt: instant('seen_at'),
})

export function mailReads(db: Db) {
  return {
    async anyDue(now: Instant): Promise<boolean> {
      return (
        (await db.query('SELECT 1 AS one FROM mails WHERE sent_at IS NULL AND due_at <= ? LIMIT 1', [now])).length > 0
      )
    },
    /** Counts the waiting mails, and tells since when the oldest has waited. */
    async waiting(): Promise<{ readonly count: number; readonly since: Instant | null }> {
      const [row] = await db.query(
        'SELECT COUNT(*) AS count, MIN(created_at) AS since FROM mails WHERE sent_at IS NULL',
      )
      return { count: Number(row!.count), since: row!.since === null ? null : Number(row!.since) }
    },
  }
}

export function mailWrites(db: Db) {
  return {
    ...mailReads(db),
    async isKept(once: string): Promise<boolean> {
      return (await db.query('SELECT 1 AS one FROM mails WHERE once = ?', [once])).length > 0
    },
    async insert(rows: readonly MailRow[]): Promise<void> {
      await insertRows(db, mails, rows, 'ON CONFLICT (once) DO NOTHING')
    },
    /** Hands out due mails, and hides each from other hosts until `leaseEnd`. Counts an attempt. */
    async lease(now: Instant, leaseEnd: Instant, limit: number): Promise<MailRow[]> {
      const due = `SELECT id FROM mails WHERE sent_at IS NULL AND due_at <= ? ORDER BY due_at, id LIMIT ? ${db.dialect.forUpdateSkipLocked}`
      const sql = `UPDATE mails SET due_at = ?, attempts = attempts + 1 WHERE id IN (${due}) RETURNING ${mails.names}`
      return (await db.query(sql, [leaseEnd, now, limit])).map(mails.read)
    },
    async postpone(id: string, dueAt: Instant): Promise<void> {
      await db.table(mails.name).where({ id }).update({ due_at: dueAt })
    },
    /** Finishes a mail that was sent, or is not to be: the row goes, unless it keeps others from being stored. */
    async finish({ id, once }: MailRow, at: Instant): Promise<void> {
      const row = db.table(mails.name).where({ id })
      if (once === null) await row.delete()
      else await row.update({ sent_at: at, content: null })
    },
    /** Tells whether this person was seen before, and never with this browser. The newest browsers of each person are remembered. */
    async isNewBrowser(userId: string, browser: string, at: Instant): Promise<boolean> {
      const seen = await selectRows(db, seenBrowsers, 'WHERE user_id = ?', [userId])
      const suffix = 'ON CONFLICT (user_id, browser) DO UPDATE SET seen_at = excluded.seen_at'
      await insertRows(db, seenBrowsers, [{ userId, browser, seenAt: at }], suffix)
      const kept = 'SELECT browser FROM seen_browsers WHERE user_id = ? ORDER BY seen_at DESC LIMIT ?'
      await db.query(`DELETE FROM seen_browsers WHERE user_id = ? AND browser NOT IN (${kept})`, [
        userId,
        userId,
        MOST_BROWSERS,
      ])
      return seen.length > 0 && seen.every((one) => one.browser !== browser)
    },
    async forgetBrowsers(userId: string): Promise<void> {
      await db.query('DELETE FROM seen_browsers WHERE user_id = ?', [userId])
    },
    async removeSent(before: Instant): Promise<void> {
      await db.query('DELETE FROM mails WHERE sent_at IS NOT NULL AND created_at < ?', [before])
    },
  }
}
