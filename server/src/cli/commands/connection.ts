/** `claimcheck connection` */
import { readFileSync } from 'node:fs'
import type { ConnectionType, JsonObject } from '@claimcheck/core'
import type { Command } from 'commander'
import type { ConnectionSummary } from '../../workspaces/connections.ts'
import { UsageError } from '../errors.ts'
import { type OutputOptions, print, subcommand, table, withClaimcheck } from '../run.ts'

export function addConnectionCommands(program: Command): void {
  const connection = program.command('connection').description('read-only connections to destinations')

  subcommand(connection, 'add', 'connect a destination; it is tried once, and kept either way')
    .argument('<provider>')
    .requiredOption('--workspace <workspace>', 'id or name')
    .option('--set <name=value...>', 'options of the provider; a value of @FILE is read from the file', [])
    .action(async (provider: string, options: OutputOptions & { workspace: string; set: string[] }) => {
      const added = await withClaimcheck(
        async ({ workspaces, connections, registry }) => {
          const { id } = await workspaces.find(options.workspace)
          const type = registry.connectionType(provider)
          return connections.add(id, provider, parseSettings(options.set, type))
        },
        { plugins: true },
      )
      const notes = notesOn(added)
      print(options, { id: added.id, provider, scopes: added.scopes, actions: added.actions, notes }, [
        `Connected ${provider} (${added.id}). It verifies: ${added.actions.join(', ') || 'nothing yet'}.`,
        ...notes.map((note) => `Note: ${note}`),
      ])
    })

  subcommand(connection, 'list', 'list active connections, oldest first')
    .option('--workspace <workspace>', 'id or name; all when absent')
    .action(async (options: OutputOptions & { workspace?: string }) => {
      const listed = await withClaimcheck(
        async ({ workspaces, connections }) => {
          const workspace = options.workspace === undefined ? undefined : await workspaces.find(options.workspace)
          return connections.list(workspace?.id)
        },
        { plugins: true },
      )
      const rows = listed.map((item) => [item.id, item.workspaceId, item.provider, item.actions.join(' ')])
      print(options, listed.map(toJson), table(['ID', 'WORKSPACE', 'PROVIDER', 'ACTIONS'], rows))
    })

  subcommand(connection, 'update', 'give a connection other credentials; they are tried first')
    .argument('<id>')
    .requiredOption('--set <name=value...>', 'those of its secrets that change; a value of @FILE is read from the file')
    .option('--insist', 'keep them also where the destination cannot be reached; never where it refuses them', false)
    .action(async (id: string, options: OutputOptions & { set: string[]; insist: boolean }) => {
      const settings = parseSettings(options.set, undefined)
      const updated = await withClaimcheck(
        ({ connections }) => connections.replaceSecrets(id, settings, { insists: options.insist }),
        { plugins: true },
      )
      if ('isRefused' in updated) {
        throw new UsageError(`Nothing is changed: the destination could not be read with these: ${updated.failure}`)
      }
      const { connection, failure } = updated
      const notes = notesOn({ ...connection, lastFailure: failure })
      print(options, { id, provider: connection.provider, scopes: connection.scopes, notes }, [
        `The connection ${id} has the new credentials.`,
        ...notes.map((note) => `Note: ${note}`),
      ])
    })

  subcommand(connection, 'remove', 'disconnect, and forget its credentials')
    .argument('<id>')
    .action(async (id: string, options: OutputOptions) => {
      await withClaimcheck(({ connections }) => connections.remove(id))
      print(options, { id }, [`The connection ${id} is removed, and its credentials are forgotten.`])
    })
}

/** `name=value` each; a list is written with commas, and `@file` reads the value from a file, so that no secret need stand in a shell's history. */
function parseSettings(settings: readonly string[], type: ConnectionType | undefined): JsonObject {
  const pairs = settings.map((setting) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(setting) ?? []
    if (name === undefined || value === undefined)
      throw new UsageError('--set takes name=value, and one of these has no name')
    const text = value.startsWith('@') ? readFileSync(value.slice(1), 'utf8').trim() : value
    const isList = (type?.options.properties[name] as { type?: string } | undefined)?.type === 'array'
    return [name, isList ? text.split(',') : text]
  })
  return Object.fromEntries(pairs)
}

function notesOn({ notes, lastFailure }: Pick<ConnectionSummary, 'notes' | 'lastFailure'>): string[] {
  return lastFailure === null ? [...notes] : [`The destination could not be read just now: ${lastFailure}.`]
}

function toJson(connection: ConnectionSummary) {
  const { id, workspaceId, provider, scopes, connectedAt, actions } = connection
  return { id, workspace_id: workspaceId, provider, scopes, connected_at: new Date(connectedAt).toISOString(), actions }
}
