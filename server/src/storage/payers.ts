/**
 * Who pays for what is used, and the parts that users of one allowance take of its limits. Each takes a part of what the one before may
 * take: so no guest uses up an allowance, nor do all guests together, and the account that it belongs to always goes on.
 */

/** An account with an allowance; `ACCOUNT/GUEST` for a guest, an account that shares it; or a workspace that the command line made. */
export type Payer = string

const PART = 3 / 4

export type Level = 'payer' | 'guests' | 'guest' | 'workspace'

/** One for which uses are counted. */
export interface Taker {
  readonly level: Level
  readonly name: string
  /** How much of a limit it takes alone. */
  readonly part: number
}

export function payerOf({ id, sharesWith }: { readonly id: string; readonly sharesWith: string | null }): Payer {
  return sharesWith === null ? id : `${sharesWith}/${id}`
}

/** The account, or the workspace, that the allowance belongs to. */
export function allowanceOf(payer: Payer): string {
  return payer.split('/', 1)[0]!
}

/** The largest first: who has the allowance, all its guests, one of them, one of the workspaces of an account. */
export function takersOf(payer: Payer, workspaceId?: string): readonly Taker[] {
  const allowance = allowanceOf(payer)
  const names: [Level, string][] = [[payer === workspaceId ? 'workspace' : 'payer', allowance]]
  if (payer !== allowance) names.push(['guests', `${allowance}/`], ['guest', payer])
  if (workspaceId !== undefined && payer !== workspaceId) names.push(['workspace', workspaceId])
  return names.map(([level, name], index) => ({ level, name, part: PART ** index }))
}

/** How much of a limit a taker takes: at least one, of a limit that is not 0. */
export function partOf(limit: number, { part }: Pick<Taker, 'part'>): number {
  return limit === 0 ? 0 : Math.max(1, Math.floor(limit * part))
}

/** Which takers are at a limit, in words. */
export const WHO: Readonly<Record<Level, string>> = {
  payer: 'an account, with those that share its allowance,',
  guests: 'all accounts that share the allowance of another one',
  guest: 'an account that shares the allowance of another one',
  workspace: 'this workspace',
}

/** What to ask the operator. @param limit its name in the configuration, where there is one */
export function adviceFor({ level }: Pick<Taker, 'level'>, limit = 'the limit'): string {
  return level === 'guest' || level === 'guests'
    ? 'ask the operator for an allowance: claimcheck user allowance EMAIL --separate'
    : `ask the operator to raise ${limit}`
}

/** SQL for who pays for what a workspace uses. @param id an expression for the workspace's id */
export function payerOfWorkspace(id: string): string {
  return `(SELECT COALESCE(payer.shares_with || '/' || payer.id, paid.paid_by, paid.id)
    FROM workspaces AS paid LEFT JOIN users AS payer ON payer.id = paid.paid_by WHERE paid.id = ${id})`
}

/** Ids of accounts and workspaces have at most so many letters, and those of accounts as many. */
const ID_LENGTH = 30

/** SQL for `allowanceOf`. @param payer an expression */
export function allowanceSql(payer: string): string {
  return `substr(${payer}, 1, ${ID_LENGTH})`
}

/** SQL for the guest of a payer; empty: it is none. */
export function guestSql(payer: string): string {
  return `substr(${payer}, ${ID_LENGTH + 2})`
}
