/**
 * How many workspaces an account may have, and how many keys, machines, connections and bound agents a workspace. What is counted is locked
 * until the transaction ends: of two creations at once, on any hosts, the second counts the first. The command line has no limits.
 */
import type { Acting } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { adviceFor, allowanceOf, partOf, payerOf, type Taker, takersOf, WHO } from '../../storage/payers.ts'
import type { Writes } from '../../storage/storage.ts'
import type { Limits } from './limits-config.ts'

const POSSESSIONS = {
  workspace: {
    limit: 'workspacesPerAccount',
    things: 'workspaces',
    member: 'workspaces_per_account',
    advice: 'delete one first',
  },
  key: { limit: 'keysPerWorkspace', things: 'API keys', member: 'keys_per_workspace', advice: 'revoke one first' },
  machine: { limit: 'keysPerWorkspace', things: 'machines', member: 'keys_per_workspace', advice: 'revoke one first' },
  connection: {
    limit: 'connectionsPerWorkspace',
    things: 'connections',
    member: 'connections_per_workspace',
    advice: 'disconnect one first',
  },
  agent: {
    limit: 'boundAgentsPerWorkspace',
    things: 'bound agents',
    member: 'bound_agents_per_workspace',
    advice: 'release some first',
  },
} as const

type Possession = keyof typeof POSSESSIONS

const WORKSPACE: Pick<Taker, 'level' | 'part'> = { level: 'workspace', part: 1 }

/**
 * In the workspace, which is locked.
 * @param count with those that this transaction adds @throws ServiceError `conflict`
 */
export function requireRoom(
  limits: Limits,
  possession: Possession,
  count: number,
  by: Acting,
  taker: Pick<Taker, 'level' | 'part'> = WORKSPACE,
): void {
  const { limit, things, member, advice } = POSSESSIONS[possession]
  const most = partOf(limits[limit], taker)
  if (most === 0 || by.actor.kind === 'command' || count <= most) return
  const rule = `${WHO[taker.level]} may have at most ${most} ${things}`
  throw new ServiceError('conflict', `${rule}: ${advice}, or ${adviceFor(taker, `limits.${member}`)}`)
}

/** Before the workspace is stored. @param userId who makes it @throws ServiceError `conflict` */
export async function requireRoomForWorkspace(tx: Writes, limits: Limits, userId: string, by: Acting): Promise<void> {
  const user = await tx.users.byId(userId)
  const payer = user ? payerOf(user) : userId
  // All who share one allowance lock one row.
  await tx.users.lock(allowanceOf(payer))
  const counted = (await tx.workspaces.payersOf(allowanceOf(payer))).flatMap((one) => takersOf(one))
  for (const taker of takersOf(payer).toReversed()) {
    const others = counted.filter(({ name }) => name === taker.name)
    requireRoom(limits, 'workspace', others.length + 1, by, taker)
  }
}
