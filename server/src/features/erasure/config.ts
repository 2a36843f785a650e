/** The configuration of erasure: `retention`. */
import { Type } from '@claimcheck/core/plugin'
import type { ConfigSection } from '../../config/section.ts'
import { settings } from '../../config/settings.ts'

export interface ErasureConfig {
  /** The limits of what workspaces may set about the content of their receipts. */
  readonly retention: {
    /** True when owners set a retention; the command line always does. */
    readonly byOwners: boolean
    /** The shortest retention. */
    readonly leastDays: number
  }
}

const retention = settings<ErasureConfig['retention']>({
  byOwners: ['by_owners', Type.Boolean(), true],
  leastDays: ['least_days', Type.Integer({ minimum: 1, maximum: 36_500 }), 30],
})

export const erasureConfig: ConfigSection<ErasureConfig> = {
  file: { retention: retention.schema },
  read: (file) => ({ retention: retention.read(file.retention) }),
}
