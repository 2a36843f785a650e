/**
 * The state of an account within a transaction: finds it by its address, requires that a user's request still counts, and ends all that acts for a
 * user.
 */
import type { Instant } from '@claimcheck/core/rules'
import { ServiceError } from '../../base/errors.ts'
import type { UserRow } from '../../storage/people.ts'
import type { Writes } from '../../storage/storage.ts'

/** Finds the account of an address, and locks it. @throws ServiceError `not_found` */
export async function requireAccount(tx: Writes, email: string): Promise<UserRow> {
  const found = await tx.users.byEmail(email.trim().toLowerCase())
  const user = found && (await tx.users.lock(found.id))
  if (user && user.closedAt === null) return user
  throw new ServiceError('not_found', `there is no account with the address ${email}`)
}

/**
 * Locks the user until the transaction ends, and requires that their request still counts. A request that was begun before a new password, or before
 * the account was closed, changes nothing after it: otherwise a stolen session could plant a passkey in that moment.
 * @throws ServiceError `conflict`
 */
export async function requireCurrent(
  tx: Writes,
  { id, generation }: Pick<UserRow, 'id' | 'generation'>,
): Promise<UserRow> {
  const row = await tx.users.lock(id)
  if (row && row.closedAt === null && row.generation === generation) return row
  throw new ServiceError('conflict', 'your password was changed, or your account closed, meanwhile: sign in again')
}

/**
 * Ends all that acts for a user: sessions, tokens of applications, sign-ins that are half done, and open links to a new password.
 * @param keptSession the session in which the user asked for it
 */
export async function endAccess(tx: Writes, userId: string, at: Instant, keptSession?: string): Promise<void> {
  await tx.users.nextGeneration(userId)
  await tx.links.endAll({ kind: 'reset', userId }, at)
  await tx.sessions.endAll(userId, keptSession)
  await endGrants(tx, userId)
}

/** Ends all grants of applications to act for a user. */
export async function endGrants(tx: Writes, userId: string): Promise<void> {
  const memberships = await tx.members.workspacesOf(userId)
  await tx.records.removeGrantsOf(memberships.map(({ memberId }) => memberId))
}
