/**
 * All changes that deciding claims makes, as ONE statement, which is a transaction by itself: all of them happen or none does. The
 * caller computed them from the log and the claims as it knew them; the statement fails when those differ from what is stored.
 */
import { Apart } from './apart.ts'
import {
  type ClaimProgress,
  checked,
  claims,
  mayBeStored,
  type NewClaim,
  newClaims,
  progress,
  UNDECIDED,
} from './claim-row.ts'
import type { Binding, Db } from './db.ts'
import type { Expressions } from './dialect.ts'
import {
  type EvidenceRow,
  evidence,
  type NewReceipt,
  receipts,
  type TileRow,
  type TreeHeadRow,
  tiles,
  treeHeads,
} from './log.ts'
import type { LogState } from './log-state.ts'
import { rowsOf, toJson } from './rows.ts'
import { assignments, type Table, toHex } from './table.ts'

/** The last check of each claim becomes part of its history, under the number of its attempts. */
export interface Changes {
  /** The log as it must be stored now, and as it will be. Both the same when no receipts are issued. */
  readonly log: { readonly from: LogState; readonly to: LogState }
  /**
   * Fails when one is stored already, by its id or by its client_claim_id, or when its agent is bound to keys that it did not come through,
   * or came through one that has ended, or through a remembered one that has ended or changed since.
   */
  readonly newClaims?: readonly NewClaim[]
  /** As these claims will be. Each must be stored as queued, with one attempt less. */
  readonly progress?: readonly ClaimProgress[]
  readonly receipts?: readonly NewReceipt[]
  readonly evidence?: readonly EvidenceRow[]
  readonly tiles?: readonly TileRow[]
  readonly heads?: readonly TreeHeadRow[]
}

/** What the statement is given, in this order. Lists are JSON, and their large values are apart from it. */
export const PARAMETERS = [
  'log_id',
  'key_id',
  'from_size',
  'from_root',
  'to_size',
  'to_root',
  'issued_at',
  'new_claims',
  'new_count',
  'progress',
  'progress_count',
  'receipts',
  'evidence',
  'tiles',
  'heads',
  'apart',
] as const

type Parameter = (typeof PARAMETERS)[number]

/** @throws the database's error when the log or a claim differs from what the changes expect, or a new claim may not be stored */
export async function applyChanges(db: Db, changes: Changes): Promise<void> {
  const { from, to } = changes.log
  const apart = new Apart()
  const bindings: Readonly<Record<Parameter, Binding>> = {
    log_id: from.logId,
    key_id: from.keyId,
    from_size: from.treeSize,
    from_root: toHex(from.rootHash),
    to_size: to.treeSize,
    to_root: toHex(to.rootHash),
    issued_at: to.issuedAt,
    new_claims: toJson(newClaims, changes.newClaims ?? [], apart),
    new_count: changes.newClaims?.length ?? 0,
    progress: toJson(progress, changes.progress ?? [], apart),
    progress_count: changes.progress?.length ?? 0,
    receipts: toJson<NewReceipt>(receipts, changes.receipts ?? [], apart),
    evidence: toJson(evidence, changes.evidence ?? [], apart),
    tiles: toJson(tiles, changes.tiles ?? [], apart),
    heads: toJson(treeHeads, changes.heads ?? [], apart),
    // The last: those before fill it.
    apart: apart.bytes(),
  }
  await db.query(
    db.dialect.applyChanges,
    PARAMETERS.map((name) => bindings[name]),
  )
}

/**
 * The parts of the statement, in the order in which they must happen: the log first, which locks out other writers of it and its claims.
 * A dialect makes one statement of them, which also keeps the last checks, and which fails unless `grown` changes one row, `moved`
 * changes `progress_count` and `added` adds `new_count`.
 * @param given how the statement names a parameter
 * @param condition needed by each part after the first
 */
export function changeParts(sql: Expressions, given: (name: Parameter) => string, condition = 'true') {
  const rows = (table: Table<unknown>, name: Parameter) => rowsOf(sql, table, given(name), given('apart'))
  const moved = rows(progress, 'progress')
  const added = rows(newClaims, 'new_claims')
  const insert = <R>(table: Table<R>, rows: string) =>
    `INSERT INTO ${table.name} (${table.names}) SELECT ${table.names} FROM ${rows} AS added WHERE ${condition}`
  return {
    grown: `UPDATE log SET tree_size = ${given('to_size')}, root_hash = ${sql.bytes(given('to_root'))}, issued_at = ${given('issued_at')}
      WHERE id = 1 AND log_id = ${given('log_id')} AND key_id = ${given('key_id')}
        AND tree_size = ${given('from_size')} AND root_hash = ${sql.bytes(given('from_root'))}`,
    moved: `UPDATE claims SET ${assignments(checked, 'moved')} FROM ${moved} AS moved
      WHERE claims.claim_id = moved.claim_id AND claims.${UNDECIDED} AND claims.attempts = moved.attempts - 1 AND ${condition}`,
    added: `${insert(claims, added)} AND ${mayBeStored(sql, 'added')}`,
    inserted: [
      insert(receipts, rows(receipts, 'receipts')),
      insert(evidence, rows(evidence, 'evidence')),
      insert(tiles, rows(tiles, 'tiles')),
      insert(treeHeads, rows(treeHeads, 'heads')),
    ],
    /** The claims as they are given, for `keepChecks`. */
    rows: { moved, added },
  }
}
