/**
 * Lanes, on each of which this host sends one delivery after the other. A target has a few, and after a failure, or where messages keep a gap, one; who pays for it takes no more than
 * is left to others. So a receiver that hangs holds up nobody else.
 */
import type { Payer } from '../../base/payers.ts'
import { Places } from '../../base/places.ts'

const LANES = 64
export const LANES_OF_TARGET = 4
/** The weight that limits payers: alone, one takes 3/4 of all lanes. */
const WEIGHT = 3

/** A target, and who pays for it. */
export interface Lane {
  readonly targetId: string
  readonly payer: Payer
  /** True if the target takes one message at a time. */
  readonly isSingle: boolean
}

export type Lanes = ReturnType<typeof createLanes>

export function createLanes() {
  const places = new Places()
  const taken = new Map<string, number>()
  /** Targets whose last try failed, in the order in which they began to fail. */
  const failing = new Set<string>()

  function take({ targetId, payer, isSingle }: Lane): boolean {
    const used = taken.get(targetId) ?? 0
    const most = isSingle || failing.has(targetId) ? 1 : LANES_OF_TARGET
    if (used >= most || !places.mayTake(payer, LANES - places.all, WEIGHT)) return false
    places.add(payer, 1)
    taken.set(targetId, used + 1)
    return true
  }

  return {
    /** Takes as many lanes for a target as it may have now. */
    takeAll(lane: Lane): number {
      let count = 0
      while (take(lane)) count++
      return count
    },
    release({ targetId, payer }: Lane, count = 1): void {
      places.add(payer, -count)
      const used = (taken.get(targetId) ?? 0) - count
      if (used > 0) taken.set(targetId, used)
      else taken.delete(targetId)
    },
    /** Puts targets first whose payers have fewer lanes. */
    compare: (one: Lane, other: Lane): number => places.compare(one.payer, other.payer),
    isFailing: (targetId: string): boolean => failing.has(targetId),
    /** Notes the outcome of a try. */
    note(targetId: string, hasArrived: boolean): void {
      if (hasArrived) failing.delete(targetId)
      else failing.add(targetId)
    },
  }
}
