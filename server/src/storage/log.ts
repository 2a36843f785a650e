/** Logs as rows: receipts are leaves, tiles their hashes, tree heads what was signed. None of them is ever changed. */

import { TILE_WIDTH } from '@claimcheck/core/log'
import type { Instant } from '@claimcheck/core/rules'
import { RECEIPT_OF_CLAIM } from './claim-row.ts'
import { type Db, type Row, runAll } from './db.ts'
import type { ErasureRow } from './erasures.ts'
import {
  type Closing,
  type LogRow,
  type LogState,
  logs,
  OPEN_LOG,
  OPEN_LOG_ID,
  type TreeHeadRow,
  toLogState,
  treeHeads,
  type Witnessed,
} from './log-state.ts'
import { insertRows, rowsOf, selectRow, selectRows, toJson } from './rows.ts'
import { bigint, bytes, instant, integer, large, nullable, part, type RowOf, table, text } from './table.ts'

export const receipts = table('receipts', ['logId', 'leafIndex'], {
  logId: text('log_id'),
  leafIndex: bigint('leaf_index'),
  receiptId: text('receipt_id'),
  claimId: text('claim_id'),
  leafHash: bytes('leaf_hash'),
  issuedAt: instant('issued_at'),
  /** JCS of { body, signature }. */
  entry: large(text('entry')),
})

export const tiles = table('tiles', ['logId', 'level', 'index', 'width'], {
  logId: text('log_id'),
  level: integer('level'),
  index: bigint('tile_index'),
  /** How many hashes: 256 in a full tile. */
  width: integer('width'),
  /** In a full tile, the nodes above the hashes follow. */
  hashes: large(bytes('hashes')),
})

/** What the verdict of a receipt follows from. */
export const evidence = table('evidence', ['logId', 'receiptId'], {
  logId: text('log_id'),
  receiptId: text('receipt_id'),
  /** Exactly the bytes of the digest that the receipt signs. */
  document: large(text('document')),
})

export const signingKeys = table('signing_keys', ['keyId'], {
  keyId: text('key_id'),
  /** base64url of the raw 32 bytes. */
  publicKey: text('public_key'),
  validFrom: instant('valid_from'),
  revokedAt: nullable(instant('revoked_at')),
})

/** Private keys, where installations keep them in the database. */
export const sealedSigningKeys = table('sealed_signing_keys', ['keyId'], {
  keyId: text('key_id'),
  sealed: text('sealed'),
})

const leaves = part(receipts, 'leafIndex', 'leafHash', 'issuedAt')
const leafHashes = part(receipts, 'leafHash')
const tilePlaces = part(tiles, 'level', 'index')
const sizedRoots = part(treeHeads, 'treeSize', 'rootHash')
const sizes = part(treeHeads, 'treeSize')

export type ReceiptRow = RowOf<typeof receipts>
export type EvidenceRow = RowOf<typeof evidence>
export type LeafRow = RowOf<typeof leaves>
export type TileRow = RowOf<typeof tiles>
export type SizedRoot = RowOf<typeof sizedRoots>
export type TilePlace = RowOf<typeof tilePlaces>
export type SigningKeyRow = RowOf<typeof signingKeys>

export interface ReceiptPlace {
  readonly receiptId: string
  readonly logId: string
}

export interface FoundReceipts {
  /** In any order. */
  readonly receipts: readonly ReceiptRow[]
  /** Those of logs that have ended, where a claim names them and there is no row: they are in the archives. */
  readonly elsewhere: readonly ReceiptPlace[]
}

const NEW_LOG = {
  endedAt: null,
  archivedAt: null,
  contradictedBy: null,
  witnessed: null,
  closedBy: null,
  agreedOn: '',
  agreedSystem: '',
  moves: null,
  erasures: 0,
}

/** As the index of their hashes has them. */
const LEAVES_IN_A_PART = 1024

const IN_RANGE = 'WHERE log_id = ? AND leaf_index >= ? AND leaf_index < ? ORDER BY leaf_index'

function toPlace({ found_id, found_in }: Row): ReceiptPlace {
  return { receiptId: String(found_id), logId: String(found_in) }
}

