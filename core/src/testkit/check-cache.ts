/** A plugin's memory between checks, as the contract has it: a caller of `share` never joins a read that has begun. */
import type { CheckCache } from '../contract/verifier.ts'
import type { Readings } from '../hosting/readings.ts'

interface SharedRead {
  readonly value: unknown
  readonly readings: Readings
}

/** The memory of checks that are to remember each other. */
export type CacheStore = ReturnType<typeof createCacheStore>

export function createCacheStore() {
  return {
    entries: new Map<string, unknown>(),
    running: new Map<string, Promise<SharedRead>>(),
    waiting: new Map<string, Promise<SharedRead>>(),
  }
}

/** The store as one check sees it. A check that shares a read inherits the read's clocks and ages. */
export function cacheOf(
  { entries, running, waiting }: CacheStore,
  { readings, inherit }: { readonly readings: () => Readings; readonly inherit: (readings: Readings) => void },
): CheckCache {
  function start(key: string, read: () => Promise<unknown>): Promise<SharedRead> {
    const reading = (async () => ({ value: await read(), readings: readings() }))().finally(() => running.delete(key))
    running.set(key, reading)
    return reading
  }

  function join(key: string, read: () => Promise<unknown>): Promise<SharedRead> {
    const joined = waiting.get(key)
    if (joined) return joined
    const current = running.get(key)
    if (!current) return start(key, read)
    const next = current
      .catch(() => {})
      .then(() => {
        waiting.delete(key)
        return start(key, read)
      })
    waiting.set(key, next)
    return next
  }

  return {
    get: (key) => entries.get(key),
    set: (key, value) => {
      entries.set(key, value)
    },
    async share<T>(key: string, read: () => Promise<T>): Promise<T> {
      const shared = await join(key, read)
      inherit(shared.readings)
      return shared.value as T
    },
  }
}
