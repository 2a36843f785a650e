/** Order statistics of measured times. */

/** The value that `part` of all are at or below. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)]!
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
