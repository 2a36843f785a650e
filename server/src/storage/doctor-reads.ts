/** Reads for the doctor, which goes through all rows, exactly as they are stored. */
import { anchors } from './anchor-row.ts'
import { claims, RECEIPT_OF_CLAIM } from './claim-row.ts'
import type { Db, Row } from './db.ts'
import type { Dialect } from './dialect.ts'
import { erasures } from './erasures.ts'
import { evidence, receipts, type TileRow, tiles } from './log.ts'
import { logs, treeHeads } from './log-state.ts'
import { machines } from './machines.ts'
import { accountSql, allowanceSql } from './payers.ts'
import { members, users } from './people.ts'
import { rowsOf, selectRows, toJson } from './rows.ts'
import { links, sessions } from './sign-in.ts'
import { part, qualified, type RowOf, type Table } from './table.ts'
import { apiKeys, connections, workspaces } from './workspaces.ts'

const tileKeys = part(tiles, 'logId', 'level', 'index', 'width')
export type TileKey = RowOf<typeof tileKeys>

/** A row that refers to a missing one. */
export interface Orphan {
  readonly table: string
  readonly id: string
  readonly missing: string
}

/** A schema's tables, each with the columns that name rows of others. */
export interface WithOwners {
  readonly tables: readonly {
    readonly table: Table<unknown>
    readonly owners?: Readonly<Record<string, Table<unknown>>>
  }[]
}

/** Small tables that are examined row by row. */
const SMALL = { users, workspaces, members, sessions, links, api_keys: apiKeys, machines, connections } as const

export function doctorReads(db: Db) {
  return {
    ...claimReads(db),
    ...treeReads(db),
    ...strayReads(db),
    /** Lists the next erasures after this receipt, each with its receipt. */
    async erasures(after: string, limit: number): Promise<Row[]> {
      const sql = `SELECT ${qualified(erasures)}, receipts.claim_id AS claim_of_receipt, receipts.issued_at AS receipt_at, receipts.leaf_index AS leaf,
        receipts.leaf_hash AS hash_of_leaf, CASE WHEN receipts.entry = '' THEN 0 ELSE 1 END AS has_content FROM erasures
        LEFT JOIN receipts ON receipts.log_id = erasures.log_id AND receipts.receipt_id = erasures.receipt_id
        WHERE erasures.receipt_id > ? ORDER BY erasures.receipt_id LIMIT ?`
      return db.query(sql, [after, limit])
    },
    /** Lists the next anchors as they are stored, each with the root that was signed at its size, if one was. */
    async anchors(after: number, limit: number): Promise<Row[]> {
      const signed =
        '(SELECT tree_heads.root_hash FROM tree_heads WHERE tree_heads.log_id = anchors.log_id AND tree_heads.tree_size = anchors.tree_size ORDER BY tree_heads.number LIMIT 1)'
      const sql = `SELECT ${anchors.names}, ${signed} AS signed_root FROM anchors WHERE id > CAST(? AS bigint) ORDER BY id LIMIT ?`
      return db.query(sql, [after, limit])
    },
    /** Lists the next rows of a small table, as they are stored. */
    async rows(table: keyof typeof SMALL, after: string, limit: number): Promise<Row[]> {
      const { names, name } = SMALL[table]
      return db.query(`SELECT ${names} FROM ${name} WHERE id > ? ORDER BY id LIMIT ?`, [after, limit])
    },
  }
}

/** The columns of a claim as it is stored, in one text each: drivers take longer to make a row of so many columns than databases to read it. */
function claimColumns({ jsonArray, jsonGroup }: Dialect): string {
  const columns = claims.columns.map(({ name }) => `CAST(claims.${name} AS text)`)
  // The record of the last check is in its claim as well.
  const check = `${jsonArray}(attempt, CASE WHEN record = claims.last_check THEN NULL ELSE record END)`
  return `CASE WHEN claims.claim_id IS NULL THEN NULL ELSE CAST(${jsonArray}(${columns.join(', ')}) AS text) END AS claim,
    CASE WHEN ${OWNED} AND ${PAID} AND ${CONNECTED} THEN 1 ELSE 0 END AS belongs,
    CAST((SELECT ${jsonGroup}(${check}) FROM checks WHERE checks.claim_id = claims.claim_id) AS text) AS checks`
}

function claimReads(db: Db) {
  const select = `SELECT ${claimColumns(db.dialect)} FROM claims`
  return {
    /** Reads these claims as they are stored, each with its checks. */
    async claims(claimIds: readonly string[]): Promise<Row[]> {
      return db.query(`${select} WHERE claim_id IN ${db.dialect.texts}`, [JSON.stringify(claimIds)])
    },
    /** Lists the next claims without a receipt, each with its checks, but for those of logs that may be in their archives alone. */
    async undecided(after: string, limit: number): Promise<Row[]> {
      const rest = `WHERE claim_id > ? AND NOT EXISTS (SELECT 1 FROM receipts WHERE ${RECEIPT_OF_CLAIM} AND receipts.claim_id = claims.claim_id)
        AND NOT EXISTS (SELECT 1 FROM logs WHERE logs.log_id = claims.log_id AND logs.archived_at IS NOT NULL)
        ORDER BY claim_id LIMIT ?`
      return db.query(`${select} ${rest}`, [after, limit])
    },
  }
}

