/** The audit trail as rows: appended in the transaction of the change that they tell, chained by their hashes. */
import type { Instant } from '@claimcheck/core'
import type { Acting } from '../base/actor.ts'
import { type AuditDetails, type AuditEntry, CHAIN_START, chainHash } from '../base/audit-chain.ts'
import type { AuditEvent } from '../base/audit-events.ts'
import type { Db } from './db.ts'
import { insertRows, selectRow, selectRows } from './rows.ts'
import { bigint, bytes, instant, integer, json, nullable, part, type RowOf, table, text } from './table.ts'

export const auditTrail = table('audit_trail', ['position'], {
  position: bigint('position'),
  at: instant('at'),
  event: text('event'),
  actorKind: text('actor_kind'),
  actorId: nullable(text('actor_id')),
  address: nullable(text('address')),
  workspaceId: nullable(text('workspace_id')),
  userId: nullable(text('user_id')),
  subject: nullable(text('subject')),
  details: json<AuditDetails>('details'),
  hash: bytes('hash'),
})

export type AuditTrailRow = RowOf<typeof auditTrail>

/** One row once there is an entry: the end of the chain, and where it begins after old entries were removed. */
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

/** What a change tells of itself. */
export interface NewAuditEntry {
  readonly event: AuditEvent
  readonly at: Instant
  readonly by: Acting
  readonly workspaceId?: string | null
  /** Whose account it is about. */
  readonly userId?: string | null
  /** The id of what it is about, such as a key. */
  readonly subject?: string | null
  /** Never a secret. */
  readonly details?: AuditDetails
}

export function auditTrailReads(db: Db) {
  return {
    /** Undefined before the first entry. */
    async ends(): Promise<AuditTrailEnds | undefined> {
      return selectRow(db, auditTrailEnds, 'WHERE id = 1')
    },
    /** The next entries after a position, oldest first. */
    async after(position: number, limit: number): Promise<AuditTrailRow[]> {
      return selectRows(db, auditTrail, 'WHERE position > CAST(? AS bigint) ORDER BY position LIMIT ?', [
        position,
        limit,
      ])
    },
  }
}

/** Collects the entries of one transaction, which appends them as the last thing that it does. */
export function auditTrailWrites(db: Db) {
  const collected: NewAuditEntry[] = []
  return {
    record(entry: NewAuditEntry): void {
      collected.push(entry)
    },
    /** What was recorded so far. */
    entries(): readonly NewAuditEntry[] {
      return [...collected]
    },
    /** At the end of the transaction: who waits for the head holds it last, so that no two wait for each other. */
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
      await db.query(sql, [last, Buffer.from(lastHash).toString('hex')])
    },
  }
}

/** The head, which no other transaction changes until this one ends. */
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
