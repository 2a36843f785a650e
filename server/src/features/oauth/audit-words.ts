/** The audit events of OAuth, each with words that complete "ACTOR ...". */
import type { AuditWords } from '../../base/audit-events.ts'

export const oauthAuditWords: AuditWords = {
  'application.allowed': 'allowed an application to act for them',
  'application.refresh_repeated': 'repeated a refresh from another address, and got the same tokens',
  'application.registered': 'registered as an application',
  'application.returned': 'gave back what it was allowed',
  'application.stopped': 'stopped an application',
  'application.token_reused': 'sent a code or token again that was used before, and lost all that it was allowed',
  'machine.created': 'made an OAuth client for a machine',
  'machine.revoked': 'revoked the OAuth client of a machine',
}
