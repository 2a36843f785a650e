/** The clock that all hosts have in common. */
import type { Db } from './db.ts'

/** Milliseconds since the Unix epoch, with fractions: as the statement runs, not as its transaction began. */
export function databaseClock(db: Db): () => Promise<number> {
  return async () => {
    const [row] = await db.query(
      'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS double precision) AS milliseconds',
    )
    return Number(row!.milliseconds)
  }
}
