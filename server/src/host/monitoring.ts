/** Monitoring of a host: its metrics, and whether it can do its work. */
import type { Meters } from '../base/meters.ts'

export interface Metrics {
  readonly contentType: string
  /** Writes the metrics: current values, and older ones where a reading fails. */
  text(): Promise<string>
}

export interface Readiness {
  readonly ok: boolean
  readonly problems: readonly string[]
  /** The parts because of which claims cannot be stored: names of features, or `database`. */
  readonly reasons: readonly string[]
  /** Warnings of states that would lose data in a disaster, although all works. */
  readonly warnings: readonly string[]
}

/**
 * Makes metrics once.
 * @returns a function that sets them before each reading
 */
export type Watch = (meters: Meters) => () => void | Promise<void>
