/** The metrics of this host for Prometheus. Labels take values from bounded sets, never from what clients send. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Makers of metrics. Each makes one metric once, and its name goes without the prefix that all have. */
export interface Meters {
  gauge<L extends string>(name: string, help: string, labels?: readonly L[]): Gauge<L>
  /**
   * Makes a counter.
   * @param name ends in `_total`
   */
  counter<L extends string>(name: string, help: string, labels?: readonly L[]): Counter<L>
  /** Makes a counter with one label. Each value begins at 0: Prometheus sees no increase in a series that did not exist. */
  counterOf<L extends string, V extends string>(
    name: string,
    help: string,
    label: L,
    values: readonly V[],
  ): CounterOf<V>
  /** Makes a counter that shows a total that is counted elsewhere. */
  total<L extends string>(name: string, help: string, labels?: readonly L[]): Total<L>
  histogram<L extends string>(name: string, help: string, options: HistogramOptions<L>): Histogram<L>
  /** Adds the metrics of the process and of Node, under their usual names. */
  addDefaults(): void
  readonly contentType: string
  /** Writes all metrics in Prometheus' text format. */
  text(): Promise<string>
}

export interface HistogramOptions<L extends string> {
  readonly labels?: readonly L[]
  readonly buckets: readonly number[]
}

export interface CounterOf<V extends string> {
  inc(value: V): void
}

export interface Total<L extends string> {
  set(labels: Readonly<Partial<Record<L, string>>>, total: number): void
}

/** Default metrics to leave out: gauges that are named like counters, and those with many series that say little. */
const LEFT_OUT = [
  ...['handles', 'requests', 'resources'].flatMap((what) => [`nodejs_active_${what}`, `nodejs_active_${what}_total`]),
  ...['total', 'used', 'available'].map((what) => `nodejs_heap_space_size_${what}_bytes`),
]

export function createMeters(): Meters {
  const registry = new Registry()
  const named = <L extends string>(name: string, help: string, labels: readonly L[] = []) => ({
    name: `claimcheck_${name}`,
    help,
    labelNames: labels,
    registers: [registry],
  })
  return {
    gauge: (name, help, labels) => new Gauge(named(name, help, labels)),
    counter: (name, help, labels) => new Counter(named(name, help, labels)),
    counterOf(name, help, label, values) {
      const counter = new Counter(named(name, help, [label]))
      const children = new Map(values.map((value) => [value, counter.labels(value)]))
      for (const child of children.values()) child.inc(0)
      return { inc: (value) => children.get(value)!.inc() }
    },
    total<L extends string>(name: string, help: string, labels?: readonly L[]): Total<L> {
      const counter = new Counter(named(name, help, labels))
      return {
        set(values, total) {
          counter.remove(values as Record<L, string>)
          counter.inc(values, total)
        },
      }
    },
    histogram: (name, help, { labels, buckets }) =>
      new Histogram({ ...named(name, help, labels), buckets: [...buckets] }),
    addDefaults() {
      collectDefaultMetrics({ register: registry })
      for (const name of LEFT_OUT) registry.removeSingleMetric(name)
    },
    contentType: registry.contentType,
    text: () => registry.metrics(),
  }
}
