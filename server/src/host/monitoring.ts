/** What monitoring reads of a host: metrics, and whether it can do its work. */
import type { Gauge } from 'prom-client'

export interface Metrics {
  readonly contentType: string
  /** The current values, and older ones where a reading fails. */
  text(): Promise<string>
}

export interface Readiness {
  readonly ok: boolean
  readonly problems: readonly string[]
}

/** Makes a gauge, named without the prefix of all. */
export type MakeGauge = <L extends string>(name: string, help: string, labelNames?: readonly L[]) => Gauge<L>

/** Makes gauges once. @returns what sets them before each reading */
export type Watch = (gauge: MakeGauge) => () => void | Promise<void>