function toReceipt(row: Row): ReceiptRow {
  return receipts.read({ ...row, receipt_id: row.found_id, log_id: row.found_in })
}

/** The evidence of a receipt, found by its claim. */
const EVIDENCE_OF_CLAIM = 'evidence.log_id = claims.log_id AND evidence.receipt_id = claims.receipt_id'

function answersAs({ dialect }: Db): string {
  return `${dialect.answersAs ?? "''"} AS answers_as`
}

export function logReads(db: Db) {
  return {
    ...tileReads(db),
    ...keyReads(db),
    /** The open log. */
    async state(): Promise<LogState | undefined> {
      const [row] = await db.query(`SELECT log.*, ${answersAs(db)} FROM ${OPEN_LOG}`)
      return row && toLogState(row)
    },
    /** What remains of a server when it is restarted, where it tells. */
    async system(): Promise<string | undefined> {
      const { shared } = db.dialect
      const [row] = shared ? await db.query(shared.system).catch(() => []) : []
      return row && String(row.system)
    },
    /** All logs, oldest first. */
    async all(): Promise<LogRow[]> {
      return selectRows(db, logs, 'ORDER BY begun_at, log_id')
    },
    /** @param logId of another log than the open one */
    async newestHead(logId?: string): Promise<TreeHeadRow | undefined> {
      const which = logId === undefined ? OPEN_LOG_ID : '?'
      const rest = `WHERE log_id = ${which} ORDER BY number DESC LIMIT 1`
      return selectRow(db, treeHeads, rest, logId === undefined ? [] : [logId])
    },
    /** The roots that the log had at these sizes, where heads were signed. */
    async rootsAt(logId: string, treeSizes: readonly number[]): Promise<SizedRoot[]> {
      const rest = `WHERE log_id = ? AND tree_size IN (SELECT tree_size FROM ${rowsOf(db.dialect, sizes)} AS wanted)`
      return selectRows(db, sizedRoots, rest, [
        logId,
        toJson(
          sizes,
          treeSizes.map((treeSize) => ({ treeSize })),
        ),
      ])
    },
    /** Ascending, those that follow the number. */
    async headsAfter(logId: string, number: number, limit: number): Promise<TreeHeadRow[]> {
      return selectRows(db, treeHeads, 'WHERE log_id = ? AND number > ? ORDER BY number LIMIT ?', [
        logId,
        number,
        limit,
      ])
    },
    /** These receipts, of whichever log. */
    async receiptsByIds(receiptIds: readonly string[]): Promise<FoundReceipts> {
      // Nearly all are of the open log: they are found without their claims.
      const rest = `WHERE log_id = ${OPEN_LOG_ID} AND receipt_id IN ${db.dialect.texts}`
      const current = await selectRows(db, receipts, rest, [JSON.stringify(receiptIds)])
      const known = new Set(current.map(({ receiptId }) => receiptId))
      const others = receiptIds.filter((receiptId) => !known.has(receiptId))
      if (others.length === 0) return { receipts: current, elsewhere: [] }
      const sql = `SELECT claims.receipt_id AS found_id, claims.log_id AS found_in, leaf_index, leaf_hash, issued_at, claims.claim_id, entry
        FROM claims LEFT JOIN receipts ON ${RECEIPT_OF_CLAIM}
        WHERE claims.receipt_id IN ${db.dialect.texts} AND claims.log_id <> ${OPEN_LOG_ID}`
      const found = await db.query(sql, [JSON.stringify(others)])
      return {
        receipts: [...current, ...found.flatMap((row) => (row.entry === null ? [] : toReceipt(row)))],
        elsewhere: found.flatMap((row) => (row.entry === null ? toPlace(row) : [])),
      }
    },
    /** The document; undefined for a receipt without evidence. */
    async evidenceOf(receiptId: string): Promise<string | undefined> {
      const sql = `SELECT document FROM claims JOIN evidence ON ${EVIDENCE_OF_CLAIM} WHERE claims.receipt_id = ?`
      const [row] = await db.query(sql, [receiptId])
      return row && String(row.document)
    },
    /** Ascending, `start` included, `end` not. */
    async receipts(logId: string, start: number, end: number): Promise<ReceiptRow[]> {
      return selectRows(db, receipts, IN_RANGE, [logId, start, end])
    },
    /** Ascending, `start` included, `end` not. */
    async leaves(logId: string, start: number, end: number): Promise<LeafRow[]> {
      return selectRows(db, leaves, IN_RANGE, [logId, start, end])
    },
    /** The first leaf with this hash. */
    async leafByHash(
      { logId, treeSize }: Pick<LogState, 'logId' | 'treeSize'>,
      leafHash: Uint8Array,
    ): Promise<LeafRow | undefined> {
      const wanted = `(SELECT leaf_hash FROM ${rowsOf(db.dialect, leafHashes)} AS wanted)`
      // Their index begins with the part of the log: it is asked once for each part. CROSS JOIN, or SQLite reads all receipts.
      const rows = await db.query(
        `WITH RECURSIVE parts(part) AS
          (SELECT 0 UNION ALL SELECT part + 1 FROM parts WHERE part < CAST(? AS bigint))
        SELECT ${leaves.names} FROM parts CROSS JOIN ${leaves.name}
        WHERE log_id = ? AND leaf_index / ${LEAVES_IN_A_PART} = part AND leaf_hash = ${wanted} ORDER BY part, leaf_index LIMIT 1`,
        [Math.floor(treeSize / LEAVES_IN_A_PART), logId, toJson(leafHashes, [{ leafHash }])],
        { replanned: true },
      )
      return rows[0] && leaves.read(rows[0])
    },
  }
}

