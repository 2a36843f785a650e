/**
 * Slots for checks. A lane is the checks of one connection or one public destination (`laneOf`); each lane gets a part of the slots, so
 * that a destination that hangs leaves slots for the others.
 */

export interface Slots {
  /** The number of free slots. */
  free(): number
  /** The number of free slots for this lane. */
  freeFor(lane: string): number
  /** The lanes without a free slot. */
  busyLanes(): string[]
  /** The candidates for which there are free slots now; within a lane, those that come first. */
  choose<T extends { readonly lane: string }>(candidates: readonly T[]): T[]
  /** Takes a slot, and waits its turn when none is free. Returns undefined when none becomes free in time. */
  take(lane: string, withinMs: number): Promise<Release | undefined>
}

/** Frees the slot. */
export type Release = () => void

interface Waiting {
  grant(release: Release): void
}

/** A lane may take one in this many slots. */
const LANE_SHARE = 8

export function createSlots(capacity: number): Slots {
  const laneCapacity = Math.max(1, Math.floor(capacity / LANE_SHARE))
  const taken = new Map<string, number>()
  const queues = new Map<string, Set<Waiting>>()
  let allTaken = 0

  const free = () => capacity - allTaken
  const freeFor = (lane: string) => Math.min(free(), laneCapacity - (taken.get(lane) ?? 0))

  function occupy(lane: string): Release {
    taken.set(lane, (taken.get(lane) ?? 0) + 1)
    allTaken++
    return () => {
      const left = taken.get(lane)! - 1
      if (left > 0) taken.set(lane, left)
      else taken.delete(lane)
      allTaken--
      // Serves the same lane first: other lanes wait only when all slots are taken.
      for (const other of [lane, ...queues.keys()]) serve(other)
    }
  }

  function serve(lane: string): void {
    const queue = queues.get(lane)
    for (const waiting of queue ?? []) {
      if (freeFor(lane) === 0) return
      leave(lane, waiting)
      waiting.grant(occupy(lane))
    }
  }

  function leave(lane: string, waiting: Waiting): void {
    const queue = queues.get(lane)
    queue?.delete(waiting)
    if (queue?.size === 0) queues.delete(lane)
  }

  function wait(lane: string, withinMs: number): Promise<Release | undefined> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        grant(release) {
          clearTimeout(timer)
          resolve(release)
        },
      }
      const timer = setTimeout(() => {
        leave(lane, waiting)
        resolve(undefined)
      }, withinMs)
      const queue = queues.get(lane) ?? new Set()
      queues.set(lane, queue.add(waiting))
    })
  }

  return {
    free,
    freeFor,
    busyLanes: () => [...taken.keys()].filter((lane) => freeFor(lane) === 0),
    choose(candidates) {
      const chosen = new Map<string, number>()
      return candidates.filter(({ lane }) => {
        const count = (chosen.get(lane) ?? 0) + 1
        chosen.set(lane, count)
        return count <= freeFor(lane)
      })
    },
    take: async (lane, withinMs) => (freeFor(lane) > 0 ? occupy(lane) : wait(lane, withinMs)),
  }
}
