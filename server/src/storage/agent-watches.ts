/**
 * The watch over agents as rows: the silence of which a workspace wants to hear, and the agents of whose rate it was told. Jumps name agents by
 * claims alone: what was erased names nobody. Watches have the ids of agents that an owner typed, which erasure does not reach.
 */
import type { Instant } from '@claimcheck/core/rules'
import { claims } from './claim-row.ts'
import type { Db } from './db.ts'
import { insertRows, selectRow, selectRows } from './rows.ts'
import { instant, integer, json, part, type RowOf, table, text } from './table.ts'

/** The silence of which a workspace is told. A workspace without a row hears of none. */
export const silenceWatches = table('silence_watches', ['workspaceId'], {
  workspaceId: text('workspace_id'),
  /** The hours without a claim. */
  hours: integer('hours'),
  /** The agents that are watched; empty for all. */
  agents: json<readonly string[]>('agents'),
  /** The time up to which claims were looked at that no claim of the same agent followed. */
  reached: instant('reached'),
})

/** Claims of agents of whose rate a workspace was told. */
export const rateJumps = table('rate_jumps', ['claimId'], {
  claimId: text('claim_id'),
  toldAt: instant('told_at'),
})

export type SilenceWatchRow = RowOf<typeof silenceWatches>

const agentOfClaim = part(claims, 'agentId')

export function agentWatchReads(db: Db) {
  return {
    async silence(workspaceId: string): Promise<SilenceWatchRow | undefined> {
      return selectRow(db, silenceWatches, 'WHERE workspace_id = ?', [workspaceId])
    },
    async silences(): Promise<SilenceWatchRow[]> {
      return selectRows(db, silenceWatches, 'ORDER BY workspace_id')
    },
    /** Lists the agents of whose rate a workspace was told after a time. */
    async jumpedSince(workspaceId: string, after: Instant): Promise<ReadonlySet<string>> {
      const sql = `SELECT agent_id FROM rate_jumps JOIN claims ON claims.claim_id = rate_jumps.claim_id WHERE workspace_id = ? AND told_at > ?`
      const rows = await db.query(sql, [workspaceId, after])
      return new Set(rows.map((row) => agentOfClaim.read(row).agentId))
    },
  }
}

export function agentWatchWrites(db: Db) {
  return {
    ...agentWatchReads(db),
    async watchSilence(row: SilenceWatchRow): Promise<void> {
      const changed = ['hours', 'agents', 'reached'].map((name) => `${name} = excluded.${name}`).join(', ')
      await insertRows(db, silenceWatches, [row], `ON CONFLICT (workspace_id) DO UPDATE SET ${changed}`)
    },
    async endSilence(workspaceId: string): Promise<void> {
      await db.query('DELETE FROM silence_watches WHERE workspace_id = ?', [workspaceId])
    },
    /** Notes up to when claims were looked at. False where the watch was changed or ended since, or another host was faster. */
    async reach({ workspaceId, hours, agents, reached }: SilenceWatchRow, next: Instant): Promise<boolean> {
      const sql = `UPDATE silence_watches SET reached = ?
        WHERE workspace_id = ? AND hours = ? AND agents = ? AND reached = ? RETURNING workspace_id`
      return (await db.query(sql, [next, workspaceId, hours, JSON.stringify(agents), reached])).length > 0
    },
    /** Notes that a workspace was told of the rate of a claim's agent, and forgets what was told before a time. */
    async noteJump(claimId: string, at: Instant, forgetBefore: Instant): Promise<void> {
      await db.query('DELETE FROM rate_jumps WHERE told_at <= ?', [forgetBefore])
      const suffix = 'ON CONFLICT (claim_id) DO UPDATE SET told_at = excluded.told_at'
      await insertRows(db, rateJumps, [{ claimId, toldAt: at }], suffix)
    },
  }
}
