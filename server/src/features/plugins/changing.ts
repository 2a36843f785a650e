/** Adds, replaces and removes plugins of an installation. Each change happens as a whole, with the operator's consent, or leaves everything as it was. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Fact, factLines } from '@claimcheck/cli/verify/facts'
import { CommandError } from '@claimcheck/command-line/errors'
import { formatInstant } from '@claimcheck/core/rules'
import { installedAt } from '@claimcheck/core/sandbox/package-dependencies'
import { readPackageJson, textMember } from '@claimcheck/core/sandbox/package-json'
import { visible } from '@claimcheck/core/words/plain-text'
import { replaceContent } from '../../base/files.ts'
import type { HostConfig, PluginEntry } from '../../config/config.ts'
import { FIRST_CONFIG, isFirstStart, writeNewConfig } from '../../config/first-config.ts'
import { withoutPlugin, withPlugin } from '../../config/plugin-lines.ts'
import type { HostServices } from '../../host/container.ts'
import type { Program, WithServices } from '../../host/feature.ts'
import { type ConfirmOptions, confirm } from '../../host/terminal/confirm.ts'
import { INSTALLED_WITH_SERVER } from '../../plugins/installed-with-server.ts'
import { factsOf, overviewOf, type PluginOverview } from '../../plugins/overview.ts'
import { locatePlugin } from '../../plugins/package.ts'
import { PluginError } from '../../plugins/plugin-error.ts'
import type { LoadedPlugin, Registry } from '../../plugins/registry.ts'
import { isShipped } from '../../plugins/shipped.ts'
import { changedRules } from '../claims/profile-settings.ts'
import { ifLoaded, refusalOf, withLoaded } from './loading.ts'
import { runNpm } from './npm.ts'
import { type KeptPackages, keepPackages } from './package-folder.ts'
import { type Provenance, readProvenance } from './provenance.ts'
import { changesOfReach, type ReachChanges } from './reach-changes.ts'
import { type PluginSource, readSource } from './source.ts'
import { claimsIn, latestIn, lostUse, NO_USE, readIfThere, type Use, useIn } from './use.ts'

interface Parts {
  readonly withServices: WithServices<Pick<HostServices, 'storage'>>
  readonly own: Pick<Program, 'loadConfig'>
}

export interface Added {
  readonly plugin: PluginOverview
  readonly provenance: Provenance
  readonly configFile: string
}

export interface Updated extends Omit<Added, 'configFile'> {
  /** The version that was installed before; undefined if it did not load. */
  readonly before: string | undefined
  readonly changes: ReachChanges | undefined
  readonly isNew: boolean
}

/** The packages of this project have this scope, in which a registry offers whatever anybody registered there. */
const OWN_SCOPE = '@claimcheck/'

/**
 * Adds a plugin to the configuration, after installing it if it is not there.
 * @throws CommandError, ConfigError, StorageError
 */
export function addPlugin(given: string, options: ConfirmOptions, parts: Parts): Promise<Added> {
  const { config, first } = startingFrom(parts.own.loadConfig(process.env))
  return asWhole(config.pluginDir, async ({ stopped, npm, undoing }) => {
    const source = await readSource(given, config.pluginDir, stopped)
    undoing(source.discard)
    const { name } = source
    if (config.plugins.some(({ use }) => use === name)) {
      throw new CommandError('usage', `${config.configFile} names ${name} already. For another version: plugin update.`)
    }
    if (await isToInstall(source, config)) await npm(installing(source))
    const entry: PluginEntry = { use: name, with: {} }
    const plugins = [...config.plugins, entry]
    const { plugin, rules } = await loading(name, () =>
      withLoaded(config, plugins, async (registry) => ({
        plugin: overviewOf(pluginAt(registry, config.plugins.length)),
        rules: await rulesOf(parts, config, registry),
      })),
    )
    refuseChangedRules(name, rules)
    const provenance = await provenanceIn(config, source, stopped)
    await askConsent(options, consentLines(plugin, provenance), `Add ${visible(name)}?`, stopped)
    writeConfig(config.configFile, (text) => withPlugin(text, { use: name }), first)
    return { plugin, provenance, configFile: config.configFile }
  })
}

