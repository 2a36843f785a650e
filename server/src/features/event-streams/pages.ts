/** Reads the events of a workspace in pages: no number is left out in silence. */
import type * as wire from '@claimcheck/core/api'
import type { EventRow } from '../../storage/events.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Events } from '../events/events.ts'

/** The filters of a list or a stream. Each names the member of an event or of its data with which it is compared. */
export type EventFilter = Readonly<Partial<Pick<wire.EventQuery, 'type' | 'agent_id' | 'action' | 'verdict'>>> & {
  /** True to leave out what a token without the scope of connections may not see. */
  readonly hidesConnections?: boolean
}

export interface NumberedEvent {
  readonly number: number
  readonly event: wire.Event
}

/** The events after a number, without a jump between them. */
export interface EventPage {
  readonly after: number
  /** The numbers before the first event that are not stored. */
  readonly gap?: { readonly from: number; readonly to: number }
  readonly events: readonly NumberedEvent[]
  /** The number up to which the page tells everything. It is less than `after` in a database that lost its newest events. */
  readonly next: number
}

interface PagesParts {
  readonly storage: { readonly read: { readonly events: Pick<Storage['read']['events'], 'after' | 'last'> } }
  readonly events: Pick<Events, 'documents'>
}

export type EventPages = ReturnType<typeof createEventPages>

export function createEventPages({ storage: { read }, events }: PagesParts) {
  async function newest(workspaceId: string): Promise<number> {
    return (await read.events.last([workspaceId])).get(workspaceId) ?? 0
  }

  async function rowsAfter(workspaceId: string, after: number, limit: number) {
    const rows = await read.events.after(workspaceId, after, limit)
    if (rows.length > 0) return { rows, last: after }
    const last = await newest(workspaceId)
    if (last === after) return { rows, last }
    // An event may have come since the first read. A gap is where there is still none.
    return { rows: await read.events.after(workspaceId, after, limit), last }
  }

  return {
    newest,
    /** Reads the next page, which ends before a jump of the numbers: the page after it begins with the gap. */
    async read(workspaceId: string, after: number, limit: number): Promise<EventPage> {
      const { rows, last } = await rowsAfter(workspaceId, after, limit)
      const first = rows[0]
      if (!first) {
        // A reader who knows numbers that were never given may have missed any.
        const gap = last === after ? undefined : { from: last > after ? after + 1 : 1, to: last }
        return { after, gap, events: [], next: last }
      }
      const jump = rows.findIndex(({ number }, index) => number !== first.number + index)
      const connected = jump < 0 ? rows : rows.slice(0, jump)
      return {
        after,
        gap: first.number === after + 1 ? undefined : { from: after + 1, to: first.number - 1 },
        events: numbered(connected, await events.documents(connected)),
        next: connected.at(-1)!.number,
      }
    },
  }
}

/** Numbers the events. One of which nothing is left is not shown, and is no gap. */
function numbered(rows: readonly EventRow[], documents: readonly (wire.Event | undefined)[]): NumberedEvent[] {
  return rows.flatMap(({ number }, index) => {
    const event = documents[index]
    return event ? [{ number, event }] : []
  })
}

/** Tells whether an event passes the filters. One without the member that a filter names does not. */
export function passes(event: wire.Event, { type, hidesConnections, ...members }: EventFilter): boolean {
  if (type !== undefined && event.type !== type) return false
  if (hidesConnections && 'connection_id' in event.data) return false
  const data: Readonly<Record<string, unknown>> = event.data
  return Object.entries(members).every(([name, value]) => value === undefined || data[name] === value)
}