function tileReads(db: Db) {
  return {
    /** The narrowest stored form of a tile that is at least `width` wide. */
    async tile(logId: string, level: number, index: number, width: number): Promise<TileRow | undefined> {
      const rest = 'WHERE log_id = ? AND level = ? AND tile_index = ? AND width >= ? ORDER BY width LIMIT 1'
      return selectRow(db, tiles, rest, [logId, level, index, width])
    },
    /** Those of these tiles that are full, in any order. */
    async fullTiles(logId: string, places: readonly TilePlace[]): Promise<TileRow[]> {
      const rest = `WHERE log_id = ? AND width = ${TILE_WIDTH}
        AND (level, tile_index) IN (SELECT level, tile_index FROM ${rowsOf(db.dialect, tilePlaces)} AS wanted)`
      return selectRows(db, tiles, rest, [logId, toJson(tilePlaces, places)])
    },
  }
}

function keyReads(db: Db) {
  return {
    /** Oldest first. */
    async signingKeys(): Promise<SigningKeyRow[]> {
      return selectRows(db, signingKeys, 'ORDER BY valid_from, key_id')
    },
    /** The private key, sealed, where installations keep it in the database. */
    async sealedKey(keyId: string): Promise<string | undefined> {
      return (await selectRow(db, sealedSigningKeys, 'WHERE key_id = ?', [keyId]))?.sealed
    },
  }
}

