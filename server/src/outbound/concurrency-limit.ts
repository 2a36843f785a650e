/**
 * ConcurrencyLimit for checks, shared by workspaces, keys and destinations: each may take nearly all while it is alone, and together they always
 * leave some free for whoever comes next (`mayTake`). A quarter is kept for checks that decide, an eighth for first looks. Looks at watched
 * claims come often: they have a sixteenth as many slots beside these, and no others, so that they delay nobody.
 */
import type { DueKind } from '../storage/claims.ts'
import { type Level, type Payer, takersOf, usedUpBy } from '../storage/payers.ts'

/** Whose slot it is, and what its check reads. */
export interface Asker {
  /** Who pays for what the workspace uses. */
  readonly payer: Payer
  readonly workspaceId: string
  /** The key, grant or person that submitted the claim. */
  readonly submittedBy: string
  /** Every address that it may read; none when it reads nothing. */
  readonly destinations: readonly string[]
}

export interface ConcurrencyLimit {
  /** Takes a slot, or says whose part is used up. */
  take(asker: Asker, kind: DueKind): Release | UsedUp
  /** Whose part is used up; undefined: `take` would give a slot. */
  usedUp(asker: Asker, kind: DueKind): UsedUp | undefined
  /** Of all askers. */
  usage(): Readonly<Record<Share, number>>
  /** Called whenever a slot becomes free. */
  onFree(listener: () => void): void
}

/** Frees the slot. */
export type Release = () => void

/** The largest user that may take no more. */
export type UsedUp = Level | 'key' | 'destination'

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
const [OF_OWNER, OF_DESTINATION] = [3, 1]

export function createConcurrencyLimit(capacity: number): ConcurrencyLimit {
  const kept = createPool(Math.floor(capacity / KEPT))
  const first = createPool(Math.floor(capacity / FIRST))
  const common = createPool(capacity - kept.capacity - first.capacity)
  const watching = createPool(Math.ceil(capacity / WATCHING))
  const listeners: (() => void)[] = []
  const pools: Readonly<Record<DueKind, readonly Pool[]>> = {
    deciding: [kept, common],
    first: [first, common],
    looking: [common],
    watching: [watching],
  }

  return {
    take(asker, kind) {
      const users = usersOf(asker)
      const pool = pools[kind].find((pool) => !pool.usedUp(users))
      if (!pool) return pools[kind].at(-1)!.usedUp(users)!
      const release = pool.take(users)
      return () => {
        release()
        for (const listener of listeners) listener()
      }
    },
    usedUp(asker, kind) {
      const users = usersOf(asker)
      return pools[kind].every((pool) => pool.usedUp(users)) ? pools[kind].at(-1)!.usedUp(users) : undefined
    },
    usage: () => ({
      kept: kept.taken(),
      first: first.taken(),
      common: common.taken(),
      watching: watching.taken(),
    }),
    onFree: (listener) => listeners.push(listener),
  }
}

interface Pool {
  readonly capacity: number
  usedUp(users: Users): UsedUp | undefined
  /** Only when nothing is used up. */
  take(users: Users): Release
  taken(): number
}

/** The names under which an asker's slots are counted. */
interface Users {
  /** The largest first: each takes of what the one before may take. */
  readonly owners: readonly (readonly [kind: Level | 'key', name: string])[]
  /** Each with those of the payer there, the largest first. */
  readonly destinations: readonly { readonly all: string; readonly ofPayer: readonly string[] }[]
}

function usersOf({ payer, workspaceId, submittedBy, destinations }: Asker): Users {
  return {
    owners: [
      ...takersOf(payer, workspaceId).map(({ level, name }) => [level, name] as const),
      ['key', `key ${workspaceId} ${submittedBy}`],
    ],
    destinations: destinations.map((destination) => ({
      all: `destination ${destination}`,
      ofPayer: takersOf(payer).map(({ name }) => `at ${destination} ${name}`),
    })),
  }
}

function createPool(capacity: number): Pool {
  /** By user: those who pay, a workspace, a key, a destination, those who pay at a destination. */
  const counts = new Map<string, number>()
  let taken = 0

  const used = (user: string) => counts.get(user) ?? 0

  return {
    capacity,
    usedUp({ owners, destinations }) {
      const free = capacity - taken
      const full = usedUpBy(
        owners.map(([, name]) => name),
        used,
        free,
        OF_OWNER,
      )
      if (full !== undefined) return owners.find(([, name]) => name === full)![0]
      const isFull = destinations.some(
        ({ all, ofPayer }) => usedUpBy(ofPayer, used, OF_DESTINATION * free - used(all), OF_OWNER) !== undefined,
      )
      return isFull ? 'destination' : undefined
    },
    take({ owners, destinations }) {
      const ofDestinations = destinations.flatMap(({ all, ofPayer }) => [all, ...ofPayer])
      const users = [...owners.map(([, name]) => name), ...ofDestinations]
      taken++
      for (const user of users) counts.set(user, used(user) + 1)
      return () => {
        taken--
        for (const user of users) {
          const left = used(user) - 1
          if (left > 0) counts.set(user, left)
          else counts.delete(user)
        }
      }
    },
    taken: () => taken,
  }
}
