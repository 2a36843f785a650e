/** The audit events of anchoring, each with words that complete "ACTOR ...". */
import type { AuditWords } from '../../base/audit-events.ts'

export const anchoringAuditWords: AuditWords = {
  'anchor.forced': 'had the log anchored at once',
}
