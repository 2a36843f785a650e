/** The configuration of the audit trail: `audit_trail`. */
import { Type } from '@claimcheck/core/plugin'
import type { ConfigSection } from '../../config/section.ts'
import { settings } from '../../config/settings.ts'

export interface AuditTrailConfig {
  readonly auditTrail: {
    /** The age in days at which entries are removed; null if none are. */
    readonly retentionDays: number | null
  }
}

const auditTrail = settings<AuditTrailConfig['auditTrail']>({
  retentionDays: ['retention_days', Type.Integer({ minimum: 1, maximum: 36_500 }), null],
})

export const auditTrailConfig: ConfigSection<AuditTrailConfig> = {
  file: { audit_trail: auditTrail.schema },
  read: (file) => ({ auditTrail: auditTrail.read(file.audit_trail) }),
}
