/** The configuration of the audit trail: `audit_trail`. */
import { type Static, Type } from '@claimcheck/core/plugin'
import type { ConfigSection } from '../../config/section.ts'

export interface AuditTrailConfig {
  readonly auditTrail: {
    /** Entries that are older are removed. null: none is. */
    readonly retentionDays: number | null
  }
}

const file = {
  audit_trail: Type.Optional(
    Type.Object(
      { retention_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 36_500 })) },
      { additionalProperties: false },
    ),
  ),
}
const File = Type.Object(file)

export const auditTrailConfig: ConfigSection<AuditTrailConfig> = {
  file,
  read: ({ audit_trail: settings = {} }: Static<typeof File>) => ({
    auditTrail: { retentionDays: settings.retention_days ?? null },
  }),
}
