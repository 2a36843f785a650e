/** The audit trail as rows: entries are appended in the transaction of the change that they tell, chained by their hashes. */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../base/actor.ts'
import type { AuditEvent } from '../base/audit-events.ts'
import { type AuditDetails, type AuditEntry, CHAIN_START, chainHash } from './audit-chain.ts'
import { type AuditFilter, type AuditPage, auditTrail, listStatement } from './audit-query.ts'
import type { Db } from './db.ts'
import { insertRows, rowsOf, selectRow, selectRows, toJson } from './rows.ts'
import { bigint, bytes, integer, part, type RowOf, table, toHex } from './table.ts'

export type { AuditFilter } from './audit-query.ts'
export type AuditTrailRow = RowOf<typeof auditTrail>

const numbers = part(auditTrail, 'position')
const hashes = part(auditTrail, 'position', 'hash')
const times = part(auditTrail, 'position', 'at', 'hash')

/** The head of the trail, one row once there is an entry: the end of the chain, and where it begins after old entries were removed. */
export const auditTrailHead = table('audit_trail_head', ['id'], {
  id: integer('id'),
  /** The position of the newest entry. */
  last: bigint('last_position'),
  lastHash: bytes('last_hash'),
  /** The position of the oldest entry that is kept, and the hash of the one before it. */
  first: bigint('first_position'),
  beforeHash: bytes('before_hash'),
})

const auditTrailEnds = part(auditTrailHead, 'last', 'lastHash', 'first', 'beforeHash')
export type AuditTrailEnds = RowOf<typeof auditTrailEnds>

/** An entry to be appended to the audit trail, which tells of one change. */
export interface NewAuditEntry {
  readonly event: AuditEvent
  readonly at: Instant
  readonly by: Acting
  readonly workspaceId?: string | null
  /** The user whose account the entry is about. */
  readonly userId?: string | null
  /** The id of the entry's subject, such as a key. */
  readonly subject?: string | null
  /** Details of the change, never with a secret. */
  readonly details?: AuditDetails
}

export function auditTrailReads(db: Db) {
  return {
    async list(filter: AuditFilter, page: AuditPage): Promise<AuditTrailRow[]> {
      const { sql, bindings } = listStatement(db.dialect, filter, page)
      return (await db.query(sql, bindings, { replanned: true })).map(auditTrail.read)
    },
    /** Reads both ends of the trail; undefined before the first entry. */
    async ends(): Promise<AuditTrailEnds | undefined> {
      return selectRow(db, auditTrailEnds, 'WHERE id = 1')
    },
    /** Finds the hashes of the entries at these positions, where there are entries. */
    async hashesOf(positions: readonly number[]): Promise<ReadonlyMap<number, Uint8Array>> {
      const given = rowsOf(db.dialect, numbers)
      const rest = `WHERE position IN (SELECT position FROM ${given} AS given)`
      const rows = await selectRows(db, hashes, rest, [
        toJson(
          numbers,
          positions.map((position) => ({ position })),
        ),
      ])
      return new Map(rows.map(({ position, hash }) => [position, hash]))
    },
    /** Lists the next entries after a position, oldest first. */
    async after(position: number, limit: number): Promise<AuditTrailRow[]> {
      return selectRows(db, auditTrail, 'WHERE position > CAST(? AS bigint) ORDER BY position LIMIT ?', [
        position,
        limit,
      ])
    },
  }
}

export interface AuditCut {
  /** The positions of the first and the last entry that were removed. */
  readonly from: number
  readonly through: number
  /** The hash of the last removed entry, from which the rest of the chain follows. */
  readonly throughHash: Uint8Array
}

/** Collects the entries of one transaction, which appends them as the last thing that it does. */
export function auditTrailWrites(db: Db) {
  const collected: NewAuditEntry[] = []
  return {
    /**
     * Removes the oldest entries up to the first that is not older than `before`, and at most `most`. Undefined when there are none. The caller
     * records the cut in the same transaction.
     */
    async cut(before: Instant, most: number): Promise<AuditCut | undefined> {
      const { first } = await lockEnd(db)
      const oldest = await selectRows(db, times, 'ORDER BY position LIMIT ?', [most])
      const kept = oldest.findIndex(({ at }) => at >= before)
      const last = oldest[(kept < 0 ? oldest.length : kept) - 1]
      if (!last) return undefined
      const sql = `UPDATE audit_trail_head SET first_position = ?, before_hash = ${db.dialect.bytes('?')} WHERE id = 1`
      await db.query(sql, [last.position + 1, toHex(last.hash)])
      await db.query('DELETE FROM audit_trail WHERE position <= CAST(? AS bigint)', [last.position])
      return { from: first, through: last.position, throughHash: last.hash }
    },
    record(entry: NewAuditEntry): void {
      collected.push(entry)
    },
    /** Returns the entries that this transaction recorded so far. */
    entries(): readonly NewAuditEntry[] {
      return [...collected]
    },
    /**
     * Appends the recorded entries. Call it at the end of the transaction: the lock on the head is then every transaction's last, so that no two wait
     * for each other.
     */
    async flush(): Promise<void> {
      if (collected.length === 0) return
      const end = await lockEnd(db)
      let { last, lastHash } = end
      const rows = collected.splice(0).map((entry) => {
        last += 1
        const chained = toEntry(entry, last)
        lastHash = chainHash(lastHash, chained)
        return { ...chained, hash: lastHash }
      })
      await insertRows(db, auditTrail, rows)
      const sql = `UPDATE audit_trail_head SET last_position = ?, last_hash = ${db.dialect.bytes('?')} WHERE id = 1`
      await db.query(sql, [last, toHex(lastHash)])
    },
  }
}

/** Reads and locks the head, which no other transaction changes until this one ends. */
async function lockEnd(db: Db): Promise<AuditTrailEnds> {
  const row = { id: 1, last: 0, lastHash: CHAIN_START, first: 1, beforeHash: CHAIN_START }
  const suffix = `ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING ${auditTrailEnds.names}`
  const [locked] = await insertRows(db, auditTrailHead, [row], suffix)
  return auditTrailEnds.read(locked!)
}

function toEntry(entry: NewAuditEntry, position: number): AuditEntry {
  const { event, at, by, workspaceId = null, userId = null, subject = null, details = {} } = entry
  const { actor, address } = by
  return {
    position,
    at,
    event,
    actorKind: actor.kind,
    actorId: actor.id,
    address,
    workspaceId,
    userId,
    subject,
    details,
  }
}
