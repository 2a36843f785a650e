/**
 * The health of connections as rows: since when each fails, and of what an event told already. A failure that repeats is told once, and its end once:
 * a connection that fails and is read in turn goes on failing.
 */
import type { Instant } from '@claimcheck/core/rules'
import type { Db } from './db.ts'
import { insertRows, selectRows } from './rows.ts'
import { instant, nullable, part, table, text } from './table.ts'
import { connections } from './workspaces.ts'

export const connectionHealth = table('connection_health', ['connectionId'], {
  connectionId: text('connection_id'),
  /** The time of the first failure since the last read, of a kind that says something about the connection; of one that was told, since its end. */
  failingSince: nullable(instant('failing_since')),
  /** The time of the event that told of the failure; null once another told of the end. */
  toldAt: nullable(instant('told_at')),
  /** The time of the first read since the last failure, of a connection whose failure was told. */
  readSince: nullable(instant('read_since')),
  /** The end of the credentials of which an event told. */
  expiryTold: nullable(instant('expiry_told')),
})

const UNTOLD = { toldAt: null, readSince: null, expiryTold: null }
const recovering = part(connections, 'id', 'workspaceId', 'name', 'provider')
const expiring = part(connections, 'id', 'workspaceId', 'name', 'provider', 'expiresAt')

export function connectionHealthWrites(db: Db) {
  return {
    /**
     * Notes a failure.
     * @param told the time until which a connection has to have failed already for the failure to be told
     * @returns true if it is to be told
     */
    async failed(connectionId: string, at: Instant, told: Instant): Promise<boolean> {
      const row = { connectionId, failingSince: at, ...UNTOLD }
      const begins = 'COALESCE(connection_health.failing_since, excluded.failing_since)'
      await insertRows(
        db,
        connectionHealth,
        [row],
        `ON CONFLICT (connection_id) DO UPDATE SET failing_since = ${begins}, read_since = NULL`,
      )
      const sql = `UPDATE connection_health SET told_at = CAST(? AS bigint)
        WHERE connection_id = ? AND told_at IS NULL AND failing_since <= ? RETURNING connection_id`
      return (await db.query(sql, [at, connectionId, told])).length > 0
    },
    /** Notes a failure that a read followed: it is not told, but a failure that was told has not ended before it. */
    async interrupted(connectionId: string): Promise<void> {
      await db.query('UPDATE connection_health SET read_since = NULL WHERE connection_id = ?', [connectionId])
    },
    /** Notes a read. It ends a failure that was not told. */
    async wasRead(connectionId: string, at: Instant): Promise<void> {
      const sql = `UPDATE connection_health SET failing_since = CASE WHEN told_at IS NULL THEN NULL ELSE failing_since END,
        read_since = CASE WHEN told_at IS NULL THEN NULL ELSE CAST(? AS bigint) END
        WHERE connection_id = ? AND failing_since <= ? AND read_since IS NULL`
      await db.query(sql, [at, connectionId, at])
    },
    /** Finds the active connections whose failures were told, and which were read since then without another, and notes that it is told. */
    async tellRecovered(before: Instant) {
      const found = await selectRows(
        db,
        recovering,
        `WHERE disconnected_at IS NULL AND id IN (SELECT connection_id FROM connection_health WHERE read_since <= ?)
          ORDER BY id ${db.dialect.forChange}`,
        [before],
      )
      const ended = await db.query(
        `UPDATE connection_health SET failing_since = NULL, told_at = NULL, read_since = NULL
          WHERE connection_id IN ${db.dialect.texts} AND read_since <= ? RETURNING connection_id`,
        [JSON.stringify(found.map(({ id }) => id)), before],
      )
      const ids = new Set(ended.map((row) => String(row.connection_id)))
      return found.filter(({ id }) => ids.has(id))
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
        return { connectionId: id, failingSince: null, ...UNTOLD, expiryTold: expiresAt }
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
