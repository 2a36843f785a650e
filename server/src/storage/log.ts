/** The log as rows: receipts are its leaves, tiles its hashes, tree heads what was signed. Nothing here is ever changed but the one `log` row. */
import { type Instant, TILE_WIDTH } from '@claimcheck/core'
import type { Db, Row } from './db.ts'
import { fromState, LOG_COLUMNS, type LogState, toState } from './log-state.ts'
import { readReceiptTexts } from './receipt-texts.ts'
import { type Columns, insertRows, names, nullableNumber, rowsOf, toJson } from './rows.ts'

export type { LogState }

export interface SigningKeyRow {
  readonly keyId: string
  /** base64url of the raw 32 bytes. */
  readonly publicKey: string
  readonly validFrom: Instant
  readonly revokedAt: Instant | null
}

/** A log that ended: another one went on with its entries. */
export interface RetiredLogRow {
  readonly logId: string
  readonly name: string
  readonly retiredAt: Instant
}

export interface ReceiptRow {
  readonly leafIndex: number
  readonly receiptId: string
  readonly claimId: string
  readonly leafHash: Uint8Array
  readonly issuedAt: Instant
  /** JCS of { body, signature }. */
  readonly entry: string
}

export interface TileRow {
  readonly level: number
  readonly index: number
  /** How many hashes: 256 in a full tile. */
  readonly width: number
  /** In a full tile, the nodes above them follow. Those stored by the first version have none. */
  readonly hashes: Uint8Array
}

export interface TreeHeadRow {
  readonly treeSize: number
  readonly issuedAt: Instant
  readonly rootHash: Uint8Array
  /** The signed tree head as JSON. */
  readonly signed: string
}

export interface LogTotals {
  /** null: there is no log. */
  readonly treeSize: number | null
  readonly receipts: number
  readonly tiles: number
  /** The key that signs what comes next is one of ours, and not retired. */
  readonly hasSigningKey: boolean
}

export type LeafRow = Pick<ReceiptRow, 'leafIndex' | 'leafHash' | 'issuedAt'>

export const RECEIPTS: Columns = {
  leaf_index: 'bigint',
  receipt_id: 'text',
  claim_id: 'text',
  leaf_hash: 'bytes',
  issued_at: 'bigint',
  entry: 'text',
}
export const TILES: Columns = { level: 'integer', tile_index: 'bigint', width: 'integer', hashes: 'bytes' }
export const TREE_HEADS: Columns = { tree_size: 'bigint', issued_at: 'bigint', root_hash: 'bytes', signed: 'text' }
const SIGNING_KEYS: Columns = { key_id: 'text', public_key: 'text', valid_from: 'bigint', revoked_at: 'bigint' }

const SELECT_LOG = `SELECT ${LOG_COLUMNS} FROM log`
const SELECT_RECEIPTS = `SELECT ${names(RECEIPTS)} FROM receipts`
const SELECT_HEADS = `SELECT ${names(TREE_HEADS)} FROM tree_heads`
const SELECT_KEYS = `SELECT ${names(SIGNING_KEYS)} FROM signing_keys`
const IN_RANGE = 'WHERE leaf_index >= ? AND leaf_index < ? ORDER BY leaf_index'

export function logReads(db: Db) {
  return {
    async state(): Promise<LogState | undefined> {
      return first(await db.query(SELECT_LOG), toState)
    },
    async newestHead(): Promise<TreeHeadRow | undefined> {
      return first(await db.query(`${SELECT_HEADS} ORDER BY tree_size DESC, issued_at DESC LIMIT 1`), toHead)
    },
    /** Ascending, those that follow `after`. */
    async headsAfter(after: TreeHeadRow | undefined, limit: number): Promise<TreeHeadRow[]> {
      const sql = `${SELECT_HEADS} WHERE (tree_size, issued_at) > (?, ?) ORDER BY tree_size, issued_at LIMIT ?`
      return (await db.query(sql, [after?.treeSize ?? -1, after?.issuedAt ?? 0, limit])).map(toHead)
    },
    /** Those of these receipts that there are, and the log as it is with them. */
    receiptsByIds: (receiptIds: readonly string[]) => readReceiptTexts(db, receiptIds),
    /** Ascending, `start` included, `end` not. */
    async receipts(start: number, end: number): Promise<ReceiptRow[]> {
      return (await db.query(`${SELECT_RECEIPTS} ${IN_RANGE}`, [start, end])).map(toReceipt)
    },
    /** Ascending, `start` included, `end` not. */
    async leaves(start: number, end: number): Promise<LeafRow[]> {
      const sql = `SELECT leaf_index, leaf_hash, issued_at FROM receipts ${IN_RANGE}`
      return (await db.query(sql, [start, end])).map(toLeaf)
    },
    /** The narrowest stored form of a tile that is at least `width` wide. */
    async tile(level: number, index: number, width: number): Promise<TileRow | undefined> {
      const sql = `SELECT ${names(TILES)} FROM tiles WHERE level = ? AND tile_index = ? AND width >= ? ORDER BY width LIMIT 1`
      return first(await db.query(sql, [level, index, width]), toTile)
    },
    /** Those of these tiles that are full, in any order. */
    async fullTiles(tiles: readonly Pick<TileRow, 'level' | 'index'>[]): Promise<TileRow[]> {
      const wanted = rowsOf(db.dialect, { level: 'integer', tile_index: 'bigint' })
      const sql = `SELECT ${names(TILES)} FROM tiles WHERE width = ${TILE_WIDTH}
        AND (level, tile_index) IN (SELECT level, tile_index FROM ${wanted} AS wanted)`
      return (await db.query(sql, [toJson(tiles.map(({ level, index }) => [level, index]))])).map(toTile)
    },
    /** All of one moment, also while somebody appends. */
    async totals(): Promise<LogTotals> {
      const sql = `SELECT (SELECT tree_size FROM log) AS tree_size, (SELECT COUNT(*) FROM receipts) AS receipts,
        (SELECT COUNT(*) FROM tiles) AS tiles,
        (SELECT COUNT(*) FROM log JOIN signing_keys ON signing_keys.key_id = log.key_id AND revoked_at IS NULL) AS signing`
      const [row] = await db.query(sql)
      return {
        treeSize: nullableNumber(row!.tree_size),
        receipts: Number(row!.receipts),
        tiles: Number(row!.tiles),
        hasSigningKey: Number(row!.signing) === 1,
      }
    },
    async signingKey(keyId: string): Promise<SigningKeyRow | undefined> {
      return first(await db.query(`${SELECT_KEYS} WHERE key_id = ?`, [keyId]), toSigningKey)
    },
    /** Oldest first. */
    async signingKeys(): Promise<SigningKeyRow[]> {
      return (await db.query(`${SELECT_KEYS} ORDER BY valid_from, key_id`)).map(toSigningKey)
    },
    /** The private key, sealed, where installations keep it in the database. */
    async sealedKey(keyId: string): Promise<string | undefined> {
      const rows = await db.query('SELECT sealed FROM sealed_signing_keys WHERE key_id = ?', [keyId])
      return first(rows, (row) => String(row.sealed))
    },
    /** Oldest first. */
    async retiredLogs(): Promise<RetiredLogRow[]> {
      const rows = await db.query('SELECT log_id, name, retired_at FROM retired_logs ORDER BY retired_at, log_id')
      return rows.map(toRetiredLog)
    },
  }
}

