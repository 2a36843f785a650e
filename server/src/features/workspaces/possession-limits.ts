/**
 * Limits how many workspaces an account may have, and how many keys, machines, connections and bound agents a workspace. Counted rows are locked
 * until the transaction ends: of two creations at once, on any hosts, the second counts the first. The command line has no limits.
 */
import type { Acting } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { allowanceOf, payerOf } from '../../base/payers.ts'
import { adviceFor, holdingsOf, mayAdd, sharersOf } from '../../base/stock.ts'
import type { Writes } from '../../storage/storage.ts'
import type { Limits } from './limits-config.ts'

/** Limits of a workspace: the name in the configuration, and the advice at the limit. */
const POSSESSIONS = {
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
  webhook: {
    limit: 'webhooksPerWorkspace',
    things: 'webhooks',
    member: 'webhooks_per_workspace',
    advice: 'remove one first',
  },
} as const

/**
 * Refuses more possessions than a workspace may have. Call it in the transaction that locks the workspace.
 * @param count the number with those that this transaction adds
 * @throws ServiceError `conflict`
 */
export function requireRoom(limits: Limits, possession: keyof typeof POSSESSIONS, count: number, by: Acting): void {
  const { limit, things, member, advice } = POSSESSIONS[possession]
  const most = limits[limit]
  if (most === 0 || by.actor.kind === 'command' || count <= most) return
  const rule = `this workspace may have at most ${most} ${things}`
  throw new ServiceError('conflict', `${rule}: ${advice}, or ask the operator to raise limits.${member}`)
}

/**
 * Refuses a further workspace of an account. Call it before the workspace is stored, or passes to another payer.
 * @param userId the account that pays for it
 * @param passed the id of a workspace that passes
 * @throws ServiceError `conflict`
 */
export async function requireRoomForWorkspace(
  tx: Writes,
  { workspacesPerAccount: most }: Limits,
  userId: string,
  by: Acting,
  passed?: string,
): Promise<void> {
  if (most === 0 || by.actor.kind === 'command') return
  const user = await tx.users.byId(userId)
  const payer = user ? payerOf(user) : userId
  // Accounts that share one allowance lock one row.
  await tx.users.lock(allowanceOf(payer))
  const held = (await tx.workspaces.payersOf(allowanceOf(payer), passed)).map((one) => [one, 1] as const)
  if (mayAdd(holdingsOf(payer, held), most)) return
  const rule = `${sharersOf(payer)} may have at most ${most} workspaces`
  const advice = adviceFor(payer, 'limits.workspaces_per_account')
  throw new ServiceError('conflict', `${rule}: delete one first, or ${advice}`)
}
