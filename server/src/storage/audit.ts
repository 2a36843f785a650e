/** Rows for going through all of them: many at once as one text. */
import { ANCHORS } from './anchor-row.ts'
import type { Db, Dialect, Row } from './db.ts'
import { FUNCTIONS, linesOf, readLines, SEPARATORS } from './lines.ts'
import type { TileRow } from './log.ts'
import type { RecordRow } from './records.ts'
import { type Columns, names, rowsOf, toJson } from './rows.ts'

/** A receipt's fields in a line, in this order. */
export const RECEIPT_FIELDS = ['leaf_index', 'receipt_id', 'leaf_hash', 'issued_at', 'entry'] as const

/** A claim's. What clients write freely is JSON, so that it holds no separator; null is empty. */
export const CLAIM_FIELDS = [
  'claim_id',
  'client_claim_id',
  'agent_id',
  'action',
  'target',
  'params',
  'claimed_at',
  'deadline_at',
  'submitted_at',
  'claim_digest',
  'access',
  'connection_id',
  'profile_action',
  'profile_version',
  'state',
  'attempts',
  'due_at',
  'next_check_at',
  'last_check',
  'receipt_id',
  'verdict',
  'reason_code',
  // Whether its workspace, and its connection if it names one, are there and belong together.
  'belongs',
  // Each its attempt, and its record unless that is last_check.
  'checks',
] as const

export type TileKey = Pick<TileRow, 'level' | 'index' | 'width'>

/** A row that belongs to one that is not there. */
export interface Orphan {
  readonly table: string
  readonly id: string
  readonly missing: string
}

const TILE_KEY: Columns = { level: 'integer', tile_index: 'bigint', width: 'integer' }
const TABLES = {
  users: 'id, email, name, password_hash, created_at',
  workspaces: 'id, name, created_at',
  members: 'id, role, created_at',
  sessions: 'id, token_hash, created_at, last_seen_at, expires_at',
  links: 'id, token_hash, kind, workspace_id, role, user_id, created_at, expires_at, used_at',
  api_keys: 'id, workspace_id, name, key_hash, last_four, created_at, last_used_at, revoked_at',
  connections: 'id, workspace_id, provider, options, sealed_secrets, scopes, notes, connected_at, disconnected_at',
} as const

/** Owners are few, their rows many: each is looked for in the owners' primary key. */
const BELONGS: readonly (readonly [table: string, id: string, column: string, owner: string, key: string])[] = [
  ['checks', "claim_id || '/' || attempt", 'claim_id', 'claims', 'claim_id'],
  ['api_keys', 'id', 'workspace_id', 'workspaces', 'id'],
  ['connections', 'id', 'workspace_id', 'workspaces', 'id'],
  ['members', 'id', 'workspace_id', 'workspaces', 'id'],
  ['members', 'id', 'user_id', 'users', 'id'],
  ['sessions', 'id', 'user_id', 'users', 'id'],
  ['links', 'id', 'workspace_id', 'workspaces', 'id'],
  ['links', 'id', 'user_id', 'users', 'id'],
  ['passkeys', 'id', 'user_id', 'users', 'id'],
  ['identities', 'subject', 'user_id', 'users', 'id'],
  ['sealed_signing_keys', 'key_id', 'key_id', 'signing_keys', 'key_id'],
]

