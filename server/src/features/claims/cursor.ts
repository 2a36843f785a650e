/** The place in a list of claims at which a page ended, as one text. */
import { ServiceError } from '../../base/errors.ts'
import { instantOf } from '../../base/ids.ts'
import type { ClaimPosition } from '../../storage/claim-query.ts'

// A cursor is the position at which the last page ended. Clients must not interpret it.
export function writeCursor({ submittedAt, claimId }: ClaimPosition): string {
  return Buffer.from(JSON.stringify([submittedAt, claimId])).toString('base64url')
}

/** @throws ServiceError `bad_request` */
export function parseCursor(cursor: string): ClaimPosition {
  try {
    const [submittedAt, claimId] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Number.isSafeInteger(submittedAt) && instantOf(claimId) !== undefined) return { submittedAt, claimId }
  } catch {
    // Falls through to the error below.
  }
  throw new ServiceError('bad_request', 'cursor is not valid: use next_cursor of an earlier answer')
}
