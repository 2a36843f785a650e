/** The ways in to an account: nobody is left without one. */

import { ServiceError } from '../base/errors.ts'
import type { Writes } from '../storage/storage.ts'

export type SignInMethod = { readonly passkeyId: string } | { readonly issuer: string }

/**
 * Holds until the transaction ends: of two ways that are removed at once, one stays.
 * @param issuer the outside provider through which people can sign in now
 * @throws ServiceError `conflict`
 */
export async function requireAnotherSignInMethod(
  tx: Writes,
  userId: string,
  leaving: SignInMethod,
  issuer: string | undefined,
): Promise<void> {
  const user = await tx.users.lock(userId)
  if (user?.passwordHash) return
  const passkeys = await tx.passkeys.ofUser(userId)
  if (passkeys.some(({ id }) => !('passkeyId' in leaving) || id !== leaving.passkeyId)) return
  // What somebody is at a provider that is not asked any more lets nobody in.
  const identities = (await tx.identities.ofUser(userId)).filter((identity) => identity.issuer === issuer)
  if (identities.some((identity) => !('issuer' in leaving) || identity.issuer !== leaving.issuer)) return
  throw new ServiceError(
    'conflict',
    'this is the only way in to your account: choose a password or add another passkey first',
  )
}
