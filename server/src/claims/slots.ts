/** Slots for checks, shared among lanes so that a destination that hangs leaves room for the others. */

export interface Slots {
  /** How many more checks can be made now. */
  free(): number
  /** How many of them in this lane. */
  room(lane: string): number
  /** The lanes that have no room. */
  busy(): string[]
  /** Takes a slot, in turn when there is none yet. Undefined: there was none in time. The slot is given back by calling what comes. */
  take(lane: string, withinMs: number): Promise<Release | undefined>
}

export type Release = () => void

interface Waiting {
  grant(release: Release): void
}

/** What part of all slots one lane may take. */
const LANE_SHARE = 8

export function createSlots(most: number): Slots {
  const mostOfLane = Math.max(1, Math.floor(most / LANE_SHARE))
  const taken = new Map<string, number>()
  const queues = new Map<string, Set<Waiting>>()
  let all = 0

  const free = () => most - all
  const room = (lane: string) => Math.min(free(), mostOfLane - (taken.get(lane) ?? 0))

  function occupy(lane: string): Release {
    taken.set(lane, (taken.get(lane) ?? 0) + 1)
    all++
    return () => {
      const left = taken.get(lane)! - 1
      if (left > 0) taken.set(lane, left)
      else taken.delete(lane)
      all--
      // Those of the same lane first: the others wait only where all slots were taken.
      for (const other of [lane, ...queues.keys()]) serve(other)
    }
  }

  function serve(lane: string): void {
    const queue = queues.get(lane)
    for (const waiting of queue ?? []) {
      if (room(lane) === 0) return
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
    room,
    busy: () => [...taken.keys()].filter((lane) => room(lane) === 0),
    take: async (lane, withinMs) => (room(lane) > 0 ? occupy(lane) : wait(lane, withinMs)),
  }
}
