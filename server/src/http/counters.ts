/** Counts tokens and attempts a minute for the rate limits: in memory for a single host, in the database when several hosts share it. */
import type { Instant } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import { createBatch } from '../base/batch.ts'
import { allowanceOf, type Payer, partyOf } from '../base/payers.ts'
import { type Holdings, holdingsOfCounts } from '../base/stock.ts'
import type { Counted, Counter, RateCounters } from '../storage/counters.ts'
import type { Storage } from '../storage/storage.ts'

export interface Count {
  readonly count: number
  /** The time until the count restarts at 0. */
  readonly leftMs: number
}

export interface Counters {
  /**
   * Adds tokens, by default 1, and returns the count over all hosts, with this addition.
   * @throws StorageError `unavailable`
   */
  add(limiter: string, subject: string, tokens?: number): Promise<Count>
  /** Returns the result of the last `add` on this host, with additions under way. Other hosts may have counted more since. */
  last(limiter: string, subject: string): Count
}

export const WINDOW_MS = 60_000

// The most counters of each limiter. To push one out, an attacker needs more subjects, which may send more than a host can answer.
const MAX_COUNTERS = 20_000
const MAX_PER_STATEMENT = 500
const REMOVED_PER_STATEMENT = 1000

interface CountersOptions {
  readonly storage: Pick<Storage, 'shared'>
  readonly now: () => Instant
}

export function createCounters({ storage, now }: CountersOptions): Counters {
  return storage.shared ? sharedCounters(storage.shared.counters, now) : countersInMemory(now)
}

/** Returns the number of the window that a time is in. */
export function windowOf(now: Instant): number {
  return Math.floor(now / WINDOW_MS)
}

function windowAt(now: Instant): { readonly start: Instant; readonly leftMs: number } {
  const passedMs = now % WINDOW_MS
  return { start: now - passedMs, leftMs: WINDOW_MS - passedMs }
}

export type OwnCounts = ReturnType<typeof createOwnCounts>

/** Counts of this host alone, which need no database. */
export function createOwnCounts(now: () => Instant) {
  const counts = boundedCounts()

  return {
    add(limiter: string, subject: string, tokens = 1): Count {
      const { start, leftMs } = windowAt(now())
      const ofLimiter = counts.of(limiter, start)
      const count = (ofLimiter.get(subject) ?? 0) + tokens
      ofLimiter.set(subject, count)
      return { count, leftMs }
    },
    last: (limiter: string, subject: string) => counts.last(limiter, subject, now()),
  }
}

function countersInMemory(now: () => Instant): Counters {
  const own = createOwnCounts(now)
  return { add: async (...added) => own.add(...added), last: own.last }
}

/** Counts for each allowance, and for each party that was invited into it: what these did not use is the account's own. */
export function countParties(counters: Counters) {
  const invited = new LRUCache<string, Set<Payer>>({ max: MAX_COUNTERS })

  /**
   * Reads the use of those who share an allowance.
   * @param added the tokens that this party added just now
   */
  function used(limiter: string, payer: Payer, { count, leftMs }: Count, added = 0): Holdings & Pick<Count, 'leftMs'> {
    const known = invited.get(`${limiter} ${allowanceOf(payer)}`) ?? new Set()
    const counts = [...known].map((name): [Payer, number] => [name, counters.last(limiter, name).count])
    for (const [name, ofParty] of counts) if (ofParty === 0) known.delete(name)
    const { all, own, parties } = holdingsOfCounts(payer, count, counts)
    return { all: all - added, own: Math.max(0, own - added), parties, leftMs }
  }

  return {
    /** Returns the result of the last additions on this host. */
    last: (limiter: string, payer: Payer) => used(limiter, payer, counters.last(limiter, allowanceOf(payer))),
    /**
     * Adds tokens, and returns what was used before.
     * @throws StorageError `unavailable`
     */
    async add(limiter: string, payer: Payer, tokens = 1) {
      const [allowance, party] = [allowanceOf(payer), partyOf(payer)]
      if (party === allowance) return used(limiter, payer, await counters.add(limiter, allowance, tokens), tokens)
      const [count] = await Promise.all([
        counters.add(limiter, allowance, tokens),
        counters.add(limiter, party, tokens),
      ])
      const name = `${limiter} ${allowance}`
      invited.set(name, (invited.get(name) ?? new Set()).add(party))
      return used(limiter, payer, count, tokens)
    },
  }
}

function boundedCounts() {
  const counts = new Map<string, LRUCache<string, number>>()
  let current = 0

  /** Finds the counts of a limiter in a window, and drops those of other windows. */
  function of(limiter: string, windowStart: Instant): LRUCache<string, number> {
    if (windowStart !== current) counts.clear()
    current = windowStart
    const known = counts.get(limiter) ?? new LRUCache<string, number>({ max: MAX_COUNTERS })
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

/**
 * Counts in the database that several hosts share. Requests that arrive together share one statement. Rows live for two windows, so the table has at
 * most one row for each request of that time.
 */
function sharedCounters(counters: RateCounters, now: () => Instant): Counters {
  const lastCounts = boundedCounts()
  /** Additions of this host that are under way, by counter: without them many requests at once would all see the count before the first. */
  const adding = new Map<string, number>()
  let removedBefore = 0

  const additions = createBatch<Counter, Count>(
    async (requests) => {
      const { start, leftMs } = windowAt(now())
      const increments = new Map<string, Counter>()
      const upTo = requests.map((request) => {
        const soFar = (increments.get(nameOf(request))?.count ?? 0) + request.count
        increments.set(nameOf(request), { ...request, count: soFar })
        return soFar
      })
      const sums = new Map<string, number>()
      for (const sum of await counters.add(start, [...increments.values()])) {
        sums.set(nameOf(sum), sum.count)
        lastCounts.of(sum.limiter, start).set(sum.subject, sum.count)
      }
      void removeExpired(start - WINDOW_MS)
      return requests.map((request, index) => {
        const name = nameOf(request)
        const before = sums.get(name)! - increments.get(name)!.count
        return { count: before + upTo[index]!, leftMs }
      })
    },
    { maxItems: MAX_PER_STATEMENT },
  )

  /** Removes counts of earlier windows. Runs once a window, and keeps the previous window for hosts whose clock is slightly behind. */
  async function removeExpired(start: Instant): Promise<void> {
    if (start === removedBefore) return
    removedBefore = start
    try {
      while ((await counters.removeBefore(start, REMOVED_PER_STATEMENT)) === REMOVED_PER_STATEMENT);
    } catch {
      // A failure is ignored: the next window removes the rest.
    }
  }

  function addTo(name: string, count: number): void {
    const sum = (adding.get(name) ?? 0) + count
    if (sum === 0) adding.delete(name)
    else adding.set(name, sum)
  }

  return {
    async add(limiter, subject, count = 1) {
      const name = nameOf({ limiter, subject })
      addTo(name, count)
      try {
        return await additions.add({ limiter, subject, count })
      } finally {
        addTo(name, -count)
      }
    },
    last(limiter, subject) {
      const { count, leftMs } = lastCounts.last(limiter, subject, now())
      return { count: count + (adding.get(nameOf({ limiter, subject })) ?? 0), leftMs }
    },
  }
}

function nameOf({ limiter, subject }: Counted): string {
  return `${limiter} ${subject}`
}
