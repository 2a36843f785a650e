/** Counts of requests that all hosts share. A crash of the database may empty them; counting goes on from there. */
import type { Instant } from '@claimcheck/core/rules'
import type { Db } from './db.ts'
import type { SharedStatements } from './dialect.ts'
import { insertRows } from './rows.ts'
import { instant, integer, part, type RowOf, table, text } from './table.ts'

export const rateCounters = table('rate_counters', ['windowStart', 'limiter', 'subject'], {
  windowStart: instant('window_start'),
  limiter: text('limiter'),
  subject: text('subject'),
  count: integer('count'),
})

const counted = part(rateCounters, 'limiter', 'subject')
const counter = part(rateCounters, 'limiter', 'subject', 'count')

export type Counted = RowOf<typeof counted>
export type Counter = RowOf<typeof counter>
export type RateCounters = ReturnType<typeof counterWrites>

// All hosts add counters in one order, so that no two statements wait for each other.
const ADD = `ORDER BY limiter, subject
  ON CONFLICT (window_start, limiter, subject) DO UPDATE SET count = rate_counters.count + excluded.count
  RETURNING ${counter.names}`

export function counterWrites(db: Db, { deleteSome }: SharedStatements) {
  return {
    /** Adds to the window's counters, each named once, and returns their new counts. */
    async add(windowStart: Instant, added: readonly Counter[]): Promise<Counter[]> {
      const rows = added.map((row) => ({ ...row, windowStart }))
      return (await insertRows(db, rateCounters, rows, ADD)).map(counter.read)
    },
    /** Removes counters of earlier windows, passing over those that another host is removing. Returns the number of removed ones. */
    async removeBefore(windowStart: Instant, most: number): Promise<number> {
      return (await db.query(deleteSome(rateCounters.name, 'window_start < ?'), [windowStart, most])).length
    },
  }
}
