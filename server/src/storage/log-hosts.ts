/** Hosts that run, each with a lease, and whether it found in the database what it remembers of the log. */
import type { Db } from './db.ts'
import { bigint, instant, type RowOf, table, text } from './table.ts'

export const hosts = table('log_hosts', ['hostId'], {
  hostId: text('host_id'),
  until: instant('until'),
  /** The answer of the database (`answersAs`) when the host last compared it with what it remembers. */
  comparedOn: text('compared_on'),
  /** The number of the host's question to all others; 0: it has asked nothing. */
  asked: bigint('asked'),
  /** The newest question of another host that was there before this one compared. */
  answered: bigint('answered'),
  /** The log that the host remembers, or found to be the newest; empty while it waits for others that know. */
  knows: text('knows'),
  /** The id of the process that runs the host, or `COMMAND`. Empty: an earlier version ran it. */
  process: text('process'),
})

export interface LogHost extends RowOf<typeof hosts> {
  /** True while the host's lease has not ended. */
  readonly isAlive: boolean
}

/** The process of a command, which is no host: nobody waits for it. Of a host whose data folder it uses, it leaves the process as it is. */
export const COMMAND = 'command'

/** The time after the end of its lease when a host is forgotten. */
const FORGET_MS = 3_600_000

export function logHosts(db: Db) {
  const { clock, answersAs = `''` } = db.dialect
  const now = `CAST(${clock} AS bigint)`
  return {
    async all(): Promise<LogHost[]> {
      const rows = await db.query(`SELECT ${hosts.names}, until > ${now} AS is_alive FROM log_hosts ORDER BY host_id`)
      return rows.map((row) => ({ ...hosts.read(row), isAlive: Boolean(row.is_alive) }))
    },
    /** Takes or renews the lease of a host, for `forMs` from now. */
    async beat(
      { hostId, comparedOn, asked, answered, knows, process }: Omit<LogHost, 'until' | 'isAlive'>,
      forMs: number,
    ): Promise<void> {
      const sql = `INSERT INTO log_hosts (${hosts.names}) VALUES (?, ${now} + ?, ?, ?, ?, ?, ?) ON CONFLICT (host_id) DO UPDATE
        SET until = excluded.until, compared_on = excluded.compared_on, asked = excluded.asked, answered = excluded.answered,
          knows = excluded.knows, process = CASE WHEN excluded.process IN ('', '${COMMAND}') THEN log_hosts.process ELSE excluded.process END`
      await db.query(sql, [hostId, forMs, comparedOn, asked, answered, knows, process])
    },
    /** Notes a silent host of which others know that it ran. */
    async note(hostId: string): Promise<void> {
      const sql = `INSERT INTO log_hosts (${hosts.names}) VALUES (?, ${now}, '', 0, 0, '', '') ON CONFLICT (host_id) DO NOTHING`
      await db.query(sql, [hostId])
    },
    /**
     * Forgets a host that ends. Others that ended are forgotten too, unless the log is bound to another server than this one: they may have signed
     * there what is not here.
     */
    async leave(hostId: string): Promise<void> {
      const isBound = `EXISTS (SELECT 1 FROM logs WHERE ended_at IS NULL AND agreed_on = ${answersAs})`
      const isForgotten = `(until < ${now} - ${FORGET_MS} AND ${isBound})`
      await db.query(`DELETE FROM log_hosts WHERE host_id = ? OR ${isForgotten}`, [hostId])
    },
  }
}
