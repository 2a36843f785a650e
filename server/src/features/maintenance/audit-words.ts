/** The audit events of maintenance, each with words that complete "ACTOR ...". */
import type { AuditWords } from '../../base/audit-events.ts'

export const maintenanceAuditWords: AuditWords = {
  'database.backed_up': 'made a backup of the installation',
  'database.copied': 'copied the installation to this database',
  'database.migrated': "brought the database to this version's schema",
  'database.restored': 'restored a backup of the installation to this database',
  'secret_key.forgotten': 'removed a secret key under which nothing was sealed any more',
  'secret_key.rotated': 'sealed everything that is stored under another secret key',
}
