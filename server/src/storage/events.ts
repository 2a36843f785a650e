/**
 * Events of workspaces as rows. A row names what happened by ids alone, and content is read where it is shown: so what was erased is in no event. The
 * numbers of a workspace grow by one in the order in which its transactions commit: a reader that knows one number misses nothing after it, and sees a
 * gap where numbers jump.
 */
import type { Instant } from '@claimcheck/core/rules'
import type { Db } from './db.ts'
import type { Expressions } from './dialect.ts'
import { rowsOf, selectRows, toJson } from './rows.ts'
import { bigint, extended, instant, nullable, part, type RowOf, table, text } from './table.ts'

export const EVENT_TYPES = [
  'claim.decided',
  'connection.failing',
  'connection.recovered',
  'connection.expiring',
  'anchor.landed',
  'agent.silent',
  'rate.jumped',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

export const events = table('events', ['workspaceId', 'number'], {
  workspaceId: text('workspace_id'),
  number: bigint('number'),
  type: text<EventType>('type'),
  at: instant('at'),
  /** The id of the claim, the connection or the anchor; of an agent, that of a claim. */
  subject: text('subject'),
  /** The failure of a connection, the hours of a silence, or the counts of a rate; null else. */
  detail: nullable(text('detail')),
})

export type EventRow = RowOf<typeof events>
export type NewEvent = Omit<EventRow, 'number'>

/** The newest number of each workspace that ever had an event. */
export const eventHeads = table('event_heads', ['workspaceId'], {
  workspaceId: text('workspace_id'),
  last: bigint('last_number'),
})

/** A new event, with the number of events of its workspace that follow it in the same statement. */
const newEvents = extended(part(events, 'workspaceId', 'type', 'at', 'subject', 'detail'), {
  following: bigint('following'),
})

/** The most events of a workspace that one statement removes. */
const MOST_REMOVED = 5_000

/** Writes new events for a binding of `eventParts`, each workspace's in their order. */
export function newEventsToJson(added: readonly NewEvent[]): string {
  const left = new Map<string, number>()
  for (const { workspaceId } of added) left.set(workspaceId, (left.get(workspaceId) ?? 0) + 1)
  const rows = added.map((event) => {
    const following = left.get(event.workspaceId)! - 1
    left.set(event.workspaceId, following)
    return { ...event, following }
  })
  return toJson(newEvents, rows)
}

/**
 * Makes the two statements that add events: the first moves the heads of their workspaces, whose rows it holds until its transaction ends, so that
 * numbers commit in their order; the second gives each event its number by the moved heads.
 * @param condition of both
 * @param heads the table of the moved heads
 */
export function eventParts(
  sql: Pick<Expressions, 'cell' | 'slice' | 'unfold'>,
  binding = '?',
  condition = 'true',
  heads = eventHeads.name,
) {
  const added = rowsOf(sql, newEvents, binding)
  return {
    // Workspaces are in one order, so that no two transactions wait for each other.
    heads: `INSERT INTO event_heads (${eventHeads.names}) SELECT workspace_id, COUNT(*) FROM ${added} AS added
      WHERE ${condition} GROUP BY workspace_id ORDER BY workspace_id
      ON CONFLICT (workspace_id) DO UPDATE SET last_number = event_heads.last_number + excluded.last_number`,
    inserted: `INSERT INTO events (${events.names})
      SELECT added.workspace_id, last_number - following, type, at, subject, detail FROM ${added} AS added
      JOIN ${heads} AS heads ON heads.workspace_id = added.workspace_id WHERE ${condition}`,
  }
}

export function eventReads(db: Db) {
  return {
    /** Lists the next events after a number, oldest first. */
    async after(workspaceId: string, number: number, limit: number): Promise<EventRow[]> {
      const rest = 'WHERE workspace_id = ? AND number > CAST(? AS bigint) ORDER BY number LIMIT ?'
      return selectRows(db, events, rest, [workspaceId, number, limit])
    },
    /** Finds the newest number of each of these workspaces that ever had an event. */
    async last(workspaceIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
      const rest = `WHERE workspace_id IN ${db.dialect.texts}`
      const heads = await selectRows(db, eventHeads, rest, [JSON.stringify(workspaceIds)])
      return new Map(heads.map(({ workspaceId, last }) => [workspaceId, last]))
    },
    /** Lists the workspaces that ever had an event. */
    async workspaces(): Promise<string[]> {
      return (await selectRows(db, eventHeads, 'ORDER BY workspace_id')).map(({ workspaceId }) => workspaceId)
    },
  }
}

/** Collects the events of one transaction, which appends them near its end, all at once: no two transactions wait for each other's workspaces. */
export function eventWrites(db: Db) {
  const collected: NewEvent[] = []
  return {
    ...eventReads(db),
    record(event: NewEvent): void {
      collected.push(event)
    },
    /** Appends the recorded events. Returns their workspaces. */
    async flush(): Promise<ReadonlySet<string>> {
      const added = collected.splice(0)
      if (added.length > 0) {
        const binding = newEventsToJson(added)
        const { heads, inserted } = eventParts(db.dialect)
        await db.query(heads, [binding])
        await db.query(inserted, [binding])
      }
      return workspacesOf(added)
    },
    /** Removes the oldest events of a workspace from before a time, at most so many that it is done soon. True: there may be more. */
    async removeBefore(workspaceId: string, before: Instant): Promise<boolean> {
      const oldest = `SELECT number, at FROM events WHERE workspace_id = ? ORDER BY number LIMIT ${MOST_REMOVED}`
      const sql = `SELECT COUNT(*) AS count, MIN(CASE WHEN at >= ? THEN number END) AS kept, MAX(number) + 1 AS following FROM (${oldest}) AS oldest`
      const [row] = await db.query(sql, [before, workspaceId])
      if (Number(row!.count) === 0) return false
      const first = Number(row!.kept ?? row!.following)
      await db.query('DELETE FROM events WHERE workspace_id = ? AND number < CAST(? AS bigint)', [workspaceId, first])
      return row!.kept === null && Number(row!.count) === MOST_REMOVED
    },
    /**
     * Moves the heads of all workspaces ahead in a database that was restored, so that readers who know later numbers than it see a gap and not other
     * events under these. By the time in milliseconds: no workspace has had as many events since an earlier restore from the same backup.
     */
    async jump(at: Instant): Promise<void> {
      const sql = `INSERT INTO event_heads (${eventHeads.names}) SELECT id, CAST(? AS bigint) FROM workspaces WHERE true
        ON CONFLICT (workspace_id) DO UPDATE SET last_number = event_heads.last_number + excluded.last_number`
      await db.query(sql, [at])
    },
  }
}

/** Returns the workspaces of these events, each once. */
export function workspacesOf(added: readonly NewEvent[]): ReadonlySet<string> {
  return new Set(added.map(({ workspaceId }) => workspaceId))
}
