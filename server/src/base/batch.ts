/** Group commit: the items that arrive while one flush runs share the next flush, so the cost of an item falls as load rises. */

/** The reason that one item of a flush failed while the others did not; stands in place of its result. */
export class Failed {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

export interface Batch<T, R> {
  /** Adds an item. Resolves with its result when its flush is done; rejects when the flush fails, or the item by itself. */
  add(item: T): Promise<R>
  /** Resolves when no item waits and no flush runs. */
  idle(): Promise<void>
}

interface Waiting<T, R> {
  readonly item: T
  resolve(result: R): void
  reject(error: unknown): void
}

/**
 * Makes a batch, of which one flush runs at a time.
 * @param flush returns one result for each item, in the order of the items
 * @param options.maxItems the most items that one flush takes
 */
export function createBatch<T, R>(
  flush: (items: readonly T[]) => Promise<readonly (R | Failed)[]>,
  { maxItems }: { readonly maxItems: number },
): Batch<T, R> {
  let waiting: Waiting<T, R>[] = []
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      // Clients answered by the last flush ask again within two turns of the event loop: their items share this one.
      await nextTurn()
      await nextTurn()
      const taken = waiting.slice(0, maxItems)
      waiting = waiting.slice(maxItems)
      try {
        const results = await flush(taken.map(({ item }) => item))
        taken.forEach(({ resolve, reject }, index) => {
          const result = results[index]!
          if (result instanceof Failed) reject(result.error)
          else resolve(result)
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

/** The most texts that one statement of a lookup names. */
const MOST_KEYS = 500

/**
 * Makes a function that finds rows by a text. Those who ask together share one statement, which starts after they asked.
 * @param read reads the rows of all these texts, each of which is there once
 */
export function createLookup<R>(
  read: (keys: readonly string[]) => Promise<readonly R[]>,
  keyOf: (row: R) => string,
): (key: string) => Promise<readonly R[]> {
  const batch = createBatch<string, readonly R[]>(
    async (keys) => {
      const found = new Map<string, R[]>(keys.map((key) => [key, []]))
      for (const row of await read([...found.keys()])) found.get(keyOf(row))?.push(row)
      return keys.map((key) => found.get(key)!)
    },
    { maxItems: MOST_KEYS },
  )
  return batch.add
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