/** Begins where the first start of the service would, if there was none: with the plugins that come with the server. */
function startingFrom(config: HostConfig): { readonly config: HostConfig; readonly first: string } {
  if (existsSync(config.configFile) || !isFirstStart(process.env, process.cwd())) return { config, first: '{}\n' }
  const { plugins } = JSON.parse(FIRST_CONFIG) as { readonly plugins: readonly { readonly use: string }[] }
  return { config: { ...config, plugins: plugins.map(({ use }) => ({ use, with: {} })) }, first: FIRST_CONFIG }
}

/**
 * Replaces a plugin by another version of its package.
 * @throws CommandError, ConfigError, StorageError
 */
export function updatePlugin(given: string, options: ConfirmOptions, parts: Parts): Promise<Updated> {
  const config = parts.own.loadConfig(process.env)
  return asWhole(config.pluginDir, async ({ stopped, npm, undoing }) => {
    const source = await readSource(given, config.pluginDir, stopped)
    undoing(source.discard)
    const { name } = source
    const index = indexOf(name, config)
    await refuseUpdate(source, config, index)
    // Nobody consented yet to run the new version without a sandbox.
    const plugins = config.plugins.map((entry, at) => (at === index ? { ...entry, isolation: undefined } : entry))
    const before = await ifLoaded(config, plugins, async (registry) => {
      const plugin = pluginAt(registry, index)
      return { plugin: overviewOf(plugin), digest: plugin.identity.codeHash, offers: offersOf(registry) }
    })
    await npm(installing({ ...source, wanted: source.wanted ?? 'latest' }))
    const after = await loading(name, () =>
      withLoaded(config, plugins, async (registry) => ({
        plugin: overviewOf(pluginAt(registry, index)),
        digest: pluginAt(registry, index).identity.codeHash,
        offers: offersOf(registry),
        rules: await rulesOf(parts, config, registry),
      })),
    )
    const provenance = await provenanceIn(config, source, stopped)
    const found = { plugin: after.plugin, provenance, before: before?.plugin.version }
    const changes = before && changesOfReach(before.plugin, after.plugin)
    if (before?.digest === after.digest) return { ...found, changes, isNew: false }
    refuseChangedRules(name, after.rules)
    const use = (await readIfThere(parts.withServices, config.databaseUrl, useIn)) ?? NO_USE
    refuseLosses(`${name} ${after.plugin.version ?? ''}`, lostUse(use, before?.offers, after.offers), KEEP_VERSION)
    await askConsent(
      options,
      updateLines(before?.plugin, after.plugin, provenance, changes),
      `Update ${visible(name)}?`,
      stopped,
    )
    return { ...found, changes, isNew: true }
  })
}

/**
 * Removes a plugin from the configuration, and uninstalls its package.
 * @returns whether the package was uninstalled
 * @throws CommandError, ConfigError, StorageError
 */
export function removePlugin(name: string, parts: Parts): Promise<{ readonly isUninstalled: boolean }> {
  const config = parts.own.loadConfig(process.env)
  return asWhole(config.pluginDir, async ({ npm }) => {
    const index = indexOf(name, config)
    const before = await ifLoaded(config, config.plugins, async (registry) => offersOf(registry))
    const rest = config.plugins.filter((_, at) => at !== index)
    const after = await withoutIt(name, () => withLoaded(config, rest, async (registry) => offersOf(registry)))
    const use = (await readIfThere(parts.withServices, config.databaseUrl, useIn)) ?? NO_USE
    refuseLosses(`Without ${name}`, lostUse(use, before, after), KEEP_PLUGIN)
    const isUninstalled = (await dependencyAt(config.pluginDir, name)) !== undefined && !name.startsWith(OWN_SCOPE)
    if (isUninstalled) await npm(['uninstall', '--', name])
    writeConfig(config.configFile, (text) => withoutPlugin(text, name))
    return { isUninstalled }
  })
}

