/**
 * Slots for checks, shared by payers and destinations (`Places`). A quarter is kept for checks that decide, an eighth for first looks. Looks
 * at watched claims come often, and looks on hints when others say: each have a sixteenth as many slots beside these, and no others, so that they
 * delay nobody. Where that is not one whole slot, watched claims take of the common ones, and hints are dropped.
 */
import type { Payer } from '../base/payers.ts'
import { Places } from '../base/places.ts'
import type { CheckKind } from '../storage/claims.ts'

/** The owner of a slot, and what its check reads. */
export interface Asker {
  readonly payer: Payer
  /** Every address that the check may read; none for a check that reads nothing. */
  readonly destinations: readonly string[]
}

/** The function that frees a slot. */
export type Release = () => void

/** The part that is used up: the payer's own, or that of a destination. */
export type UsedUp = 'payer' | 'destination'

/**
 * The pools of slots. Checks that decide take from `kept`, first looks from `first`, and both then from `common`; other looks take from `common`
 * alone, or from `watching` or `hinted` alone.
 */
export type Share = 'kept' | 'first' | 'common' | 'watching' | 'hinted'

/** The divisor of all slots that gives those kept for checks that decide. */
const KEPT = 4
const FIRST = 8
const BESIDE = 16
/** The weight that limits payers. Alone, one takes 3/4 of a pool; a destination half, of which one payer takes 6/7. */
const WEIGHT = 3

export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>

export function createConcurrencyLimit(capacity: number) {
  const kept = new Pool(Math.floor(capacity / KEPT))
  const first = new Pool(Math.floor(capacity / FIRST))
  const common = new Pool(capacity - kept.capacity - first.capacity)
  const [watching, hinted] = [new Pool(Math.floor(capacity / BESIDE)), new Pool(Math.floor(capacity / BESIDE))]
  const listeners: (() => void)[] = []
  const pools: Readonly<Record<CheckKind, readonly Pool[]>> = {
    deciding: [kept, common],
    first: [first, common],
    looking: [common],
    watching: [watching.capacity > 0 ? watching : common],
    hinted: [hinted],
  }

  /** Finds the pool with a free slot, or else the part that is used up in the last pool. */
  function poolFor(asker: Asker, kind: CheckKind): Pool | UsedUp {
    let usedUp: UsedUp | undefined
    for (const pool of pools[kind]) {
      usedUp = pool.usedUp(asker)
      if (usedUp === undefined) return pool
    }
    return usedUp!
  }

  return {
    /** Takes a slot, or returns the part that is used up. */
    take(asker: Asker, kind: CheckKind): Release | UsedUp {
      const pool = poolFor(asker, kind)
      if (typeof pool === 'string') return pool
      const release = pool.take(asker)
      return () => {
        release()
        for (const listener of listeners) listener()
      }
    },
    /** Returns the part that is used up; undefined if `take` would give a slot. */
    usedUp(asker: Asker, kind: CheckKind): UsedUp | undefined {
      const pool = poolFor(asker, kind)
      return typeof pool === 'string' ? pool : undefined
    },
    /** Counts the slots that are taken, by all askers. */
    usage: (): Readonly<Record<Share, number>> => ({
      kept: kept.taken,
      first: first.taken,
      common: common.taken,
      watching: watching.taken,
      hinted: hinted.taken,
    }),
    /** Calls the listener whenever a slot becomes free. */
    onFree(listener: () => void): void {
      listeners.push(listener)
    },
  }
}

class Pool {
  readonly capacity: number
  readonly #running = new Map<Release, Asker>()
  #counts: Counts | undefined

  constructor(capacity: number) {
    this.capacity = capacity
  }

  get taken(): number {
    return this.#running.size
  }

  usedUp(asker: Asker): UsedUp | undefined {
    const free = this.capacity - this.taken
    // While this many slots are free, a payer with all taken ones has not too many, so that nothing needs to be counted.
    if (WEIGHT * free > (WEIGHT + 2) * this.taken) return undefined
    this.#counts ??= new Counts(this.#running.values())
    return this.#counts.usedUp(asker, free)
  }

  /** Takes a slot. Call it only when nothing is used up. */
  take(asker: Asker): Release {
    const release = () => {
      this.#running.delete(release)
      this.#counts?.add(asker, -1)
      if (this.taken === 0) this.#counts = undefined
    }
    this.#running.set(release, asker)
    this.#counts?.add(asker, 1)
    return release
  }
}

/** The slots of each payer, in all and at each destination. */
class Counts {
  readonly #places = new Places()
  readonly #atDestination = new Map<string, Places>()

  constructor(running: Iterable<Asker>) {
    for (const asker of running) this.add(asker, 1)
  }

  usedUp({ payer, destinations }: Asker, free: number): UsedUp | undefined {
    if (!this.#places.mayTake(payer, free, WEIGHT)) return 'payer'
    const isFull = destinations.some((destination) => {
      const there = this.#atDestination.get(destination)
      // All payers together take no more slots of one destination than they leave of all.
      return there && !there.mayTake(payer, free - there.all, WEIGHT)
    })
    return isFull ? 'destination' : undefined
  }

  add({ payer, destinations }: Asker, slots: 1 | -1): void {
    this.#places.add(payer, slots)
    for (const destination of destinations) {
      const there = this.#atDestination.get(destination) ?? new Places()
      there.add(payer, slots)
      if (there.all > 0) this.#atDestination.set(destination, there)
      else this.#atDestination.delete(destination)
    }
  }
}
