/** `claimcheck key`: makes, lists and revokes API keys. */
import type { Command } from 'commander'
import type { ApiKey } from '../../workspaces/keys.ts'
import { type OutputOptions, print, subcommand, table, withClaimcheck } from '../run.ts'

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys for clients that submit claims')

  subcommand(key, 'create', 'make a key, and print it once')
    .requiredOption('--workspace <workspace>', 'id or name')
    .option('--name <name>', 'what the key is for', 'default')
    .action(async (options: OutputOptions & { workspace: string; name: string }) => {
      const created = await withClaimcheck(async ({ workspaces, keys }) => {
        const { id } = await workspaces.find(options.workspace)
        return keys.create(id, options.name)
      })
      print(options, created, [
        created.key,
        '',
        'Copy this key now: it is not shown again. Clients send it as: Authorization: Bearer <key>',
      ])
    })

  subcommand(key, 'list', 'list keys, also revoked ones')
    .option('--workspace <workspace>', 'id or name; by default all workspaces')
    .action(async (options: OutputOptions & { workspace?: string }) => {
      const listed = await withClaimcheck(async ({ workspaces, keys }) => {
        const workspace = options.workspace === undefined ? undefined : await workspaces.find(options.workspace)
        return keys.list(workspace?.id)
      })
      const rows = listed.map((item) => [item.id, item.workspaceId, item.name, `…${item.lastFour}`, state(item)])
      print(options, listed.map(toJson), table(['ID', 'WORKSPACE', 'NAME', 'KEY', 'STATE'], rows))
    })

  subcommand(key, 'revoke', 'revoke a key: its next request is refused')
    .argument('<id>')
    .action(async (id: string, options: OutputOptions) => {
      const revoked = await withClaimcheck(({ keys }) => keys.revoke(id))
      print(options, toJson(revoked), [`The key ${id} is revoked. Its next request is refused.`])
    })
}

function state({ revokedAt }: ApiKey): string {
  return revokedAt === null ? 'active' : `revoked ${new Date(revokedAt).toISOString()}`
}

function toJson(key: ApiKey) {
  return {
    id: key.id,
    workspace_id: key.workspaceId,
    name: key.name,
    last_four: key.lastFour,
    created_at: new Date(key.createdAt).toISOString(),
    revoked_at: key.revokedAt === null ? null : new Date(key.revokedAt).toISOString(),
  }
}
