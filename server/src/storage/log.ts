/** The log as rows: receipts are its leaves, tiles its hashes, tree heads what was signed. None of them is ever changed; the one row of `log` is. */
import { type Instant, TILE_WIDTH } from '@claimcheck/core'
import { type Db, runAll } from './db.ts'
import { type LogState, log, logState } from './log-state.ts'
import { readReceiptTexts } from './receipt-texts.ts'
import { insertRows, rowsOf, selectRow, selectRows, toJson } from './rows.ts'
import {
  assignments,
  bigint,
  bytes,
  instant,
  integer,
  large,
  nullable,
  part,
  type RowOf,
  table,
  text,
} from './table.ts'

export const receipts = table('receipts', ['leafIndex'], {
  leafIndex: bigint('leaf_index'),
  receiptId: text('receipt_id'),
  claimId: text('claim_id'),
  leafHash: bytes('leaf_hash'),
  issuedAt: instant('issued_at'),
  /** JCS of { body, signature }. */
  entry: large(text('entry')),
})

export const tiles = table('tiles', ['level', 'index', 'width'], {
  level: integer('level'),
  index: bigint('tile_index'),
  /** How many hashes: 256 in a full tile. */
  width: integer('width'),
  /** In a full tile, the nodes above the hashes follow. Tiles that the first version stored have none. */
  hashes: large(bytes('hashes')),
})

export const treeHeads = table('tree_heads', ['treeSize', 'issuedAt'], {
  treeSize: bigint('tree_size'),
  issuedAt: instant('issued_at'),
  rootHash: bytes('root_hash'),
  /** The signed tree head as JSON. */
  signed: large(text('signed')),
})

