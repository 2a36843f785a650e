/** The limits of the connections that a host holds open, and their defaults. 0: no limit. */
import { LIMIT, settings } from './settings.ts'

export interface ConnectionSettings {
  /** The limit of all connections together. */
  readonly most: number
  /** The limit of one address that is no trusted proxy's. */
  readonly perAddress: number
}

export const connectionSettings = settings<ConnectionSettings>({
  most: ['most', LIMIT, 10_000],
  perAddress: ['per_address', LIMIT, 512],
})
