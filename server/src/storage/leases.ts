/** Leases: what one host does at a time, until it lets go or falls silent. They run by the database's clock, which all hosts have in common. */
import type { Db, Dialect } from './db.ts'

export function leaseWrites(db: Db) {
  const now = NOW[db.dialect]
  return {
    /** Takes a lease that nobody holds any more, or makes one's own last so long from now. False: another holder has it. */
    async take(name: string, holder: string, forMs: number): Promise<boolean> {
      const sql = `INSERT INTO leases (name, holder, until) VALUES (?, ?, ${now} + ?)
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE leases.holder = excluded.holder OR leases.until <= ${now} RETURNING holder`
      return (await db.query(sql, [name, holder, forMs])).length === 1
    },
    async release(name: string, holder: string): Promise<void> {
      await db.query('DELETE FROM leases WHERE name = ? AND holder = ?', [name, holder])
    },
  }
}

/** Milliseconds since the Unix epoch, as the statement runs. */
const NOW: Readonly<Record<Dialect, string>> = {
  sqlite: `CAST(unixepoch('subsec') * 1000 AS integer)`,
  postgres: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)',
}