export function auditReads(db: Db) {
  const { receiptLines, undecidedLines } = LINES[db.dialect]

  return {
    /** The receipts of these leaves that have a claim, a line each, in any order. */
    async receiptLines(start: number, end: number): Promise<string> {
      return readLines((await db.query(receiptLines, [start, end]))[0]?.lines)
    },
    /** The next claims without a receipt, a line each, and the last one's id; undefined when there are no more. */
    async undecidedLines(after: string, limit: number): Promise<{ lines: string; last: string } | undefined> {
      const [row] = await db.query(undecidedLines, [after, limit])
      return row?.last == null ? undefined : { lines: readLines(row.lines), last: String(row.last) }
    },
    /** The claims without a receipt after one up to another. */
    async undecidedIds(after: string, last: string): Promise<string[]> {
      const sql = `SELECT claim_id FROM claims WHERE claim_id > ? AND claim_id <= ?
        AND NOT EXISTS (SELECT 1 FROM receipts WHERE receipts.claim_id = claims.claim_id) ORDER BY claim_id`
      return (await db.query(sql, [after, last])).map((row) => String(row.claim_id))
    },
    /** A claim as it is stored, unless it has got a receipt. */
    async undecided(claimId: string): Promise<Row | undefined> {
      const unless = 'NOT EXISTS (SELECT 1 FROM receipts WHERE receipts.claim_id = claims.claim_id)'
      return (await db.query(`${SELECT_CLAIM} AND ${unless}`, [claimId]))[0]
    },
    /** A receipt as it is stored, whatever is in it. */
    async receipt(leafIndex: number): Promise<Row | undefined> {
      const sql =
        'SELECT leaf_index, receipt_id, claim_id, leaf_hash, issued_at, entry FROM receipts WHERE leaf_index = ?'
      return (await db.query(sql, [leafIndex]))[0]
    },
    async claim(claimId: string): Promise<Row | undefined> {
      return (await db.query(SELECT_CLAIM, [claimId]))[0]
    },
    /** The checks of a claim, by attempt. */
    async checks(claimId: string): Promise<Row[]> {
      return db.query('SELECT attempt, record FROM checks WHERE claim_id = ? ORDER BY attempt', [claimId])
    },
    /** Those of these tiles that are there, in any order. */
    async tiles(keys: readonly TileKey[]): Promise<TileRow[]> {
      const sql = `SELECT level, tile_index, width, hashes FROM tiles
        WHERE (level, tile_index, width) IN (SELECT level, tile_index, width FROM ${rowsOf(db.dialect, TILE_KEY)} AS asked)`
      const rows = await db.query(sql, [toJson(keys.map(({ level, index, width }) => [level, index, width]))])
      return rows.map((row) => ({ ...toTileKey(row), hashes: bytes(row.hashes) }))
    },
    /** Which tiles there are, the next after this one. */
    async tileKeys(after: TileKey, limit: number): Promise<TileKey[]> {
      const sql = `SELECT level, tile_index, width FROM tiles WHERE (level, tile_index, width) > (?, ?, ?)
        ORDER BY level, tile_index, width LIMIT ?`
      return (await db.query(sql, [after.level, after.index, after.width, limit])).map(toTileKey)
    },
    /** As many leaves as there can be, by the log's own size or by its receipts. */
    async reach(): Promise<number> {
      const sql = 'SELECT (SELECT MAX(tree_size) FROM log) AS size, (SELECT MAX(leaf_index) FROM receipts) AS last'
      const [row] = await db.query(sql)
      return Math.max(Number(row?.size ?? 0), Number(row?.last ?? -1) + 1)
    },
    /** There is one log. */
    async logIds(): Promise<number[]> {
      return (await db.query('SELECT id FROM log')).map((row) => Number(row.id))
    },
    /** Receipts that the log does not reach, by leaf index. */
    async strayReceipts(limit: number): Promise<Row[]> {
      const sql = `SELECT leaf_index, receipt_id FROM receipts
        WHERE leaf_index < 0 OR leaf_index >= COALESCE((SELECT MAX(tree_size) FROM log), 0) ORDER BY leaf_index LIMIT ?`
      return db.query(sql, [limit])
    },
    /** The next anchors as they are stored, each with the root that was signed at its size, if one was. */
    async anchors(after: number, limit: number): Promise<Row[]> {
      const signed =
        '(SELECT tree_heads.root_hash FROM tree_heads WHERE tree_heads.tree_size = anchors.tree_size ORDER BY tree_heads.issued_at LIMIT 1)'
      const sql = `SELECT ${names(ANCHORS)}, ${signed} AS signed_root FROM anchors WHERE id > CAST(? AS bigint) ORDER BY id LIMIT ?`
      return db.query(sql, [after, limit])
    },
    async orphans(limit: number): Promise<Orphan[]> {
      const found: Orphan[] = []
      for (const [table, id, column, owner, key] of BELONGS) {
        const sql = `SELECT ${id} AS id, ${column} AS missing FROM ${table}
          WHERE ${column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${owner} WHERE ${owner}.${key} = ${table}.${column}) LIMIT ?`
        for (const row of await db.query(sql, [limit])) {
          found.push({ table, id: String(row.id), missing: `${owner} ${row.missing}` })
        }
      }
      return found
    },
    /** The next records, after the last of these. */
    async records(
      after: readonly [kind: string, idHash: string],
      limit: number,
    ): Promise<Pick<RecordRow, 'kind' | 'idHash' | 'payload'>[]> {
      const sql = `SELECT kind, id_hash, payload FROM records WHERE (kind, id_hash) > (?, ?) ORDER BY kind, id_hash LIMIT ?`
      const rows = await db.query(sql, [...after, limit])
      return rows.map((row) => ({ kind: String(row.kind), idHash: String(row.id_hash), payload: String(row.payload) }))
    },
    /** The next rows of a small table, as they are stored. */
    async rows(table: keyof typeof TABLES, after: string, limit: number): Promise<Row[]> {
      return db.query(`SELECT ${TABLES[table]} FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`, [after, limit])
    },
  }
}

