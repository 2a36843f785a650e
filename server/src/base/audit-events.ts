/** The events of the audit trail, each with the words for it. The first part of a name is its group. */

/** Completes "ACTOR ...": what was done. */
export const AUDIT_EVENTS = {
  'account.closed': 'closed an account',
  'account.created': 'made an account',
  'account.renamed': 'changed the name of the account',
  'agent.released': 'let all keys claim for an agent again',
  'anchor.forced': 'had the log anchored at once',
  'application.allowed': 'allowed an application to act for them',
  'application.registered': 'registered as an application',
  'application.returned': 'gave back what it was allowed',
  'application.stopped': 'stopped an application',
  'application.token_reused': 'sent a code or token again that was used before, and lost all that it was allowed',
  'audit_trail.cut': 'removed old entries of the audit trail',
  'audit_trail.exported': 'exported the audit trail',
  'claims.exported': 'exported claims',
  'connection.added': 'connected a destination',
  'connection.credentials_replaced': 'replaced credentials of a connection',
  'connection.removed': 'disconnected a destination',
  'connection.renamed': 'renamed a connection',
  'connection.tested': 'tested a connection',
  'database.copied': 'copied the installation to this database',
  'database.migrated': "brought the database to this version's schema",
  'identity.linked': 'linked an outside sign-in to the account',
  'identity.unlinked': 'unlinked an outside sign-in from the account',
  'key.changed': 'changed an API key',
  'key.created': 'created an API key',
  'key.revoked': 'revoked an API key',
  'key.rotated': 'replaced an API key by a new one',
  'log.begun': 'ended the log, and began a new one',
  'machine.created': 'made an OAuth client for a machine',
  'machine.revoked': 'revoked the OAuth client of a machine',
  'mail.dropped': 'gave up sending a mail',
  'member.invitation_withdrawn': 'withdrew an invitation',
  'member.invited': 'made an invitation',
  'member.joined': 'joined the workspace',
  'member.left': 'left the workspace',
  'member.removed': 'removed a member',
  'member.role_changed': 'changed the role of a member',
  'passkey.added': 'added a passkey',
  'passkey.removed': 'removed a passkey',
  'password.changed': 'changed the password',
  'password.chosen': 'chose a first password',
  'password.link_made': 'made a link to a new password',
  'password.reset': 'chose a new password with a link',
  'receipt.erased': 'erased the content of a receipt',
  'second_step.code_used': 'signed in with a recovery code',
  'second_step.codes_replaced': 'made new recovery codes',
  'second_step.failed': 'typed a wrong code at signing in',
  'second_step.off': 'switched a second step off',
  'second_step.on': 'switched a second step on',
  'secret_key.forgotten': 'removed a secret key under which nothing was sealed any more',
  'secret_key.rotated': 'sealed everything that is stored under another secret key',
  'service.setup_link_made': 'made a link to set the service up',
  'session.ended': 'ended a session',
  'session.others_ended': 'ended all other sessions of the account',
  'session.signed_out': 'signed out',
  'sign_in.failed': 'tried to sign in, and was refused',
  'sign_in.succeeded': 'signed in',
  'signing_key.rotated': 'replaced the key that signs receipts',
  'workspace.created': 'made the workspace',
  'workspace.deleted': 'deleted a workspace',
  'workspace.receipts_erased': 'erased the content of receipts that the workspace keeps no longer',
  'workspace.renamed': 'renamed the workspace',
  'workspace.retention_changed': 'changed how long a workspace keeps the content of its receipts',
  'workspace.sign_in_rule_changed': 'changed which sign-in a workspace asks for',
  'workspace.sites_changed': 'changed from which sites scripts may submit claims to a workspace',
} as const satisfies Readonly<Record<`${string}.${string}`, string>>

export type AuditEvent = keyof typeof AUDIT_EVENTS

export const AUDIT_EVENT_NAMES = Object.keys(AUDIT_EVENTS) as readonly AuditEvent[]

/** The words; an event of another version stands for itself. */
export function auditEventWords(event: string): string {
  return Object.hasOwn(AUDIT_EVENTS, event) ? AUDIT_EVENTS[event as AuditEvent] : event
}

export function auditGroupOf(event: string): string {
  return event.split('.')[0]!
}

/** In the order of the alphabet. */
export const AUDIT_GROUPS: readonly string[] = [...new Set(AUDIT_EVENT_NAMES.map(auditGroupOf))].sort()

export function eventsOfGroup(group: string): readonly AuditEvent[] {
  return AUDIT_EVENT_NAMES.filter((event) => auditGroupOf(event) === group)
}

/** A heading for a group: `signing_key` is `Signing key`. */
export function auditGroupWords(group: string): string {
  const words = group.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
