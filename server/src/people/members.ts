/** Members: who belongs to a workspace, and what they may do there. Members see; owners also change. */
import type { Instant } from '@claimcheck/core'
import { ServiceError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { MemberOfWorkspace, MemberRow, Role, WorkspaceOfMember } from '../storage/people.ts'
import type { Storage, Writes } from '../storage/storage.ts'
import { nameTaken, newWorkspace, type Workspace } from '../workspaces/workspaces.ts'
import { toUser, type User } from './sessions.ts'

export type { MemberOfWorkspace, Role, WorkspaceOfMember }

export interface Invitation {
  readonly id: string
  readonly role: Role
  /** Who made it; null: the command line. */
  readonly createdBy: string | null
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

export interface OwnedWorkspace extends Workspace {
  /** Undefined: it has no members, for no account has set the service up. */
  readonly owner: User | undefined
}

export interface MemberService {
  /** By name. */
  workspacesOf(userId: string): Promise<readonly WorkspaceOfMember[]>
  /** In the order in which they joined. */
  list(workspaceId: string): Promise<readonly MemberOfWorkspace[]>
  /** What people are called, by their ids; of whoever left their workspace, too. */
  namesOf(userIds: readonly (string | null)[]): Promise<ReadonlyMap<string, string>>
  /**
   * A new workspace with its first owner: this person or, for the command line (null), the account that set the service up.
   * Nobody is added to a workspace by itself later.
   * @throws ServiceError `bad_request`, `conflict`
   */
  createWorkspace(userId: string | null, name: string): Promise<OwnedWorkspace>
  /** Of an owner who becomes a member, open invitations end. @throws ServiceError `not_found`, and `conflict` when no owner would be left */
  setRole(workspaceId: string, memberId: string, role: Role): Promise<void>
  /** Open invitations of theirs end, too. @throws ServiceError `not_found`, and `conflict` when no owner would be left */
  remove(workspaceId: string, memberId: string): Promise<void>
  /** Those that nobody has used yet, newest first. */
  invitations(workspaceId: string): Promise<readonly Invitation[]>
  /** @throws ServiceError `not_found` */
  withdraw(workspaceId: string, invitationId: string): Promise<void>
}

export function createMemberService({ storage, now }: { storage: Storage; now: () => Instant }): MemberService {
  async function requireMember(tx: Writes, workspaceId: string, memberId: string): Promise<MemberRow> {
    const member = await tx.members.byId(memberId)
    if (member?.workspaceId === workspaceId) return member
    throw new ServiceError('not_found', 'there is no such member')
  }

  async function requireAnotherOwner(tx: Writes, workspaceId: string, memberId: string): Promise<void> {
    const owners = await tx.members.lockOwners(workspaceId)
    if (owners.some(({ id }) => id !== memberId)) return
    throw new ServiceError('conflict', 'a workspace has an owner: make somebody else one first')
  }

  return {
    workspacesOf: (userId) => storage.read.members.workspacesOf(userId),
    list: (workspaceId) => storage.read.members.ofWorkspace(workspaceId),
    async namesOf(userIds) {
      const ids = [...new Set(userIds.filter((id) => id !== null))]
      const users = ids.length === 0 ? [] : await storage.read.users.byIds(ids)
      return new Map(users.map(({ id, name }) => [id, name]))
    },
    async createWorkspace(userId, name) {
      const workspace = newWorkspace(name, now())
      return storage.write(async (tx) => {
        if (!(await tx.workspaces.insert(workspace))) throw nameTaken(name)
        const ownerId = userId ?? (await tx.links.setUpUserId())
        if (ownerId === undefined) return { ...workspace, owner: undefined }
        await tx.members.insert(newMember(workspace.id, ownerId, 'owner', now()))
        const owner = await tx.users.byId(ownerId)
        return { ...workspace, owner: owner && toUser(owner) }
      })
    },
    setRole: (workspaceId, memberId, role) =>
      storage.write(async (tx) => {
        const { userId } = await requireMember(tx, workspaceId, memberId)
        if (role !== 'owner') {
          await requireAnotherOwner(tx, workspaceId, memberId)
          await tx.links.withdrawAllBy(workspaceId, userId, now())
        }
        await tx.members.setRole(memberId, role)
      }),
    remove: (workspaceId, memberId) =>
      storage.write(async (tx) => {
        const { userId } = await requireMember(tx, workspaceId, memberId)
        await requireAnotherOwner(tx, workspaceId, memberId)
        // Else who made one could come back by it.
        await tx.links.withdrawAllBy(workspaceId, userId, now())
        await tx.members.remove(memberId)
      }),
    async invitations(workspaceId) {
      const rows = await storage.read.links.openInvitations(workspaceId, now())
      return rows.map(({ id, role, creatorName, createdAt, expiresAt }) => ({
        id,
        role: role!,
        createdBy: creatorName,
        createdAt,
        expiresAt,
      }))
    },
    async withdraw(workspaceId, invitationId) {
      if (await storage.write((tx) => tx.links.withdraw(workspaceId, invitationId, now()))) return
      throw new ServiceError('not_found', 'there is no such invitation')
    },
  }
}

/** Not stored yet. */
export function newMember(workspaceId: string, userId: string, role: Role, at: Instant): MemberRow {
  return { id: newId('mem_', at), workspaceId, userId, role, createdAt: at }
}
