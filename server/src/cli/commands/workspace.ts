/** `claimcheck workspace` */
import type { Command } from 'commander'
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
}

function quoted(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : JSON.stringify(name)
}
