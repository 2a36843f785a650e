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

interface ReadsOfKey {
  /** The read that is under way. */
  readonly running: Promise<unknown>
  /** The number of callers that wait for the running read. */
  readonly callers: number
  /** The read that starts after the running one. */
  next?: { readonly promise: Promise<unknown>; read: () => Promise<unknown>; callers: number }
}

export function createCheckCache(): CheckCache {
  const entries = new LRUCache<string, { readonly value: unknown }>({ max: MAX_ENTRIES })
  const shared = new Map<string, ReadsOfKey>()

  function start<T>(key: string, read: () => Promise<T>, callers: number): Promise<T> {
    const running = (async () => read())()
    const entry: ReadsOfKey = { running, callers }
    shared.set(key, entry)
    const forget = () => {
      if (shared.get(key) === entry && !entry.next) shared.delete(key)
    }
    const end = () => {
      if (callers > 1) setTimer(forget, KEEP_AFTER_SHARED_READ_MS).unref()
      else forget()
    }
    running.then(end, end)
    return running
  }

  return {
    get: (key) => entries.get(key)?.value,
    set: (key, value) => {
      entries.set(key, { value })
    },
    share<T>(key: string, read: () => Promise<T>): Promise<T> {
      const current = shared.get(key)
      if (!current) return start(key, read, 1)
      // The destination may have answered the running read before this caller asked, so the caller waits for the next read. The next
      // read uses the function of its last caller, whose check has the most time left.
      if (current.next) {
        current.next.read = read
        current.next.callers++
      } else {
        const pauseMs = Math.min(MAX_PAUSE_MS, PAUSE_PER_CALLER_MS * current.callers)
        const startNext = async () => {
          await setTimeout(pauseMs)
          const { read, callers } = current.next!
          return start(key, read, callers)
        }
        current.next = { promise: current.running.then(startNext, startNext), read, callers: 1 }
      }
      return current.next.promise as Promise<T>
    },
  }
}

/** The part of a check's requests that concerns sharing reads. @typeParam R the readings of their answers, or a name for them */
export interface SharedRequests<R> {
  readings(): R
  inherit(readings: R): void | Promise<void>
  isSpent(): boolean
}

/** Makes the part of the cache whose keys begin with `prefix`. */
export function cacheFor<R>(prefix: string, cache: CheckCache, requests: SharedRequests<R>): CheckCache {
  return {
    get: (key) => cache.get(prefix + key),
    set: (key, value) => cache.set(prefix + key, value),
    async share<T>(key: string, read: () => Promise<T>): Promise<T> {
      // Reads are repeated when the own limits of the check that read for all ended it: those say nothing of the others.
      for (let reads = 1; ; reads++) {
        let isOwn = false
        const shared = await cache.share<SharedRead<T, R>>(prefix + key, async () => {
          isOwn = true
          try {
            const value = await read()
            return { value, readings: requests.readings() }
          } catch (error) {
            return { error, isSpent: requests.isSpent() }
          }
        })
        if (!('error' in shared)) {
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

const MOST_SHARED_READS = 3

type SharedRead<T, R> =
  | { readonly value: T; readonly readings: R }
  | { readonly error: unknown; readonly isSpent: boolean }
