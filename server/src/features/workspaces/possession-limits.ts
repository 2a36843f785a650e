/**
 * How many workspaces an account may have, and how many keys, machines, connections and bound agents a workspace. What is counted is locked
 * until the transaction ends: of two creations at once, on any hosts, the second counts the first. The command line has no limits.
 */
import type { Acting } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { adviceFor, allowanceOf, holdingsOf, mayAdd, payerOf, WORKSPACE, who } from '../../storage/payers.ts'
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

function refuse(limits: Limits, possession: Possession, whose: string, asking: (limit: string) => string): never {
  const { limit, things, member, advice } = POSSESSIONS[possession]
  const rule = `${whose} may have at most ${limits[limit]} ${things}`
  throw new ServiceError('conflict', `${rule}: ${advice}, or ${asking(`limits.${member}`)}`)
}

/**
 * In the workspace, which is locked.
 * @param count with those that this transaction adds @throws ServiceError `conflict`
 */
export function requireRoom(
  limits: Limits,
  possession: Exclude<Possession, 'workspace'>,
  count: number,
  by: Acting,
): void {
  const most = limits[POSSESSIONS[possession].limit]
  if (most === 0 || by.actor.kind === 'command' || count <= most) return
  refuse(limits, possession, WORKSPACE, (limit) => `ask the operator to raise ${limit}`)
}

/**
 * Before the workspace is stored, or passes to another payer.
 * @param userId who pays for it @param passed the id of a workspace that passes @throws ServiceError `conflict`
 */
export async function requireRoomForWorkspace(
  tx: Writes,
  limits: Limits,
  userId: string,
  by: Acting,
  passed?: string,
): Promise<void> {
  const most = limits.workspacesPerAccount
  if (most === 0 || by.actor.kind === 'command') return
  const user = await tx.users.byId(userId)
  const payer = user ? payerOf(user) : userId
  // All who share one allowance lock one row.
  await tx.users.lock(allowanceOf(payer))
  const held = (await tx.workspaces.payersOf(allowanceOf(payer), passed)).map((one) => [one, 1] as const)
  if (!mayAdd(holdingsOf(payer, held), most))
    refuse(limits, 'workspace', who(payer), (limit) => adviceFor(payer, limit))
}
