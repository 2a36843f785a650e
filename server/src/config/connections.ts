/** How many connections a host holds open, and the defaults. 0: no limit. */

export interface ConnectionSettings {
  /** In all. */
  readonly most: number
  /** From one address that is no trusted proxy's. */
  readonly perAddress: number
}

export const DEFAULT_CONNECTIONS: ConnectionSettings = { most: 10_000, perAddress: 512 }
