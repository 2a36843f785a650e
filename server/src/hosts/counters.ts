/** Counts of requests within a minute: in memory where there is one host, else in the database that the hosts share. */
import type { Instant } from '@claimcheck/core'
import { LRUCache } from 'lru-cache'
import { createBatch } from '../base/batch.ts'
import type { Counted, Counter, RateCounters } from '../storage/counters.ts'
import type { Storage } from '../storage/storage.ts'

export interface Count {
  readonly count: number
  /** Until it begins anew. */
  readonly leftMs: number
}

export interface Counters {
  /** Counts one more, itself included, over all hosts. @throws StorageError `unavailable` */
  add(limiter: string, subject: string): Promise<Count>
  /** What came of the last `add` on this host: others may have counted since. */
  last(limiter: string, subject: string): Count
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
  const counts = boundedCounts()

  return {
    async add(limiter, subject) {
      const { start, leftMs } = windowAt(now())
      const ofLimiter = counts.of(limiter, start)
      const count = (ofLimiter.get(subject) ?? 0) + 1
      ofLimiter.set(subject, count)
      return { count, leftMs }
    },
    last: (limiter, subject) => counts.last(limiter, subject, now()),
  }
}

function boundedCounts() {
  const counts = new Map<string, LRUCache<string, number>>()
  let current = 0

  /** Those of another window are forgotten. */
  function of(limiter: string, windowStart: Instant): LRUCache<string, number> {
    if (windowStart !== current) counts.clear()
    current = windowStart
    const known = counts.get(limiter) ?? new LRUCache<string, number>({ max: MOST_COUNTERS })
    counts.set(limiter, known)
    return known
  }

  return {
    of,
    last(limiter: string, subject: string, now: Instant): Count {
      const { start, leftMs } = windowAt(now)
      return { count: of(limiter, start).get(subject) ?? 0, leftMs }
    },
  }
}

/** What arrives together is one statement. Rows live for two windows, so there are no more than requests that we answer in that time. */
function sharedCounters(counters: RateCounters, now: () => Instant): Counters {
  const lastCounts = boundedCounts()
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
      const sums = new Map<string, number>()
      for (const sum of await counters.add(start, [...gathered.values()])) {
        sums.set(nameOf(sum), sum.count)
        lastCounts.of(sum.limiter, start).set(sum.subject, sum.count)
      }
      void removeExpired(start - WINDOW_MS)
      return requests.map((request, index) => {
        const name = nameOf(request)
        const before = sums.get(name)! - gathered.get(name)!.count
        return { count: before + places[index]!, leftMs }
      })
    },
    { maxItems: MOST_GATHERED },
  )

  /** Once a window. The window before is kept for hosts whose clock is a little behind. */
  async function removeExpired(start: Instant): Promise<void> {
    if (start === removedBefore) return
    removedBefore = start
    try {
      while ((await counters.removeBefore(start, REMOVED_AT_ONCE)) === REMOVED_AT_ONCE);
    } catch {
      // What is left goes with the next window.
    }
  }

  return {
    add: (limiter, subject) => additions.add({ limiter, subject }),
    last: (limiter, subject) => lastCounts.last(limiter, subject, now()),
  }
}

function nameOf({ limiter, subject }: Counted): string {
  return `${limiter} ${subject}`
}
