/** The audit events of the audit trail itself, each with words that complete "ACTOR ...". */
import type { AuditWords } from '../../base/audit-events.ts'

export const auditTrailAuditWords: AuditWords = {
  'audit_trail.cut': 'removed old entries of the audit trail',
  'audit_trail.exported': 'exported the audit trail',
}
