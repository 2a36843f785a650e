/** The events of the audit trail, each with the words for it. */

/** Completes "ACTOR ...": what was done. */
export const AUDIT_EVENTS = {
  'audit_trail.cut': 'removed old entries of the audit trail',
  'agent.released': 'let all keys claim for an agent again',
  'account.closed': 'closed an account',
  'second_step.code_used': 'signed in with a recovery code',
  'second_step.codes_replaced': 'made new recovery codes',
  'second_step.failed': 'typed a wrong code at signing in',
  'second_step.off': 'switched a second step off',
  'second_step.on': 'switched a second step on',
  'workspace.deleted': 'deleted a workspace',
  'workspace.sign_in_rule_changed': 'changed which sign-in a workspace asks for',
  'key.changed': 'changed an API key',
  'key.created': 'created an API key',
  'key.revoked': 'revoked an API key',
  'receipt.erased': 'erased the content of a receipt',
  'workspace.receipts_erased': 'erased the content of receipts that the workspace keeps no longer',
  'workspace.retention_changed': 'changed how long a workspace keeps the content of its receipts',
  'secret_key.forgotten': 'removed a secret key under which nothing was sealed any more',
  'secret_key.rotated': 'sealed everything that is stored under another secret key',
  'mail.dropped': 'gave up sending a mail',
  'machine.created': 'made an OAuth client for a machine',
  'machine.revoked': 'revoked the OAuth client of a machine',
  'key.rotated': 'replaced an API key by a new one',
} as const satisfies Readonly<Record<`${string}.${string}`, string>>

export type AuditEvent = keyof typeof AUDIT_EVENTS
