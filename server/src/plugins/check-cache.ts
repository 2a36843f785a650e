/** The cache of a plugin's checks: it keeps a bounded number of entries and lets checks share one read of a destination. */
import { setTimeout as setTimer } from 'node:timers'
import { setTimeout } from 'node:timers/promises'
import type { CheckCache } from '@claimcheck/core/plugin'
import { LRUCache } from 'lru-cache'

const MAX_ENTRIES = 5000
// New checks of the same thing start as others end. Without a pause, each read would serve only the few callers that arrived during the read before.
// After a read with more callers the next one waits longer for more.
const PAUSE_PER_CALLER_MS = 30
const MAX_PAUSE_MS = 600
// A read with several callers makes a new caller wait for others, too, for this time.
const KEEP_AFTER_SHARED_READ_MS = 5000

interface SharedRead {
  read: () => Promise<unknown>
  callers: number
  result?: Promise<unknown>
  /** The read of the same thing that starts after this one. */
  next?: SharedRead
}

export function createCheckCache(): CheckCache {
  const entries = new LRUCache<string, { readonly value: unknown }>({ max: MAX_ENTRIES })
  /** The newest read of each thing that has begun. */
  const begun = new Map<string, SharedRead>()

  async function make(key: string, shared: SharedRead): Promise<unknown> {
    begun.set(key, shared)
    try {
      return await shared.read()
    } finally {
      const forget = () => {
        if (begun.get(key) === shared && !shared.next) begun.delete(key)
      }
      if (shared.callers > 1) setTimer(forget, KEEP_AFTER_SHARED_READ_MS).unref()
      else forget()
    }
  }

  async function makeAfter({ result, callers }: SharedRead, key: string, shared: SharedRead): Promise<unknown> {
    await Promise.allSettled([result])
    await setTimeout(Math.min(MAX_PAUSE_MS, PAUSE_PER_CALLER_MS * callers))
    return make(key, shared)
  }

  return {
    get: (key) => entries.get(key)?.value,
    set: (key, value) => {
      entries.set(key, { value })
    },
    share<T>(key: string, read: () => Promise<T>): Promise<T> {
      const running = begun.get(key)
      // The destination may have answered the running read before this caller asked, so the caller waits for the next read. The next
      // read uses the function of its last caller, whose check has the most time left.
      const shared: SharedRead = running?.next ?? { read, callers: 0 }
      shared.read = read
      shared.callers++
      if (running) running.next = shared
      shared.result ??= running ? makeAfter(running, key, shared) : make(key, shared)
      return shared.result as Promise<T>
    },
  }
}

/** The part of a check's requests that concerns sharing reads. @typeParam R the readings of their answers, or a name for them */
export interface SharedRequests<R> {
  readings(): R
  inherit(readings: R): void | Promise<void>
  isSpent(): boolean
}

const MOST_SHARED_READS = 3

/** Makes the part of the cache whose keys begin with `prefix`. */
export function cacheFor<R>(prefix: string, cache: CheckCache, requests: SharedRequests<R>): CheckCache {
  return {
    get: (key) => cache.get(prefix + key),
    set: (key, value) => cache.set(prefix + key, value),
    async share<T>(key: string, read: () => Promise<T>): Promise<T> {
      // Reads are repeated when the own limits of the check that read for all ended it: those say nothing of the others.
      for (let reads = 1; ; reads++) {
        let isOwn = false
        const shared = await cache.share(prefix + key, async () => {
          isOwn = true
          try {
            return { value: await read(), readings: requests.readings() }
          } catch (error) {
            return { error, isSpent: requests.isSpent() }
          }
        })
        if (shared.isSpent === undefined) {
          // A check that shares a read inherits what the read told of clocks and ages: else a wrong clock would count as right.
          await requests.inherit(shared.readings)
          return shared.value
        }
        if (isOwn || !shared.isSpent || requests.isSpent()) throw shared.error
        if (reads === MOST_SHARED_READS) return read()
      }
    },
  }
}
