/**
 * How many workspaces an account may have, and how many keys, machines, connections and bound agents a workspace. A count holds a
 * lock until what was counted is stored: of two creations at once, on any hosts, the second counts the first. The command line has no
 * limits.
 */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { payerOf } from '../../storage/people.ts'
import type { Writes } from '../../storage/storage.ts'
import type { Limits } from './limits-config.ts'

type LimitName = 'workspacesPerAccount' | 'keysPerWorkspace' | 'connectionsPerWorkspace' | 'boundAgentsPerWorkspace'

interface Possession {
  readonly limit: LimitName
  /** With those that this transaction adds. */
  readonly count: () => Promise<number>
  /** "your account has", or "this workspace has". */
  readonly owner: string
  readonly things: string
  readonly member: string
  /** What makes room. */
  readonly advice: string
}

async function require(limits: Limits, { limit, count, owner, things, member, advice }: Possession, by: Acting) {
  const most = limits[limit]
  if (most === 0 || by.actor.kind === 'command' || (await count()) <= most) return
  const rule = `${owner} has as many ${things} as it may, ${most}`
  throw new ServiceError('conflict', `${rule}: ${advice}, or ask the operator to raise limits.${member}`)
}

/** Before the workspace is stored. @param userId who makes it @throws ServiceError `conflict` */
export async function requireRoomForWorkspace(tx: Writes, limits: Limits, userId: string, by: Acting): Promise<void> {
  const user = await tx.users.byId(userId)
  const payer = user ? payerOf(user) : userId
  const owner = payer === userId ? 'your account' : 'your account, with those that share its allowance,'
  // All who share one allowance lock one row.
  await tx.users.lock(payer)
  const count = async () => (await tx.workspaces.countOfPayer(payer)) + 1
  const words = { owner, things: 'workspaces', member: 'workspaces_per_account', advice: 'delete one first' }
  await require(limits, { limit: 'workspacesPerAccount', count, ...words }, by)
}

/** Before the key is stored; the workspace is locked. @throws ServiceError `conflict` */
export async function requireRoomForKey(
  tx: Writes,
  limits: Limits,
  workspaceId: string,
  at: Instant,
  by: Acting,
): Promise<void> {
  const isUsable = (row: { revokedAt: Instant | null; expiresAt: Instant | null }) =>
    row.revokedAt === null && (row.expiresAt === null || row.expiresAt > at)
  const count = async () => (await tx.keys.list(workspaceId)).filter(isUsable).length + 1
  const words = { things: 'API keys', member: 'keys_per_workspace', advice: 'revoke one first' }
  await require(limits, { limit: 'keysPerWorkspace', count, owner: 'this workspace', ...words }, by)
}

/** Before the machine is stored; the workspace is locked. @throws ServiceError `conflict` */
export async function requireRoomForMachine(
  tx: Writes,
  limits: Limits,
  workspaceId: string,
  by: Acting,
): Promise<void> {
  const machines = async () => (await tx.machines.list(workspaceId)).filter(({ revokedAt }) => revokedAt === null)
  const count = async () => (await machines()).length + 1
  const words = { things: 'machines', member: 'keys_per_workspace', advice: 'revoke one first' }
  await require(limits, { limit: 'keysPerWorkspace', count, owner: 'this workspace', ...words }, by)
}

/** Before the connection is stored; the workspace is locked. @throws ServiceError `conflict` */
export async function requireRoomForConnection(
  tx: Writes,
  limits: Limits,
  workspaceId: string,
  by: Acting,
): Promise<void> {
  const count = async () => (await tx.connections.active([workspaceId])).length + 1
  const words = { things: 'connections', member: 'connections_per_workspace', advice: 'disconnect one first' }
  await require(limits, { limit: 'connectionsPerWorkspace', count, owner: 'this workspace', ...words }, by)
}

/** After the agents are bound, which excludes all others who bind some. @throws ServiceError `conflict` */
export async function requireRoomForAgents(tx: Writes, limits: Limits, workspaceId: string, by: Acting): Promise<void> {
  const count = async () => (await tx.keys.boundAgents(workspaceId)).length
  const words = { things: 'bound agents', member: 'bound_agents_per_workspace', advice: 'release some first' }
  await require(limits, { limit: 'boundAgentsPerWorkspace', count, owner: 'this workspace', ...words }, by)
}
