/** What lives for a while and is asked for by a secret, as rows: the secret's hash, and a payload that is sealed. */
import type { Instant } from '@claimcheck/core'
import type { Db, Row } from './db.ts'
import { type Columns, insertRows, names, nullableNumber, nullableText } from './rows.ts'

export interface RecordRow {
  readonly kind: string
  readonly idHash: string
  /** Sealed. */
  readonly payload: string
  /** Records of one grant are revoked together. */
  readonly grantId: string | null
  /** Another name that it is found by. */
  readonly uid: string | null
  readonly consumedAt: Instant | null
  /** null: it does not run out. */
  readonly expiresAt: Instant | null
}

const RECORDS: Columns = {
  kind: 'text',
  id_hash: 'text',
  payload: 'text',
  grant_id: 'text',
  uid: 'text',
  consumed_at: 'bigint',
  expires_at: 'bigint',
}
const SELECT = `SELECT ${names(RECORDS)} FROM records`

export function recordReads(db: Db) {
  return {
    async find(kind: string, idHash: string): Promise<RecordRow | undefined> {
      const [row] = await db.query(`${SELECT} WHERE kind = ? AND id_hash = ?`, [kind, idHash])
      return row && toRecord(row)
    },
    async allByUid(kind: string, uid: string): Promise<RecordRow[]> {
      return (await db.query(`${SELECT} WHERE kind = ? AND uid = ?`, [kind, uid])).map(toRecord)
    },
  }
}

export function recordWrites(db: Db) {
  return {
    ...recordReads(db),
    /** In place of what is there under its name, whose consumption stands. */
    async put({ kind, idHash, payload, grantId, uid, consumedAt, expiresAt }: RecordRow): Promise<void> {
      const suffix = `ON CONFLICT (kind, id_hash) DO UPDATE SET payload = excluded.payload, grant_id = excluded.grant_id,
        uid = excluded.uid, expires_at = excluded.expires_at`
      await insertRows(db, 'records', RECORDS, [[kind, idHash, payload, grantId, uid, consumedAt, expiresAt]], suffix)
    },
    /** False when it was consumed before, or is not there: of two who consume it at once, one does. */
    async consume(kind: string, idHash: string, at: Instant): Promise<boolean> {
      const unused = db.table('records').where({ kind, id_hash: idHash }).whereNull('consumed_at')
      return (await unused.update({ consumed_at: at })) === 1
    },
    /** False when it is not there: of two who remove it at once, one does. */
    async remove(kind: string, idHash: string): Promise<boolean> {
      return (await db.table('records').where({ kind, id_hash: idHash }).delete()) === 1
    },
    async removeGrant(grantId: string): Promise<void> {
      await db.table('records').where({ grant_id: grantId }).delete()
    },
    async removeExpired(now: Instant): Promise<void> {
      await db.table('records').where('expires_at', '<=', now).delete()
    },
  }
}

function toRecord(row: Row): RecordRow {
  return {
    kind: String(row.kind),
    idHash: String(row.id_hash),
    payload: String(row.payload),
    grantId: nullableText(row.grant_id),
    uid: nullableText(row.uid),
    consumedAt: nullableNumber(row.consumed_at),
    expiresAt: nullableNumber(row.expires_at),
  }
}
