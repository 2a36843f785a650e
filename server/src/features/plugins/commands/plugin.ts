/** `claimcheck plugin`: adds plugins to this installation, lists, updates and removes them; and, for their authors, writes and tests them. */
import { type OutputOptions, print, subcommand, table } from '@claimcheck/command-line/run'
import { typed } from '@claimcheck/command-line/typed'
import { addPluginCommands as addAuthorCommands } from '@claimcheck/plugin-tools/commands/plugin'
import type { Command } from 'commander'
import { formatOrNull } from '../../../base/timestamp.ts'
import type { HostServices } from '../../../host/container.ts'
import type { Program, WithServices } from '../../../host/feature.ts'
import { type ConfirmOptions, YES } from '../../../host/terminal/confirm.ts'
import { overviewOf, type PluginOverview } from '../../../plugins/overview.ts'
import { notLoaded, type ShelfPackage } from '../../../plugins/shelf.ts'
import { toWire } from '../../claims/commands/plugins.ts'
import type { Provenance } from '../provenance.ts'
import { claimsIn, latestIn, readerOfWaiting, useIn } from '../use.ts'

type Services = Pick<HostServices, 'registry' | 'storage'>

const WHAT = 'a package of the registry, an archive of npm pack, or the path of a folder to pack'
const CONSENT =
  'Shown first: what it may reach, what it verifies, the digest of its files, and who built it as far as that is proven.'

export function addPluginCommands(program: Command, withServices: WithServices<Services>, own: Program): void {
  const plugin = program
    .command('plugin')
    .description('plugins: add, list, update and remove work on this installation; the others are for authors')
  const parts = { withServices, own }

  subcommand(plugin, 'add', `install a plugin, and name it in the configuration file. ${CONSENT}`)
    .argument('<NAME[@VERSION]|FILE.tgz|./FOLDER>', WHAT)
    .option(...YES)
    .action(async (given: string, options: ConfirmOptions) => {
      const { addPlugin, pluginLines } = await import('../changing.ts')
      const { plugin, provenance, configFile } = await addPlugin(given, options, parts)
      print(options, { added: toJson(plugin, provenance), config: configFile }, [
        ...(options.yes ? [...pluginLines(plugin, provenance), ''] : []),
        `Added: ${configFile} names ${plugin.package}.`,
        ...NEXT,
        ...(plugin.connections.length > 0
          ? [
              `Then connect a destination: ${typed(`connection add ${plugin.connections[0]!.provider} --workspace NAME`)}`,
            ]
          : []),
      ])
    })

  subcommand(plugin, 'list', 'list the plugins that the configuration names, and the claims that wait for each').action(
    async (options: OutputOptions) => {
      const { plugins, shelf } = await withServices(listed, { plugins: true })
      print(options, { plugins: plugins.map(listedToWire), not_loaded: shelf }, [
        ...(plugins.length === 0 ? ['No plugin is configured.'] : table(HEAD, plugins.map(rowOf))),
        ...(shelf.length === 0 ? [] : ['', 'Come with Claimcheck, and are not loaded:']),
        ...shelf.map(({ package: name, actions }) => `  ${name}: ${actions.map(({ action }) => action).join(', ')}`),
        ...(shelf.length === 0 ? [] : [`Load one with: ${typed(`plugin add ${shelf[0]!.package}`)}`]),
      ])
    },
  )

  subcommand(plugin, 'update', `replace a plugin by another version of its package. ${CONSENT} What is new is marked.`)
    .argument('<NAME[@VERSION]|FILE.tgz|./FOLDER>', `${WHAT} (default version: the latest)`)
    .option(...YES)
    .action(async (given: string, options: ConfirmOptions) => {
      const { changeLines, pluginLines, updatePlugin } = await import('../changing.ts')
      const { plugin, provenance, before, changes, isNew } = await updatePlugin(given, options, parts)
      const { package: name, version = '' } = plugin
      const json = {
        updated: isNew,
        from: before ?? null,
        gained: changes?.gained ?? null,
        lost: changes?.lost ?? null,
      }
      if (!isNew)
        return print(options, { ...json, plugin: toJson(plugin, provenance) }, [
          `${name} ${version} is installed already.`,
        ])
      print(options, { ...json, plugin: toJson(plugin, provenance) }, [
        ...(options.yes ? [...pluginLines(plugin, provenance), '', ...(changes ? changeLines(changes) : []), ''] : []),
        `Updated: ${name} ${version} is installed.`,
        ...NEXT,
      ])
    })

  subcommand(plugin, 'remove', 'take a plugin out of the configuration file, and uninstall its package')
    .argument('<name>', 'of the package, as the configuration file names it')
    .action(async (name: string, options: OutputOptions) => {
      const { removePlugin } = await import('../changing.ts')
      const { isUninstalled } = await removePlugin(name, parts)
      print(options, { removed: name, uninstalled: isUninstalled }, [
        `Removed: the configuration names ${name} no more.`,
        isUninstalled ? 'Its package is uninstalled.' : 'Its files stay where they are.',
        ...NEXT,
      ])
    })

  addAuthorCommands(plugin)
}

const NEXT = ['Restart the service, on many hosts one after the other: a running one works as it started.']

function toJson(plugin: PluginOverview, { builtBy, words }: Provenance) {
  const { state: _, restarts: __, last_end: ___, processes: ____, ...rest } = toWire(plugin)
  return { ...rest, built_by: builtBy ?? null, provenance: words }
}

interface Listed {
  readonly overview: PluginOverview
  readonly claims: number
  readonly until: string | null
  readonly connections: number
}

async function listed({
  registry,
  storage,
}: Services): Promise<{ plugins: readonly Listed[]; shelf: readonly ShelfPackage[] }> {
  const use = await useIn(storage.read)
  const plugins = registry.plugins.map((plugin) => {
    const waiting = use.waiting.filter((one) => readerOfWaiting(one, registry)?.plugin === plugin)
    const providers = plugin.parts.connections.map(({ provider }) => provider)
    const connections = use.connections.filter(({ provider }) => providers.includes(provider))
    return {
      overview: overviewOf(plugin),
      claims: claimsIn(waiting),
      until: formatOrNull(waiting.length === 0 ? null : latestIn(waiting)),
      connections: connections.reduce((sum, { count }) => sum + count, 0),
    }
  })
  return { plugins, shelf: notLoaded((action) => registry.verifierFor(action) !== undefined) }
}

function listedToWire({ overview, claims, until, connections }: Listed) {
  return { ...toWire(overview), claims_waiting: claims, latest_deadline: until, connections_in_use: connections }
}

const HEAD = ['PACKAGE', 'VERSION', 'RUNS', 'ACTIONS', 'CONNECTIONS', 'WAITING CLAIMS', 'DIGEST']

function rowOf({ overview, claims, until, connections }: Listed): string[] {
  const providers = overview.connections.map(({ provider }) => provider).join(', ')
  return [
    overview.package,
    overview.version ?? '',
    overview.isolation,
    overview.actions.map(({ action, version }) => `${action} ${version}`).join(', '),
    connections === 0 ? providers : `${providers} (${connections} in use)`,
    claims === 0 ? '0' : `${claims}, until ${until}`,
    overview.codeHash ?? '',
  ]
}
