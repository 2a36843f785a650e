/**
 * Shares places that are held for a time, and of which there are no more than there are: an allowance may take most of them while it is
 * alone, and many always leave some to the next. Within one, each account takes with those below it no more than is left to others.
 */
import type { Payer } from './payers.ts'

/** Counts the places that each payer holds. */
export class Places {
  readonly #held = new Map<string, number>()
  #all = 0

  get all(): number {
    return this.#all
  }

  /**
   * Adds to the places of a payer.
   * @param amount negative to give places back
   */
  add(payer: Payer, amount: number): void {
    this.#all += amount
    for (const name of [...levelsOf(payer), itselfOf(payer)]) {
      const held = this.#heldBy(name) + amount
      if (held > 0) this.#held.set(name, held)
      else this.#held.delete(name)
    }
  }

  /**
   * Tells whether the payer may take one more while so many are free. Alone, an allowance takes weight / (1 + weight) of all, and one whom
   * its account invited weight / (2 + weight). Source: `mayTake` of core.
   */
  mayTake(payer: Payer, free: number, weight: number): boolean {
    let left = weight * free
    return levelsOf(payer).every((name) => {
      const held = this.#heldBy(name)
      const isWithin = held < left
      left -= held
      return isWithin
    })
  }

  /** Puts the payer whose allowance holds less first, and within an allowance the one that does, from the top down. */
  compare(one: Payer, other: Payer): number {
    const others = [...levelsOf(other), itselfOf(other)]
    const levels = [...levelsOf(one), itselfOf(one)].slice(0, others.length)
    const differences = levels.map((name, level) => this.#heldBy(name) - this.#heldBy(others[level]!))
    return differences.find((difference) => difference !== 0) ?? 0
  }

  #heldBy(name: string): number {
    return this.#held.get(name) ?? 0
  }
}

/** The allowance, and each account below it down to the payer, with those that stand below it. */
function levelsOf(payer: Payer): string[] {
  const ids = payer.split('/')
  return ids.map((_, index) => ids.slice(0, index + 1).join('/'))
}

/** The payer without those below it. */
function itselfOf(payer: Payer): string {
  return `${payer}/`
}
