/** What the audit trail stores: its entries, and where they end. */
import { auditTrail } from '../../storage/audit-query.ts'
import { auditTrailHead } from '../../storage/audit-trail.ts'
import type { Stored } from '../../storage/schema.ts'
import { examineAuditTrail } from './examine.ts'
import { auditTrailMigrations } from './migrations.ts'

export const auditTrailStored: Stored = {
  tables: [{ table: auditTrail }, { table: auditTrailHead }],
  migrations: auditTrailMigrations,
  examine: examineAuditTrail,
}
