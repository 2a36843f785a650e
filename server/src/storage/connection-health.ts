/** The health of connections as rows: since when each fails, and of what an event told already, so that a failure that repeats is told once, and its end once. */
import type { Instant } from '@claimcheck/core/rules'
import type { Db } from './db.ts'
import { insertRows, selectRows } from './rows.ts'
import { instant, nullable, part, table, text } from './table.ts'
import { connections } from './workspaces.ts'

export const connectionHealth = table('connection_health', ['connectionId'], {
  connectionId: text('connection_id'),
  /** The time of the first failure since the last read, of a kind that says something about the connection. */
  failingSince: nullable(instant('failing_since')),
  /** The time of the event that told of the failure; null once another told of the end. */
  toldAt: nullable(instant('told_at')),
  /** The end of the credentials of which an event told. */
  expiryTold: nullable(instant('expiry_told')),
})

const UNTOLD = { toldAt: null, expiryTold: null }
const expiring = part(connections, 'id', 'workspaceId', 'name', 'provider', 'expiresAt')

export function connectionHealthWrites(db: Db) {
  return {
    /**
     * Notes a failure.
     * @param patienceMs how long a connection has to fail before it is told
     * @returns true if the failure is to be told
     */
    async failed(connectionId: string, at: Instant, patienceMs: number): Promise<boolean> {
      const row = { connectionId, failingSince: at, ...UNTOLD }
      const begins = 'COALESCE(connection_health.failing_since, excluded.failing_since)'
      await insertRows(
        db,
        connectionHealth,
        [row],
        `ON CONFLICT (connection_id) DO UPDATE SET failing_since = ${begins}`,
      )
      const sql = `UPDATE connection_health SET told_at = CAST(? AS bigint)
        WHERE connection_id = ? AND told_at IS NULL AND failing_since <= ? RETURNING connection_id`
      return (await db.query(sql, [at, connectionId, at - patienceMs])).length > 0
    },
    /** Notes a read. Returns true if it ends a failure that was told. */
    async wasRead(connectionId: string, at: Instant): Promise<boolean> {
      const ends = 'WHERE connection_id = ? AND failing_since <= ?'
      const told = await db.query(
        `UPDATE connection_health SET told_at = NULL ${ends} AND told_at IS NOT NULL RETURNING connection_id`,
        [connectionId, at],
      )
      await db.query(`UPDATE connection_health SET failing_since = NULL ${ends}`, [connectionId, at])
      return told.length > 0
    },
    /** Finds the active connections whose credentials end before then, and of which no event told yet, and notes that it is told. */
    async tellExpiring(now: Instant, before: Instant) {
      // Connections are locked before their health, as everywhere.
      const found = await selectRows(
        db,
        expiring,
        `WHERE disconnected_at IS NULL AND expires_at > ? AND expires_at <= ? AND NOT EXISTS (SELECT 1 FROM connection_health
          WHERE connection_id = connections.id AND expiry_told = connections.expires_at) ORDER BY id ${db.dialect.forChange}`,
        [now, before],
      )
      const rows = found.map(({ id, expiresAt }) => {
        return { connectionId: id, failingSince: null, toldAt: null, expiryTold: expiresAt }
      })
      await insertRows(
        db,
        connectionHealth,
        rows,
        'ON CONFLICT (connection_id) DO UPDATE SET expiry_told = excluded.expiry_told',
      )
      return found
    },
  }
}
