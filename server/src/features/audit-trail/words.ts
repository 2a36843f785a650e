/** The words for entries of the audit trail. */
import type { AuditTrailPage, AuditTrailRow } from './audit-trail.ts'

type Users = AuditTrailPage['users']

export const COMMAND_LINE = 'the command line'
export const THE_SERVICE = 'the service'

/** Writes the name of an entry's actor. */
export function actorWords({ actorKind, actorId }: AuditTrailRow, users: Users): string {
  switch (actorKind) {
    case 'user':
      return users.get(actorId!)?.name ?? actorId!
    case 'command':
      return `${COMMAND_LINE} (${actorId})`
    case 'service':
      return THE_SERVICE
    case 'nobody':
      return 'a visitor who was not signed in'
    case 'key':
      return `the API key ${actorId}`
    case 'application':
      return `the application ${actorId}`
    default:
      return actorId === null ? actorKind : `${actorKind} ${actorId}`
  }
}

/** Names the account that an entry is about, if it is not the actor's. */
export function accountWords({ actorKind, actorId, userId }: AuditTrailRow, users: Users): string | undefined {
  if (userId === null || (actorKind === 'user' && actorId === userId)) return undefined
  return users.get(userId)?.name ?? userId
}

/** Writes the details as `name: build, last four: x1y2`. */
export function detailWords({ details }: AuditTrailRow): string {
  return Object.entries(details)
    .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value === null ? 'none' : value}`)
    .join(', ')
}
