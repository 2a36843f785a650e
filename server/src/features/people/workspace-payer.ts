/** The payer of a workspace: the person who made it, also once they left, until an owner says that they pay. */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Writes } from '../../storage/storage.ts'
import type { WorkspaceRow } from '../../storage/workspaces.ts'
import type { Limits } from '../workspaces/limits-config.ts'
import { requireRoomForWorkspace } from '../workspaces/possession-limits.ts'

/**
 * Passes the payment of a workspace when its payer stops being an owner. An owner who takes the workspace from the payer pays from then on, and is
 * told before. A payer who leaves goes on paying: nobody else pays for it without being asked. Claims that wait stay with the payer at their
 * submission, a day at most.
 * @param workspace the locked workspace
 * @param userId the person who is an owner no more
 * @throws ServiceError `conflict` when the one who takes it has no room for it
 */
export async function payForTaken(
  tx: Writes,
  limits: Limits,
  workspace: WorkspaceRow,
  userId: string,
  at: Instant,
  by: Acting,
): Promise<void> {
  const { kind, id } = by.actor
  if (workspace.paidBy !== userId || kind !== 'user' || id === null || id === userId) return
  if (await isOwner(tx, workspace.id, id)) await setPayer(tx, limits, workspace, id, at, by)
}

/**
 * Lets an owner pay for a workspace that none of its owners pays for.
 * @param workspace the locked workspace
 * @throws ServiceError `conflict` when another owner pays, or there is no room
 */
export async function payForLeft(
  tx: Writes,
  limits: Limits,
  workspace: WorkspaceRow,
  userId: string,
  at: Instant,
  by: Acting,
): Promise<void> {
  const { id, paidBy } = workspace
  if (paidBy === userId) return
  if (!(await isOwner(tx, id, userId))) throw new ServiceError('conflict', 'only an owner can pay for the workspace')
  if (paidBy === null || (await isOwner(tx, id, paidBy)))
    throw new ServiceError('conflict', 'an owner of the workspace, or the operator, pays for it already')
  await setPayer(tx, limits, workspace, userId, at, by)
}

async function isOwner(tx: Writes, workspaceId: string, userId: string): Promise<boolean> {
  const members = await tx.members.ofWorkspace(workspaceId)
  return members.some((member) => member.userId === userId && member.role === 'owner')
}

async function setPayer(
  tx: Writes,
  limits: Limits,
  { id, paidBy }: WorkspaceRow,
  userId: string,
  at: Instant,
  by: Acting,
): Promise<void> {
  await requireRoomForWorkspace(tx, limits, userId, by, id)
  await tx.workspaces.setPaidBy(id, userId)
  const details = { from: paidBy, to: userId }
  tx.audit.record({ event: 'workspace.payer_changed', at, by, workspaceId: id, userId, details })
}
