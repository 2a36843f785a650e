/** `claimcheck key`: makes, lists, changes, rotates and revokes API keys, and releases agents that are bound to them. */

import { collect, type OutputOptions, print, subcommand, table } from '@claimcheck/command-line/run'
import { formatInstant, type Instant } from '@claimcheck/core/rules'
import type { Command } from 'commander'
import { readDuration } from '../../../base/duration.ts'
import { ServiceError } from '../../../base/errors.ts'
import { defined } from '../../../base/pick.ts'
import { formatOrNull, readTimestamp } from '../../../base/timestamp.ts'
import type { HostServices } from '../../../host/container.ts'
import type { WithServices } from '../../../host/feature.ts'
import type { ApiKey, KeyService } from '../keys.ts'
import type { WorkspaceService } from '../workspaces.ts'
import { ONE_OR_ALL, WORKSPACE } from './workspace.ts'

interface Services extends Pick<HostServices, 'now'> {
  readonly workspaces: WorkspaceService
  readonly keys: KeyService
}

interface LimitOptions {
  readonly expires?: string
  readonly network?: readonly string[]
  readonly agent?: readonly string[]
}

interface ChangeOptions extends OutputOptions, LimitOptions {
  readonly name?: string
  readonly anyNetwork?: boolean
  readonly anyAgent?: boolean
}

const WHEN = 'a length of time such as 90d or 12h, or a time such as 2027-01-31T00:00:00Z'
const COPY_NOW = 'Copy this key now: it is not shown again. Clients send it as: Authorization: Bearer <key>'

export function addKeyCommands(program: Command, withServices: WithServices<Services>): void {
  const key = program.command('key').description('API keys for clients that submit claims')

  subcommand(key, 'create', 'make a key, and print it once')
    .requiredOption(...WORKSPACE)
    .option('--name <name>', 'what the key is for', 'default')
    .option('--expires <when>', `when it expires: ${WHEN}`)
    .option('--network <cidr>', 'accept it from this network only; may be repeated', collect)
    .option('--agent <id>', 'bind it to this agent, for which no other key may then claim; may be repeated', collect)
    .action(async (options: OutputOptions & LimitOptions & { workspace: string; name: string }) => {
      const { name, expires, network: networks, agent: agentIds } = options
      const created = await withServices(async ({ workspaces, keys, now }) => {
        const { id } = await workspaces.find(options.workspace)
        return keys.create(id, name, defined({ expiresAt: timeOf(expires, now()), networks, agentIds }))
      })
      print(options, created, [created.key, '', COPY_NOW])
    })

  subcommand(key, 'list', 'list keys, also revoked ones')
    .option(...ONE_OR_ALL)
    .action(async (options: OutputOptions & { workspace?: string }) => {
      const [listed, at] = await withServices(async ({ workspaces, keys, now }) => [
        await keys.list(await workspaces.findId(options.workspace)),
        now(),
      ])
      const rows = listed.map((item) => [
        ...[item.id, item.workspaceId, item.name, `…${item.lastFour}`],
        ...[state(item, at), heldTo(item), lastUse(item)],
      ])
      const head = ['ID', 'WORKSPACE', 'NAME', 'KEY', 'STATE', 'HELD TO', 'LAST USED']
      print(options, listed.map(toJson), table(head, rows))
    })

  subcommand(key, 'change', 'change the restrictions of a key; those that are not named stay')
    .argument('<id>')
    .option('--name <name>', 'what the key is for')
    .option('--expires <when>', `when it expires: ${WHEN}, or never`)
    .option('--network <cidr>', 'accept it from this network only; may be repeated', collect)
    .option('--any-network', 'accept it from anywhere')
    .option('--agent <id>', 'bind it to this agent only; may be repeated', collect)
    .option('--any-agent', 'let it claim for every agent that is not bound')
    .action(async (id: string, options: ChangeOptions) => {
      const changed = await withServices(({ keys, now }) => keys.change(id, changesOf(options, now())))
      print(options, toJson(changed), [`The key ${id} is changed. It is held to: ${heldTo(changed) || 'nothing'}.`])
    })

  subcommand(key, 'rotate', 'make a key with the same restrictions, print it once, and let the old one expire')
    .argument('<id>')
    .option('--overlap <time>', 'time until the old key expires: 0m, 24h, 7d', '24h')
    .action(async (id: string, options: OutputOptions & { overlap: string }) => {
      const { replaced, ...made } = await withServices(({ keys }) => keys.rotate(id, readDuration(options.overlap)))
      const until = formatInstant(replaced.expiresAt!)
      print(options, { ...made, replaces: id, old_key_expires_at: until }, [
        made.key,
        '',
        COPY_NOW,
        `The old key ${id} expires at ${until}.`,
      ])
    })

  subcommand(key, 'revoke', 'revoke a key: its next request is refused')
    .argument('<id>')
    .action(async (id: string, options: OutputOptions) => {
      const revoked = await withServices(({ keys }) => keys.revoke(id))
      print(options, toJson(revoked), [`The key ${id} is revoked. Its next request is refused.`])
    })

  subcommand(key, 'agents', 'list the agents that are bound to keys')
    .option(...ONE_OR_ALL)
    .action(async (options: OutputOptions & { workspace?: string }) => {
      const agents = await withServices(async ({ workspaces, keys }) =>
        keys.boundAgents(await workspaces.findId(options.workspace)),
      )
      const listed = agents.map(({ workspaceId, agentId, boundAt, keys }) => ({
        workspace_id: workspaceId,
        agent_id: agentId,
        bound_at: formatInstant(boundAt),
        keys: keys.map(({ id }) => id),
      }))
      const rows = listed.map(({ workspace_id, agent_id, keys }) => [agent_id, workspace_id, keys.join(', ') || 'none'])
      print(options, listed, table(['AGENT', 'WORKSPACE', 'KEYS'], rows))
    })

  subcommand(key, 'release', 'unbind an agent that has no key left, so that every key may claim for it')
    .argument('<agent>', 'the id of the agent')
    .requiredOption(...WORKSPACE)
    .action(async (agent: string, options: OutputOptions & { workspace: string }) => {
      await withServices(async ({ workspaces, keys }) => {
        const { id } = await workspaces.find(options.workspace)
        await keys.releaseAgent(id, agent)
      })
      print(options, { released: agent }, [`The agent ${agent} is released.`])
    })
}

