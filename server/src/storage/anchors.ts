/** Anchors as rows: one is under way at a time, and its signed transactions are stored before they are sent. */
import type { Anchor, AnchorIdentity } from '@claimcheck/core/hosting'
import {
  type AnchorPlan,
  type AnchorRow,
  anchors,
  type FinalAnchor,
  fate,
  landed,
  OPEN_STATES,
  toAnchor,
  toAnchorRow,
  toStored,
} from './anchor-row.ts'
import { RECEIPT_OF_CLAIM } from './claim-row.ts'
import type { Binding, Db } from './db.ts'
import { receipts } from './log.ts'
import { countRows, insertRows, rowsOf, selectRow, selectRows, toJson } from './rows.ts'
import { assignments, extended, integer, part } from './table.ts'

const OPEN = `state IN (${OPEN_STATES.map((state) => `'${state}'`).join(', ')})`

const identities = part(anchors, 'attester', 'schema')
const landedById = extended(landed, { id: integer('id') })
const leafIndexes = part(receipts, 'leafIndex')

export function anchorReads(db: Db) {
  async function first(rest: string, bindings?: readonly Binding[]): Promise<AnchorRow | undefined> {
    const stored = await selectRow(db, anchors, `${rest} LIMIT 1`, bindings)
    return stored && toAnchorRow(stored)
  }

  return {
    async byId(id: number): Promise<AnchorRow | undefined> {
      return first('WHERE id = ?', [id])
    },
    /** Finds the anchor of any log that is neither final nor dropped. */
    async open(): Promise<AnchorRow | undefined> {
      return first(`WHERE ${OPEN} ORDER BY id`)
    },
    async newest(logId: string): Promise<AnchorRow | undefined> {
      return first('WHERE log_id = ? ORDER BY id DESC', [logId])
    },
    /** Lists anchors of all logs and in all states, newest first. */
    async recent(limit: number): Promise<AnchorRow[]> {
      return (await selectRows(db, anchors, 'ORDER BY id DESC LIMIT ?', [limit])).map(toAnchorRow)
    },
    async newestFinal(logId: string): Promise<FinalAnchor | undefined> {
      const found = await first(`WHERE log_id = ? AND state = 'final' ORDER BY tree_size DESC`, [logId])
      return found as FinalAnchor | undefined
    },
    async newestFinalOn(chain: string, scheme: string, logId: string): Promise<FinalAnchor | undefined> {
      const rest = `WHERE log_id = ? AND state = 'final' AND chain = ? AND scheme = ? ORDER BY tree_size DESC`
      return (await first(rest, [logId, chain, scheme])) as FinalAnchor | undefined
    },
    /** Lists final anchors of trees smaller than `before`, newest first. */
    async landed(logId: string, before: number, limit: number): Promise<Anchor[]> {
      const rest = `WHERE log_id = ? AND state = 'final' AND tree_size < ? ORDER BY tree_size DESC LIMIT ?`
      return (await selectRows(db, landed, rest, [logId, before, limit])).map(toAnchor)
    },
    /** Finds, for each leaf that a final anchor covers, the earliest anchor that does. */
    async covering(logId: string, leaves: readonly number[]): Promise<Map<number, Anchor>> {
      const earliest = `SELECT MIN(tree_size) FROM anchors WHERE log_id = ? AND state = 'final' AND tree_size > leaf_index`
      const sql = `SELECT leaf_index, ${landed.names} FROM ${rowsOf(db.dialect, leafIndexes)} AS leaves
        JOIN anchors ON log_id = ? AND state = 'final' AND tree_size = (${earliest})`
      const asked = leaves.map((leafIndex) => ({ leafIndex }))
      const rows = await db.query(sql, [toJson(leafIndexes, asked), logId, logId])
      return new Map(rows.map((row) => [Number(row.leaf_index), toAnchor(landed.read(row))]))
    },
    /** Finds those of these anchors that are final, in any order. */
    async finalByIds(ids: readonly number[]) {
      const sql = `SELECT ${landedById.names} FROM anchors WHERE state = 'final' AND CAST(id AS text) IN ${db.dialect.texts}`
      return (await db.query(sql, [JSON.stringify(ids.map(String))])).map(landedById.read)
    },
    /** Lists the workspaces with receipts among these leaves, the first included and the last not. */
    async workspacesOf(logId: string, from: number, to: number): Promise<string[]> {
      const sql = `SELECT DISTINCT claims.workspace_id FROM receipts JOIN claims ON ${RECEIPT_OF_CLAIM}
        WHERE receipts.log_id = ? AND leaf_index >= CAST(? AS bigint) AND leaf_index < CAST(? AS bigint)`
      return (await db.query(sql, [logId, from, to])).map((row) => String(row.workspace_id))
    },
    /** Lists the identities that made the final anchors of all logs, oldest first. */
    async identities(): Promise<AnchorIdentity[]> {
      return selectRows(db, identities, `WHERE state = 'final' GROUP BY attester, schema ORDER BY MIN(id)`)
    },
    async droppedCount(): Promise<number> {
      return countRows(db, `anchors WHERE state = 'dropped'`)
    },
    /** Sums the costs of final anchors, by chain. */
    async costs(): Promise<Map<string, bigint>> {
      const sums = new Map<string, bigint>()
      // Costs are added here, because SQLite would not add such large numbers exactly.
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
    /** Stores a planned anchor. The log must be locked, because anchors are numbered one after the other. */
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
      await insertRows(db, anchors, [toStored(anchor)])
      return anchor
    },
    /**
     * Replaces an anchor by compare and swap: false, and no change, when the row differs from what was read. So when two hosts sign at the same time,
     * one of the transactions is stored, and only a stored transaction is sent.
     */
    async replace(before: AnchorRow, after: AnchorRow): Promise<boolean> {
      // SQLite gets a long text as bytes, which equal no text.
      const unchanged = 'anchors.id = ? AND anchors.state = ? AND anchors.signed = CAST(? AS text)'
      const sql = `UPDATE anchors SET ${assignments(fate, 'next')} FROM ${rowsOf(db.dialect, fate)} AS next
        WHERE ${unchanged} RETURNING anchors.id`
      const next = toJson(fate, [toStored(after)])
      return (await db.query(sql, [next, before.id, before.state, JSON.stringify(before.signed)])).length === 1
    },
  }
}
