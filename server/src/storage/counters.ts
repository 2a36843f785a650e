/** Counts of requests that all hosts share. A crash of the database empties them, and they begin anew. */
import type { Instant } from '@claimcheck/core'
import type { Db, Row } from './db.ts'
import { type Columns, insertRows } from './rows.ts'

export interface Counted {
  readonly limiter: string
  readonly subject: string
}

export interface Counter extends Counted {
  readonly count: number
}

export type RateCounters = ReturnType<typeof rateCounters>

const COLUMNS: Columns = { window_start: 'bigint', limiter: 'text', subject: 'text', count: 'integer' }

// In one order whoever adds, so that no two statements wait for each other.
const ADD = `ORDER BY limiter, subject
  ON CONFLICT (window_start, limiter, subject) DO UPDATE SET count = rate_counters.count + excluded.count
  RETURNING limiter, subject, count`

export function rateCounters(db: Db) {
  return {
    /** Adds to the window's counters, each named once, and returns what they come to. */
    async add(windowStart: Instant, counters: readonly Counter[]): Promise<Counter[]> {
      const rows = counters.map(({ limiter, subject, count }) => [windowStart, limiter, subject, count])
      return (await insertRows(db, 'rate_counters', COLUMNS, rows, ADD)).map(toCounter)
    },
    /** Removes counters of earlier windows, passing over those that another host is removing. Returns how many. */
    async removeBefore(windowStart: Instant, most: number): Promise<number> {
      const removed = await db.query(
        `DELETE FROM rate_counters WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM rate_counters WHERE window_start < ? LIMIT ? FOR UPDATE SKIP LOCKED)) RETURNING 1 AS one`,
        [windowStart, most],
      )
      return removed.length
    },
  }
}

function toCounter(row: Row): Counter {
  return { limiter: String(row.limiter), subject: String(row.subject), count: Number(row.count) }
}
