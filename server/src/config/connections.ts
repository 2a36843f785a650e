/** How many connections a host holds open, and the defaults. 0: no limit. */
import { LIMIT, settings } from './settings.ts'

export interface ConnectionSettings {
  /** In all. */
  readonly most: number
  /** From one address that is no trusted proxy's. */
  readonly perAddress: number
}

export const connectionSettings = settings<ConnectionSettings>({
  most: ['most', LIMIT, 10_000],
  perAddress: ['per_address', LIMIT, 512],
})
