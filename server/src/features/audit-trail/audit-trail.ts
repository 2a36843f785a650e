/** The audit trail for its readers: pages of entries with the names of their actors, and exports, which are recorded themselves. */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import { type AuditWords, auditEventWords, auditGroups, eventsOfGroup } from '../../base/audit-events.ts'
import { defined } from '../../base/pick.ts'
import type { AuditFilter, AuditTrailRow, NewAuditEntry } from '../../storage/audit-trail.ts'
import type { Storage } from '../../storage/storage.ts'
import { exportLines } from './export.ts'

export type { AuditFilter, AuditTrailRow }

export interface ShownEntry extends AuditTrailRow {
  /** Words that complete "ACTOR ..." with what was done. */
  readonly words: string
}

export interface AuditTrailPage {
  /** The entries of the page, newest first. */
  readonly entries: readonly ShownEntry[]
  /** The position from which older entries are asked for; undefined where there are none. */
  readonly before: number | undefined
  /** The users that the entries name as actor or account, by their ids. */
  readonly users: ReadonlyMap<string, { readonly name: string; readonly email: string }>
}

interface AuditTrailParts {
  readonly storage: Storage
  readonly auditWords: AuditWords
  readonly now: () => Instant
}

export type AuditTrailService = ReturnType<typeof createAuditTrail>

export function createAuditTrail({ storage, auditWords, now }: AuditTrailParts) {
  const { read } = storage

  /** Records an event that changes nothing that is stored, such as a refusal or an export. */
  async function record(entry: Omit<NewAuditEntry, 'at'>): Promise<void> {
    await storage.write(async (tx) => tx.audit.record({ ...entry, at: now() }))
  }

  return {
    /** The names of all events that are recorded. */
    events: Object.keys(auditWords).sort() as readonly string[],
    /** Groups of events, in alphabetical order. */
    groups: auditGroups(auditWords),
    eventsOf: (group: string): readonly string[] => eventsOfGroup(auditWords, group),
    async list(filter: AuditFilter, place: { before?: number; limit: number }): Promise<AuditTrailPage> {
      const { before, limit } = place
      const beyond = before === undefined ? {} : { beyond: before }
      // One entry more than the page shows tells whether there are older ones.
      const rows = await read.audit.list(filter, { order: 'newest first', ...beyond, limit: limit + 1 })
      const entries = rows.slice(0, limit)
      const ids = entries.flatMap(({ actorKind, actorId, userId }) => [actorKind === 'user' ? actorId : null, userId])
      const users = await read.users.byIds([...new Set(ids.filter((id) => id !== null))])
      return {
        entries: entries.map((entry) => ({ ...entry, words: auditEventWords(auditWords, entry.event) })),
        before: rows.length > limit ? entries.at(-1)!.position : undefined,
        users: new Map(users.map(({ id, name, email }) => [id, { name, email }])),
      }
    },
    /**
     * Records the export, and returns its lines, oldest first.
     * @param by the actor of the export, for the record
     */
    async export(filter: AuditFilter, by: Acting): Promise<AsyncGenerator<string, void>> {
      const { scope } = filter
      const workspaceId = typeof scope === 'object' && 'workspaceId' in scope ? scope.workspaceId : null
      await record({ event: 'audit_trail.exported', by, workspaceId, details: detailsOf(filter) })
      return exportLines(read, filter)
    },
    record,
    /** Reads the ends of the trail; undefined before the first entry. */
    ends: () => read.audit.ends(),
  }
}

/** Describes what was exported, as far as a filter narrowed it. */
function detailsOf({ scope, events, actor, since, until, search }: AuditFilter) {
  const kind = typeof scope === 'object' && 'workspaceId' in scope ? 'workspace' : 'account'
  return {
    scope: typeof scope === 'string' ? scope : kind,
    ...defined({ events: events?.join(' '), actor: actor && (actor.id ?? actor.kind), since, until, search }),
  }
}
