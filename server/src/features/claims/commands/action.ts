/** `claimcheck action`: lists the actions that can be claimed here, and shows the page of each. */

import { type OutputOptions, print, subcommand, table } from '@claimcheck/command-line/run'
import type { Command } from 'commander'
import { ServiceError } from '../../../base/errors.ts'
import type { HostServices } from '../../../host/container.ts'
import type { WithServices } from '../../../host/feature.ts'
import { actionPage, readableActions } from '../../../plugins/action-page.ts'

type Services = Pick<HostServices, 'registry'>

export function addActionCommand(program: Command, withServices: WithServices<Services>): void {
  subcommand(program, 'action', 'list what can be claimed here, or print the page of one action')
    .argument('[name]', 'the action, such as codehost.commit.push')
    .action(async (name: string | undefined, options: OutputOptions) => {
      const actions = await withServices(async ({ registry }) => readableActions(registry), { plugins: true })
      const wire = actions.map((one) => ({
        action: one.profile.action,
        version: one.profile.version,
        title: one.profile.words.title,
        aliases: Object.keys(one.profile.aliases ?? {}),
        through: one.through,
        without_connection: one.withoutConnection,
        page: actionPage(one),
      }))
      if (name === undefined) return print(options, { actions: wire.map(({ page: _, ...one }) => one) }, listOf(wire))
      const found = wire.find(({ action, aliases }) => action === name || aliases.includes(name))
      if (!found)
        throw new ServiceError('not_found', `no plugin here offers the action ${name}: claimcheck action lists them`)
      print(options, found, found.page.trimEnd().split('\n'))
    })
}

function listOf(actions: readonly { action: string; title: string; aliases: readonly string[] }[]): string[] {
  if (actions.length === 0) return ['No plugin is configured: nothing can be claimed.']
  return table(
    ['ACTION', 'WHAT', 'ALSO CALLED'],
    actions.map(({ action, title, aliases }) => [action, title, aliases.join(', ')]),
  )
}
