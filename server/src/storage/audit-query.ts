/** Statements that list entries of the audit trail, by what is asked for. */

import type { Instant } from '@claimcheck/core/rules'
import type { AuditDetails } from './audit-chain.ts'
import type { Binding } from './db.ts'
import type { Dialect } from './dialect.ts'
import { patternOf, variantsOf } from './search.ts'
import { bigint, bytes, instant, json, nullable, qualified, table, text } from './table.ts'

export const auditTrail = table('audit_trail', ['position'], {
  position: bigint('position'),
  at: instant('at'),
  event: text('event'),
  actorKind: text('actor_kind'),
  actorId: nullable(text('actor_id')),
  address: nullable(text('address')),
  workspaceId: nullable(text('workspace_id')),
  userId: nullable(text('user_id')),
  subject: nullable(text('subject')),
  details: json<AuditDetails>('details'),
  hash: bytes('hash'),
})

export type AuditScope =
  | 'everything'
  /** Selects the entries of the workspace, and those on the accounts of its present members since each joined. */
  | { readonly workspaceId: string }
  /** Selects the entries on this account that are of no workspace. */
  | { readonly userId: string }

export interface AuditFilter {
  readonly scope: AuditScope
  readonly events?: readonly string[]
  /** The actor. Without an id, any actor of this kind. */
  readonly actor?: { readonly kind: string; readonly id?: string }
  readonly since?: Instant
  /** The time before which the entries must have been recorded. */
  readonly until?: Instant
  /** A text to search for in the event, an id, the address or the details. Letters of ASCII match in either case. */
  readonly search?: string
  /** Users whose entries match the search, too: entries by or on one of them. */
  readonly searchedUsers?: readonly string[]
}

export interface AuditPage {
  readonly order: 'newest first' | 'oldest first'
  /** The position in the order after which the page begins. */
  readonly beyond?: number
  readonly limit: number
}

interface Statement {
  readonly sql: string
  readonly bindings: readonly Binding[]
}

interface Condition {
  readonly condition: string
  readonly bindings: readonly Binding[]
}

const COLUMNS = qualified(auditTrail)
const SEARCHED = ['event', 'actor_id', 'address', 'subject', 'details']

export function listStatement(dialect: Dialect, { scope, ...filter }: AuditFilter, page: AuditPage): Statement {
  const order = page.order === 'newest first' ? 'DESC' : 'ASC'
  const rest = conditionOf(dialect, filter, page)
  const select = (from: string, condition: string) =>
    `SELECT ${COLUMNS} FROM ${from} WHERE ${condition} AND ${rest.condition} ORDER BY audit_trail.position ${order} LIMIT ?`
  const limited = [...rest.bindings, page.limit]
  if (scope === 'everything') return { sql: select('audit_trail', '1 = 1'), bindings: limited }
  if ('userId' in scope) {
    const condition = 'audit_trail.user_id = ? AND audit_trail.workspace_id IS NULL'
    return { sql: select('audit_trail', condition), bindings: [scope.userId, ...limited] }
  }
  // Two selects use an index each: with OR the entries of all other workspaces would be read, too.
  const own = select('audit_trail', 'audit_trail.workspace_id = ?')
  const accounts = select(
    'members JOIN audit_trail ON audit_trail.user_id = members.user_id',
    'members.workspace_id = ? AND audit_trail.workspace_id IS NULL AND audit_trail.at >= members.created_at',
  )
  const half = [scope.workspaceId, ...limited]
  return {
    sql: `SELECT * FROM (SELECT * FROM (${own}) AS own UNION ALL SELECT * FROM (${accounts}) AS accounts) AS shown
      ORDER BY position ${order} LIMIT ?`,
    bindings: [...half, ...half, page.limit],
  }
}

function conditionOf(
  dialect: Dialect,
  { events, actor, since, until, search, searchedUsers = [] }: Omit<AuditFilter, 'scope'>,
  { order, beyond }: AuditPage,
): Condition {
  const parts: Condition[] = []
  const add = (condition: string, ...bindings: Binding[]) => parts.push({ condition, bindings })
  if (events) add(`audit_trail.event IN ${dialect.texts}`, JSON.stringify(events))
  if (actor) add('audit_trail.actor_kind = ?', actor.kind)
  if (actor?.id !== undefined) add('audit_trail.actor_id = ?', actor.id)
  if (since !== undefined) add('audit_trail.at >= ?', since)
  if (until !== undefined) add('audit_trail.at < ?', until)
  if (beyond !== undefined)
    add(`audit_trail.position ${order === 'newest first' ? '<' : '>'} CAST(? AS bigint)`, beyond)
  if (search !== undefined) parts.push(searched(dialect, search, searchedUsers))
  return {
    condition: parts.length === 0 ? '1 = 1' : parts.map(({ condition }) => `(${condition})`).join(' AND '),
    bindings: parts.flatMap(({ bindings }) => bindings),
  }
}

function searched({ matches, texts }: Dialect, search: string, users: readonly string[]): Condition {
  const variants = variantsOf(search)
  const isIn = SEARCHED.flatMap((column) => variants.map(() => matches(`audit_trail.${column}`)))
  const byUser = ['actor_id', 'user_id'].map((column) => `audit_trail.${column} IN ${texts}`)
  const json = JSON.stringify(users)
  return {
    condition: [...isIn, ...byUser].join(' OR '),
    bindings: [...SEARCHED.flatMap(() => variants.map(patternOf)), json, json],
  }
}
