/**
 * Slots for checks, shared by payers, workspaces, keys and destinations: each may take nearly all while it is alone, and together they always
 * leave some free for the next (`Shares`). A quarter is kept for checks that decide, an eighth for first looks. Looks at watched claims come
 * often: they have a sixteenth as many slots beside these, and no others, so that they delay nobody.
 */
import { Shares } from '../base/fair-shares.ts'
import { type Payer, type Taker, takersOf } from '../base/payers.ts'
import type { DueKind } from '../storage/claims.ts'

/** The owner of a slot, and what its check reads. */
export interface Asker {
  /** The payer of what the workspace uses. */
  readonly payer: Payer
  readonly workspaceId: string
  /** The key, grant or person that submitted the claim. */
  readonly submittedBy: string
  /** Every address that it may read; none when it reads nothing. */
  readonly destinations: readonly string[]
}

/** Frees the slot. */
export type Release = () => void

/** The largest user that may take no more. */
export type UsedUp = Taker['level'] | 'destination'

/**
 * Checks that decide take from `kept`, first looks from `first`, and both then from `common`; those that only look from `common` alone, or
 * from `watching` alone.
 */
export type Share = 'kept' | 'first' | 'common' | 'watching'

/** One in so many slots is kept. */
const KEPT = 4
const FIRST = 8
const WATCHING = 16
/** Alone, an account takes 3/4 of a share, a workspace of it 9/13, a key 27/40; a destination half, of which one payer takes 6/7. */
const WEIGHT = 3

export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>

export function createConcurrencyLimit(capacity: number) {
  const kept = new Pool(Math.floor(capacity / KEPT))
  const first = new Pool(Math.floor(capacity / FIRST))
  const common = new Pool(capacity - kept.capacity - first.capacity)
  const watching = new Pool(Math.ceil(capacity / WATCHING))
  const listeners: (() => void)[] = []
  const pools: Readonly<Record<DueKind, readonly Pool[]>> = {
    deciding: [kept, common],
    first: [first, common],
    looking: [common],
    watching: [watching],
  }

  /** The pool with a free slot, or the largest user of the last one that may take no more. */
  function poolFor(takers: Takers, kind: DueKind): Pool | UsedUp {
    let full: UsedUp | undefined
    for (const pool of pools[kind]) {
      full = pool.usedUp(takers)
      if (full === undefined) return pool
    }
    return full!
  }

  return {
    /** Takes a slot, or says whose part is used up. */
    take(asker: Asker, kind: DueKind): Release | UsedUp {
      const takers = new Takers(asker)
      const pool = poolFor(takers, kind)
      if (typeof pool === 'string') return pool
      const release = pool.take(takers)
      return () => {
        release()
        for (const listener of listeners) listener()
      }
    },
    /** Says whose part is used up; undefined: `take` would give a slot. */
    usedUp(asker: Asker, kind: DueKind): UsedUp | undefined {
      const pool = poolFor(new Takers(asker), kind)
      return typeof pool === 'string' ? pool : undefined
    },
    /** Slots that are taken, by all askers. */
    usage: (): Readonly<Record<Share, number>> => ({
      kept: kept.taken,
      first: first.taken,
      common: common.taken,
      watching: watching.taken,
    }),
    /** Calls the listener whenever a slot becomes free. */
    onFree(listener: () => void): void {
      listeners.push(listener)
    },
  }
}

/** The names under which the slots of an asker are counted. They are made only when something is counted. */
class Takers {
  readonly #asker: Asker
  #owners: readonly Taker[] | undefined
  #payers: readonly Taker[] | undefined

  constructor(asker: Asker) {
    this.#asker = asker
  }

  get owners(): readonly Taker[] {
    const { payer, workspaceId, submittedBy } = this.#asker
    this.#owners ??= takersOf(payer, workspaceId, submittedBy)
    return this.#owners
  }

  /** The takers that share each destination. */
  get payers(): readonly Taker[] {
    this.#payers ??= takersOf(this.#asker.payer)
    return this.#payers
  }

  get destinations(): readonly string[] {
    return this.#asker.destinations
  }
}

class Pool {
  readonly capacity: number
  readonly #running = new Set<Takers>()
  #counts: Counts | undefined

  constructor(capacity: number) {
    this.capacity = capacity
  }

  get taken(): number {
    return this.#running.size
  }

  usedUp(takers: Takers): UsedUp | undefined {
    const free = this.capacity - this.taken
    // While so much is free, no taker can have too much, whoever has it: then nothing is counted.
    if (free > (this.taken * WEIGHT) / (WEIGHT - 1)) return undefined
    this.#counts ??= new Counts(this.#running)
    return this.#counts.usedUp(takers, free)
  }

  /** Takes a slot. Call it only when nothing is used up. */
  take(takers: Takers): Release {
    this.#running.add(takers)
    this.#counts?.add(takers, 1)
    return () => {
      this.#running.delete(takers)
      this.#counts?.add(takers, -1)
      if (this.taken === 0) this.#counts = undefined
    }
  }
}

/** The slots of each taker. */
class Counts {
  readonly #owners = new Shares()
  readonly #atDestination = new Map<string, Shares>()

  constructor(running: Iterable<Takers>) {
    for (const takers of running) this.add(takers, 1)
  }

  usedUp({ owners, payers, destinations }: Takers, free: number): UsedUp | undefined {
    const full = this.#owners.fullTaker(owners, free, WEIGHT)
    if (full) return full.level
    const isFull = destinations.some((destination) => {
      const there = this.#atDestination.get(destination)
      // All together take no more of one destination than they leave of all slots.
      return there && there.fullTaker(payers, free - there.all, WEIGHT) !== undefined
    })
    return isFull ? 'destination' : undefined
  }

  add({ owners, payers, destinations }: Takers, slots: 1 | -1): void {
    this.#owners.add(owners, slots)
    for (const destination of destinations) {
      const there = this.#atDestination.get(destination) ?? new Shares()
      there.add(payers, slots)
      if (there.all > 0) this.#atDestination.set(destination, there)
      else this.#atDestination.delete(destination)
    }
  }
}
