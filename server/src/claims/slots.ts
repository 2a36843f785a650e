/**
 * Slots for checks, shared by workspaces, keys and destinations: each may take nearly all while it is alone, and together they always
 * leave some free for whoever comes next (`mayTake`). A quarter is kept for checks that decide.
 */
import { mayTake } from '@claimcheck/core'

/** Whose slot it is, and what its check reads. */
export interface Asker {
  readonly workspaceId: string
  /** The key, grant or person that submitted the claim. */
  readonly submittedBy: string
  /** undefined: the check reads nothing. */
  readonly destination: string | undefined
}

export interface Slots {
  /** Takes a slot; undefined when none is free for this asker. */
  take(asker: Asker, isDeciding: boolean): Release | undefined
  /** Whether `take` would give a slot. */
  isFree(asker: Asker, isDeciding: boolean): boolean
  /** Of all askers. */
  usage(): Readonly<Record<Share, number>>
  /** Called whenever a slot becomes free. */
  onFree(listener: () => void): void
}

/** Frees the slot. */
export type Release = () => void

/** Checks that decide take from `kept`, and then from `common`; those that only look from `common` alone. */
export type Share = 'kept' | 'common'

/** One in so many slots is kept. */
const KEPT = 4
/** Alone, a workspace takes 3/4 of a share, a key 9/13; a destination half, of which one workspace takes 6/7. */
const WEIGHTS = { workspace: 3, key: 3, destination: 1, workspaceAtDestination: 3 } as const

export function createSlots(capacity: number): Slots {
  const kept = createPool(Math.floor(capacity / KEPT))
  const common = createPool(capacity - kept.capacity)
  const listeners: (() => void)[] = []
  const poolsFor = (isDeciding: boolean) => (isDeciding ? [kept, common] : [common])

  return {
    take(asker, isDeciding) {
      const pool = poolsFor(isDeciding).find((pool) => pool.admits(asker))
      if (!pool) return undefined
      const release = pool.take(asker)
      return () => {
        release()
        for (const listener of listeners) listener()
      }
    },
    isFree: (asker, isDeciding) => poolsFor(isDeciding).some((pool) => pool.admits(asker)),
    usage: () => ({ kept: kept.taken(), common: common.taken() }),
    onFree: (listener) => listeners.push(listener),
  }
}

interface Pool {
  readonly capacity: number
  admits(asker: Asker): boolean
  /** Only after `admits`. */
  take(asker: Asker): Release
  taken(): number
}

function createPool(capacity: number): Pool {
  /** By user: a workspace, a key, a destination, a workspace at a destination. */
  const counts = new Map<string, number>()
  let taken = 0

  const used = (user: string) => counts.get(user) ?? 0

  return {
    capacity,
    admits(asker) {
      const { workspace, key, destination, workspaceAtDestination } = usersOf(asker)
      const free = capacity - taken
      const ofWorkspace = WEIGHTS.workspace * free - used(workspace)
      if (!mayTake(used(key), ofWorkspace, WEIGHTS.key)) return false
      if (destination === undefined) return true
      const ofDestination = WEIGHTS.destination * free - used(destination)
      return mayTake(used(workspaceAtDestination), ofDestination, WEIGHTS.workspaceAtDestination)
    },
    take(asker) {
      const users = Object.values(usersOf(asker)).filter((user) => user !== undefined)
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

function usersOf({ workspaceId, submittedBy, destination }: Asker) {
  return {
    workspace: `workspace ${workspaceId}`,
    key: `key ${workspaceId} ${submittedBy}`,
    destination: destination === undefined ? undefined : `destination ${destination}`,
    workspaceAtDestination: `at ${destination} ${workspaceId}`,
  }
}
