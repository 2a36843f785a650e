/**
 * New passwords: by the link that an operator makes, or by the signed-in person. An intruder is locked out: all that acts for the account ends, and
 * only those other sign-in methods stay that the person names.
 */
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import { endAccess, requireCurrent } from './current.ts'
import { type OpenLinks, unusableLink } from './links.ts'
import { requireStrongPassword } from './password-strength.ts'
import { hashPassword, isPassword } from './passwords.ts'
import { toUser, type User } from './sessions.ts'

/** The sign-in methods beside the password that an account keeps with a new password. */
export interface RemainingSignInMethods {
  /** The ids of the passkeys to keep. */
  readonly passkeys: readonly string[]
  /** The issuers of the identities to keep: an account has at most one identity of each. */
  readonly identities: readonly string[]
}

export interface PasswordChange {
  /** The current password, ignored when the account has none. */
  readonly current: string
  readonly next: string
  readonly keep: RemainingSignInMethods
  /** The id of the session that goes on. */
  readonly sessionId: string
}

interface NewPasswordParts {
  readonly storage: Storage
  readonly now: () => Instant
  readonly links: Pick<OpenLinks, 'require' | 'use'>
}

/** Makes the service. The parameter `by` of each method is the actor; by default the command line. */
export function createNewPasswords({ storage, now, links }: NewPasswordParts) {
  async function check(userId: string, password: string): Promise<string> {
    const user = await storage.read.users.byId(userId)
    if (!user) throw unusableLink()
    const workspaces = (await storage.read.members.workspacesOf(userId)).map(({ name }) => name)
    await requireStrongPassword(password, { ...user, workspaces })
    return hashPassword(password)
  }

  async function removeOthers(tx: Writes, userId: string, keep: RemainingSignInMethods, by: Acting): Promise<void> {
    for (const { id, name } of await tx.passkeys.ofUser(userId)) {
      if (keep.passkeys.includes(id)) continue
      await tx.passkeys.remove(userId, id)
      tx.audit.record({ event: 'passkey.removed', at: now(), by, userId, subject: id, details: { name } })
    }
    for (const { issuer } of await tx.identities.ofUser(userId)) {
      if (keep.identities.includes(issuer)) continue
      await tx.identities.remove(userId, issuer)
      tx.audit.record({ event: 'identity.unlinked', at: now(), by, userId, details: { issuer } })
    }
  }

  return {
    /**
     * Sets a new password by a link. Ends all sessions, tokens of applications, reset links and invitations of the user, and removes the sign-in
     * methods that are not kept. A second step stays.
     * @throws ServiceError `bad_request`, `not_found`
     */
    async reset(token: string, password: string, keep: RemainingSignInMethods, by = byCommand()): Promise<User> {
      const link = await links.require(token, 'reset')
      const userId = link.userId!
      const passwordHash = await check(userId, password)
      return storage.write(async (tx) => {
        // The lock makes two resets of one user run one after the other: the first ends the link of the second.
        const row = await tx.users.lock(userId)
        if (!row || row.closedAt !== null) throw unusableLink()
        await links.use(tx, link)
        await tx.users.setPassword(userId, passwordHash)
        await endAccess(tx, userId, now())
        await tx.links.endAll({ kind: 'invitation', createdBy: userId }, now())
        tx.audit.record({ event: 'password.reset', at: now(), by, userId, subject: link.id })
        await removeOthers(tx, userId, keep, by)
        return toUser({ ...row, passwordHash, generation: row.generation + 1 })
      })
    },
    /**
     * Changes the password of a signed-in user. Ends all other sessions, and all tokens of applications and reset links of the user, and removes the
     * sign-in methods that are not kept.
     * @throws ServiceError `bad_request`, also when `current` is wrong; `conflict` when the password was changed meanwhile
     */
    async changePassword(user: User, change: PasswordChange, by = byCommand()): Promise<void> {
      const { current, next, keep, sessionId } = change
      const row = await storage.read.users.byId(user.id)
      const isAllowed = row && (row.passwordHash === null || (await isPassword(current, row.passwordHash)))
      if (!isAllowed) throw new ServiceError('bad_request', 'the current password is wrong')
      const passwordHash = await check(user.id, next)
      await storage.write(async (tx) => {
        await requireCurrent(tx, user)
        await tx.users.setPassword(user.id, passwordHash)
        await endAccess(tx, user.id, now(), sessionId)
        const event = row.passwordHash === null ? 'password.chosen' : 'password.changed'
        tx.audit.record({ event, at: now(), by, userId: user.id })
        await removeOthers(tx, user.id, keep, by)
      })
    },
  }
}
