/** Choices of a workspace's claims by requests: how many of them the database may read, and where their pages end. */
import { ServiceError } from '../../base/errors.ts'
import { instantOf } from '../../base/ids.ts'
import { defined } from '../../base/pick.ts'
import { type ClaimPosition, type ClaimQuery, type ClaimScope, isWholeId } from '../../storage/claim-query.ts'

export type ClaimChoice = Omit<ClaimQuery, 'workspaceId' | 'limit' | 'before' | 'from'>

/** The most claims to which a choice is applied at a time: to read all of a large workspace would take the database from claims. */
export const MOST_EXAMINED = 10_000

/** Picks the part of a choice that an index finds. */
export function scopeOf(workspaceId: string, choice: ClaimChoice): ClaimScope {
  const { since, until } = choice
  const name = indexedIn(choice)
  return { workspaceId, since, until, ...(name && { [name]: choice[name] }) }
}

/** Filters that have an index each, or for the state the claims that wait; together they have none. Those that find fewer claims are first. */
const INDEXED = ['state', 'agentId', 'verdict', 'action'] as const

function indexedIn(choice: ClaimChoice): (typeof INDEXED)[number] | undefined {
  return INDEXED.find((name) => choice[name] !== undefined && choice[name] !== 'decided')
}

/** Tells whether a choice needs a bound; false where an index finds all that is asked for. */
export function isBounded({ search }: ClaimChoice, mostExamined: number | undefined): mostExamined is number {
  return mostExamined !== undefined && !(search !== undefined && isWholeId(search))
}

/** Tells whether a page needs a bound; false also where an index finds all that is asked for, in its order. */
export function isBoundedPage(choice: ClaimChoice, mostExamined: number | undefined): mostExamined is number {
  const { since: _, until: __, ...narrowing } = choice
  const name = indexedIn(choice)
  return isBounded(choice, mostExamined) && Object.keys(defined(narrowing)).some((one) => one !== name)
}

/** Writes the position at which a page ended as one text, which clients must not interpret. */
export function writeCursor({ submittedAt, claimId }: ClaimPosition): string {
  return Buffer.from(JSON.stringify([submittedAt, claimId])).toString('base64url')
}

/**
 * Reads the position in a cursor.
 * @throws ServiceError `bad_request`
 */
export function parseCursor(cursor: string): ClaimPosition {
  try {
    const [submittedAt, claimId] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Number.isSafeInteger(submittedAt) && instantOf(claimId) !== undefined) return { submittedAt, claimId }
  } catch {
    // A damaged cursor gets the error below.
  }
  throw new ServiceError('bad_request', 'cursor is not valid: use next_cursor of an earlier answer')
}
