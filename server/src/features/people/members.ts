/** Members of a workspace and their roles: members can see everything in it, owners can also change it. */
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { createLookup } from '../../base/batch.ts'
import { ServiceError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { MemberOfWorkspace, MemberRow, Role, WorkspaceOfMember } from '../../storage/people.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import { countingTakenNames } from '../workspaces/guesses.ts'
import { DEFAULT_LIMITS, type LimitsConfig } from '../workspaces/limits-config.ts'
import { requireRoomForWorkspace } from '../workspaces/possession-limits.ts'
import { insertWorkspace, newWorkspace, requireWorkspace, type Workspace } from '../workspaces/workspaces.ts'
import { type SignedIn, toUser, type User } from './sessions.ts'
import { isStricter, meetsRule, type SignInRule } from './sign-in-rules.ts'
import { payForLeft, payForTaken } from './workspace-payer.ts'

export type { MemberOfWorkspace, Role, WorkspaceOfMember }

export interface Invitation {
  readonly id: string
  readonly role: Role
  /** The name of the owner who made the invitation; null when made by the command line. */
  readonly createdBy: string | null
  readonly createdAt: Instant
  readonly expiresAt: Instant
  /** The mail of the invitation; null if its link was shown to the inviter. */
  readonly mail: InvitationMail | null
}

export interface InvitationMail {
  readonly recipient: string
  /** The number of attempts to send the waiting mail. */
  readonly attempts: number | null
  /** The reason that the mail could not be delivered. */
  readonly undelivered: string | null
}

export interface OwnedWorkspace extends Workspace {
  /** The owner; undefined for a workspace without members, made before an account has set the service up. */
  readonly owner: User | undefined
}

export type MemberService = ReturnType<typeof createMemberService>

/** Makes the service of members. The parameter `by` of each method is the actor; by default the command line. */
export function createMemberService(parts: { storage: Storage; now: () => Instant; config?: LimitsConfig }) {
  const { storage, now, config } = parts
  const limits = config?.limits ?? DEFAULT_LIMITS
  const { read } = storage

  async function revokeMadeBy(
    tx: Writes,
    workspaceId: string,
    userId: string,
    revoked: readonly string[],
    by: Acting,
  ): Promise<void> {
    const at = now()
    const isRevoked = (held: { id: string; createdBy: string | null; revokedAt: Instant | null }) =>
      held.createdBy === userId && held.revokedAt === null && revoked.includes(held.id)
    const record = (event: 'key.revoked' | 'machine.revoked', { id, name }: { id: string; name: string }) =>
      tx.audit.record({ event, at, by, workspaceId, subject: id, details: { name } })
    for (const key of (await tx.keys.list(workspaceId)).filter(isRevoked)) {
      await tx.keys.change(key, { revokedAt: at })
      record('key.revoked', key)
    }
    for (const machine of (await tx.machines.list(workspaceId)).filter(isRevoked)) {
      await tx.machines.revoke(machine.id, at)
      record('machine.revoked', machine)
    }
  }

  const workspaces = createLookup(
    (userIds) => read.members.workspacesOf(...userIds),
    ({ userId }) => userId,
  )

  return {
    /** Lists the workspaces of a user, ordered by name. */
    workspacesOf: (userId: string): Promise<readonly WorkspaceOfMember[]> => workspaces(userId),

    /** Lists the members of a workspace in the order in which they joined. */
    list: (workspaceId: string): Promise<readonly MemberOfWorkspace[]> => read.members.ofWorkspace(workspaceId),

    /** Finds the names of users by id, including users who left the workspace. */
    async namesOf(userIds: readonly (string | null)[]): Promise<ReadonlyMap<string, string>> {
      const ids = [...new Set(userIds.filter((id) => id !== null))]
      const users = ids.length === 0 ? [] : await read.users.byIds(ids)
      return new Map(users.map(({ id, name }) => [id, name]))
    },

    /**
     * Creates a workspace with its first owner.
     * @param userId the owner; null if the command line creates it: then its owner is the account that set the service up, if there is one
     * @throws ServiceError `bad_request`, `conflict`; `too_many` for a person who tried many taken names
     */
    async createWorkspace(userId: string | null, name: string, by = byCommand()): Promise<OwnedWorkspace> {
      const workspace = newWorkspace(name, userId, now())
      const create = async (tx: Writes): Promise<OwnedWorkspace> => {
        if (userId !== null) await requireRoomForWorkspace(tx, limits, userId, by)
        await insertWorkspace(tx, workspace, by)
        const ownerId = userId ?? (await tx.links.setUpUserId())
        if (ownerId === undefined) return { ...workspace, owner: undefined }
        await insertMember(tx, newMember(workspace.id, ownerId, 'owner', now()), by)
        const owner = await tx.users.byId(ownerId)
        return { ...workspace, owner: owner && toUser(owner) }
      }
      return countingTakenNames(storage, by, now(), () => storage.write(create))
    },

    /**
     * Sets the role of a member. When an owner becomes a member, their open invitations end.
     * @throws ServiceError `not_found`; `conflict` for the last owner, or as `payForTaken` does
     */
    setRole: (workspaceId: string, memberId: string, role: Role, by = byCommand()) =>
      storage.write(async (tx) => {
        const workspace = await requireWorkspace(tx, workspaceId)
        const { userId, role: from } = await requireMember(tx, workspaceId, memberId)
        if (role !== 'owner') {
          await requireAnotherOwner(tx, workspaceId, memberId)
          await tx.links.endAll({ kind: 'invitation', workspaceId, createdBy: userId }, now())
        }
        await tx.members.setRole(memberId, role)
        if (from === role) return
        if (role !== 'owner') await payForTaken(tx, limits, workspace, userId, now(), by)
        const about = { workspaceId, userId, subject: memberId, details: { from, to: role } }
        tx.audit.record({ event: 'member.role_changed', at: now(), by, ...about })
      }),

    /**
     * Removes a member, with their open invitations, and what applications may do for them in the workspace.
     * @param revoked the ids of keys and machines that are revoked with it: those that others made stay
     * @throws ServiceError `not_found`; `conflict` for the last owner, or as `payForTaken` does
     */
    remove: (workspaceId: string, memberId: string, by = byCommand(), revoked: readonly string[] = []) =>
      storage.write(async (tx) => {
        const workspace = await requireWorkspace(tx, workspaceId)
        const { userId, role } = await requireMember(tx, workspaceId, memberId)
        await requireAnotherOwner(tx, workspaceId, memberId)
        // A removed owner could otherwise come back with an invitation that they made.
        await tx.links.endAll({ kind: 'invitation', workspaceId, createdBy: userId }, now())
        await revokeMadeBy(tx, workspaceId, userId, revoked, by)
        await tx.records.removeGrantsOf([memberId])
        await tx.members.remove(memberId)
        await payForTaken(tx, limits, workspace, userId, now(), by)
        const event = by.actor.id === userId ? 'member.left' : 'member.removed'
        tx.audit.record({ event, at: now(), by, workspaceId, userId, subject: memberId, details: { role } })
      }),

    /** Finds the person who pays for the workspace, who may have left; undefined if the command line made it. */
    async payer(workspaceId: string): Promise<{ readonly id: string; readonly name: string } | undefined> {
      const paidBy = (await read.workspaces.byIdOrName(workspaceId))?.paidBy
      return paidBy == null ? undefined : read.users.byId(paidBy)
    },

    /** Lets an owner pay for a workspace whose payer is an owner no more. @throws ServiceError `not_found`; `conflict` */
    pay: (workspaceId: string, userId: string, by = byCommand()) =>
      storage.write(async (tx) => payForLeft(tx, limits, await requireWorkspace(tx, workspaceId), userId, now(), by)),

    /**
     * Sets the kind of sign-in that the workspace asks for. A stricter rule ends what applications may do for members, until they allow it again.
     * @throws ServiceError `not_found`
     */
    setSignInRule: (workspaceId: string, rule: SignInRule, by = byCommand()) =>
      storage.write(async (tx) => {
        const { signInRule: from } = await requireWorkspace(tx, workspaceId)
        if (from === rule) return
        await tx.workspaces.setSignInRule(workspaceId, rule)
        const details = { from, to: rule }
        tx.audit.record({ event: 'workspace.sign_in_rule_changed', at: now(), by, workspaceId, details })
        if (!isStricter(rule, from)) return
        const members = await tx.members.ofWorkspace(workspaceId)
        await tx.records.removeGrantsOf(members.map(({ id }) => id))
      }),

    /**
     * Confirms that the sign-in of this session is enough for the workspace, once all transactions that change either have ended.
     * @throws ServiceError `not_found`; `conflict`
     */
    confirmSignIn: (workspaceId: string, { user, session: { id } }: SignedIn) =>
      storage.write(async (tx) => {
        const { signInRule } = await requireWorkspace(tx, workspaceId)
        const session = (await tx.sessions.ofUser(user.id, now())).find((one) => one.id === id)
        if (session && meetsRule(signInRule, session.method)) return
        throw new ServiceError('conflict', 'your session ended, or is not enough for this workspace now: sign in again')
      }),

    /** Lists the unused invitations, newest first. */
    async invitations(workspaceId: string): Promise<readonly Invitation[]> {
      const rows = await read.links.openInvitations(workspaceId, now())
      return rows.map(({ id, role, creatorName, createdAt, expiresAt, recipient, mailAttempts, undelivered }) => ({
        id,
        role: role!,
        createdBy: creatorName,
        createdAt,
        expiresAt,
        mail: recipient === null ? null : { recipient, attempts: mailAttempts, undelivered },
      }))
    },

    /**
     * Withdraws an invitation.
     * @throws ServiceError `not_found`
     */
    withdraw: (workspaceId: string, invitationId: string, by = byCommand()) =>
      storage.write(async (tx) => {
        if ((await tx.links.endAll({ kind: 'invitation', workspaceId, id: invitationId }, now())) === 0) {
          throw new ServiceError('not_found', 'there is no such open invitation')
        }
        const about = { workspaceId, subject: invitationId }
        tx.audit.record({ event: 'member.invitation_withdrawn', at: now(), by, ...about })
      }),
  }
}

async function requireMember(tx: Writes, workspaceId: string, memberId: string): Promise<MemberRow> {
  const member = await tx.members.byId(memberId)
  if (member?.workspaceId === workspaceId) return member
  throw new ServiceError('not_found', 'this workspace has no such member')
}

async function requireAnotherOwner(tx: Writes, workspaceId: string, memberId: string): Promise<void> {
  const owners = await tx.members.lockOwners(workspaceId)
  if (owners.some(({ id }) => id !== memberId)) return
  throw new ServiceError('conflict', 'this is the only owner of the workspace: make another member an owner first')
}

/** Makes the row of a member without storing it. */
export function newMember(workspaceId: string, userId: string, role: Role, at: Instant): MemberRow {
  return { id: newId('mem_', at), workspaceId, userId, role, createdAt: at }
}

/** Stores a member and records it. False when that person is a member already. */
export async function insertMember(tx: Writes, member: MemberRow, by: Acting): Promise<boolean> {
  if (!(await tx.members.insert(member))) return false
  const { id, workspaceId, userId, role, createdAt } = member
  tx.audit.record({ event: 'member.joined', at: createdAt, by, workspaceId, userId, subject: id, details: { role } })
  return true
}
