/** Who pays for a workspace that a person made: one of its owners, who can stop what they pay for. */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import type { Writes } from '../../storage/storage.ts'
import type { WorkspaceRow } from '../../storage/workspaces.ts'

/**
 * Once owners changed: where the one who pays is none any more, the one who joined first pays, whatever workspaces they have. Claims that
 * wait stay with who paid when they were submitted, a day at most.
 * @param workspace locked
 */
export async function keepPayer(tx: Writes, { id, paidBy }: WorkspaceRow, at: Instant, by: Acting): Promise<void> {
  if (paidBy === null) return
  const owners = (await tx.members.ofWorkspace(id)).filter(({ role }) => role === 'owner')
  const [next] = owners
  if (!next || owners.some(({ userId }) => userId === paidBy)) return
  await tx.workspaces.setPaidBy(id, next.userId)
  const details = { from: paidBy, to: next.userId }
  tx.audit.record({ event: 'workspace.payer_changed', at, by, workspaceId: id, userId: next.userId, details })
}
