/** Logs as rows: receipts are leaves, tiles hold their hashes, and tree heads are what was signed. None of them is ever changed. */

import { TILE_WIDTH } from '@claimcheck/core/log'
import type { Instant } from '@claimcheck/core/rules'
import { RECEIPT_OF_CLAIM } from './claim-row.ts'
import { type Db, type Row, runAll } from './db.ts'
import type { ErasureRow } from './erasures.ts'
import {
  ANCHORED_LOG_COLUMNS,
  type AnchoredLogState,
  type Closing,
  type LogRow,
  type LogState,
  logStates,
  logs,
  OPEN_LOG,
  OPEN_LOG_ID,
  type TreeHeadRow,
  toAnchoredState,
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
  /** The receipt as JCS of { body, signature }. */
  entry: large(text('entry')),
})

export const tiles = table('tiles', ['logId', 'level', 'index', 'width'], {
  logId: text('log_id'),
  level: integer('level'),
  index: bigint('tile_index'),
  /** The number of hashes in the tile, 256 if it is full. */
  width: integer('width'),
  /** The hashes of the tile. In a full one, the nodes above them follow. */
  hashes: large(bytes('hashes')),
})

/** Evidence, from which the verdict of a receipt follows. */
export const evidence = table('evidence', ['logId', 'receiptId'], {
  logId: text('log_id'),
  receiptId: text('receipt_id'),
  /** The evidence as exactly the bytes whose digest the receipt signs. */
  document: large(text('document')),
})

export const signingKeys = table('signing_keys', ['keyId'], {
  keyId: text('key_id'),
  /** The public key as base64url of the raw 32 bytes. */
  publicKey: text('public_key'),
  validFrom: instant('valid_from'),
  revokedAt: nullable(instant('revoked_at')),
})

/** Private keys, sealed, of installations that keep them in the database. */
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
  /** The receipts that the tables have, in any order. */
  readonly receipts: readonly ReceiptRow[]
  /** Receipts of ended logs that a claim names and no table has: they are in the archives. */
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

/** The number of leaves in one part of the index of leaf hashes. */
const LEAVES_IN_A_PART = 1024

const IN_RANGE = 'WHERE log_id = ? AND leaf_index >= ? AND leaf_index < ? ORDER BY leaf_index'

function toPlace({ found_id, found_in }: Row): ReceiptPlace {
  return { receiptId: String(found_id), logId: String(found_in) }
}

function toReceipt(row: Row): ReceiptRow {
  return receipts.read({ ...row, receipt_id: row.found_id, log_id: row.found_in })
}

/** The join of a claim with the evidence of its receipt. */
const EVIDENCE_OF_CLAIM = 'evidence.log_id = claims.log_id AND evidence.receipt_id = claims.receipt_id'

function answersAs({ dialect }: Db): string {
  return `${dialect.answersAs ?? "''"} AS answers_as`
}

