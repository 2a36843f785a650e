/** The clock that all hosts share. */
import type { Db } from './db.ts'

/** Reads the database's clock: milliseconds since the Unix epoch, with fractions, as the statement runs, not as its transaction began. */
export function databaseClock(db: Db): () => Promise<number> {
  const sql = `SELECT CAST(${db.dialect.clock} AS double precision) AS milliseconds`
  return async () => Number((await db.query(sql))[0]!.milliseconds)
}
