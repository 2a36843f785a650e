/** Anchors: one is under way at a time, and what is signed for it is here before it is sent. */
import type { Anchor, AnchorIdentity } from '@claimcheck/core'
import {
  ANCHORS,
  type AnchorPlan,
  type AnchorRow,
  type FinalAnchor,
  NOWHERE,
  OPEN_STATES,
  toAnchor,
  toAnchorRow,
  toCells,
} from './anchor-row.ts'
import type { Binding, Db } from './db.ts'
import { ANCHORED_LOG_COLUMNS, type AnchoredLogState, toAnchoredState } from './log-state.ts'
import { insertRows, names, rowsOf, toJson } from './rows.ts'

const SELECT = `SELECT ${names(ANCHORS)} FROM anchors`
const SELECT_LOG = `SELECT ${ANCHORED_LOG_COLUMNS} FROM log`
/** SQLite is handed long texts as bytes, and would keep them as that. */
const TEXT = 'CAST(? AS text)'
const OPEN = `state IN (${OPEN_STATES.map((state) => `'${state}'`).join(', ')})`

export function anchorReads(db: Db) {
  async function first(sql: string, bindings: readonly Binding[] = []): Promise<AnchorRow | undefined> {
    const [row] = await db.query(`${sql} LIMIT 1`, bindings)
    return row && toAnchorRow(row)
  }

  return {
    /** The log as it stands, and how far it is anchored. */
    async log(): Promise<AnchoredLogState | undefined> {
      const [row] = await db.query(SELECT_LOG)
      return row && toAnchoredState(row)
    },
    async byId(id: number): Promise<AnchorRow | undefined> {
      return first(`${SELECT} WHERE id = ?`, [id])
    },
    /** The one that is neither final nor dropped, of whichever log. */
    async open(): Promise<AnchorRow | undefined> {
      return first(`${SELECT} WHERE ${OPEN} ORDER BY id`)
    },
    async newest(logId: string): Promise<AnchorRow | undefined> {
      return first(`${SELECT} WHERE log_id = ? ORDER BY id DESC`, [logId])
    },
    /** Of all logs and states, newest first. */
    async recent(limit: number): Promise<AnchorRow[]> {
      return (await db.query(`${SELECT} ORDER BY id DESC LIMIT ?`, [limit])).map(toAnchorRow)
    },
    async newestFinal(logId: string): Promise<FinalAnchor | undefined> {
      const found = await first(`${SELECT} WHERE log_id = ? AND state = 'final' ORDER BY tree_size DESC`, [logId])
      return found as FinalAnchor | undefined
    },
    async newestFinalOn(chain: string, scheme: string, logId: string): Promise<FinalAnchor | undefined> {
      const where = `log_id = ? AND state = 'final' AND chain = ? AND scheme = ?`
      return (await first(`${SELECT} WHERE ${where} ORDER BY tree_size DESC`, [logId, chain, scheme])) as
        | FinalAnchor
        | undefined
    },
    /** Newest first, of smaller trees than `before`. */
    async landed(logId: string, before: number, limit: number): Promise<Anchor[]> {
      const sql = `${SELECT} WHERE log_id = ? AND state = 'final' AND tree_size < ? ORDER BY tree_size DESC LIMIT ?`
      return (await db.query(sql, [logId, before, limit])).map(toAnchor)
    },
    /** For each of these leaves that a landed anchor covers, the earliest one that does. */
    async covering(logId: string, leafIndexes: readonly number[]): Promise<Map<number, Anchor>> {
      const earliest = `SELECT MIN(tree_size) FROM anchors WHERE log_id = ? AND state = 'final' AND tree_size > leaf_index`
      const sql = `SELECT leaf_index, ${names(ANCHORS)} FROM ${rowsOf(db.dialect, { leaf_index: 'bigint' })} AS leaves
        JOIN anchors ON log_id = ? AND state = 'final' AND tree_size = (${earliest})`
      const rows = await db.query(sql, [toJson(leafIndexes.map((leaf) => [leaf])), logId, logId])
      return new Map(rows.map((row) => [Number(row.leaf_index), toAnchor(row)]))
    },
    /** Under which the landed anchors of all logs were made, oldest first. */
    async identities(): Promise<AnchorIdentity[]> {
      const sql = `SELECT attester, schema FROM anchors WHERE state = 'final' GROUP BY attester, schema ORDER BY MIN(id)`
      return (await db.query(sql)).map((row) => ({ attester: String(row.attester), schema: String(row.schema) }))
    },
    async droppedCount(): Promise<number> {
      const [row] = await db.query(`SELECT COUNT(*) AS count FROM anchors WHERE state = 'dropped'`)
      return Number(row!.count)
    },
    /** What the landed ones cost, by chain. */
    async costs(): Promise<Map<string, bigint>> {
      const sums = new Map<string, bigint>()
      // Added here: the numbers are larger than SQLite adds exactly.
      for (const { chain, cost } of await db.query(
        `SELECT chain, cost FROM anchors WHERE state = 'final' ORDER BY id`,
      )) {
        sums.set(String(chain), (sums.get(String(chain)) ?? 0n) + BigInt(String(cost)))
      }
      return sums
    },
  }
}

export function anchorWrites(db: Db) {
  return {
    ...anchorReads(db),
    /** With the log locked, which numbers them one after the other. */
    async insert(plan: AnchorPlan): Promise<AnchorRow> {
      const [row] = await db.query('SELECT COALESCE(MAX(id), 0) + 1 AS id FROM anchors')
      const anchor: AnchorRow = {
        ...plan,
        id: Number(row!.id),
        state: 'planned',
        signed: [],
        problem: null,
        sentAt: null,
        landing: null,
      }
      await insertRows(db, 'anchors', ANCHORS, [toCells(anchor)])
      return anchor
    },
    /**
     * Compare and swap: false, and nothing changed, when the row is not as it was read any more. So whatever two hosts sign at
     * the same time, one transaction alone is kept, and only what is kept is sent.
     */
    async replace(before: AnchorRow, after: AnchorRow): Promise<boolean> {
      const { uid, txHash, blockNumber, blockTime, cost, gasUsed } = after.landing ?? NOWHERE
      const sql = `UPDATE anchors SET state = ?, signed = ${TEXT}, problem = ?, sent_at = ?, uid = ?, tx_hash = ?, block_number = ?,
        block_time = ?, cost = ?, gas_used = ? WHERE id = ? AND state = ? AND signed = ${TEXT} RETURNING id`
      const changed = [after.state, JSON.stringify(after.signed), after.problem, after.sentAt]
      const landing = [uid, txHash, blockNumber, blockTime, cost, gasUsed]
      const as = [before.id, before.state, JSON.stringify(before.signed)]
      return (await db.query(sql, [...changed, ...landing, ...as])).length === 1
    },
  }
}