/** What the verdict of a receipt follows from. */
export const evidence = table('evidence', ['receiptId'], {
  receiptId: text('receipt_id'),
  /** Exactly the bytes whose digest the receipt signs. */
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

/** Logs that ended: another one went on with their entries. */
export const retiredLogs = table('retired_logs', ['logId'], {
  logId: text('log_id'),
  name: text('name'),
  retiredAt: instant('retired_at'),
})

const leaves = part(receipts, 'leafIndex', 'leafHash', 'issuedAt')
const leafHashes = part(receipts, 'leafHash')
const tilePlaces = part(tiles, 'level', 'index')

export type ReceiptRow = RowOf<typeof receipts>
/** One that is to be stored: its entry as text, or in UTF-8. */
export type NewReceipt = Omit<ReceiptRow, 'entry'> & { readonly entry: string | Uint8Array }
export type EvidenceRow = RowOf<typeof evidence>
export type LeafRow = RowOf<typeof leaves>
export type TileRow = RowOf<typeof tiles>
export type TilePlace = RowOf<typeof tilePlaces>
export type TreeHeadRow = RowOf<typeof treeHeads>
export type SigningKeyRow = RowOf<typeof signingKeys>
export type RetiredLogRow = RowOf<typeof retiredLogs>

/** As the index of their hashes has them. */
const LEAVES_IN_A_PART = 1024

const IN_RANGE = 'WHERE leaf_index >= ? AND leaf_index < ? ORDER BY leaf_index'

export function logReads(db: Db) {
  return {
    async state(): Promise<LogState | undefined> {
      return selectRow(db, logState, '')
    },
    async newestHead(): Promise<TreeHeadRow | undefined> {
      return selectRow(db, treeHeads, 'ORDER BY tree_size DESC, issued_at DESC LIMIT 1')
    },
    /** Ascending, those that follow `after`. */
    async headsAfter(after: TreeHeadRow | undefined, limit: number): Promise<TreeHeadRow[]> {
      const rest = 'WHERE (tree_size, issued_at) > (?, ?) ORDER BY tree_size, issued_at LIMIT ?'
      return selectRows(db, treeHeads, rest, [after?.treeSize ?? -1, after?.issuedAt ?? 0, limit])
    },
    /** Those of these receipts that are stored, and the log at the same moment. */
    receiptsByIds: (receiptIds: readonly string[]) => readReceiptTexts(db, receiptIds),
    /** The document; undefined for a receipt without evidence. */
    async evidenceOf(receiptId: string): Promise<string | undefined> {
      return (await selectRow(db, evidence, 'WHERE receipt_id = ?', [receiptId]))?.document
    },
    /** Ascending, `start` included, `end` not. */
    async receipts(start: number, end: number): Promise<ReceiptRow[]> {
      return selectRows(db, receipts, IN_RANGE, [start, end])
    },
    /** Ascending, `start` included, `end` not. */
    async leaves(start: number, end: number): Promise<LeafRow[]> {
      return selectRows(db, leaves, IN_RANGE, [start, end])
    },
    /** The first leaf with this hash. */
    async leafByHash(leafHash: Uint8Array): Promise<LeafRow | undefined> {
      const wanted = `(SELECT leaf_hash FROM ${rowsOf(db.dialect, leafHashes)} AS wanted)`
      // Their index begins with the part of the log: it is asked once for each part. CROSS JOIN, or SQLite reads all receipts.
      const rows = await db.query(
        `WITH RECURSIVE parts(part) AS
          (SELECT 0 UNION ALL SELECT part + 1 FROM parts WHERE part < (SELECT tree_size FROM log) / ${LEAVES_IN_A_PART})
        SELECT ${leaves.names} FROM parts CROSS JOIN ${leaves.name}
        WHERE leaf_index / ${LEAVES_IN_A_PART} = part AND leaf_hash = ${wanted} ORDER BY part, leaf_index LIMIT 1`,
        [toJson(leafHashes, [{ leafHash }])],
        { replanned: true },
      )
      return rows[0] && leaves.read(rows[0])
    },
    /** The narrowest stored form of a tile that is at least `width` wide. */
    async tile(level: number, index: number, width: number): Promise<TileRow | undefined> {
      const rest = 'WHERE level = ? AND tile_index = ? AND width >= ? ORDER BY width LIMIT 1'
      return selectRow(db, tiles, rest, [level, index, width])
    },
    /** Those of these tiles that are full, in any order. */
    async fullTiles(places: readonly TilePlace[]): Promise<TileRow[]> {
      const rest = `WHERE width = ${TILE_WIDTH}
        AND (level, tile_index) IN (SELECT level, tile_index FROM ${rowsOf(db.dialect, tilePlaces)} AS wanted)`
      return selectRows(db, tiles, rest, [toJson(tilePlaces, places)])
    },
    /** Oldest first. */
    async signingKeys(): Promise<SigningKeyRow[]> {
      return selectRows(db, signingKeys, 'ORDER BY valid_from, key_id')
    },
    /** The private key, sealed, where installations keep it in the database. */
    async sealedKey(keyId: string): Promise<string | undefined> {
      return (await selectRow(db, sealedSigningKeys, 'WHERE key_id = ?', [keyId]))?.sealed
    },
    /** Oldest first. */
    async retiredLogs(): Promise<RetiredLogRow[]> {
      return selectRows(db, retiredLogs, 'ORDER BY retired_at, log_id')
    },
  }
}

export function logWrites(db: Db) {
  return {
    ...logReads(db),
    /** The log, which no other transaction changes until this one ends: one host appends at a time. */
    async lock(): Promise<LogState | undefined> {
      return selectRow(db, logState, db.dialect.forUpdate)
    },
    /** Before there is a log to lock: makes sure that one host creates it. */
    async lockCreation(): Promise<void> {
      await runAll(db, db.dialect.lockTables([log.name]))
    },
    async create(state: LogState): Promise<void> {
      await insertRows(db, log, [{ id: 1, ...state }])
    },
    /** Gives the log another key; or another id and name, as a new log that goes on with its entries. */
    async replace(state: LogState): Promise<void> {
      const sql = `UPDATE log SET ${assignments(logState, 'next')} FROM ${rowsOf(db.dialect, logState)} AS next WHERE id = 1`
      await db.query(sql, [toJson(logState, [state])])
    },
    async insertHead(head: TreeHeadRow): Promise<void> {
      await insertRows(db, treeHeads, [head])
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
    async insertRetiredLog(retired: RetiredLogRow): Promise<void> {
      await insertRows(db, retiredLogs, [retired])
    },
  }
}
