/** The log as rows: receipts are its leaves, tiles its hashes, tree heads what was signed. Nothing here is ever changed but the one `log` row. */
import type { Instant } from '@claimcheck/core'
import type { Knex } from 'knex'
import { insertRows, nullableNumber, type Row } from './rows.ts'

export interface SigningKeyRow {
  readonly keyId: string
  /** base64url of the raw 32 bytes. */
  readonly publicKey: string
  readonly validFrom: Instant
  readonly revokedAt: Instant | null
}

/** How far the log has come, and which key signs what comes next. */
export interface LogState {
  readonly logId: string
  readonly name: string
  readonly treeSize: number
  readonly keyId: string
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

export function logReads(db: Knex) {
  return {
    async state(): Promise<LogState | undefined> {
      const [row] = await db.raw('SELECT * FROM log')
      return row && toState(row)
    },
    async newestHead(): Promise<TreeHeadRow | undefined> {
      const [row] = await db.raw('SELECT * FROM tree_heads ORDER BY tree_size DESC, issued_at DESC LIMIT 1')
      return row && toHead(row)
    },
    /** Ascending, those that follow `after`. */
    async headsAfter(after: TreeHeadRow | undefined, limit: number): Promise<TreeHeadRow[]> {
      const sql = 'SELECT * FROM tree_heads WHERE (tree_size, issued_at) > (?, ?) ORDER BY tree_size, issued_at LIMIT ?'
      return (await db.raw(sql, [after?.treeSize ?? -1, after?.issuedAt ?? 0, limit])).map(toHead)
    },
    async receiptById(receiptId: string): Promise<ReceiptRow | undefined> {
      const [row] = await db.raw('SELECT * FROM receipts WHERE receipt_id = ?', [receiptId])
      return row && toReceipt(row)
    },
    /** Ascending, `start` included, `end` not. */
    async receipts(start: number, end: number): Promise<ReceiptRow[]> {
      const sql = 'SELECT * FROM receipts WHERE leaf_index >= ? AND leaf_index < ? ORDER BY leaf_index'
      return (await db.raw(sql, [start, end])).map(toReceipt)
    },
    /** Ascending, `start` included, `end` not. */
    async leaves(start: number, end: number): Promise<LeafRow[]> {
      const sql = `SELECT leaf_index, leaf_hash, issued_at FROM receipts WHERE leaf_index >= ? AND leaf_index < ?
        ORDER BY leaf_index`
      return (await db.raw(sql, [start, end])).map(toLeaf)
    },
    /** The narrowest stored form of a tile that is at least `width` wide. */
    async tile(level: number, index: number, width: number): Promise<TileRow | undefined> {
      const sql = 'SELECT * FROM tiles WHERE level = ? AND tile_index = ? AND width >= ? ORDER BY width LIMIT 1'
      const [row] = await db.raw(sql, [level, index, width])
      return row && toTile(row)
    },
    /** All of one moment, also while somebody appends. */
    async totals(): Promise<LogTotals> {
      const sql = `SELECT (SELECT tree_size FROM log) AS tree_size, (SELECT COUNT(*) FROM receipts) AS receipts,
        (SELECT COUNT(*) FROM tiles) AS tiles,
        (SELECT COUNT(*) FROM log JOIN signing_keys ON signing_keys.key_id = log.key_id AND revoked_at IS NULL) AS signing`
      const [row] = await db.raw(sql)
      return {
        treeSize: nullableNumber(row.tree_size),
        receipts: Number(row.receipts),
        tiles: Number(row.tiles),
        hasSigningKey: Number(row.signing) === 1,
      }
    },
    async signingKey(keyId: string): Promise<SigningKeyRow | undefined> {
      const [row] = await db.raw('SELECT * FROM signing_keys WHERE key_id = ?', [keyId])
      return row && toSigningKey(row)
    },
    /** Oldest first. */
    async signingKeys(): Promise<SigningKeyRow[]> {
      return (await db.raw('SELECT * FROM signing_keys ORDER BY valid_from, key_id')).map(toSigningKey)
    },
  }
}

export function logWrites(db: Knex) {
  return {
    ...logReads(db),
    async create(state: LogState): Promise<void> {
      await db('log').insert({
        id: 1,
        log_id: state.logId,
        name: state.name,
        tree_size: state.treeSize,
        key_id: state.keyId,
      })
    },
    /** Compare and swap: false, and nothing changed, when the log is not at `from` any more. */
    async grow(from: number, to: number): Promise<boolean> {
      return (await db('log').where({ id: 1, tree_size: from }).update({ tree_size: to })) === 1
    },
    async setSigningKey(keyId: string): Promise<void> {
      await db('log').where({ id: 1 }).update({ key_id: keyId })
    },
    async insertReceipts(receipts: readonly ReceiptRow[]): Promise<void> {
      const rows = receipts.map((receipt) => ({
        leaf_index: receipt.leafIndex,
        receipt_id: receipt.receiptId,
        claim_id: receipt.claimId,
        leaf_hash: Buffer.from(receipt.leafHash),
        issued_at: receipt.issuedAt,
        entry: receipt.entry,
      }))
      await insertRows(db, 'receipts', rows)
    },
    async insertTiles(tiles: readonly TileRow[]): Promise<void> {
      const rows = tiles.map((tile) => ({
        level: tile.level,
        tile_index: tile.index,
        width: tile.width,
        hashes: Buffer.from(tile.hashes),
      }))
      await insertRows(db, 'tiles', rows)
    },
    async insertHead(head: TreeHeadRow): Promise<void> {
      await insertRows(db, 'tree_heads', [
        {
          tree_size: head.treeSize,
          issued_at: head.issuedAt,
          root_hash: Buffer.from(head.rootHash),
          signed: head.signed,
        },
      ])
    },
    async insertSigningKey(key: SigningKeyRow): Promise<void> {
      await db('signing_keys').insert({
        key_id: key.keyId,
        public_key: key.publicKey,
        valid_from: key.validFrom,
        revoked_at: key.revokedAt,
      })
    },
    async retireSigningKey(keyId: string, at: Instant): Promise<void> {
      await db('signing_keys').where({ key_id: keyId }).whereNull('revoked_at').update({ revoked_at: at })
    },
  }
}

function toState(row: Row): LogState {
  return {
    logId: String(row.log_id),
    name: String(row.name),
    treeSize: Number(row.tree_size),
    keyId: String(row.key_id),
  }
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
