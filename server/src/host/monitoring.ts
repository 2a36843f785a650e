/** The readings that monitoring takes of a host: metrics, and whether it can do its work. */
import type { Meters } from '../base/meters.ts'

export interface Metrics {
  readonly contentType: string
  /** The current values, and older ones where a reading fails. */
  text(): Promise<string>
}

export interface Readiness {
  readonly ok: boolean
  readonly problems: readonly string[]
  /** The parts that say that claims cannot be stored: names of features, or `database`. */
  readonly reasons: readonly string[]
  /** Warnings of what would lose data in a disaster, while all works. */
  readonly warnings: readonly string[]
}

/** Makes metrics once. @returns what sets them before each reading */
export type Watch = (meters: Meters) => () => void | Promise<void>
