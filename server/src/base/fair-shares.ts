/**
 * Shares what there is among those who pay. Places that run out are shared so that each leaves some to the next (`Shares`). An allowance is
 * shared in equal parts: a party that has less than its part may have more even when others took all (`leftOf`).
 */
import { allowanceOf, type Payer, partyOf, type Taker } from './payers.ts'

/** Counts what takers have of places that run out. */
export class Shares {
  readonly #taken = new Map<string, number>()
  #all = 0

  get all(): number {
    return this.#all
  }

  takenBy({ name }: Taker): number {
    return this.#taken.get(name) ?? 0
  }

  /** @param amount negative: gives back */
  add(takers: readonly Taker[], amount: number): void {
    this.#all += amount
    for (const taker of takers) {
      const taken = this.takenBy(taker) + amount
      if (taken > 0) this.#taken.set(taker.name, taken)
      else this.#taken.delete(taker.name)
    }
  }

  /**
   * The first of these takers that may have no more while so many places are free, if there is one. Each takes of what the one before it
   * may take: alone up to weight / (1 + weight), and many always leave some to the next. Source: `mayTake` of core.
   */
  fullTaker(takers: readonly Taker[], free: number, weight: number): Taker | undefined {
    let left = free
    for (const taker of takers) {
      left = weight * left - this.takenBy(taker)
      if (left <= 0) return taker
    }
    return undefined
  }
}

/** Amounts that those who share an allowance have of something. */
export interface Holdings {
  readonly all: number
  /** The amount of the party that asks for more. */
  readonly own: number
  /** The number of parties that have some, with the one that asks. */
  readonly parties: number
}

/** @param held what each payer of the allowance has */
export function holdingsOf(payer: Payer, held: Iterable<readonly [Payer, number]>): Holdings {
  const byParty = new Map([[partyOf(payer), 0]])
  for (const [holder, amount] of held)
    if (amount > 0) byParty.set(partyOf(holder), (byParty.get(partyOf(holder)) ?? 0) + amount)
  const all = [...byParty.values()].reduce((sum, amount) => sum + amount, 0)
  return { all, own: byParty.get(partyOf(payer))!, parties: byParty.size }
}

/** @param all counted for the whole allowance @param invited counted for parties that were invited: the rest is the account's own */
export function holdingsOfCounts(payer: Payer, all: number, invited: readonly (readonly [Payer, number])[]): Holdings {
  const own = all - invited.reduce((sum, [, count]) => sum + count, 0)
  return holdingsOf(payer, [[allowanceOf(payer), own], ...invited])
}

/** The amount that the party may add: what is free, or what it lacks of its equal part. */
export function leftOf({ all, own, parties }: Holdings, total: number): number {
  return Math.max(0, total - all, Math.floor(total / parties) - own)
}

/** Tells whether the party may have `amount` more. A party that has nothing may always. */
export function mayAdd(holdings: Holdings, total: number, amount = 1): boolean {
  return holdings.own === 0 || amount <= leftOf(holdings, total)
}

/** The most that one workspace takes of its account's part, so that the others go on. */
export function partOfWorkspace(total: number): number {
  return total === 0 ? 0 : Math.max(1, Math.floor((total * 3) / 4))
}

export const WORKSPACE = 'this workspace'

/** The one that has all it may have of a limit, in words, and how much that is. */
export interface Full {
  readonly whose: string
  readonly most: number
}

/** The workspace, or its payer, if one of them may have no more. @param ofWorkspace what the workspace has */
export function fullOf(
  { payer, workspaceId }: { readonly payer: Payer; readonly workspaceId: string },
  total: number,
  holdings: Holdings,
  ofWorkspace: number,
): Full | undefined {
  const most = partOfWorkspace(total)
  if (payer !== workspaceId && ofWorkspace >= most) return { whose: WORKSPACE, most }
  if (mayAdd(holdings, total)) return undefined
  return { whose: payer === workspaceId ? WORKSPACE : sharersOf(payer), most: total }
}

/** The accounts that share an allowance, in words. */
export function sharersOf(payer: Payer): string {
  return payer === allowanceOf(payer)
    ? 'an account, with those that share its allowance,'
    : 'all accounts that share one allowance'
}

/** Advice for a payer at a limit. @param limit its name in the configuration */
export function adviceFor(payer: Payer, limit: string): string {
  return payer === allowanceOf(payer)
    ? `ask the operator to raise ${limit}`
    : 'ask the operator for an allowance: claimcheck user allowance EMAIL --separate'
}
