/** Reads for the doctor, which goes through all rows: many rows as one text, and rows exactly as they are stored. */
import { anchors } from './anchor-row.ts'
import { checks, claims } from './claim-row.ts'
import type { Db, Row } from './db.ts'
import { type Dialect, perDialect } from './dialect.ts'
import { erasures } from './erasures.ts'
import { linesOf, readLines, SEPARATORS } from './lines.ts'
import { evidence, receipts, sealedSigningKeys, signingKeys, type TileRow, tiles } from './log.ts'
import { machines } from './machines.ts'
import { seenBrowsers } from './mails.ts'
import { members, users } from './people.ts'
import { retentions } from './retentions.ts'
import { rowsOf, selectRows, toJson } from './rows.ts'
import { recoveryCodes, secondSteps } from './second-steps.ts'
import { identities, links, passkeys, sessions } from './sign-in.ts'
import { part, qualified, type RowOf, type Table } from './table.ts'
import { apiKeys, boundAgents, connections, workspaces } from './workspaces.ts'

/** A receipt's fields in a line, in this order. `evidence` is the document, empty where there is none; `erased` is 1 with a row that says so. */
export const RECEIPT_FIELDS = [
  'leaf_index',
  'receipt_id',
  'leaf_hash',
  'issued_at',
  'entry',
  'evidence',
  'erased',
] as const

/** A claim's. What clients write freely is JSON, so that it holds no separator; null is empty. */
export const CLAIM_FIELDS = [
  'claim_id',
  'client_claim_id',
  'agent_id',
  'agent_bound',
  'action',
  'target',
  'params',
  'claimed_at',
  'deadline_at',
  'submitted_at',
  'claim_digest',
  'access',
  'connection_id',
  'origin',
  'submitted_by',
  'profile_action',
  'profile_version',
  'state',
  'attempts',
  'due_at',
  'next_check_at',
  'moment_at',
  'last_check',
  'receipt_id',
  'verdict',
  'reason_code',
  // Whether its workspace, and its connection if it names one, are there and belong together.
  'belongs',
  // For each check its attempt, and its record unless that equals last_check.
  'checks',
] as const

const tileKeys = part(tiles, 'level', 'index', 'width')
export type TileKey = RowOf<typeof tileKeys>

/** A row that belongs to one that is not there. */
export interface Orphan {
  readonly table: string
  readonly id: string
  readonly missing: string
}

/** Small tables, whose rows are examined one by one. */
const SMALL = { users, workspaces, members, sessions, links, api_keys: apiKeys, machines, connections } as const

/** Which column names a row of which owner. Each is looked up by the owner's primary key. */
const BELONGS: readonly (readonly [table: Table<unknown>, column: string, owner: Table<unknown>])[] = [
  [checks, 'claim_id', claims],
  [apiKeys, 'workspace_id', workspaces],
  [boundAgents, 'workspace_id', workspaces],
  [machines, 'workspace_id', workspaces],
  [seenBrowsers, 'user_id', users],
  [connections, 'workspace_id', workspaces],
  [members, 'workspace_id', workspaces],
  [members, 'user_id', users],
  [sessions, 'user_id', users],
  [links, 'workspace_id', workspaces],
  [links, 'user_id', users],
  [passkeys, 'user_id', users],
  [identities, 'user_id', users],
  [secondSteps, 'user_id', users],
  [recoveryCodes, 'user_id', users],
  [sealedSigningKeys, 'key_id', signingKeys],
  [evidence, 'receipt_id', receipts],
  [erasures, 'receipt_id', receipts],
  [erasures, 'claim_id', claims],
  [retentions, 'workspace_id', workspaces],
]

export function doctorReads(db: Db) {
  const { receiptLines, undecidedLines } = linesIn(db.dialect)

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
    /** The claims without a receipt, from after one id up to another. */
    async undecidedIds(after: string, last: string): Promise<string[]> {
      const sql = `SELECT claim_id FROM claims WHERE claim_id > ? AND claim_id <= ?
        AND NOT EXISTS (SELECT 1 FROM receipts WHERE receipts.claim_id = claims.claim_id) ORDER BY claim_id`
      return (await db.query(sql, [after, last])).map((row) => String(row.claim_id))
    },
    /** A claim as it is stored; undefined when it has a receipt. */
    async undecided(claimId: string): Promise<Row | undefined> {
      const unless = 'NOT EXISTS (SELECT 1 FROM receipts WHERE receipts.claim_id = claims.claim_id)'
      return (await db.query(`${SELECT_CLAIM} AND ${unless}`, [claimId]))[0]
    },
    /** A receipt as it is stored, damaged or not. */
    async receipt(leafIndex: number): Promise<Row | undefined> {
      const sql = `SELECT ${qualified(receipts)}, ${EVIDENCE} AS evidence, ${ERASED} AS erased FROM receipts ${WITH_EVIDENCE} WHERE leaf_index = ?`
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
      const asked = rowsOf(db.dialect, tileKeys)
      const rest = `WHERE (${tileKeys.names}) IN (SELECT ${tileKeys.names} FROM ${asked} AS asked)`
      const rows = await selectRows(db, tiles, rest, [toJson(tileKeys, keys)])
      return rows.map((tile) => ({ ...tile, hashes: bytes(tile.hashes) }))
    },
    /** The next tiles after this one. */
    async tileKeys(after: TileKey, limit: number): Promise<TileKey[]> {
      const rest = `WHERE (${tileKeys.names}) > (?, ?, ?) ORDER BY ${tileKeys.names} LIMIT ?`
      return selectRows(db, tileKeys, rest, [after.level, after.index, after.width, limit])
    },
    /** The next erasures after this receipt, each with its receipt. */
    async erasures(after: string, limit: number): Promise<Row[]> {
      const sql = `SELECT ${qualified(erasures)}, receipts.issued_at, receipts.claim_id AS claim_of_receipt,
        CASE WHEN receipts.entry = '' THEN 0 ELSE 1 END AS has_content FROM erasures
        LEFT JOIN receipts ON receipts.receipt_id = erasures.receipt_id
        WHERE erasures.receipt_id > ? ORDER BY erasures.receipt_id LIMIT ?`
      return db.query(sql, [after, limit])
    },
    /** The larger of the log's size and the number of leaves that its receipts reach to. */
    async reach(): Promise<number> {
      const sql = 'SELECT (SELECT MAX(tree_size) FROM log) AS size, (SELECT MAX(leaf_index) FROM receipts) AS last'
      const [row] = await db.query(sql)
      return Math.max(Number(row?.size ?? 0), Number(row?.last ?? -1) + 1)
    },
    /** One, in a database that is sound. */
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
      const sql = `SELECT ${anchors.names}, ${signed} AS signed_root FROM anchors WHERE id > CAST(? AS bigint) ORDER BY id LIMIT ?`
      return db.query(sql, [after, limit])
    },
    async orphans(limit: number): Promise<Orphan[]> {
      const found: Orphan[] = []
      for (const [{ name, key }, column, owner] of BELONGS) {
        const sql = `SELECT ${key.join(` || '/' || `)} AS id, ${column} AS missing FROM ${name} WHERE ${column} IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM ${owner.name} WHERE ${owner.name}.${ownerKey(owner)} = ${name}.${column}) LIMIT ?`
        for (const row of await db.query(sql, [limit])) {
          found.push({ table: name, id: String(row.id), missing: `${owner.name} ${row.missing}` })
        }
      }
      return found
    },
    /** The next rows of a small table, as they are stored. */
    async rows(table: keyof typeof SMALL, after: string, limit: number): Promise<Row[]> {
      const { names, name } = SMALL[table]
      return db.query(`SELECT ${names} FROM ${name} WHERE id > ? ORDER BY id LIMIT ?`, [after, limit])
    },
  }
}

