/** How many connections a host holds open, and the defaults. 0: no limit. */
import { Type } from '@claimcheck/core/plugin'
import { settings } from './settings.ts'

export interface ConnectionSettings {
  /** In all. */
  readonly most: number
  /** From one address that is no trusted proxy's. */
  readonly perAddress: number
}

const limit = Type.Integer({ minimum: 0, maximum: 1_000_000 })

export const connectionSettings = settings<ConnectionSettings>({
  most: ['most', limit, 10_000],
  perAddress: ['per_address', limit, 512],
})
