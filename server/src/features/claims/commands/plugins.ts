/** `claimcheck plugins`: loads the configured plugins, and lists what they are and may do. */

import { factLines } from '@claimcheck/cli/verify/facts'
import { paintFor } from '@claimcheck/cli/verify/style'
import { type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import { visible } from '@claimcheck/core/words/plain-text'
import type { Command } from 'commander'
import type { HostServices } from '../../../host/container.ts'
import type { WithServices } from '../../../host/feature.ts'
import type { CellsState } from '../../../plugins/hosted.ts'
import { factsOf, overviewOf, type PluginOverview } from '../../../plugins/overview.ts'

type Services = Pick<HostServices, 'registry'>

export function addPluginsCommand(program: Command, withServices: WithServices<Services>): void {
  subcommand(
    program,
    'plugins',
    'load the configured plugins, and list their digests, where they run, what they may reach and what they verify',
  ).action(async (options: OutputOptions) => {
    const plugins = await withServices(async ({ registry }) => registry.plugins.map(overviewOf), { plugins: true })
    print(
      options,
      { plugins: plugins.map(toWire) },
      plugins.length === 0
        ? ['No plugin is configured.']
        : [...plugins.flatMap((plugin) => [...linesOf(plugin), '']), NOTE],
    )
  })
}

const NOTE = 'The states are those of this command. /metrics and the console tell those of a running server.'

export function toWire({ manifest, ...plugin }: PluginOverview) {
  const { hosts, tokenHosts = [], methods = {}, sockets = [], programs = [] } = manifest
  return {
    name: plugin.name,
    package: plugin.package,
    version: plugin.version ?? null,
    code_hash: plugin.codeHash ?? null,
    isolation: plugin.isolation,
    state: plugin.state.status,
    restarts: plugin.state.restarts,
    last_end: plugin.state.lastEnd ?? null,
    processes: plugin.state.cells ? processesOf(plugin.state.cells) : null,
    hosts,
    token_hosts: tokenHosts,
    methods: { json_rpc: methods.jsonRpc ?? [], graphql: methods.graphql ?? [], dav: methods.dav ?? [] },
    sockets,
    programs,
    actions: plugin.actions,
    connections: plugin.connections,
    reads_through: plugin.readsThrough,
    anchors_on: plugin.chain ?? null,
    signs_with: plugin.signsWith ?? null,
  }
}

function processesOf({ most, memoryMib, running, working, waiting, starts, evictions }: CellsState) {
  return { most, memory_mib: memoryMib, running, working, waiting, starts, evictions }
}

function linesOf(plugin: PluginOverview): string[] {
  const lines = factLines(factsOf(plugin).map(([label, value]) => [label, value && visible(value)]))
  const paint = paintFor(process.stdout)
  return [
    visible(plugin.name),
    ...lines.map((line) => (plugin.isolation === 'open' && / runs /.test(line) ? paint('bad', line) : line)),
  ]
}
