/** The configuration of erasure: `retention`. */
import { Type } from '@claimcheck/core/plugin'
import type { MembersOf } from '../../config/section.ts'
import { settingsSection } from '../../config/settings.ts'

export const erasureConfig = settingsSection({
  /** Limits on the retentions that workspaces may set for the content of their receipts. */
  retention: {
    /** True when owners may set a retention; the command line always may. */
    byOwners: [Type.Boolean(), true],
    /** The shortest retention in days. */
    leastDays: [Type.Integer({ minimum: 1, maximum: 36_500 }), 30],
  },
})

export type ErasureConfig = MembersOf<typeof erasureConfig>
