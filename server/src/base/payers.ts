/**
 * Names those who pay for what is used. An account that was invited stands below the one that invited it, and counts with it: who makes accounts gains
 * nothing by them.
 */

/** The ids of an account and of those above it, from the one with the allowance, `/` between them; or a workspace that the command line made. */
export type Payer = string

interface Account {
  readonly id: string
  readonly sharesWith: string | null
}

/** An account invited deeper than this stands beside the one that invited it. */
const MOST_LEVELS = 8

export function payerOf({ id, sharesWith }: Account): Payer {
  return sharesWith === null ? id : `${sharesWith}/${id}`
}

/** The path above the accounts that this one invites. */
export function aboveInvited(inviter: Account): string {
  return payerOf(inviter).split('/', MOST_LEVELS).join('/')
}

/** The account, or the workspace, that the allowance belongs to. */
export function allowanceOf(payer: Payer): string {
  return payer.split('/', 1)[0]!
}

/** The account with the allowance alone; or one that it invited, with all that this one brought in. */
export function partyOf(payer: Payer): string {
  return payer.split('/', 2).join('/')
}
