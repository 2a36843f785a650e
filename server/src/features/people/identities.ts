/** Identities: the users of the OpenID provider that are linked to accounts. Only a linked identity signs in to an account. */
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { IdentityRow } from '../../storage/sign-in.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import type { PeopleConfig } from './config.ts'
import { requireCurrent } from './current.ts'
import { toUser, type User } from './sessions.ts'
import { requireAnotherSignInMethod } from './sign-in-methods.ts'

export type Identity = Pick<IdentityRow, 'issuer' | 'subject'>
export type LinkedIdentity = Omit<IdentityRow, 'userId'>

interface IdentityParts {
  readonly storage: Storage
  readonly now: () => Instant
  readonly config: Pick<PeopleConfig, 'oidcSignIn'>
}

/** Makes the service. The parameter `by` of each method is the actor; by default the command line. */
export function createIdentityService({ storage, now, config }: IdentityParts) {
  return {
    /** Finds the user who signs in with an identity; undefined when it is linked to no account. */
    async signIn({ issuer, subject }: Identity): Promise<User | undefined> {
      const identity = await storage.read.identities.find(issuer, subject)
      const user = identity && (await storage.read.users.byId(identity.userId))
      if (!user) return undefined
      return (await storage.write((tx) => tx.identities.used(issuer, subject, now()))) ? toUser(user) : undefined
    },
    async list(userId: string): Promise<readonly LinkedIdentity[]> {
      return (await storage.read.identities.ofUser(userId)).map(({ userId: _, ...identity }) => identity)
    },
    /**
     * Links an identity to an account.
     * @throws ServiceError `conflict` when it is linked to another account, or this account has another identity of the provider
     */
    add: (user: User, identity: Identity, by = byCommand()) =>
      storage.write(async (tx) => {
        const { id: userId } = await requireCurrent(tx, user)
        const linked = (await tx.identities.ofUser(userId)).filter(({ issuer }) => issuer === identity.issuer)
        if (linked.some(({ subject }) => subject !== identity.subject)) {
          throw new ServiceError(
            'conflict',
            'your account is linked to another sign-in of this provider: unlink that one first',
          )
        }
        if (linked.length === 0) await insertIdentity(tx, userId, identity, now(), by)
      }),
    /**
     * Unlinks an identity.
     * @throws ServiceError `not_found`; `conflict` when it is the only sign-in method of the account
     */
    remove: (userId: string, issuer: string, by = byCommand()) =>
      storage.write(async (tx) => {
        await requireAnotherSignInMethod(tx, userId, { issuer }, config.oidcSignIn?.issuer)
        if (!(await tx.identities.remove(userId, issuer))) {
          throw new ServiceError('not_found', 'this sign-in is not linked to your account')
        }
        tx.audit.record({ event: 'identity.unlinked', at: now(), by, userId, details: { issuer } })
      }),
  }
}

/**
 * Stores an identity.
 * @throws ServiceError `conflict` when it is linked already
 */
export async function insertIdentity(
  tx: Writes,
  userId: string,
  identity: Identity,
  at: Instant,
  by: Acting,
): Promise<void> {
  if (!(await tx.identities.insert({ ...identity, userId, createdAt: at }))) {
    throw new ServiceError('conflict', 'this sign-in is linked to another account')
  }
  tx.audit.record({ event: 'identity.linked', at, by, userId, details: { issuer: identity.issuer } })
}
