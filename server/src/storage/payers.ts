/**
 * Who pays for what is used, and what of one allowance each party gets. An account that was invited stands below the one that invited it,
 * and counts with it: who makes accounts gains nothing by them.
 */

/** The ids of an account and of those above it, from the one with the allowance, `/` between them; or a workspace that the command line made. */
export type Payer = string

/** One that is invited deeper stands beside who invited it. */
const MOST_LEVELS = 8

export type Level = 'payer' | 'invited' | 'party' | 'guest' | 'workspace'

/** One for which uses are counted. */
export interface Taker {
  readonly level: Level
  readonly name: string
}

interface Account {
  readonly id: string
  readonly sharesWith: string | null
}

export function payerOf({ id, sharesWith }: Account): Payer {
  return sharesWith === null ? id : `${sharesWith}/${id}`
}

/** What stands above the accounts that this one invites. */
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

const LEVELS: readonly Level[] = ['payer', 'invited', 'party']

/** The largest first: who has the allowance with all others, all others, a party, each of those further down, a workspace of the last. */
export function takersOf(payer: Payer, workspaceId?: string): readonly Taker[] {
  if (payer === workspaceId) return [{ level: 'workspace', name: workspaceId }]
  const [first, ...ids] = payer.split('/')
  const invited = ids.map((_, index) => [first, ...ids.slice(0, index + 1)].join('/'))
  const names = invited.length === 0 ? [first!] : [first!, `${first}/`, ...invited]
  const accounts = names.map((name, index): Taker => ({ level: LEVELS[index] ?? 'guest', name }))
  return workspaceId === undefined ? accounts : [...accounts, { level: 'workspace', name: workspaceId }]
}

/**
 * The first of these users that leaves nothing of `free`, if one does: each takes of what the one before may take. Alone it takes up to
 * weight / (1 + weight), and many always leave some to the next (`mayTake`).
 */
export function usedUpBy<T extends string | number>(
  users: readonly T[],
  used: (user: T) => number,
  free: number,
  weight: number,
): T | undefined {
  let left = free
  return users.find((user) => {
    left = weight * left - used(user)
    return left <= 0
  })
}

/** What those who share an allowance have of something. */
export interface Holdings {
  readonly all: number
  /** Of the party that asks for more. */
  readonly own: number
  /** How many have some, with the one that asks. */
  readonly parties: number
}

export function holdingsOf(payer: Payer, held: Iterable<readonly [Payer, number]>): Holdings {
  const byParty = new Map([[partyOf(payer), 0]])
  for (const [holder, amount] of held)
    if (amount > 0) byParty.set(partyOf(holder), (byParty.get(partyOf(holder)) ?? 0) + amount)
  const all = [...byParty.values()].reduce((sum, amount) => sum + amount, 0)
  return { all, own: byParty.get(partyOf(payer))!, parties: byParty.size }
}

/** Where counts are kept of all who share an allowance, and of each party that was invited into it: the rest is the account's own. */
export function holdingsOfCounts(payer: Payer, all: number, invited: readonly (readonly [Payer, number])[]): Holdings {
  const own = all - invited.reduce((sum, [, count]) => sum + count, 0)
  return holdingsOf(payer, [[allowanceOf(payer), own], ...invited])
}

/**
 * Whether a party may have `amount` more: while there is room; and in any case where it has nothing, or no more than its equal part then.
 */
export function mayAdd(holdings: Holdings, total: number, amount = 1): boolean {
  return holdings.own === 0 || amount <= leftOf(holdings, total)
}

/** How much more a party may have. */
export function leftOf({ all, own, parties }: Holdings, total: number): number {
  return Math.max(0, total - all, Math.floor(total / parties) - own)
}

/** How much of its account's part one workspace takes, so that the others go on. */
export function ofWorkspace(total: number): number {
  return total === 0 ? 0 : Math.max(1, Math.floor((total * 3) / 4))
}

export const WORKSPACE = 'this workspace'

/** Who has all that they may have of a limit, in words, and how much that is. */
export interface Full {
  readonly whose: string
  readonly most: number
}

/** Of a workspace, and of those who pay for it: the one that may have no more, if one does. @param ofIts what the workspace has */
export function fullOf(
  { payer, workspaceId }: { readonly payer: Payer; readonly workspaceId: string },
  total: number,
  holdings: Holdings,
  ofIts: number,
): Full | undefined {
  const most = ofWorkspace(total)
  if (payer !== workspaceId && ofIts >= most) return { whose: WORKSPACE, most }
  return mayAdd(holdings, total) ? undefined : { whose: who(payer, workspaceId), most: total }
}

/** Who is at a limit of an allowance, in words. */
export function who(payer: Payer, workspaceId?: string): string {
  if (payer === workspaceId) return WORKSPACE
  return payer === allowanceOf(payer)
    ? 'an account, with those that share its allowance,'
    : 'all accounts that share one allowance'
}

/** What to ask the operator. @param limit its name in the configuration, where there is one */
export function adviceFor(payer: Payer, limit = 'the limit'): string {
  return payer === allowanceOf(payer)
    ? `ask the operator to raise ${limit}`
    : 'ask the operator for an allowance: claimcheck user allowance EMAIL --separate'
}

/** SQL for who pays for what a workspace uses. @param id an expression for the workspace's id */
export function payerOfWorkspace(id: string): string {
  return `(SELECT COALESCE(payer.shares_with || '/' || payer.id, paid.paid_by, paid.id)
    FROM workspaces AS paid LEFT JOIN users AS payer ON payer.id = paid.paid_by WHERE paid.id = ${id})`
}

/** Ids of accounts have so many letters, and those of workspaces at most as many. */
const ID_LENGTH = 30

/** SQL for `allowanceOf`. @param payer an expression, also for what stands above an account */
export function allowanceSql(payer: string): string {
  return `substr(${payer}, 1, ${ID_LENGTH})`
}

/** SQL for `partyOf`. @param payer an expression */
export function partySql(payer: string): string {
  return `substr(${payer}, 1, ${2 * ID_LENGTH + 1})`
}

/** SQL for the account itself. @param payer an expression, also for what stands above an account */
export function accountSql(payer: string): string {
  return `substr(${payer}, length(${payer}) - ${ID_LENGTH - 1}, ${ID_LENGTH})`
}
