/** Limits on the connections that a host holds open, with their defaults; 0 is no limit. */
import { LIMIT, settings } from './settings.ts'

export interface ConnectionSettings {
  /** The most connections of all clients together. */
  readonly most: number
  /** The most connections of one address that is no trusted proxy's. */
  readonly perAddress: number
}

export const connectionSettings = settings<ConnectionSettings>({
  most: ['most', LIMIT, 10_000],
  perAddress: ['per_address', LIMIT, 512],
})
