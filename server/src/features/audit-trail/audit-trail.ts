/** The audit trail for those who read it: pages of entries with the names of their actors, and exports, which are recorded themselves. */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import { type AuditWords, auditEventWords, auditGroups, eventsOfGroup } from '../../base/audit-events.ts'
import { defined } from '../../base/pick.ts'
import type { AuditFilter, AuditTrailEnds, AuditTrailRow, NewAuditEntry } from '../../storage/audit-trail.ts'
import type { Storage } from '../../storage/storage.ts'
import { exportLines } from './export.ts'

export type { AuditFilter, AuditTrailRow }

export interface ShownEntry extends AuditTrailRow {
  /** Complete "ACTOR ...": what was done. */
  readonly words: string
}

export interface AuditTrailPage {
  /** Newest first. */
  readonly entries: readonly ShownEntry[]
  /** Asks for older ones; undefined where there are none. */
  readonly before: number | undefined
  /** The users that the entries name as actor or account, by their ids. */
  readonly users: ReadonlyMap<string, { readonly name: string; readonly email: string }>
}

export interface AuditTrailService {
  /** Every event that is recorded. */
  readonly events: readonly string[]
  /** Groups of events, in the order of the alphabet. */
  readonly groups: readonly string[]
  eventsOf(group: string): readonly string[]
  list(filter: AuditFilter, place: { readonly before?: number; readonly limit: number }): Promise<AuditTrailPage>
  /** Records the export, and returns its lines, oldest first. @param by who exports, for the record */
  export(filter: AuditFilter, by: Acting): Promise<AsyncGenerator<string, void>>
  /** Records what changes nothing that is stored, such as a refusal or an export. */
  record(entry: Omit<NewAuditEntry, 'at'>): Promise<void>
  /** Undefined before the first entry. */
  ends(): Promise<AuditTrailEnds | undefined>
}

interface AuditTrailOptions {
  readonly storage: Storage
  readonly auditWords: AuditWords
  readonly now: () => Instant
}

export function createAuditTrail({ storage, auditWords, now }: AuditTrailOptions): AuditTrailService {
  const { read } = storage

  async function record(entry: Omit<NewAuditEntry, 'at'>): Promise<void> {
    await storage.write(async (tx) => tx.audit.record({ ...entry, at: now() }))
  }

  return {
    events: Object.keys(auditWords).sort(),
    groups: auditGroups(auditWords),
    eventsOf: (group) => eventsOfGroup(auditWords, group),
    async list(filter, { before, limit }) {
      const beyond = before === undefined ? {} : { beyond: before }
      // One more than is shown, which tells whether there are older ones.
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
    async export(filter, by) {
      const { scope } = filter
      const workspaceId = typeof scope === 'object' && 'workspaceId' in scope ? scope.workspaceId : null
      await record({ event: 'audit_trail.exported', by, workspaceId, details: detailsOf(filter) })
      return exportLines(read, filter)
    },
    record,
    ends: () => read.audit.ends(),
  }
}

function scopeWord(scope: AuditFilter['scope']): string {
  if (typeof scope === 'string') return scope
  return 'workspaceId' in scope ? 'workspace' : 'account'
}

/** What was exported, as far as a filter narrowed it. */
function detailsOf({ scope, events, actor, since, until, search }: AuditFilter) {
  return {
    scope: scopeWord(scope),
    ...defined({ events: events?.join(' '), actor: actor && (actor.id ?? actor.kind), since, until, search }),
  }
}
