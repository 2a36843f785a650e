/** The configuration of the audit trail: `audit_trail`. */
import { Type } from '@claimcheck/core/plugin'
import type { MembersOf } from '../../config/section.ts'
import { settingsSection } from '../../config/settings.ts'

export const auditTrailConfig = settingsSection({
  auditTrail: {
    /** The age in days at which entries are removed; null if none are. */
    retentionDays: [Type.Integer({ minimum: 1, maximum: 36_500 }), null],
  },
})

export type AuditTrailConfig = MembersOf<typeof auditTrailConfig>