export function logWrites(db: Db) {
  return {
    ...logReads(db),
    /** The open log, which no other transaction appends to until this one ends: one host appends at a time. */
    async lock(): Promise<LogState | undefined> {
      // Its head is read by another statement: this one sees the heads from before it waited.
      await db.query(`SELECT log_id FROM logs WHERE ended_at IS NULL ${db.dialect.forChange}`)
      return this.state()
    },
    /** Before there is a log to lock: makes sure that one host creates it. */
    async lockCreation(): Promise<void> {
      await runAll(db, db.dialect.lockTables([logs.name]))
    },
    /** Begins a log with its first head. @param agreedOn the file; by default as what the database answers */
    async create({ name, ...head }: Pick<LogState, 'name'> & TreeHeadRow, agreedOn?: string): Promise<void> {
      const { logId, issuedAt: begunAt } = head
      const [row] = await db.query(`SELECT ${answersAs(db)}`)
      await insertRows(db, logs, [{ ...NEW_LOG, logId, name, begunAt, agreedOn: agreedOn ?? String(row!.answers_as) }])
      await insertRows(db, treeHeads, [head])
    },
    /** Fails when another head of this number is there. */
    async insertHead(head: TreeHeadRow): Promise<void> {
      await insertRows(db, treeHeads, [head])
    },
    /** Nothing follows the newest head of the open log. */
    async end(logId: string, at: Instant): Promise<void> {
      await db.query('UPDATE logs SET ended_at = ? WHERE log_id = ? AND ended_at IS NULL', [at, logId])
    },
    /** Stops all appends, of every host. @param head signed, which this log lacks */
    async contradict(logId: string, head: string): Promise<void> {
      const which = 'WHERE log_id = ? AND ended_at IS NULL AND contradicted_by IS NULL'
      await db.query(`UPDATE logs SET contradicted_by = ? ${which}`, [head, logId])
    },
    /** Says of a log that was contradicted that a client did. */
    async witness(logId: string, witnessed: Witnessed): Promise<void> {
      await db.query('UPDATE logs SET witnessed = ? WHERE log_id = ?', [JSON.stringify(witnessed), logId])
    },
    /** @param head that it includes after all, or that it goes on without */
    async agree(logId: string, head: string): Promise<void> {
      await db.query('UPDATE logs SET contradicted_by = NULL WHERE log_id = ? AND contradicted_by = ?', [logId, head])
    },
    /** Allows appends. @param log as it is stored @param agreedOn as what the database answers, or the file that it is in */
    async bind({ logId, agreedOn: before }: LogState, agreedOn: string, agreedSystem: string): Promise<void> {
      const sql = 'UPDATE logs SET agreed_on = ?, agreed_system = ? WHERE log_id = ? AND agreed_on = ?'
      await db.query(sql, [agreedOn, agreedSystem, logId, before])
    },
    /** Binds a copy that has all rows of its source to the file that it is in. Without one its first host takes it as it is. */
    async rebind({ agreedOn, agreedSystem } = { agreedOn: '', agreedSystem: '' }): Promise<void> {
      await db.query('UPDATE logs SET agreed_on = ?, agreed_system = ?', [agreedOn, agreedSystem])
    },
    /** Says by which moves the open log came here. */
    async move(moves: readonly string[]): Promise<void> {
      await db.query('UPDATE logs SET moves = ? WHERE ended_at IS NULL', [JSON.stringify(moves)])
    },
    /** Nothing is appended to the open log any more. null: it goes on. */
    async close(by: Closing | null): Promise<void> {
      await db.query('UPDATE logs SET restored_from = ? WHERE ended_at IS NULL', [by && JSON.stringify(by)])
    },
    async archived(logId: string): Promise<void> {
      const at = `CAST(${db.dialect.clock} AS bigint)`
      await db.query(`UPDATE logs SET archived_at = ${at} WHERE log_id = ? AND ended_at IS NOT NULL`, [logId])
    },
    /** One that has ended, and that this database may have no rows of. */
    async insertEnded({ logId, name }: Pick<LogRow, 'logId' | 'name'>, at: Instant): Promise<void> {
      await insertRows(
        db,
        logs,
        [{ ...NEW_LOG, logId, name, begunAt: at, endedAt: at }],
        'ON CONFLICT (log_id) DO NOTHING',
      )
    },
    async insertSigningKey(key: SigningKeyRow): Promise<void> {
      await insertRows(db, signingKeys, [key])
    },
    async insertSealedKey(keyId: string, sealed: string): Promise<void> {
      await insertRows(db, sealedSigningKeys, [{ keyId, sealed }])
    },
    async retireSigningKey(keyId: string, at: Instant): Promise<void> {
      await db.table('signing_keys').where({ key_id: keyId }).whereNull('revoked_at').update({ revoked_at: at })
    },
  }
}

export async function eraseReceipts(db: Db, erased: readonly ErasureRow[]): Promise<void> {
  await db.query(`UPDATE receipts SET entry = '' WHERE ${IN_CLAIMS} ${db.dialect.texts})`, [idsOf(erased)])
}

export async function eraseEvidence(db: Db, erased: readonly ErasureRow[]): Promise<void> {
  await db.query(`DELETE FROM evidence WHERE ${IN_CLAIMS} ${db.dialect.texts})`, [idsOf(erased)])
}

const IN_CLAIMS = '(log_id, receipt_id) IN (SELECT log_id, receipt_id FROM claims WHERE claim_id IN'

function idsOf(erased: readonly ErasureRow[]): string {
  return JSON.stringify(erased.map(({ claimId }) => claimId))
}
