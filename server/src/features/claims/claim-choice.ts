/** Which claims of a workspace a request chooses, and how many of them the database may read for it. */
import { defined } from '../../base/pick.ts'
import { type ClaimQuery, type ClaimScope, isWholeId } from '../../storage/claim-query.ts'

export type ClaimChoice = Omit<ClaimQuery, 'workspaceId' | 'limit' | 'before' | 'from'>

/** A choice is applied to so many claims at a time: to read all of a large workspace would take the database from claims. */
export const MOST_EXAMINED = 10_000

/** The part of a choice that an index finds. */
export function scopeOf(workspaceId: string, { agentId, since, until }: ClaimChoice): ClaimScope {
  return { workspaceId, ...defined({ agentId, since, until }) }
}

/** False where an index finds all that is asked for. */
export function isBounded({ search }: ClaimChoice, mostExamined: number | undefined): mostExamined is number {
  return mostExamined !== undefined && !(search !== undefined && isWholeId(search))
}
