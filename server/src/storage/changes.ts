/**
 * All changes that deciding claims makes, as ONE statement, which is a transaction by itself: all of them happen or none does. The
 * caller computed them from the log and the claims as it knew them; the statement fails when those differ from what is stored.
 */

import {
  type ClaimProgress,
  checked,
  checks,
  claims,
  logOfReceipt,
  mayBeStored,
  type NewClaim,
  newClaims,
  progress,
  storedClaims,
  UNDECIDED,
} from './claim-row.ts'
import { type Binding, type Db, runAll } from './db.ts'
import type { Expressions } from './dialect.ts'
import { eventHeads, eventParts, events, type NewEvent, newEventsToJson } from './events.ts'
import { LargeValues } from './large-values.ts'
import { type EvidenceRow, evidence, type ReceiptRow, receipts, type TileRow, tiles } from './log.ts'
import { type LogTip, type TreeHeadRow, treeHeads } from './log-state.ts'
import { rowsOf, toJson } from './rows.ts'
import { assignments, type Table, toHex } from './table.ts'

/** The changes of one statement. The last check of each claim becomes part of its history, under the number of its attempts. */
export interface Changes {
  /** The log as it must be stored now. If `head` is absent, the log only has to be open. */
  readonly log: LogTip
  /** The next head of the log, by which it grows. Of several hosts that append a head of one number, one succeeds. */
  readonly head?: TreeHeadRow
  /**
   * New claims. The statement fails when one is stored already, by its id or by its client_claim_id, or when its agent is bound to keys that it did
   * not come through, or came through one that has ended.
   */
  readonly newClaims?: readonly NewClaim[]
  /** The new states of queued claims. Each claim must be stored as queued, with one attempt less; with as many if it has no last check. */
  readonly progress?: readonly ClaimProgress[]
  readonly receipts?: readonly ReceiptRow[]
  readonly evidence?: readonly EvidenceRow[]
  readonly tiles?: readonly TileRow[]
  readonly events?: readonly NewEvent[]
}

/** The parameters of the statement, in this order. Lists are JSON, but for their large values. */
export const PARAMETERS = [
  'log_id',
  'key_id',
  'from_number',
  'from_root',
  'head',
  'head_count',
  'new_claims',
  'new_count',
  'progress',
  'progress_count',
  'receipts',
  'evidence',
  'tiles',
  'events',
  'large_values',
] as const

type Parameter = (typeof PARAMETERS)[number]

/**
 * Makes the changes in one statement.
 * @throws the database's error when the log or a claim differs from what the changes expect, or a new claim may not be stored
 */
export async function applyChanges(db: Db, changes: Changes): Promise<void> {
  const { log, head } = changes
  const large = new LargeValues()
  const bindings: Readonly<Record<Parameter, Binding>> = {
    log_id: log.logId,
    key_id: log.keyId,
    from_number: log.number,
    from_root: toHex(log.rootHash),
    head: toJson(treeHeads, head ? [head] : []),
    head_count: head ? 1 : 0,
    new_claims: toJson(newClaims, changes.newClaims ?? [], large),
    new_count: changes.newClaims?.length ?? 0,
    progress: toJson(progress, changes.progress ?? [], large),
    progress_count: changes.progress?.length ?? 0,
    receipts: toJson(receipts, changes.receipts ?? [], large),
    evidence: toJson(evidence, changes.evidence ?? [], large),
    tiles: toJson(tiles, changes.tiles ?? [], large),
    events: newEventsToJson(changes.events ?? []),
    // Large values come last, because those before fill them.
    large_values: large.bytes(),
  }
  await db.query(
    db.dialect.changesStatement,
    PARAMETERS.map((name) => bindings[name]),
  )
}

/**
 * Makes the parts of the statement, in the order in which they must happen: the log first, which locks out other writers of it and its claims. A
 * dialect makes one statement of them, which also keeps the last checks, and which fails unless there is a row of `held`, `grown` adds `head_count`,
 * `moved` changes `progress_count` and `added` adds `new_count`.
 * @param given how the statement names a parameter
 * @param lock ends `held`
 * @param isHeld the condition of `grown`
 * @param isGrown the condition of each part after `grown`
 * @param heads the table of what `heads` returns, or writes
 */
export function changeParts(
  sql: Expressions,
  given: (name: Parameter) => string,
  { lock = '', isHeld = 'true', isGrown = 'true', heads = 'event_heads' } = {},
) {
  const rows = (table: Table<unknown>, name: Parameter) => rowsOf(sql, table, given(name), given('large_values'))
  const moved = rows(progress, 'progress')
  const added = rows(newClaims, 'new_claims')
  const event = eventParts(sql, given('events'), isGrown, heads)
  const insert = <R>(table: Table<R>, rows: string, condition = isGrown, columns = table.names) =>
    `INSERT INTO ${table.name} (${table.names}) SELECT ${columns} FROM ${rows} AS added WHERE ${condition}`
  return {
    // A writer that waits here for an erasure would go on with rows from before it: the number of erasures tells that there was one.
    held: `SELECT 1 AS one FROM logs WHERE log_id = ${given('log_id')} AND ended_at IS NULL AND contradicted_by IS NULL AND restored_from IS NULL
      ${sql.answersAs ? `AND agreed_on = ${sql.answersAs}` : ''}
      AND erasures = (SELECT erasures FROM logs AS seen WHERE seen.log_id = ${given('log_id')}) ${lock}`,
    grown: insert(
      treeHeads,
      rowsOf(sql, treeHeads, given('head')),
      `${isHeld} AND EXISTS (SELECT 1 FROM tree_heads AS last WHERE last.log_id = ${given('log_id')}
        AND last.number = ${given('from_number')} AND last.key_id = ${given('key_id')} AND last.root_hash = ${sql.bytes(given('from_root'))})`,
    ),
    moved: `UPDATE claims SET ${assignments(checked, 'moved')}, last_check = COALESCE(moved.last_check, claims.last_check),
      log_id = ${logOfReceipt(given('log_id'), 'moved.receipt_id')} FROM ${moved} AS moved
      WHERE claims.claim_id = moved.claim_id AND claims.${UNDECIDED} AND ${isGrown}
        AND claims.attempts = moved.attempts - CASE WHEN moved.last_check IS NULL THEN 0 ELSE 1 END`,
    added: insert(claims, added, `${isGrown} AND ${mayBeStored(sql, 'added')}`, storedClaims(given('log_id'))),
    heads: event.heads,
    inserted: [
      insert(receipts, rows(receipts, 'receipts')),
      insert(evidence, rows(evidence, 'evidence')),
      insert(tiles, rows(tiles, 'tiles')),
      event.inserted,
    ],
    /** Claims as the statement gets them, for `keepChecks`. */
    rows: { moved, added },
  }
}

/** Writes to the tables that changes of claims write, and changes no row. A database that refuses those changes refuses this, too. */
export async function touchTables(db: Db): Promise<void> {
  const tables = [claims, checks, receipts, evidence, tiles, treeHeads, eventHeads, events]
  await runAll(db, [
    ...tables.map(({ name }) => `INSERT INTO ${name} SELECT * FROM ${name} WHERE 1 = 0`),
    `UPDATE ${claims.name} SET state = state WHERE 1 = 0`,
  ])
}
