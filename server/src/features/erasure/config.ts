/** The configuration of erasure: `retention`. */
import { Type } from '@claimcheck/core/plugin'
import type { ConfigSection } from '../../config/section.ts'
import { settings } from '../../config/settings.ts'

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

const retention = settings<RetentionSettings>({
  byOwners: ['by_owners', Type.Boolean(), true],
  leastDays: ['least_days', Type.Integer({ minimum: 1, maximum: 36_500 }), 30],
})

export const erasureConfig: ConfigSection<ErasureConfig> = {
  file: { retention: retention.schema },
  read: (file) => ({ retention: retention.read(file.retention) }),
}