export function logReads(db: Db) {
  return {
    ...tileReads(db),
    ...keyReads(db),
    /** Reads the state of the open log. */
    async state(): Promise<LogState | undefined> {
      const [row] = await db.query(`SELECT log.*, ${answersAs(db)} FROM ${OPEN_LOG}`)
      return row && toLogState(row)
    },
    /** Reads the state of a log, the open one if none is named, and how far it is anchored. */
    async anchoredState(logId?: string): Promise<AnchoredLogState | undefined> {
      const from = logId === undefined ? OPEN_LOG : logStates('logs.log_id = ?')
      const [row] = await db.query(`SELECT ${ANCHORED_LOG_COLUMNS} FROM ${from}`, logId === undefined ? [] : [logId])
      return row && toAnchoredState(row)
    },
    /** Reads the part of a server's identity that a restart leaves, where the server tells it. */
    async system(): Promise<string | undefined> {
      const { shared } = db.dialect
      const [row] = shared ? await db.query(shared.system).catch(() => []) : []
      return row && String(row.system)
    },
    /** Lists all logs, oldest first. */
    async all(): Promise<LogRow[]> {
      return selectRows(db, logs, 'ORDER BY begun_at, log_id')
    },
    /**
     * Reads the newest head of a log.
     * @param logId a log other than the open one
     */
    async newestHead(logId?: string): Promise<TreeHeadRow | undefined> {
      const which = logId === undefined ? OPEN_LOG_ID : '?'
      const rest = `WHERE log_id = ${which} ORDER BY number DESC LIMIT 1`
      return selectRow(db, treeHeads, rest, logId === undefined ? [] : [logId])
    },
    /** Reads the roots that the log had at these sizes, where heads were signed. */
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
    /** Lists the heads after a number, ascending. */
    async headsAfter(logId: string, number: number, limit: number): Promise<TreeHeadRow[]> {
      return selectRows(db, treeHeads, 'WHERE log_id = ? AND number > ? ORDER BY number LIMIT ?', [
        logId,
        number,
        limit,
      ])
    },
    /** Finds these receipts, of whichever log. */
    async receiptsByIds(receiptIds: readonly string[]): Promise<FoundReceipts> {
      // Nearly all receipts are of the open log: they are found without their claims.
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
    /** Reads the evidence of a receipt; undefined for a receipt without evidence. */
    async evidenceOf(receiptId: string): Promise<string | undefined> {
      const sql = `SELECT document FROM claims JOIN evidence ON ${EVIDENCE_OF_CLAIM} WHERE claims.receipt_id = ?`
      const [row] = await db.query(sql, [receiptId])
      return row && String(row.document)
    },
    /** Reads receipts by their leaves, ascending, from `start` up to but without `end`. */
    async receipts(logId: string, start: number, end: number): Promise<ReceiptRow[]> {
      return selectRows(db, receipts, IN_RANGE, [logId, start, end])
    },
    /** Reads leaves, ascending, from `start` up to but without `end`. */
    async leaves(logId: string, start: number, end: number): Promise<LeafRow[]> {
      return selectRows(db, leaves, IN_RANGE, [logId, start, end])
    },
    /** Finds the first leaf with this hash. */
    async leafByHash(
      { logId, treeSize }: Pick<LogState, 'logId' | 'treeSize'>,
      leafHash: Uint8Array,
    ): Promise<LeafRow | undefined> {
      const wanted = `(SELECT leaf_hash FROM ${rowsOf(db.dialect, leafHashes)} AS wanted)`
      // The index begins with the part of the log, and is asked once for each part. CROSS JOIN, or SQLite reads all receipts.
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
    /** Reads the narrowest stored form of a tile that is at least `width` wide. */
    async tile(logId: string, level: number, index: number, width: number): Promise<TileRow | undefined> {
      const rest = 'WHERE log_id = ? AND level = ? AND tile_index = ? AND width >= ? ORDER BY width LIMIT 1'
      return selectRow(db, tiles, rest, [logId, level, index, width])
    },
    /** Finds those of these tiles that are full, in any order. */
    async fullTiles(logId: string, places: readonly TilePlace[]): Promise<TileRow[]> {
      const rest = `WHERE log_id = ? AND width = ${TILE_WIDTH}
        AND (level, tile_index) IN (SELECT level, tile_index FROM ${rowsOf(db.dialect, tilePlaces)} AS wanted)`
      return selectRows(db, tiles, rest, [logId, toJson(tilePlaces, places)])
    },
  }
}

function keyReads(db: Db) {
  return {
    /** Lists the signing keys, oldest first. */
    async signingKeys(): Promise<SigningKeyRow[]> {
      return selectRows(db, signingKeys, 'ORDER BY valid_from, key_id')
    },
    /** Reads the sealed private key, where installations keep it in the database. */
    async sealedKey(keyId: string): Promise<string | undefined> {
      return (await selectRow(db, sealedSigningKeys, 'WHERE key_id = ?', [keyId]))?.sealed
    },
  }
}

export function logWrites(db: Db) {
  return {
    ...logReads(db),
    /** Locks the open log, so that no other transaction appends until this one ends: one host appends at a time. */
    async lock(): Promise<LogState | undefined> {
      // The head is read by a statement of its own: the one that waited sees the heads from before.
      await db.query(`SELECT log_id FROM logs WHERE ended_at IS NULL ${db.dialect.forChange}`)
      return this.state()
    },
    /** Makes sure that one host creates the first log, before there is a log to lock. */
    async lockCreation(): Promise<void> {
      await runAll(db, db.dialect.lockTables([logs.name]))
    },
    /**
     * Begins a log with its first head.
     * @param agreedOn the file; by default the answer of the database
     */
    async create({ name, ...head }: Pick<LogState, 'name'> & TreeHeadRow, agreedOn?: string): Promise<void> {
      const { logId, issuedAt: begunAt } = head
      const [row] = await db.query(`SELECT ${answersAs(db)}`)
      await insertRows(db, logs, [{ ...NEW_LOG, logId, name, begunAt, agreedOn: agreedOn ?? String(row!.answers_as) }])
      await insertRows(db, treeHeads, [head])
    },
    /** Inserts a head. Fails when another head of this number is there. */
    async insertHead(head: TreeHeadRow): Promise<void> {
      await insertRows(db, treeHeads, [head])
    },
    /** Ends the open log: nothing follows its newest head. */
    async end(logId: string, at: Instant): Promise<void> {
      await db.query('UPDATE logs SET ended_at = ? WHERE log_id = ? AND ended_at IS NULL', [at, logId])
    },
    /**
     * Stops all appends, of every host.
     * @param head a signed head that this log lacks
     */
    async contradict(logId: string, head: string): Promise<void> {
      const which = 'WHERE log_id = ? AND ended_at IS NULL AND contradicted_by IS NULL'
      await db.query(`UPDATE logs SET contradicted_by = ? ${which}`, [head, logId])
    },
    /** Records that the head which contradicted a log came from a client. */
    async witness(logId: string, witnessed: Witnessed): Promise<void> {
      await db.query('UPDATE logs SET witnessed = ? WHERE log_id = ?', [JSON.stringify(witnessed), logId])
    },
    /**
     * Lets a contradicted log go on.
     * @param head the head that it includes after all, or goes on without
     */
    async agree(logId: string, head: string): Promise<void> {
      await db.query('UPDATE logs SET contradicted_by = NULL WHERE log_id = ? AND contradicted_by = ?', [logId, head])
    },
    /**
     * Allows appends.
     * @param log the log as it is stored
     * @param agreedOn the answer of the database, or the file that the log is in
     */
    async bind({ logId, agreedOn: before }: LogState, agreedOn: string, agreedSystem: string): Promise<void> {
      const sql = 'UPDATE logs SET agreed_on = ?, agreed_system = ? WHERE log_id = ? AND agreed_on = ?'
      await db.query(sql, [agreedOn, agreedSystem, logId, before])
    },
    /** Binds a copy that has all rows of its source to the file that it is in. Unbound, its first host takes it as it is. */
    async rebind({ agreedOn, agreedSystem } = { agreedOn: '', agreedSystem: '' }): Promise<void> {
      await db.query('UPDATE logs SET agreed_on = ?, agreed_system = ?', [agreedOn, agreedSystem])
    },
    /** Stores the moves by which the open log came here. */
    async move(moves: readonly string[]): Promise<void> {
      await db.query('UPDATE logs SET moves = ? WHERE ended_at IS NULL', [JSON.stringify(moves)])
    },
    /** Closes the open log, so that nothing is appended; null lets it go on. */
    async close(by: Closing | null): Promise<void> {
      await db.query('UPDATE logs SET restored_from = ? WHERE ended_at IS NULL', [by && JSON.stringify(by)])
    },
    async archived(logId: string): Promise<void> {
      const at = `CAST(${db.dialect.clock} AS bigint)`
      await db.query(`UPDATE logs SET archived_at = ${at} WHERE log_id = ? AND ended_at IS NOT NULL`, [logId])
    },
    async forgetArchive(logId: string): Promise<void> {
      await db.query('UPDATE logs SET archived_at = NULL WHERE log_id = ?', [logId])
    },
    /** Inserts a log that has ended, of which this database may have no rows. */
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
