/** The audit events of claims, each with words that complete "ACTOR ...". */
import type { AuditWords } from '../../base/audit-events.ts'

export const claimAuditWords: AuditWords = {
  'claims.exported': 'exported claims',
}
