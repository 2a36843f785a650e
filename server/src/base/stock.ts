/**
 * Shares a stock, such as workspaces or the claims that wait, among the parties of an allowance: anyone may use what is free, and a party
 * that has less than its equal part may have more even when others took all.
 */
import { allowanceOf, type Payer, partyOf } from './payers.ts'

/** Amounts that those who share an allowance have of something. */
export interface Holdings {
  readonly all: number
  /** The amount of the party that asks for more. */
  readonly own: number
  /** The number of parties that have some, with the one that asks. */
  readonly parties: number
}

/**
 * Sums the amounts of each party.
 * @param held the amounts of the allowance's payers
 */
export function holdingsOf(payer: Payer, held: Iterable<readonly [Payer, number]>): Holdings {
  const byParty = new Map([[partyOf(payer), 0]])
  for (const [holder, amount] of held)
    if (amount > 0) byParty.set(partyOf(holder), (byParty.get(partyOf(holder)) ?? 0) + amount)
  const all = [...byParty.values()].reduce((sum, amount) => sum + amount, 0)
  return { all, own: byParty.get(partyOf(payer))!, parties: byParty.size }
}

/**
 * Makes holdings of counts.
 * @param all the count of the whole allowance
 * @param invited counts of invited parties; the rest is the account's own
 */
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

/**
 * Says in words who shares a limit.
 * @param workspaceId the workspace that asks, which may pay for itself
 */
export function sharersOf(payer: Payer, workspaceId?: string): string {
  if (payer === workspaceId) return 'this workspace'
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