/** The column by which others name an owner. */
function ownerKey(owner: Table<unknown>): string {
  return owner === receipts ? 'receipt_id' : owner.key[0]!
}

/** Fields of a claim that are JSON in a line, and plain in a row. */
export const JSON_FIELDS = ['client_claim_id', 'agent_id', 'target'] as const
const NULLABLE = claims.columns.filter(({ isNullable }) => isNullable).map(({ name }) => name)
const CLAIM_COLUMNS = CLAIM_FIELDS.slice(0, -2)
const OWNED = 'EXISTS (SELECT 1 FROM workspaces WHERE workspaces.id = claims.workspace_id)'
const CONNECTED = `(connection_id IS NULL OR EXISTS (SELECT 1 FROM connections
  WHERE connections.id = claims.connection_id AND connections.workspace_id = claims.workspace_id))`
const BELONGS_TOGETHER = `CASE WHEN ${OWNED} AND ${CONNECTED} THEN 1 ELSE 0 END`
const SELECT_CLAIM = `SELECT ${CLAIM_COLUMNS.join(', ')}, ${BELONGS_TOGETHER} AS belongs FROM claims WHERE claim_id = ?`

const EVIDENCE = `COALESCE(evidence.document, '')`
/** Looked for only where there is no content. */
const ERASED = `CASE WHEN entry = '' AND EXISTS (SELECT 1 FROM erasures WHERE erasures.receipt_id = receipts.receipt_id)
  THEN '1' ELSE '' END`
const WITH_EVIDENCE = 'LEFT JOIN evidence ON evidence.receipt_id = receipts.receipt_id'

const linesIn = perDialect(({ lines: forms }: Dialect) => {
  const { character, hex, json, join } = forms
  const { check, attempt } = SEPARATORS
  const orEmpty = (expression: string) => `COALESCE(CAST(${expression} AS text), '')`
  // A null in a column that allows none shortens its line, so that the row is then read alone.
  const lines = (expressions: readonly string[]) => `${linesOf(forms, expressions)} AS lines`
  // The last check is stored twice, and handed over once.
  const record = `CASE WHEN record = claims.last_check THEN '' ELSE ${character(attempt)} || record END`
  const history = `(SELECT ${join(`attempt || ${character(attempt)} || ${record}`, character(check))}
    FROM checks WHERE checks.claim_id = claims.claim_id)`
  const receipt = RECEIPT_FIELDS.map((name) => {
    if (name === 'evidence') return EVIDENCE
    if (name === 'erased') return ERASED
    return name === 'leaf_hash' ? hex(name) : `receipts.${name}`
  })
  const claim = [
    ...CLAIM_COLUMNS.map((name) => {
      if (JSON_FIELDS.some((free) => free === name)) return json(`claims.${name}`)
      return NULLABLE.includes(name) ? orEmpty(`claims.${name}`) : `claims.${name}`
    }),
    BELONGS_TOGETHER,
    orEmpty(history),
  ]
  const next = `SELECT * FROM claims WHERE claim_id > ?
    AND NOT EXISTS (SELECT 1 FROM receipts WHERE receipts.claim_id = claims.claim_id) ORDER BY claim_id LIMIT ?`
  return {
    receiptLines: `SELECT ${lines([...receipt, ...claim])} FROM receipts JOIN claims ON claims.claim_id = receipts.claim_id ${WITH_EVIDENCE}
      WHERE leaf_index >= ? AND leaf_index < ?`,
    undecidedLines: `SELECT ${lines(claim)}, MAX(claim_id) AS last FROM (${next}) AS claims`,
  }
})

/** SQLite stores text in a column of bytes when a statement gives it text. */
function bytes(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : Buffer.from(String(value))
}
