/** Identities: the users of the OpenID provider that are linked to accounts. Only a linked identity signs in to an account. */
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import type { PeopleConfig } from './config.ts'
import { requireCurrent } from './current.ts'
import { toUser, type User } from './sessions.ts'
import { requireAnotherSignInMethod } from './sign-in-methods.ts'

export interface Identity {
  readonly issuer: string
  readonly subject: string
}

export interface LinkedIdentity extends Identity {
  readonly createdAt: Instant
  readonly lastUsedAt: Instant | null
}

/** @param by who does it; by default the command line */
export interface IdentityService {
  /** The user who signs in with it. Undefined when the identity is linked to no account. */
  signIn(identity: Identity): Promise<User | undefined>
  list(userId: string): Promise<readonly LinkedIdentity[]>
  /** @throws ServiceError `conflict` when it is linked to another account, or this account has another identity of the provider */
  add(user: User, identity: Identity, by?: Acting): Promise<void>
  /** @throws ServiceError `not_found`; `conflict` when it is the only sign-in method of the account */
  remove(userId: string, issuer: string, by?: Acting): Promise<void>
}

interface IdentityParts {
  readonly storage: Storage
  readonly now: () => Instant
  readonly config: Pick<PeopleConfig, 'oidcSignIn'>
}

export function createIdentityService({ storage, now, config }: IdentityParts): IdentityService {
  return {
    async signIn({ issuer, subject }) {
      const identity = await storage.read.identities.find(issuer, subject)
      const user = identity && (await storage.read.users.byId(identity.userId))
      if (!user) return undefined
      return (await storage.write((tx) => tx.identities.used(issuer, subject, now()))) ? toUser(user) : undefined
    },
    async list(userId) {
      return (await storage.read.identities.ofUser(userId)).map(({ userId: _, ...identity }) => identity)
    },
    add: (user, identity, by = byCommand()) =>
      storage.write(async (tx) => {
        const { id: userId } = await requireCurrent(tx, user)
        const others = await tx.identities.ofUser(userId)
        if (others.some(({ issuer, subject }) => issuer === identity.issuer && subject !== identity.subject)) {
          throw new ServiceError(
            'conflict',
            'your account is linked to another sign-in of this provider: unlink that one first',
          )
        }
        if (others.some(({ issuer }) => issuer === identity.issuer)) return
        await insertIdentity(tx, userId, identity, now(), by)
      }),
    remove: (userId, issuer, by = byCommand()) =>
      storage.write(async (tx) => {
        await requireAnotherSignInMethod(tx, userId, { issuer }, config.oidcSignIn?.issuer)
        if (!(await tx.identities.remove(userId, issuer))) {
          throw new ServiceError('not_found', 'this sign-in is not linked to your account')
        }
        tx.audit.record({ event: 'identity.unlinked', at: now(), by, userId, details: { issuer } })
      }),
  }
}

/** @throws ServiceError `conflict` */
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
