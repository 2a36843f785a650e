/** Places for checks, shared among lanes so that a destination that hangs leaves room for the others. */

export interface Places {
  /** How many more checks can be made now. */
  free(): number
  /** How many of them in this lane. */
  room(lane: string): number
  /** The lanes that have no room. */
  busy(): string[]
  /** Takes a place while `work` runs, whether there is one or not: who cares asks before. */
  hold<T>(lane: string, work: () => Promise<T>): Promise<T>
}

/** What part of all places one lane may take. */
const LANE_SHARE = 8

export function createPlaces(most: number): Places {
  const mostOfLane = Math.max(1, Math.floor(most / LANE_SHARE))
  const taken = new Map<string, number>()
  let all = 0

  const free = () => Math.max(0, most - all)
  const room = (lane: string) => Math.max(0, Math.min(free(), mostOfLane - (taken.get(lane) ?? 0)))

  return {
    free,
    room,
    busy: () => [...taken.keys()].filter((lane) => room(lane) === 0),
    async hold(lane, work) {
      taken.set(lane, (taken.get(lane) ?? 0) + 1)
      all++
      try {
        return await work()
      } finally {
        const left = taken.get(lane)! - 1
        if (left > 0) taken.set(lane, left)
        else taken.delete(lane)
        all--
      }
    },
  }
}
