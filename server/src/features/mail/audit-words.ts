/** The audit events of mail, each with words that complete "ACTOR ...". */
import type { AuditWords } from '../../base/audit-events.ts'

export const mailAuditWords: AuditWords = {
  'mail.dropped': 'gave up sending a mail',
}
