/** Counts of requests within a minute: in memory where there is one host, else in the database that the hosts share. */
import type { Instant } from '@claimcheck/core'
import { LRUCache } from 'lru-cache'
import { createBatch } from '../batch.ts'
import type { Counted, Counter, RateCounters } from '../storage/counters.ts'
import type { Storage } from '../storage/storage.ts'

export interface Count {
  readonly count: number
  /** Until it begins anew. */
  readonly leftMs: number
}

export interface Counters {
  /** Counts one more, itself included. @throws StorageError `unavailable` */
  add(limiter: string, subject: string): Promise<Count>
  /** Counts nothing. @throws StorageError `unavailable` */
  read(limiter: string, subject: string): Promise<Count>
}

export const WINDOW_MS = 60_000

// For each limiter. Pushing a counter out takes more subjects than this, which together may ask more than we can answer.
const MOST_COUNTERS = 20_000
const MOST_GATHERED = 500
const REMOVED_AT_ONCE = 1000

interface CountersOptions {
  readonly storage: Pick<Storage, 'shared'>
  readonly now: () => Instant
}

export function createCounters({ storage, now }: CountersOptions): Counters {
  return storage.shared ? sharedCounters(storage.shared.counters, now) : countersInMemory(now)
}

function windowAt(now: Instant): { readonly start: Instant; readonly leftMs: number } {
  const passedMs = now % WINDOW_MS
  return { start: now - passedMs, leftMs: WINDOW_MS - passedMs }
}

function countersInMemory(now: () => Instant): Counters {
  const counts = new Map<string, LRUCache<string, number>>()
  let current = 0

  function count(limiter: string, subject: string, increment: number): Count {
    const { start, leftMs } = windowAt(now())
    if (start !== current) counts.clear()
    current = start
    const known = counts.get(limiter) ?? new LRUCache<string, number>({ max: MOST_COUNTERS })
    counts.set(limiter, known)
    const sum = (known.get(subject) ?? 0) + increment
    if (increment > 0) known.set(subject, sum)
    return { count: sum, leftMs }
  }

  return {
    add: async (limiter, subject) => count(limiter, subject, 1),
    read: async (limiter, subject) => count(limiter, subject, 0),
  }
}

/** What arrives together is one statement. Rows live for two windows, so there are no more than requests that we answer in that time. */
function sharedCounters(counters: RateCounters, now: () => Instant): Counters {
  let removedBefore = 0

  const additions = createBatch<Counted, Count>(
    async (requests) => {
      const { start, leftMs } = windowAt(now())
      const gathered = new Map<string, Counter>()
      const places = requests.map((request) => {
        const place = (gathered.get(nameOf(request))?.count ?? 0) + 1
        gathered.set(nameOf(request), { ...request, count: place })
        return place
      })
      const sums = byName(await counters.add(start, [...gathered.values()]))
      void removeExpired(start - WINDOW_MS)
      return requests.map((request, index) => {
        const name = nameOf(request)
        const before = sums.get(name)!.count - gathered.get(name)!.count
        return { count: before + places[index]!, leftMs }
      })
    },
    { most: MOST_GATHERED },
  )

  const lookups = createBatch<Counted, Count>(
    async (requests) => {
      const { start, leftMs } = windowAt(now())
      const found = byName(await counters.read(start, requests))
      return requests.map((request) => ({ count: found.get(nameOf(request))!.count, leftMs }))
    },
    { most: MOST_GATHERED },
  )

  /** Once a window. The window before is kept for hosts whose clock is a little behind. */
  async function removeExpired(start: Instant): Promise<void> {
    if (start <= removedBefore) return
    removedBefore = start
    try {
      while ((await counters.removeBefore(start, REMOVED_AT_ONCE)) === REMOVED_AT_ONCE);
    } catch {
      // What is left goes with the next window.
    }
  }

  return {
    add: (limiter, subject) => additions.add({ limiter, subject }),
    read: (limiter, subject) => lookups.add({ limiter, subject }),
  }
}

function nameOf({ limiter, subject }: Counted): string {
  return `${limiter} ${subject}`
}

function byName(counters: readonly Counter[]): ReadonlyMap<string, Counter> {
  return new Map(counters.map((counter) => [nameOf(counter), counter]))
}
