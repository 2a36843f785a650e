/**
 * Everything that claims and their receipts change at one time, as ONE statement: all of it happens or nothing does, and on its own
 * it is a transaction. It rests on the log and the claims as whoever made it knew them; where they stand otherwise, it fails.
 */

import type { ClaimProgress, ClaimRow } from './claim-row.ts'
import { CLAIMS, keepChecks, PROGRESS, progressCells, toCells, UNDECIDED } from './claim-row.ts'
import type { Binding, Db, Dialect } from './db.ts'
import { type LogState, RECEIPTS, type ReceiptRow, TILES, type TileRow, TREE_HEADS, type TreeHeadRow } from './log.ts'
import { bytesOf, type Cells, type Columns, names, rowsOf, toHex, toJson } from './rows.ts'

/** The last check of each claim becomes part of its history, under the number of its attempts. */
export interface Changes {
  /** The log as it must stand, and as it will. The same, when no receipts are issued. */
  readonly log: { readonly from: LogState; readonly to: LogState }
  /** None of them may be there, by its id or by its client_claim_id. */
  readonly newClaims?: readonly ClaimRow[]
  /** As these will be: each must be queued, with one attempt less. */
  readonly progress?: readonly ClaimProgress[]
  readonly receipts?: readonly ReceiptRow[]
  readonly tiles?: readonly TileRow[]
  readonly heads?: readonly TreeHeadRow[]
}

const MOVED: Columns = { claim_id: 'text', ...PROGRESS }

/** What the statement is given, in this order. Lists are JSON. */
const PARAMETERS = [
  'log_id',
  'key_id',
  'from_size',
  'from_root',
  'to_size',
  'to_root',
  'issued_at',
  'new_claims',
  'progress',
  'progress_count',
  'receipts',
  'tiles',
  'heads',
] as const

/** A parameter as the statement's text names it. */
type Parameter = (name: (typeof PARAMETERS)[number]) => string

/** @throws what the database says when the log or a claim stands otherwise, or a new claim is there already */
export async function applyChanges(db: Db, changes: Changes): Promise<void> {
  const { log, newClaims = [], progress = [], receipts = [], tiles = [], heads = [] } = changes
  const { from, to } = log
  const bindings: Readonly<Record<(typeof PARAMETERS)[number], Binding>> = {
    log_id: from.logId,
    key_id: from.keyId,
    from_size: from.treeSize,
    from_root: toHex(from.rootHash),
    to_size: to.treeSize,
    to_root: toHex(to.rootHash),
    issued_at: to.issuedAt,
    new_claims: toJson(newClaims.map(toCells)),
    progress: toJson(progress.map((claim) => [claim.claimId, ...progressCells(claim)])),
    progress_count: progress.length,
    receipts: toJson(receipts.map(receiptCells)),
    tiles: toJson(tiles.map(({ level, index, width, hashes }) => [level, index, width, hashes])),
    heads: toJson(heads.map((head) => [head.treeSize, head.issuedAt, head.rootHash, head.signed])),
  }
  await db.query(
    STATEMENTS[db.dialect],
    PARAMETERS.map((name) => bindings[name]),
  )
}

function receiptCells({ leafIndex, receiptId, claimId, leafHash, issuedAt, entry }: ReceiptRow): Cells {
  return [leafIndex, receiptId, claimId, leafHash, issuedAt, entry]
}

/** The parts, in the order in which they must happen: the log first, which locks out whoever else would move it or its claims. */
function partsOf(dialect: Dialect, given: Parameter, condition = 'true') {
  const inserted = (table: string, columns: Columns, list: Parameters<Parameter>[0]) =>
    `INSERT INTO ${table} (${names(columns)})
     SELECT ${names(columns)} FROM ${rowsOf(dialect, columns, given(list))} AS added WHERE ${condition}`
  return {
    grown: `UPDATE log SET tree_size = ${given('to_size')}, root_hash = ${bytesOf(dialect, given('to_root'))}, issued_at = ${given('issued_at')}
      WHERE id = 1 AND log_id = ${given('log_id')} AND key_id = ${given('key_id')}
        AND tree_size = ${given('from_size')} AND root_hash = ${bytesOf(dialect, given('from_root'))}`,
    moved: `UPDATE claims SET ${Object.keys(PROGRESS)
      .map((column) => `${column} = moved.${column}`)
      .join(', ')}
      FROM ${rowsOf(dialect, MOVED, given('progress'))} AS moved
      WHERE claims.claim_id = moved.claim_id AND claims.${UNDECIDED} AND claims.attempts = moved.attempts - 1 AND ${condition}`,
    added: inserted('claims', CLAIMS, 'new_claims'),
    inserted: [
      inserted('receipts', RECEIPTS, 'receipts'),
      inserted('tiles', TILES, 'tiles'),
      inserted('tree_heads', TREE_HEADS, 'heads'),
    ],
  }
}

/**
 * SQLite changes one table a statement, and more in a trigger: this one belongs to each writing connection, and to a view that exists
 * to be inserted into.
 */
export const SQLITE_TRIGGER = sqliteTrigger()

function sqliteTrigger(): string {
  const { grown, moved, added, inserted } = partsOf('sqlite', (name) => `NEW.${name}`)
  return `CREATE TEMP VIEW changes AS SELECT ${PARAMETERS.map((name) => `NULL AS ${name}`).join(', ')};
    CREATE TEMP TRIGGER apply_changes INSTEAD OF INSERT ON changes BEGIN
      ${grown};
      SELECT RAISE(ABORT, 'the log has moved on') WHERE changes() <> 1;
      ${moved};
      SELECT RAISE(ABORT, 'a claim has moved on') WHERE changes() <> NEW.progress_count;
      ${added};
      ${keepChecks(rowsOf('sqlite', MOVED, 'NEW.progress'))};
      ${keepChecks(rowsOf('sqlite', CLAIMS, 'NEW.new_claims'))};
      ${inserted.join(';\n')};
    END`
}

/** Parts that nobody reads from are carried out all the same; those that look at `grown` after it. */
function postgresStatement(): string {
  const given: Parameter = (name) => `$${PARAMETERS.indexOf(name) + 1}`
  const { grown, moved, added, inserted } = partsOf('postgres', given, 'EXISTS (SELECT FROM grown)')
  const count = (part: string) => `(SELECT COUNT(*) FROM ${part})`
  const changed = 'RETURNING claims.claim_id, claims.attempts, claims.last_check'
  // The words are no integer: that is what the database says when it refuses.
  return `WITH grown AS (${grown} RETURNING 1), moved AS (${moved} ${changed}), added AS (${added} ${changed}),
    checked AS (${keepChecks('(SELECT * FROM moved UNION ALL SELECT * FROM added)')}),
    ${inserted.map((part, index) => `inserted_${index} AS (${part})`).join(',\n')}
    SELECT CAST(CASE WHEN ${count('grown')} <> 1 THEN 'the log has moved on'
      WHEN ${count('moved')} <> ${given('progress_count')} THEN 'a claim has moved on' ELSE '0' END AS integer)`
}

const STATEMENTS: Readonly<Record<Dialect, string>> = {
  sqlite: `INSERT INTO changes (${PARAMETERS.join(', ')}) VALUES (${PARAMETERS.map(() => '?').join(', ')})`,
  postgres: postgresStatement(),
}