function treeReads(db: Db) {
  return {
    /** Reads the receipts of these leaves as they are stored, each with its evidence, its claim and the checks of that, ascending. */
    async receipts(logId: string, start: number, end: number): Promise<Row[]> {
      const sql = `SELECT ${qualified(receipts)}, evidence.document AS evidence, ${ERASED} AS erased, ${claimColumns(db.dialect)} FROM receipts
        LEFT JOIN evidence ON evidence.log_id = receipts.log_id AND evidence.receipt_id = receipts.receipt_id
        LEFT JOIN claims ON claims.claim_id = receipts.claim_id
        WHERE receipts.log_id = ? AND leaf_index >= ? AND leaf_index < ? ORDER BY leaf_index`
      return db.query(sql, [logId, start, end])
    },
    /** Finds those of these tiles that are stored, in any order. */
    async tiles(keys: readonly TileKey[]): Promise<TileRow[]> {
      const asked = rowsOf(db.dialect, tileKeys)
      const rest = `WHERE (${tileKeys.names}) IN (SELECT ${tileKeys.names} FROM ${asked} AS asked)`
      const rows = await selectRows(db, tiles, rest, [toJson(tileKeys, keys)])
      return rows.map((tile) => ({ ...tile, hashes: bytes(tile.hashes) }))
    },
    /** Lists the next tiles of its log after this one. */
    async tileKeys(after: TileKey, limit: number): Promise<TileKey[]> {
      const rest = `WHERE (${tileKeys.names}) > (?, ?, ?, ?) AND log_id = ? ORDER BY ${tileKeys.names} LIMIT ?`
      return selectRows(db, tileKeys, rest, [after.logId, after.level, after.index, after.width, after.logId, limit])
    },
    /** Returns the number of leaves that the receipts of a log reach to. */
    async receiptReach(logId: string): Promise<number> {
      const [row] = await db.query('SELECT MAX(leaf_index) AS last FROM receipts WHERE log_id = ?', [logId])
      return Number(row?.last ?? -1) + 1
    },
  }
}

/** Reads of rows that belong to nothing. */
function strayReads(db: Db) {
  return {
    /** Lists receipts beyond the size of their log. */
    async strayReceipts(limit: number): Promise<Row[]> {
      const sizes = 'SELECT log_id AS of_log, MAX(tree_size) AS size FROM tree_heads GROUP BY log_id'
      const sql = `SELECT leaf_index, receipt_id FROM receipts LEFT JOIN (${sizes}) AS sizes ON of_log = receipts.log_id
        WHERE leaf_index < 0 OR leaf_index >= COALESCE(size, 0) ORDER BY receipts.log_id, leaf_index LIMIT ?`
      return db.query(sql, [limit])
    },
    async orphans({ tables }: WithOwners, limit: number): Promise<Orphan[]> {
      const found: Orphan[] = []
      const owned = tables.flatMap(({ table, owners = {} }) =>
        Object.entries(owners).map(([column, owner]) => ({ ...table, column, owner })),
      )
      for (const { name, key, column, owner } of owned) {
        const owning = column === 'shares_with' ? accountSql(`${name}.${column}`) : `${name}.${column}`
        const sql = `SELECT ${key.join(` || '/' || `)} AS id, ${column} AS missing FROM ${name} WHERE ${column} IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM ${owner.name} AS owner WHERE owner.${owner.key[0]} = ${owning}) LIMIT ?`
        for (const row of await db.query(sql, [limit])) {
          found.push({ table: name, id: String(row.id), missing: `${owner.name} ${row.missing}` })
        }
      }
      const ofReceipt = 'receipts.log_id = evidence.log_id AND receipts.receipt_id = evidence.receipt_id'
      const strayEvidence = `SELECT receipt_id FROM evidence WHERE NOT EXISTS (SELECT 1 FROM receipts WHERE ${ofReceipt}) LIMIT ?`
      for (const { receipt_id } of await db.query(strayEvidence, [limit]))
        found.push({ table: evidence.name, id: String(receipt_id), missing: `${receipts.name} ${receipt_id}` })
      // One set of all logs is compared with the rows: looking up the log of each row takes longer than all else.
      for (const { name, key } of [receipts, tiles, treeHeads]) {
        const sql = `SELECT ${key.join(` || '/' || `)} AS id, log_id FROM ${name} WHERE log_id NOT IN (SELECT log_id FROM logs) LIMIT ?`
        for (const row of await db.query(sql, [limit]))
          found.push({ table: name, id: String(row.id), missing: `${logs.name} ${row.log_id}` })
      }
      return found
    },
  }
}

const OWNED = 'EXISTS (SELECT 1 FROM workspaces WHERE workspaces.id = claims.workspace_id)'
const isAccount = (id: string) => `EXISTS (SELECT 1 FROM users WHERE users.id = ${id})`
const PAID = `(payer = workspace_id OR (${[allowanceSql, accountSql].map((sql) => isAccount(sql('claims.payer'))).join(' AND ')}))`
const CONNECTED = `(connection_id IS NULL OR EXISTS (SELECT 1 FROM connections
  WHERE connections.id = claims.connection_id AND connections.workspace_id = claims.workspace_id))`

/** Tells whether a receipt was erased, which is looked up only where it has no content. */
const ERASED = `CASE WHEN entry = '' AND EXISTS (SELECT 1 FROM erasures WHERE erasures.receipt_id = receipts.receipt_id)
  THEN '1' ELSE '' END`

/** Reads a cell of bytes. SQLite stores text in a column of bytes when a statement gives it text. */
function bytes(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : Buffer.from(String(value))
}
