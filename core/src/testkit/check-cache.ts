/** A plugin's memory between checks as the contract has it: a caller of `share` never joins a read that has begun. */
import type { CheckCache } from '../contract/verifier.ts'
import type { Readings } from '../hosting/readings.ts'

interface Shared {
  readonly value: unknown
  readonly readings: Readings
}

/** Kept by the kit for as long as checks are to remember each other. */
export interface CacheStore {
  readonly entries: Map<string, unknown>
  readonly running: Map<string, Promise<Shared>>
  readonly waiting: Map<string, Promise<Shared>>
}

export function createCacheStore(): CacheStore {
  return { entries: new Map(), running: new Map(), waiting: new Map() }
}

/** The store as one check sees it. A check that shares a read inherits what the read told of clocks and ages. */
export function cacheOf(
  { entries, running, waiting }: CacheStore,
  { readings, inherit }: { readonly readings: () => Readings; readonly inherit: (readings: Readings) => void },
): CheckCache {
  function start(key: string, read: () => Promise<unknown>): Promise<Shared> {
    const reading = (async () => ({ value: await read(), readings: readings() }))().finally(() => running.delete(key))
    running.set(key, reading)
    return reading
  }

  function join(key: string, read: () => Promise<unknown>): Promise<Shared> {
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
