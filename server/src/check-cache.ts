/** A plugin's bounded memory, and the sharing of reads between the checks that wait for the same one. */
import { setTimeout } from 'node:timers/promises'
import type { CheckCache } from '@claimcheck/core'
import { LRUCache } from 'lru-cache'

const MOST_ENTRIES = 5000
// Many checks of one thing come as others end: without a pause each read would serve the few that came during the one before.
const GATHERING_MS = 250

interface Shared {
  /** The read that has begun. */
  readonly running: Promise<unknown>
  /** The one after it, which has not. */
  next?: { readonly promise: Promise<unknown>; read: () => Promise<unknown> }
}

export function createCheckCache(): CheckCache {
  const entries = new LRUCache<string, { readonly value: unknown }>({ max: MOST_ENTRIES })
  const shared = new Map<string, Shared>()

  function begin<T>(key: string, read: () => Promise<T>): Promise<T> {
    const running = (async () => read())()
    const entry: Shared = { running }
    shared.set(key, entry)
    const forget = () => {
      if (shared.get(key) === entry && !entry.next) shared.delete(key)
    }
    running.then(forget, forget)
    return running
  }

  return {
    get: (key) => entries.get(key)?.value,
    set: (key, value) => {
      entries.set(key, { value })
    },
    share<T>(key: string, read: () => Promise<T>): Promise<T> {
      const current = shared.get(key)
      if (!current) return begin(key, read)
      // What has begun may have been answered before this caller asked: it waits for the next read, with all who wait by then.
      // That is read by the last of them, whose check has the most time left.
      if (current.next) {
        current.next.read = read
      } else {
        const beginNext = async () => {
          await setTimeout(GATHERING_MS)
          return begin(key, current.next!.read)
        }
        current.next = { promise: current.running.then(beginNext, beginNext), read }
      }
      return current.next.promise as Promise<T>
    },
  }
}