/**
 * Reads the changes of a key from the options.
 * @throws ServiceError `bad_request`
 */
function changesOf({ name, expires, network, agent, anyNetwork, anyAgent }: ChangeOptions, now: Instant) {
  if ((anyNetwork && network) || (anyAgent && agent)) {
    throw new ServiceError('bad_request', 'name networks or --any-network, and agents or --any-agent, but not both')
  }
  const expiresAt = expires === 'never' ? null : timeOf(expires, now)
  return defined({ name, expiresAt, networks: anyNetwork ? [] : network, agentIds: anyAgent ? null : agent })
}

function timeOf(text: string | undefined, now: Instant): Instant | undefined {
  if (text === undefined) return undefined
  const time = readTimestamp(text)
  return typeof time === 'number' ? time : now + readDuration(text)
}

function state({ expiresAt, revokedAt, replacedBy }: ApiKey, now: Instant): string {
  if (revokedAt !== null) return `revoked ${formatInstant(revokedAt)}`
  if (expiresAt === null) return 'active'
  const replaced = replacedBy === null ? '' : `, replaced by ${replacedBy}`
  return `${expiresAt > now ? 'active, expires' : 'expired'} ${formatInstant(expiresAt)}${replaced}`
}

function heldTo({ networks, agentIds }: ApiKey): string {
  return [...networks, ...(agentIds ?? []).map((id) => `agent ${id}`)].join(', ')
}

function lastUse({ lastUsedAt, lastAddress }: ApiKey): string {
  if (lastUsedAt === null) return 'never'
  return lastAddress === null ? formatInstant(lastUsedAt) : `${formatInstant(lastUsedAt)} from ${lastAddress}`
}

function toJson(key: ApiKey) {
  return {
    id: key.id,
    workspace_id: key.workspaceId,
    name: key.name,
    last_four: key.lastFour,
    created_at: formatInstant(key.createdAt),
    expires_at: formatOrNull(key.expiresAt),
    networks: key.networks,
    agent_ids: key.agentIds,
    last_used_at: formatOrNull(key.lastUsedAt),
    last_address: key.lastAddress,
    replaced_by: key.replacedBy,
    revoked_at: formatOrNull(key.revokedAt),
  }
}
