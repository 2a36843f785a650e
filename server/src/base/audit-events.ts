/** The events of the audit trail, each with the words for it. */

/** Completes "ACTOR ...": what was done. */
export const AUDIT_EVENTS = {
  'audit_trail.cut': 'removed old entries of the audit trail',
  'key.created': 'created an API key',
  'key.revoked': 'revoked an API key',
  'receipt.erased': 'erased the content of a receipt',
  'workspace.receipts_erased': 'erased the content of receipts that the workspace keeps no longer',
  'workspace.retention_changed': 'changed how long a workspace keeps the content of its receipts',
} as const satisfies Readonly<Record<`${string}.${string}`, string>>

export type AuditEvent = keyof typeof AUDIT_EVENTS
