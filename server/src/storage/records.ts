/** Codes, tokens, grants and challenges as rows: each is found by the hash of its secret, and its payload is sealed. */
import type { Instant } from '@claimcheck/core/rules'
import type { Db } from './db.ts'
import { insertRows, selectRow, selectRows } from './rows.ts'
import { instant, nullable, type RowOf, table, text } from './table.ts'

export const records = table('records', ['kind', 'idHash'], {
  kind: text('kind'),
  idHash: text('id_hash'),
  /** The payload of the record as sealed JSON. */
  payload: text('payload'),
  /** The grant of the record: records of one grant are revoked together. */
  grantId: nullable(text('grant_id')),
  /** A second id by which the record is found. */
  uid: nullable(text('uid')),
  consumedAt: nullable(instant('consumed_at')),
  /** The end of the record; null if it does not expire. */
  expiresAt: nullable(instant('expires_at')),
})

export type RecordRow = RowOf<typeof records>

export function recordReads(db: Db) {
  return {
    async find(kind: string, idHash: string): Promise<RecordRow | undefined> {
      return selectRow(db, records, 'WHERE kind = ? AND id_hash = ?', [kind, idHash])
    },
    /** Finds the records of these kinds and ids. */
    async findAll(kinds: readonly string[], idHashes: readonly string[]): Promise<RecordRow[]> {
      const rest = `WHERE kind IN ${db.dialect.texts} AND id_hash IN ${db.dialect.texts}`
      return selectRows(db, records, rest, [JSON.stringify(kinds), JSON.stringify(idHashes)])
    },
    async allByUid(kind: string, uid: string): Promise<RecordRow[]> {
      return selectRows(db, records, 'WHERE kind = ? AND uid = ?', [kind, uid])
    },
  }
}

export function recordWrites(db: Db) {
  return {
    ...recordReads(db),
    /** Replaces the record of this kind and id, which stays consumed if it was. */
    async put(record: RecordRow): Promise<void> {
      const suffix = `ON CONFLICT (kind, id_hash) DO UPDATE SET payload = excluded.payload, grant_id = excluded.grant_id,
        uid = excluded.uid, expires_at = excluded.expires_at`
      await insertRows(db, records, [record], suffix)
    },
    /** Returns the record, locked until the transaction ends. */
    async lock(kind: string, idHash: string): Promise<RecordRow | undefined> {
      return selectRow(db, records, `WHERE kind = ? AND id_hash = ? ${db.dialect.forUpdate}`, [kind, idHash])
    },
    /** Consumes a record. False when it was consumed before, or is not there: of two requests that consume it at once, one does. */
    async consume(kind: string, idHash: string, at: Instant): Promise<boolean> {
      const unused = db.table('records').where({ kind, id_hash: idHash }).whereNull('consumed_at')
      return (await unused.update({ consumed_at: at })) === 1
    },
    /** Removes a record. False when it is not there: of two requests that remove it at once, one does. */
    async remove(kind: string, idHash: string): Promise<boolean> {
      return (await db.table('records').where({ kind, id_hash: idHash }).delete()) === 1
    },
    /**
     * Removes the grant and all records that were issued under it. Returns the grant's second id; undefined when it was not there: of two requests
     * that remove it at once, one gets it.
     */
    async removeGrant(grantId: string): Promise<string | undefined> {
      // A statement does not see rows of a transaction that it waits for: the next one does.
      await selectRows(db, records, `WHERE grant_id = ? AND uid IS NOT NULL ${db.dialect.forUpdate}`, [grantId])
      const rows = await db.query('DELETE FROM records WHERE grant_id = ? RETURNING uid', [grantId])
      const uid = rows.find((row) => row.uid !== null)?.uid
      return uid === undefined ? undefined : String(uid)
    },
    /** Removes every grant that is found by one of these ids, with all records that were issued under it. */
    async removeGrantsOf(uids: readonly string[]): Promise<void> {
      if (uids.length === 0) return
      const which = `grant_id IS NOT NULL AND uid IN ${db.dialect.texts}`
      await selectRows(db, records, `WHERE ${which} ORDER BY id_hash ${db.dialect.forUpdate}`, [JSON.stringify(uids)])
      const grants = `SELECT grant_id FROM records WHERE ${which}`
      await db.query(`DELETE FROM records WHERE grant_id IN (${grants})`, [JSON.stringify(uids)])
    },
    async removeExpired(now: Instant): Promise<void> {
      await db.table('records').where('expires_at', '<=', now).delete()
    },
  }
}
