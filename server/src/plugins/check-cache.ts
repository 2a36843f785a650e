/** A plugin's bounded memory, and the sharing of reads between the checks that wait for the same one. */
import { hash } from 'node:crypto'
import { setTimeout as setTimer } from 'node:timers'
import { setTimeout } from 'node:timers/promises'
import type { CheckCache, Connection } from '@claimcheck/core'
import { LRUCache } from 'lru-cache'

const MOST_ENTRIES = 5000
// Many checks of one thing come as others end: without a pause each read would serve the few that came during the one before. The more
// that one has served, the longer it is worth to wait for others.
const PAUSE_PER_CALLER_MS = 60
const LONGEST_PAUSE_MS = 1500
// So long after a read that served several, the first who comes waits for those who come with it.
const MORE_WITHIN_MS = 5000

interface Shared {
  /** The read that has begun. */
  readonly running: Promise<unknown>
  /** How many it serves. */
  readonly callers: number
  /** The one after it, which has not. */
  next?: { readonly promise: Promise<unknown>; read: () => Promise<unknown>; callers: number }
}

export function createCheckCache(): CheckCache {
  const entries = new LRUCache<string, { readonly value: unknown }>({ max: MOST_ENTRIES })
  const shared = new Map<string, Shared>()

  function begin<T>(key: string, read: () => Promise<T>, callers: number): Promise<T> {
    const running = (async () => read())()
    const entry: Shared = { running, callers }
    shared.set(key, entry)
    const forget = () => {
      if (shared.get(key) === entry && !entry.next) shared.delete(key)
    }
    const end = () => {
      if (callers > 1) setTimer(forget, MORE_WITHIN_MS).unref()
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
      if (!current) return begin(key, read, 1)
      // What has begun may have been answered before this caller asked: it waits for the next read, with all who wait by then.
      // That is read by the last of them, whose check has the most time left.
      if (current.next) {
        current.next.read = read
        current.next.callers++
      } else {
        const pauseMs = Math.min(LONGEST_PAUSE_MS, PAUSE_PER_CALLER_MS * current.callers)
        const beginNext = async () => {
          await setTimeout(pauseMs)
          const { read, callers } = current.next!
          return begin(key, read, callers)
        }
        current.next = { promise: current.running.then(beginNext, beginNext), read, callers: 1 }
      }
      return current.next.promise as Promise<T>
    },
  }
}

/** What one connection's credentials have shown is shown to no others, its own later ones neither. */
export function partFor(connection: Connection | null, cache: CheckCache): CheckCache {
  if (!connection) return cache
  const part = `${hash('sha256', JSON.stringify(connection), 'base64url')} `
  return {
    get: (key) => cache.get(part + key),
    set: (key, value) => cache.set(part + key, value),
    share: (key, read) => cache.share(part + key, read),
  }
}
