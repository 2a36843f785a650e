/** `claimcheck workspace` */
import { type Command, Option } from 'commander'
import { paths } from '../../console/paths.ts'
import type { Role } from '../../people/members.ts'
import { publicAddress } from '../links.ts'
import { type OutputOptions, print, subcommand, withClaimcheck } from '../run.ts'

export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('what keys, connections and claims belong to')

  subcommand(workspace, 'create', 'make a workspace')
    .argument('<name>')
    .action(async (name: string, options: OutputOptions) => {
      const { id } = await withClaimcheck(({ workspaces }) => workspaces.create(name))
      print(options, { id, name }, [
        `Made the workspace ${name} (${id}).`,
        `Next: npx claimcheck key create --workspace ${quoted(name)}`,
      ])
    })

  subcommand(workspace, 'invite', 'print a link with which one person joins a workspace')
    .argument('<workspace>', 'id or name')
    .addOption(new Option('--role <role>', 'what they may do').choices(['owner', 'member']).default('member'))
    .action(async (idOrName: string, options: OutputOptions & { role: Role }) => {
      const invited = await withClaimcheck(async ({ workspaces, accounts, config }) => {
        const { id, name } = await workspaces.find(idOrName)
        const token = await accounts.inviteToken(id, options.role, null)
        return { workspace_id: id, name, role: options.role, url: publicAddress(config) + paths.invitation(token) }
      })
      print(options, invited, [
        invited.url,
        '',
        `Whoever opens it first joins ${invited.name} as ${invited.role}. It works once, within 7 days.`,
      ])
    })
}

function quoted(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : JSON.stringify(name)
}
