/** Group commit: what arrives while one flush runs goes into the next, so that its cost is shared and falls as load rises. */

export interface Batch<T, R> {
  /** Resolves with this item's result when the flush that took it is done; rejects when that flush failed. */
  add(item: T): Promise<R>
  /** Resolves when nothing is waiting or under way. */
  idle(): Promise<void>
}

interface Waiting<T, R> {
  readonly item: T
  resolve(result: R): void
  reject(error: unknown): void
}

/** `flush` returns one result for each item, in order. One flush runs at a time. */
export function createBatch<T, R>(
  flush: (items: readonly T[]) => Promise<readonly R[]>,
  { most }: { readonly most: number },
): Batch<T, R> {
  let waiting: Waiting<T, R>[] = []
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    // One turn of the event loop gathers what arrived together.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const taken = waiting.slice(0, most)
      waiting = waiting.slice(most)
      try {
        const results = await flush(taken.map(({ item }) => item))
        taken.forEach(({ resolve }, index) => {
          resolve(results[index]!)
        })
      } catch (error) {
        for (const { reject } of taken) reject(error)
      }
    }
    running = undefined
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        running ??= run()
      }),
    idle: async () => {
      while (running) await running
    },
  }
}
