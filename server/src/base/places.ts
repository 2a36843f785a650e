/**
 * Shares places that are held for a time, and of which there are no more than there are: an allowance may take most of them while it is
 * alone, and many always leave some to the next.
 */
import { mayTake } from '@claimcheck/core/hosting'
import { allowanceOf, type Payer, partyOf } from './payers.ts'

/** Whoever was invited takes no more of an allowance than they leave to the others. */
const INVITED_WEIGHT = 1

/** Counts who holds how many. */
export class Places {
  readonly #held = new Map<string, number>()
  #all = 0

  get all(): number {
    return this.#all
  }

  /** @param amount negative: gives back */
  add(payer: Payer, amount: number): void {
    this.#all += amount
    for (const name of namesOf(payer)) {
      const held = this.#heldBy(name) + amount
      if (held > 0) this.#held.set(name, held)
      else this.#held.delete(name)
    }
  }

  /**
   * Tells whether the payer may take one more while so many are free. Alone, an allowance takes weight / (1 + weight) of all, and whoever
   * was invited weight / (2 + weight).
   */
  mayTake(payer: Payer, free: number, weight: number): boolean {
    const [ofAllowance, ofParty] = namesOf(payer).map((name) => this.#heldBy(name)) as [number, number]
    if (!mayTake(ofAllowance, free, weight)) return false
    return payer === allowanceOf(payer) || mayTake(ofParty, weight * free - ofAllowance, INVITED_WEIGHT)
  }

  /** Puts the payer whose allowance holds less first, and within an allowance the party that does. */
  compare(one: Payer, other: Payer): number {
    const others = namesOf(other)
    const differences = namesOf(one).map((name, level) => this.#heldBy(name) - this.#heldBy(others[level]!))
    return differences.find((difference) => difference !== 0) ?? 0
  }

  #heldBy(name: string): number {
    return this.#held.get(name) ?? 0
  }
}

/** The allowance, and the party in it: `/` follows the account that has the allowance where it counts alone. */
function namesOf(payer: Payer): readonly [allowance: string, party: string] {
  const allowance = allowanceOf(payer)
  return [allowance, payer === allowance ? `${payer}/` : partyOf(payer)]
}
