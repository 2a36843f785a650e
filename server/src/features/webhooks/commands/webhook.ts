/** `claimcheck webhook`: adds, lists, switches and removes webhooks of workspaces. */
import { collect, type OutputOptions, print, subcommand, table } from '@claimcheck/command-line/run'
import { formatInstant } from '@claimcheck/core/rules'
import { type Command, Option } from 'commander'
import type { WithServices } from '../../../host/feature.ts'
import { WEBHOOK_FORMATS, type WebhookFormat } from '../../../storage/webhooks.ts'
import { typedValue } from '../../workspaces/commands/value-file.ts'
import { ONE_OR_ALL, WORKSPACE } from '../../workspaces/commands/workspace.ts'
import type { WorkspaceService } from '../../workspaces/workspaces.ts'
import { isAlert, usualFilters } from '../kinds.ts'
import type { Webhooks, WebhookTarget } from '../webhooks.ts'

interface Services {
  readonly workspaces: WorkspaceService
  readonly webhooks: Webhooks
}

interface AddOptions extends OutputOptions {
  readonly workspace: string
  readonly format: WebhookFormat
  readonly type?: readonly string[]
  readonly verdict?: readonly string[]
  readonly action?: readonly string[]
  readonly agent?: readonly string[]
  readonly connection?: readonly string[]
}

const HEAD = ['ID', 'WORKSPACE', 'FORMAT', 'ORIGIN', 'STATE', 'SINCE', 'LAST DELIVERED']

export function addWebhookCommands(program: Command, withServices: WithServices<Services>): void {
  const webhook = program.command('webhook').description('receivers that are told of the events of a workspace')

  subcommand(webhook, 'add', 'add a webhook, and print its secret once')
    .argument('<url>', 'the address; of @FILE, what is in the file')
    .requiredOption(...WORKSPACE)
    .addOption(
      new Option('--format <format>', 'signed events for a program, or messages for the people of a chat service')
        .choices(WEBHOOK_FORMATS)
        .default('standard'),
    )
    .option('--type <type>', 'send events of this type only; may be repeated', collect)
    .option('--verdict <verdict>', 'send claims with this verdict only; may be repeated', collect)
    .option('--action <action>', 'send claims of this action only; may be repeated', collect)
    .option('--agent <id>', 'send claims of this agent only; may be repeated', collect)
    .option('--connection <id>', 'send what concerns this connection only; may be repeated', collect)
    .action(async (given: string, options: AddOptions) => {
      const url = typedValue(given)
      const { format, action = [], agent = [], connection = [] } = options
      const usual = usualFilters(format)
      const { type = usual.types, verdict = usual.verdicts } = options
      const filters = { types: type, verdicts: verdict, actions: action, agents: agent, connections: connection }
      const { target, secret } = await withServices(async ({ workspaces, webhooks }) => {
        const { id } = await workspaces.find(options.workspace)
        return webhooks.add(id, { format, url, filters })
      })
      if (isAlert(format)) return print(options, { id: target.id }, [`Added the webhook ${target.id}.`])
      print(options, { id: target.id, secret }, [
        `Added the webhook ${target.id}. Its receiver checks signatures by this secret, which is not shown again:`,
        secret,
      ])
    })

  subcommand(webhook, 'list', 'list webhooks, oldest first')
    .option(...ONE_OR_ALL)
    .action(async (options: OutputOptions & { workspace?: string }) => {
      const listed = await withServices(async ({ workspaces, webhooks }) =>
        webhooks.list(await workspaces.findId(options.workspace)),
      )
      const rows = listed.map((one) => [
        ...[one.id, one.workspaceId, one.format, one.origin, stateOf(one), formatInstant(one.stateAt)],
        one.lastDeliveredAt === null ? '-' : formatInstant(one.lastDeliveredAt),
      ])
      print(options, listed.map(toJson), table(HEAD, rows))
    })

  subcommand(webhook, 'off', 'switch a webhook off: events wait')
    .argument('<id>')
    .action(async (id: string, options: OutputOptions) => {
      const target = await withServices(({ webhooks }) => webhooks.switchOff(id))
      print(options, toJson(target), [`The webhook ${id} is off.`])
    })

  subcommand(webhook, 'on', 'switch a webhook on: it goes on where it stopped')
    .argument('<id>')
    .action(async (id: string, options: OutputOptions) => {
      const target = await withServices(({ webhooks }) => webhooks.switchOn(id))
      print(options, toJson(target), [`The webhook ${id} is on.`])
    })

  subcommand(webhook, 'remove', 'remove a webhook with its secret')
    .argument('<id>')
    .action(async (id: string, options: OutputOptions) => {
      await withServices(({ webhooks }) => webhooks.remove(id))
      print(options, { id }, [`The webhook ${id} is removed.`])
    })
}

function stateOf({ state, offReason }: WebhookTarget): string {
  return offReason === null ? state : `${state} (${offReason})`
}

function toJson({
  id,
  workspaceId,
  format,
  origin,
  filters,
  state,
  offReason,
  stateAt,
  lastDeliveredAt,
}: WebhookTarget) {
  return {
    id,
    workspace_id: workspaceId,
    format,
    origin,
    filters,
    state,
    off_reason: offReason,
    since: formatInstant(stateAt),
    last_delivered_at: lastDeliveredAt === null ? null : formatInstant(lastDeliveredAt),
  }
}
