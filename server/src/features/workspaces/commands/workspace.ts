/** `claimcheck workspace`: makes, renames and deletes workspaces, and invites people to them. */

import { CommandError } from '@claimcheck/command-line/errors'
import { type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import { typed } from '@claimcheck/command-line/typed'
import { type Command, Option } from 'commander'
import { byCommand } from '../../../base/actor.ts'
import { publicAddress } from '../../../config/address.ts'
import type { HostServices } from '../../../host/container.ts'
import type { WithServices } from '../../../host/feature.ts'
import { type ConfirmOptions, confirm, YES } from '../../../host/terminal/confirm.ts'
import { paths } from '../../../web/console-paths.ts'
import type { RetentionService } from '../../erasure/retention.ts'
import type { AccountService } from '../../people/accounts.ts'
import type { MemberService, Role } from '../../people/members.ts'
import type { AllowedOrigins } from '../allowed-origins.ts'
import type { WorkspaceService } from '../workspaces.ts'

interface Services extends Pick<HostServices, 'config'> {
  readonly members: MemberService
  readonly accounts: AccountService
  readonly workspaces: WorkspaceService
  readonly retention: RetentionService
  readonly allowedOrigins: AllowedOrigins
}

const DELETING = `This cannot be undone. The API keys of the workspace are revoked, its connections and their credentials are deleted, and
all memberships end. Claims that wait are still decided, without connections. Receipts stay in the public log.`

const WORKSPACE_WORDS = 'workspace, by id or name'

/** The options of commands in one workspace, and of lists of one or all. */
export const WORKSPACE = ['--workspace <workspace>', WORKSPACE_WORDS] as const
export const ONE_OR_ALL = ['--workspace <workspace>', `${WORKSPACE_WORDS} (default: all)`] as const

export function addWorkspaceCommands(program: Command, withServices: WithServices<Services>): void {
  const workspace = program.command('workspace').description('workspaces, which own keys, connections and claims')
  const ofOne = (name: string, description: string) =>
    subcommand(workspace, name, description).argument('<workspace>', WORKSPACE_WORDS)

  subcommand(workspace, 'create', 'make a workspace; its owner is the account that set the service up')
    .argument('<name>')
    .action(async (name: string, options: OutputOptions) => {
      const { id, owner, hasAccounts } = await withServices(async ({ members, accounts }) => ({
        ...(await members.createWorkspace(null, name)),
        hasAccounts: (await accounts.list()).length > 0,
      }))
      print(options, { id, name, owner: owner ? { id: owner.id, email: owner.email } : null }, [
        `Made the workspace ${name} (${id}).`,
        owner ? `Its owner is ${owner.name} (${owner.email}), who set this service up.` : noOwner(name, hasAccounts),
        `Next: ${typed(`key create --workspace ${quoted(name)}`)}`,
      ])
    })

  ofOne('rename', 'give a workspace another name; its id stays')
    .argument('<name>')
    .action(async (idOrName: string, name: string, options: OutputOptions) => {
      const before = await withServices(async ({ workspaces }) => {
        const found = await workspaces.find(idOrName)
        await workspaces.rename(found.id, name)
        return found
      })
      print(options, { id: before.id, name }, [`The workspace ${before.name} is called ${name} now.`])
    })

  ofOne('retention', 'say how long a workspace keeps the content of its receipts; older content is erased')
    .argument('[for]', 'days such as 90d, or off to keep it for ever (default: print the setting)')
    .action(async (idOrName: string, kept: string | undefined, options: OutputOptions) => {
      const { name, id, days } = await withServices(async ({ workspaces, retention }) => {
        const found = await workspaces.find(idOrName)
        if (kept !== undefined) await retention.set(found.id, readDays(kept), byCommand())
        return { ...found, days: await retention.days(found.id) }
      })
      print(options, { id, name, days }, [
        days === null
          ? `The workspace ${name} keeps the content of its receipts for ever.`
          : `The workspace ${name} keeps the content of its receipts for ${days} days. A running server erases what is older, for ever.`,
      ])
    })

  ofOne(
    'sites',
    'set the allowed origins: the sites from which scripts in browsers may submit claims with the keys of a workspace',
  )
    .argument(
      '[sites...]',
      'such as https://app.example.com, which replace those before; or off; leave them out to read what is set',
    )
    .action(async (idOrName: string, given: readonly string[], options: OutputOptions) => {
      const { name, id, sites } = await withServices(async ({ workspaces, allowedOrigins }) => {
        const found = await workspaces.find(idOrName)
        if (given.length > 0) await allowedOrigins.set(found.id, given.join() === 'off' ? [] : given, byCommand())
        return { ...found, sites: await allowedOrigins.list(found.id) }
      })
      print(options, { id, name, sites }, [
        sites.length === 0
          ? `Scripts of no other site may submit claims with keys of the workspace ${name}.`
          : `Scripts of these sites may submit claims with keys of the workspace ${name}: ${sites.join(', ')}`,
      ])
    })

  ofOne('delete', 'delete a workspace: keys, connections and members end, receipts stay')
    .option(...YES)
    .action(async (idOrName: string, options: ConfirmOptions) => {
      await confirm(options, DELETING, `Delete the workspace ${idOrName}?`)
      const { id, name } = await withServices(async ({ workspaces }) => {
        const found = await workspaces.find(idOrName)
        await workspaces.delete(found.id)
        return found
      })
      print(options, { id, name }, [`The workspace ${name} (${id}) is deleted. Its name is free.`])
    })

  ofOne('invite', 'print a link with which one person joins a workspace')
    .addOption(
      new Option('--role <role>', 'an owner may change everything, a member only read')
        .choices(['owner', 'member'])
        .default('member'),
    )
    .action(async (idOrName: string, options: OutputOptions & { role: Role }) => {
      const invited = await withServices(async ({ workspaces, accounts, config }) => {
        const { id, name } = await workspaces.find(idOrName)
        const url = publicAddress(config) + paths.invitation(await accounts.inviteToken(id, options.role, null))
        return { workspace_id: id, name, role: options.role, url }
      })
      print(options, invited, [
        invited.url,
        '',
        `Send this link to one person. The first to open it joins ${invited.name} as ${invited.role}. It works once, for 7 days.`,
      ])
    })
}

/**
 * Reads the days of a retention.
 * @throws CommandError `usage`
 */
function readDays(text: string): number | null {
  if (text === 'off') return null
  const [, days] = /^(\d{1,6})d$/.exec(text) ?? []
  if (days !== undefined) return Number(days)
  throw new CommandError('usage', `${text} is neither a number of days, such as 90d, nor off.`)
}

function noOwner(name: string, hasAccounts: boolean): string {
  return hasAccounts
    ? `It has no members yet. To add one: ${typed(`workspace invite ${quoted(name)} --role owner`)}`
    : 'It has no members yet: the person who opens the set-up link of the server becomes its owner.'
}

function quoted(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : JSON.stringify(name)
}
