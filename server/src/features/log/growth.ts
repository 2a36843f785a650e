/**
 * How many entries the open log gained on each day. Times of entries never go back from one to the next, so that each day's first entry is
 * found by bisection: a few reads by key, in a log of any size. What is found once stays so.
 */
import type { Instant } from '@claimcheck/core/rules'
import type { LogState } from '../../storage/log-state.ts'
import type { Storage } from '../../storage/storage.ts'

const DAY_MS = 86_400_000

export interface Day {
  /** Its beginning, in UTC. */
  readonly start: Instant
  readonly entries: number
}

export type LogGrowth = ReturnType<typeof createLogGrowth>

export function createLogGrowth({ storage, now }: { readonly storage: Storage; readonly now: () => Instant }) {
  const { log } = storage.read
  /** The index of the first entry at or after a time, where there is one. */
  const known = new Map<Instant, number>()
  let knownLog = ''

  async function firstFrom(time: Instant, from: number, { logId, treeSize }: LogState): Promise<number> {
    const found = known.get(time)
    if (found !== undefined) return found
    let [low, high] = [from, treeSize]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const [leaf] = await log.leaves(logId, middle, middle + 1)
      if (leaf && leaf.issuedAt < time) low = middle + 1
      else high = middle
    }
    if (low < treeSize) known.set(time, low)
    return low
  }

  return {
    /** The last days, today included, oldest first. */
    async days(count: number): Promise<readonly Day[]> {
      const state = (await log.state())!
      if (state.logId !== knownLog) known.clear()
      knownLog = state.logId
      const today = Math.floor(now() / DAY_MS) * DAY_MS
      const starts = Array.from({ length: count }, (_, index) => today - (count - 1 - index) * DAY_MS)
      for (const time of known.keys()) if (time < starts[0]!) known.delete(time)
      const firsts: number[] = []
      for (const start of starts) firsts.push(await firstFrom(start, firsts.at(-1) ?? 0, state))
      return starts.map((start, index) => ({ start, entries: (firsts[index + 1] ?? state.treeSize) - firsts[index]! }))
    },
  }
}
