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

interface Rounds {
  readonly rounds: number
  readonly warmUp: number
}

/** The median times of works that are done in turn. `round` is negative while they warm up. */
export async function mediansOf<N extends string>(
  works: Readonly<Record<N, (round: number) => Promise<unknown>>>,
  { rounds, warmUp }: Rounds,
): Promise<Record<N, number>> {
  const names = Object.keys(works) as N[]
  const taken = new Map<N, number[]>(names.map((name) => [name, []]))
  for (let round = -warmUp; round < rounds; round++) {
    for (const name of names) {
      const ms = await timed(() => works[name](round))
      if (round >= 0) taken.get(name)!.push(ms)
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(taken.get(name)!)])) as Record<N, number>
}