export function logWrites(db: Db) {
  return {
    ...logReads(db),
    /** The log as it stands and stays until this transaction ends: one appends at a time, on all hosts. */
    async lock(): Promise<LogState | undefined> {
      return first(await db.query(db.dialect === 'postgres' ? `${SELECT_LOG} FOR UPDATE` : SELECT_LOG), toState)
    },
    /** Where there is no log to lock yet: one makes it. */
    async lockCreation(): Promise<void> {
      if (db.dialect === 'postgres') await db.query('LOCK TABLE log IN SHARE ROW EXCLUSIVE MODE')
    },
    async create(state: LogState): Promise<void> {
      await db.table('log').insert({ id: 1, ...fromState(state) })
    },
    /** With another key; or with another name, as another log that goes on with the entries of this one. */
    async replace(state: LogState): Promise<void> {
      await db.table('log').where({ id: 1 }).update(fromState(state))
    },
    async insertHead({ treeSize, issuedAt, rootHash, signed }: TreeHeadRow): Promise<void> {
      await insertRows(db, 'tree_heads', TREE_HEADS, [[treeSize, issuedAt, rootHash, signed]])
    },
    async insertSigningKey({ keyId, publicKey, validFrom, revokedAt }: SigningKeyRow): Promise<void> {
      await insertRows(db, 'signing_keys', SIGNING_KEYS, [[keyId, publicKey, validFrom, revokedAt]])
    },
    async insertSealedKey(keyId: string, sealed: string): Promise<void> {
      await db.table('sealed_signing_keys').insert({ key_id: keyId, sealed })
    },
    async retireSigningKey(keyId: string, at: Instant): Promise<void> {
      await db.table('signing_keys').where({ key_id: keyId }).whereNull('revoked_at').update({ revoked_at: at })
    },
    async insertRetiredLog({ logId, name, retiredAt }: RetiredLogRow): Promise<void> {
      await db.table('retired_logs').insert({ log_id: logId, name, retired_at: retiredAt })
    },
  }
}

function first<T>(rows: readonly Row[], read: (row: Row) => T): T | undefined {
  const [row] = rows
  return row && read(row)
}

function toRetiredLog(row: Row): RetiredLogRow {
  return { logId: String(row.log_id), name: String(row.name), retiredAt: Number(row.retired_at) }
}

function toLeaf(row: Row): LeafRow {
  return {
    leafIndex: Number(row.leaf_index),
    leafHash: row.leaf_hash as Uint8Array,
    issuedAt: Number(row.issued_at),
  }
}

function toReceipt(row: Row): ReceiptRow {
  return {
    ...toLeaf(row),
    receiptId: String(row.receipt_id),
    claimId: String(row.claim_id),
    entry: String(row.entry),
  }
}

function toTile(row: Row): TileRow {
  return {
    level: Number(row.level),
    index: Number(row.tile_index),
    width: Number(row.width),
    hashes: row.hashes as Uint8Array,
  }
}

function toHead(row: Row): TreeHeadRow {
  return {
    treeSize: Number(row.tree_size),
    issuedAt: Number(row.issued_at),
    rootHash: row.root_hash as Uint8Array,
    signed: String(row.signed),
  }
}

function toSigningKey(row: Row): SigningKeyRow {
  return {
    keyId: String(row.key_id),
    publicKey: String(row.public_key),
    validFrom: Number(row.valid_from),
    revokedAt: nullableNumber(row.revoked_at),
  }
}
