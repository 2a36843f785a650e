/** Throttles: counts of failed guesses and of registrations that delay the next one. All hosts share them. */
import type { Instant } from '@claimcheck/core/rules'
import type { Db } from './db.ts'
import { insertRows, selectRow, selectRows } from './rows.ts'
import { instant, integer, type RowOf, table, text } from './table.ts'

export const throttles = table('throttles', ['subject'], {
  /** The kind of count, and its account, address or network. */
  subject: text('subject'),
  count: integer('count'),
  /** The time before which nothing more is accepted. */
  nextAt: instant('next_at'),
  /** The time when the count begins anew. */
  expiresAt: instant('expires_at'),
})

export type Throttle = RowOf<typeof throttles>

/** Adds one to a throttle. The time in which it counts begins with the first. */
export function counted(throttle: Throttle, at: Instant, lastsMs: number): Throttle {
  const expiresAt = throttle.count === 0 ? at + lastsMs : throttle.expiresAt
  return { ...throttle, count: throttle.count + 1, expiresAt }
}

// All hosts take throttles in one order, so that no two transactions wait for each other.
const TAKE = `ORDER BY subject ON CONFLICT (subject) DO UPDATE SET subject = excluded.subject RETURNING ${throttles.names}`
const PUT = `ORDER BY subject ON CONFLICT (subject)
  DO UPDATE SET count = excluded.count, next_at = excluded.next_at, expires_at = excluded.expires_at`

export function throttleReads(db: Db) {
  return {
    /** Finds a throttle; undefined where nothing was counted, or the count is over. Locks and writes nothing. */
    async of(subject: string, now: Instant): Promise<Throttle | undefined> {
      return selectRow(db, throttles, 'WHERE subject = ? AND expires_at > ?', [subject, now])
    },
  }
}

export function throttleWrites(db: Db) {
  return {
    /** Reads the throttles of these subjects, which stay as they are until the transaction ends. Missing ones begin at 0. */
    async take(subjects: readonly string[], now: Instant): Promise<Map<string, Throttle>> {
      const fresh = subjects.map((subject) => ({ subject, count: 0, nextAt: 0, expiresAt: now }))
      const rows = (await insertRows(db, throttles, fresh, TAKE)).map(throttles.read)
      return new Map(rows.map((row) => [row.subject, row.expiresAt <= now ? { ...row, count: 0, nextAt: 0 } : row]))
    },
    /** Lists the throttles that begin with this subject and a slash, and are not over. */
    async below(subject: string, now: Instant): Promise<Throttle[]> {
      // A range of subjects ends before `0`, the character after the slash.
      const rest = 'WHERE subject > ? AND subject < ? AND expires_at > ?'
      return selectRows(db, throttles, rest, [`${subject}/`, `${subject}0`, now])
    },
    async put(rows: readonly Throttle[]): Promise<void> {
      await insertRows(db, throttles, rows, PUT)
    },
    async remove(subject: string): Promise<void> {
      await db.table(throttles.name).where({ subject }).delete()
    },
    async removeExpired(now: Instant): Promise<void> {
      await db.table(throttles.name).where('expires_at', '<=', now).delete()
    },
  }
}
