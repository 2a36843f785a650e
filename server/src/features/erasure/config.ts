/** The configuration of erasure: `retention`. */
import { type Static, Type } from '@claimcheck/core/plugin'
import type { ConfigSection } from '../../config/section.ts'

/** What workspaces may set about the content of their receipts. */
export interface RetentionSettings {
  /** Whether owners set a retention; the command line always does. */
  readonly byOwners: boolean
  /** The shortest retention. */
  readonly leastDays: number
}

export interface ErasureConfig {
  readonly retention: RetentionSettings
}

const DEFAULTS: RetentionSettings = { byOwners: true, leastDays: 30 }

const file = {
  retention: Type.Optional(
    Type.Object(
      {
        by_owners: Type.Optional(Type.Boolean()),
        least_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 36_500 })),
      },
      { additionalProperties: false },
    ),
  ),
}
const File = Type.Object(file)

export const erasureConfig: ConfigSection<ErasureConfig> = {
  file,
  read: ({ retention = {} }: Static<typeof File>) => ({
    retention: {
      byOwners: retention.by_owners ?? DEFAULTS.byOwners,
      leastDays: retention.least_days ?? DEFAULTS.leastDays,
    },
  }),
}
