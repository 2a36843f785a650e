/** The events of the audit trail, each with the words for it. */

/** Completes "ACTOR ...": what was done. */
export const AUDIT_EVENTS = {
  'audit_trail.cut': 'removed old entries of the audit trail',
  'agent.released': 'let all keys claim for an agent again',
  'key.changed': 'changed an API key',
  'key.created': 'created an API key',
  'key.revoked': 'revoked an API key',
  'secret_key.forgotten': 'removed a secret key under which nothing was sealed any more',
  'secret_key.rotated': 'sealed everything that is stored under another secret key',
  'mail.dropped': 'gave up sending a mail',
  'machine.created': 'made an OAuth client for a machine',
  'machine.revoked': 'revoked the OAuth client of a machine',
  'key.rotated': 'replaced an API key by a new one',
} as const satisfies Readonly<Record<`${string}.${string}`, string>>

export type AuditEvent = keyof typeof AUDIT_EVENTS
