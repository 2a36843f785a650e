/** Closing an account: everything personal is deleted, and the row stays as "closed account" for rows that refer to it. */
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { reservedAddress } from '../../base/reserved-addresses.ts'
import type { Reads, Storage, Writes } from '../../storage/storage.ts'
import { deleteWorkspace } from '../workspaces/workspaces.ts'
import { endAccess, requireAccount, requireCurrent } from './current.ts'
import type { User } from './sessions.ts'

/** A workspace in which the account is the only owner. */
export interface OwnedAlone {
  readonly id: string
  readonly name: string
  /** True if other people are members: the account cannot be closed then. Without them the workspace is deleted with it. */
  readonly hasOthers: boolean
}

export const CLOSED_NAME = 'closed account'

export type AccountDeletion = ReturnType<typeof createAccountDeletion>

/** Makes the service. The parameter `by` of each method is the actor; by default the command line. */
export function createAccountDeletion({ storage, now }: { storage: Storage; now: () => Instant }) {
  async function closeIn(tx: Writes, id: string, withWorkspaces: boolean, by: Acting): Promise<readonly string[]> {
    const alone = await ownedAlone(tx, id, 'locked')
    const shared = alone.filter(({ hasOthers }) => hasOthers).map(({ name }) => name)
    if (shared.length > 0) {
      const problem = `this account is the only owner of ${shared.join(', ')}, which has other members`
      throw new ServiceError('conflict', `${problem}: make one of them an owner, or delete the workspace, first`)
    }
    const names = alone.map(({ name }) => name)
    if (names.length > 0 && !withWorkspaces) {
      const problem = `this account is the only member of ${names.join(', ')}`
      throw new ServiceError('conflict', `${problem}: invite another owner first, or say that it is to be deleted too`)
    }
    for (const workspace of alone) await deleteWorkspace(tx, workspace.id, now, by)
    await endAccess(tx, id, now())
    await tx.links.endAll({ kind: 'invitation', createdBy: id }, now())
    await tx.secondSteps.remove(id)
    for (const passkey of await tx.passkeys.ofUser(id)) await tx.passkeys.remove(id, passkey.id)
    for (const { issuer } of await tx.identities.ofUser(id)) await tx.identities.remove(id, issuer)
    for (const { memberId } of await tx.members.workspacesOf(id)) await tx.members.remove(memberId)
    // A closed account's address is free for another one; no mail reaches the reserved address that it gets.
    await tx.users.close(id, { email: reservedAddress(id, 'closed'), name: CLOSED_NAME }, now())
    tx.audit.record({ event: 'account.closed', at: now(), by, userId: id })
    return names
  }

  return {
    ownedAlone: (userId: string) => ownedAlone(storage.read, userId),
    /**
     * Closes an account, and deletes the workspaces without other members.
     * @throws ServiceError `conflict` for the only owner of a workspace with other members
     */
    async close(user: Pick<User, 'id' | 'generation'>, by = byCommand()): Promise<void> {
      await storage.write(async (tx) => closeIn(tx, (await requireCurrent(tx, user)).id, true, by))
    },
    /**
     * Lets the operator close an account. Returns the names of the workspaces that were deleted with it.
     * @throws ServiceError `not_found`; `conflict` as `close` does, and, unless `withWorkspaces`, when workspaces would be deleted
     */
    closeByEmail: (email: string, { withWorkspaces }: { readonly withWorkspaces: boolean }, by = byCommand()) =>
      storage.write(async (tx) => closeIn(tx, (await requireAccount(tx, email)).id, withWorkspaces, by)),
  }
}

/**
 * Lists the workspaces in which the account is the only owner.
 * @param locked locks the owners, so that none leaves before the transaction ends
 */
async function ownedAlone(
  from: Pick<Reads, 'members'> | Writes,
  userId: string,
  locked?: 'locked',
): Promise<OwnedAlone[]> {
  const found: OwnedAlone[] = []
  for (const { id, name, role } of await from.members.workspacesOf(userId)) {
    if (role !== 'owner') continue
    if (locked) {
      const tx = from as Writes
      await tx.workspaces.lock(id)
      await tx.members.lockOwners(id)
    }
    const others = (await from.members.ofWorkspace(id)).filter((member) => member.userId !== userId)
    if (others.some((member) => member.role === 'owner')) continue
    found.push({ id, name, hasOthers: others.length > 0 })
  }
  return found
}
