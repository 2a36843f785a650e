/** The configuration of erasure: `retention`. */
import { Type } from '@claimcheck/core/plugin'
import type { ConfigSection } from '../../config/section.ts'
import { settings } from '../../config/settings.ts'

export interface ErasureConfig {
  /** Limits on the retentions that workspaces may set for the content of their receipts. */
  readonly retention: {
    /** True when owners may set a retention; the command line always may. */
    readonly byOwners: boolean
    /** The shortest retention in days. */
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