interface Whole {
  /** Aborts when the command is to end. */
  readonly stopped: AbortSignal
  /** Runs npm; what it changes is undone where the change does not happen. */
  npm(args: readonly string[]): Promise<void>
  /** Names a step that undoes something else, where the change does not happen. */
  undoing(step: () => void): void
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Changes the packages of a folder as a whole: after an error or a signal they are as they were. */
async function asWhole<T>(folder: string, work: (whole: Whole) => Promise<T>): Promise<T> {
  const stopping = new AbortController()
  const { signal: stopped } = stopping
  const stop = () => stopping.abort()
  for (const signal of SIGNALS) process.on(signal, stop)
  let kept: KeptPackages | undefined
  const steps: (() => void)[] = []
  async function npm(args: readonly string[]): Promise<void> {
    kept ??= keepPackages(folder)
    await runNpm(folder, args, stopped)
    kept.restorePrograms()
  }
  try {
    const result = await work({ stopped, npm, undoing: (step) => steps.push(step) })
    kept?.forget()
    return result
  } catch (error) {
    kept?.restore()
    for (const step of steps) step()
    if (stopped.aborted) throw new CommandError('interrupted', 'Stopped. Everything is as it was.')
    throw error
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
}

/** Tells whether a package has to be fetched or unpacked, or is there as the operator wants it. @throws CommandError */
async function isToInstall({ name, wanted, archive }: PluginSource, { pluginDir }: HostConfig): Promise<boolean> {
  if (archive !== undefined) return true
  const installed = await installedAt(name, pluginDir)
  const version = installed && textMember(await readPackageJson(installed), 'version')
  const isThere = installed !== undefined || INSTALLED_WITH_SERVER.includes(name)
  if (isThere && (wanted === undefined || wanted === version)) return false
  if (name.startsWith(OWN_SCOPE)) throw notFromRegistry(name)
  return true
}

function notFromRegistry(name: string): CommandError {
  const message = `Claimcheck is not published: under ${name}, a registry has whatever anybody put there. Pack it in the checkout of your version, npm pack -w ${name}, and name the archive.`
  return new CommandError('refused', message)
}

function installing({ name, wanted, archive }: PluginSource): readonly string[] {
  const spec = archive ?? (wanted === undefined ? name : `${name}@${wanted}`)
  return ['install', '--save-prod', '--save-exact', '--', spec]
}

/** Finds how the package.json of a folder names a package. */
async function dependencyAt(folder: string, name: string): Promise<string | undefined> {
  const json = existsSync(join(folder, 'package.json')) ? await readPackageJson(folder) : undefined
  const { dependencies = {} } = (json ?? {}) as { readonly dependencies?: Readonly<Record<string, string>> }
  return Object.hasOwn(dependencies, name) ? dependencies[name] : undefined
}

function indexOf(name: string, { plugins, configFile }: HostConfig): number {
  const index = plugins.findIndex(({ use }) => use === name)
  if (index >= 0) return index
  const uses = plugins.map(({ use }) => use).join(', ') || 'none'
  throw new CommandError(
    'not_found',
    `${configFile} names no plugin ${name}. It names: ${uses}. To load another one: plugin add.`,
  )
}

/** @throws CommandError for a plugin that this command must not replace */
async function refuseUpdate({ name, archive }: PluginSource, config: HostConfig, index: number): Promise<void> {
  if (config.plugins[index]!.trusted) {
    const message = `${name} is trusted with all that the service has, so no manifest bounds what another version does: read its code, and update it with npm.`
    throw new CommandError('refused', message)
  }
  const located = await locatePlugin(name, config.pluginDir).catch(() => undefined)
  if (located && (await isShipped(located)))
    throw new CommandError('refused', `${name} comes with the server, and is updated with it.`)
  if (archive !== undefined) return
  if (name.startsWith(OWN_SCOPE)) throw notFromRegistry(name)
  const dependency = await dependencyAt(config.pluginDir, name)
  if (dependency === undefined) {
    const message = `The package.json of ${config.pluginDir} does not name ${name}: update it where it was installed.`
    throw new CommandError('refused', message)
  }
  // A stranger may have registered the name of a package that never was in a registry.
  if (/^[a-z+]+:|\//.test(dependency)) {
    const message = `${name} did not come from a registry, but from ${visible(dependency)}: name an archive or a folder of its next version.`
    throw new CommandError('refused', message)
  }
}

function pluginAt({ plugins }: Pick<Registry, 'plugins'>, index: number): LoadedPlugin {
  return plugins[index]!
}

/** Keeps what a registry offers after its plugins ended. */
function offersOf({ verifierFor, connectionType }: Registry): Pick<Registry, 'verifierFor' | 'connectionType'> {
  return { verifierFor, connectionType }
}

async function loading<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    throw error instanceof PluginError ? refusalOf(name, error) : error
  }
}

async function withoutIt<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (!(error instanceof PluginError)) throw error
    const lines = [`Without ${name} the other plugins do not load:`, ...error.problems.map((problem) => `  ${problem}`)]
    throw new CommandError('refused', [...lines, '  Mend or remove these first. Nothing was changed.'].join('\n'))
  }
}

