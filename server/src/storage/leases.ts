/** Leases: work that one host does at a time, until it lets go or falls silent. The database's clock, which all hosts share, times them. */
import type { Db } from './db.ts'
import { instant, table, text } from './table.ts'

export const leases = table('leases', ['name'], {
  name: text('name'),
  holder: text('holder'),
  until: instant('until'),
})

export function leaseWrites(db: Db) {
  const now = `CAST(${db.dialect.clock} AS bigint)`
  return {
    /** Takes a free lease, or extends the holder's own, for `forMs` from now. False: another holder has it. */
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
