/** The audit events of erasure, each with words that complete "ACTOR ...". */
import type { AuditWords } from '../../base/audit-events.ts'

export const erasureAuditWords: AuditWords = {
  'receipt.erased': 'erased the content of a receipt',
  'workspace.receipts_erased': 'erased the content of receipts that the workspace keeps no longer',
  'workspace.retention_changed': 'changed how long a workspace keeps the content of its receipts',
}