/** Lists rules that changed under claims of this installation; none where its database is not made yet. */
async function rulesOf({ withServices }: Parts, config: HostConfig, registry: Registry): Promise<readonly string[]> {
  return (await readIfThere(withServices, config.databaseUrl, (read) => changedRules(read, registry))) ?? []
}

function refuseChangedRules(name: string, rules: readonly string[]): void {
  if (rules.length === 0) return
  const lines = [
    `The service would not start with ${name}, and everything is as it was:`,
    ...rules.map((rule) => `  ${rule}`),
  ]
  throw new CommandError('refused', lines.join('\n'))
}

const KEEP_VERSION =
  'Take a version of the package that still offers them (`earlierVersion`), or update when the last claim is decided.'
const KEEP_PLUGIN =
  'Remove the connections in the console or with `connection remove`, and remove the plugin when the last claim is decided.'

/** @throws CommandError where claims or connections lose their plugin */
function refuseLosses(subject: string, { waiting, connections }: Use, advice: string): void {
  const claims = waiting.map(
    ({ profileAction, profileVersion, count, provider }) =>
      `${count} of ${profileAction}, version ${profileVersion}${provider === null ? '' : `, through ${provider}`}`,
  )
  const losses = [
    ...(waiting.length > 0
      ? [
          `${claimsIn(waiting)} waiting claims could not be read any more (${claims.join('; ')}). The latest deadline is ${formatInstant(latestIn(waiting))}`,
        ]
      : []),
    ...connections.map(({ provider, count }) => `${count} connections to ${provider} would have no plugin`),
  ]
  if (losses.length === 0) return
  const lines = [
    `${subject.trim()}: nothing was changed, because`,
    ...losses.map((loss) => `  ${loss}.`),
    `  ${advice}`,
  ]
  throw new CommandError('refused', visibleLines(lines).join('\n'))
}

function visibleLines(lines: readonly string[]): string[] {
  return lines.map((line) => line.split('\n').map(visible).join('\n'))
}

async function provenanceIn(config: HostConfig, { name }: PluginSource, stopped: AbortSignal): Promise<Provenance> {
  const located = await locatePlugin(name, config.pluginDir)
  if (await isShipped(located)) return { builtBy: undefined, words: 'no provenance: it comes with this server' }
  return readProvenance(config.pluginDir, name, stopped)
}

/** @throws CommandError without consent, and also with `--yes` where the command has to end */
async function askConsent(options: ConfirmOptions, meaning: string, question: string, stopped: AbortSignal) {
  await confirm(options, meaning, question, stopped)
  stopped.throwIfAborted()
}

/** Writes a plugin for a person who decides on it. */
export function pluginLines(plugin: PluginOverview, { words }: Provenance): string[] {
  const facts = factsOf(plugin).filter(([label]) => label !== 'state')
  const all: readonly Fact[] = [...facts, ['built', words]]
  return [visible(plugin.name), ...factLines(all.map(([label, value]) => [label, value && visible(value)]))]
}

function consentLines(plugin: PluginOverview, provenance: Provenance): string {
  return [
    ...pluginLines(plugin, provenance),
    '',
    'Whoever publishes it decides what it says of each claim, within what is listed here.',
  ].join('\n')
}

/** Marks what a new version may do and the old one may not. */
export function changeLines({ gained, lost }: ReachChanges): string[] {
  if (gained.length + lost.length === 0) return ['It may reach and verifies the same as before.']
  return [...gained.map((text) => `NEW   ${visible(text)}`), ...lost.map((text) => `gone  ${visible(text)}`)]
}

function updateLines(
  before: PluginOverview | undefined,
  after: PluginOverview,
  provenance: Provenance,
  changes: ReachChanges | undefined,
): string {
  return [
    ...pluginLines(after, provenance),
    '',
    before
      ? `Installed until now: ${visible(before.version ?? 'no version')}`
      : 'What was installed until now does not load.',
    ...(changes ? changeLines(changes) : []),
  ].join('\n')
}

/**
 * Changes the text of the configuration file, as it is now.
 * @throws CommandError
 */
function writeConfig(path: string, change: (text: string) => string, first = '{}\n'): void {
  try {
    if (existsSync(path)) replaceContent(path, change(readFileSync(path, 'utf8')))
    else writeNewConfig(path, change(first))
  } catch (error) {
    const message = `${basename(path)} cannot be written, and everything is as it was: ${(error as Error).message}\n  Run this command as the user who owns ${path}, where that can be written and has room.`
    throw new CommandError('not_configured', message)
  }
}
