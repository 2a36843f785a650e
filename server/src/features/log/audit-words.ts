/** The audit events of the log, each with words that complete "ACTOR ...". */
import type { AuditWords } from '../../base/audit-events.ts'

export const logAuditWords: AuditWords = {
  'log.resumed': 'let the log go on in a database that was restored or moved',
  'log.begun': 'ended the log, and began a new one',
  'signing_key.rotated': 'replaced the key that signs receipts',
}