/** Fields of a claim that are JSON in a line, and plain in a row. */
export const JSON_FIELDS = ['client_claim_id', 'agent_id', 'target'] as const
const NULLABLE: ReadonlySet<string> = new Set([
  'connection_id',
  'due_at',
  'next_check_at',
  'last_check',
  'receipt_id',
  'verdict',
  'reason_code',
])
const CLAIM_COLUMNS = CLAIM_FIELDS.slice(0, -2)
const OWNED = 'EXISTS (SELECT 1 FROM workspaces WHERE workspaces.id = claims.workspace_id)'
const CONNECTED = `(connection_id IS NULL OR EXISTS (SELECT 1 FROM connections
  WHERE connections.id = claims.connection_id AND connections.workspace_id = claims.workspace_id))`
const BELONGS_TOGETHER = `CASE WHEN ${OWNED} AND ${CONNECTED} THEN 1 ELSE 0 END`
const SELECT_CLAIM = `SELECT ${CLAIM_COLUMNS.join(', ')}, ${BELONGS_TOGETHER} AS belongs FROM claims WHERE claim_id = ?`

function statementsOf(dialect: Dialect) {
  const { character, hex, json, join } = FUNCTIONS[dialect]
  const { check, attempt } = SEPARATORS
  const orEmpty = (expression: string) => `COALESCE(CAST(${expression} AS text), '')`
  // A null where none may be is left out: the line is short then, and its row is read on its own.
  const lines = (expressions: readonly string[]) => `${linesOf(dialect, expressions)} AS lines`
  // The last check is there twice: once is enough to hand over.
  const record = `CASE WHEN record = claims.last_check THEN '' ELSE ${character(attempt)} || record END`
  const history = `(SELECT ${join(`attempt || ${character(attempt)} || ${record}`, character(check))}
    FROM checks WHERE checks.claim_id = claims.claim_id)`
  const receipt = RECEIPT_FIELDS.map((name) => (name === 'leaf_hash' ? hex(name) : `receipts.${name}`))
  const claim = [
    ...CLAIM_COLUMNS.map((name) => {
      if (JSON_FIELDS.some((free) => free === name)) return json(`claims.${name}`)
      return NULLABLE.has(name) ? orEmpty(`claims.${name}`) : `claims.${name}`
    }),
    BELONGS_TOGETHER,
    orEmpty(history),
  ]
  const next = `SELECT * FROM claims WHERE claim_id > ?
    AND NOT EXISTS (SELECT 1 FROM receipts WHERE receipts.claim_id = claims.claim_id) ORDER BY claim_id LIMIT ?`
  return {
    receiptLines: `SELECT ${lines([...receipt, ...claim])} FROM receipts JOIN claims ON claims.claim_id = receipts.claim_id
      WHERE leaf_index >= ? AND leaf_index < ?`,
    undecidedLines: `SELECT ${lines(claim)}, MAX(claim_id) AS last FROM (${next}) AS claims`,
  }
}

const LINES = { sqlite: statementsOf('sqlite'), postgres: statementsOf('postgres') }

/** SQLite keeps text in a column of bytes when it is given some. */
function bytes(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : Buffer.from(String(value))
}

function toTileKey(row: Row): TileKey {
  return { level: Number(row.level), index: Number(row.tile_index), width: Number(row.width) }
}
