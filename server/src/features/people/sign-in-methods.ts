/** Keeps the last sign-in method of an account from being removed. */
import { ServiceError } from '../../base/errors.ts'
import type { Writes } from '../../storage/storage.ts'

/**
 * Requires another sign-in method than the one that the transaction removes. Locks the user until the transaction ends, so that two requests cannot
 * remove the last two methods at once.
 * @param removed the method that the transaction removes
 * @param issuer the configured OpenID provider
 * @throws ServiceError `conflict`
 */
export async function requireAnotherSignInMethod(
  tx: Writes,
  userId: string,
  removed: { readonly passkeyId: string } | { readonly issuer: string },
  issuer: string | undefined,
): Promise<void> {
  const user = await tx.users.lock(userId)
  if (user?.passwordHash) return
  const passkeys = await tx.passkeys.ofUser(userId)
  if (passkeys.some(({ id }) => !('passkeyId' in removed) || id !== removed.passkeyId)) return
  // An identity of a provider that is not configured any more cannot sign in.
  const identities = (await tx.identities.ofUser(userId)).filter((identity) => identity.issuer === issuer)
  if (identities.some((identity) => !('issuer' in removed) || identity.issuer !== removed.issuer)) return
  throw new ServiceError(
    'conflict',
    'this is the only sign-in method of your account: choose a password or add another passkey first',
  )
}
