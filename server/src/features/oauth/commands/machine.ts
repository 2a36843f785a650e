/** `claimcheck machine`: makes, lists and revokes the OAuth clients of machines. */

import { type OutputOptions, print, subcommand, table } from '@claimcheck/command-line/run'
import { formatInstant } from '@claimcheck/core/rules'
import type { Command } from 'commander'
import { formatOrNull } from '../../../base/timestamp.ts'
import type { WithServices } from '../../../host/feature.ts'
import { ONE_OR_ALL, WORKSPACE } from '../../workspaces/commands/workspace.ts'
import type { WorkspaceService } from '../../workspaces/workspaces.ts'
import type { Machine, MachineService } from '../machines.ts'

export function addMachineCommands(
  program: Command,
  withServices: WithServices<{ readonly workspaces: WorkspaceService; readonly machines: MachineService }>,
): void {
  const machine = program.command('machine').description('OAuth clients of machines, which get tokens without a person')

  subcommand(machine, 'create', 'make a client, and print its secret once')
    .requiredOption(...WORKSPACE)
    .requiredOption(
      '--scope <scope...>',
      'what its tokens permit: claims:read, claims:submit, claims:revisit, connections:read',
    )
    .option('--name <name>', 'what the client is for', 'default')
    .action(async (options: OutputOptions & { workspace: string; name: string; scope: readonly string[] }) => {
      const { clientId, clientSecret } = await withServices(async ({ workspaces, machines }) => {
        const { id } = await workspaces.find(options.workspace)
        return machines.create(id, options.name, options.scope)
      })
      print(options, { client_id: clientId, client_secret: clientSecret }, [
        `client id      ${clientId}`,
        `client secret  ${clientSecret}`,
        '',
        'Copy the secret now: it is not shown again. The client sends both to /oauth/token with grant_type=client_credentials.',
      ])
    })

  subcommand(machine, 'list', 'list clients, also revoked ones')
    .option(...ONE_OR_ALL)
    .action(async (options: OutputOptions & { workspace?: string }) => {
      const listed = await withServices(async ({ workspaces, machines }) =>
        machines.list(await workspaces.findId(options.workspace)),
      )
      const rows = listed.map(({ id, workspaceId, name, scopes, revokedAt }) => {
        const state = revokedAt === null ? 'active' : `revoked ${formatInstant(revokedAt)}`
        return [id, workspaceId, name, scopes.join(' '), state]
      })
      print(options, listed.map(toJson), table(['ID', 'WORKSPACE', 'NAME', 'SCOPES', 'STATE'], rows))
    })

  subcommand(machine, 'revoke', 'revoke a client: its tokens end at once')
    .argument('<id>')
    .action(async (id: string, options: OutputOptions) => {
      const revoked = await withServices(({ machines }) => machines.revoke(id))
      print(options, toJson(revoked), [`The client ${id} is revoked. Its tokens have ended.`])
    })
}

function toJson(machine: Machine) {
  return {
    client_id: machine.id,
    workspace_id: machine.workspaceId,
    name: machine.name,
    scopes: machine.scopes,
    last_four: machine.lastFour,
    created_at: formatInstant(machine.createdAt),
    last_used_at: formatOrNull(machine.lastUsedAt),
    revoked_at: formatOrNull(machine.revokedAt),
  }
}
