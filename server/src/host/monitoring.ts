/** What monitoring reads of a host: metrics, and whether it can do its work. */
import type { Meters } from '../base/meters.ts'

export interface Metrics {
  readonly contentType: string
  /** The current values, and older ones where a reading fails. */
  text(): Promise<string>
}

export interface Readiness {
  readonly ok: boolean
  readonly problems: readonly string[]
  /** What says that claims cannot be stored: names of features, or `database`. */
  readonly reasons: readonly string[]
  /** What would lose data in a disaster, while all works. */
  readonly warnings: readonly string[]
}

/** Makes metrics once. @returns what sets them before each reading */
export type Watch = (meters: Meters) => () => void | Promise<void>
