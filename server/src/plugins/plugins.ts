/** Loads the configured plugins, each trusted or into a process of its own, and reports all their problems before the service starts. */
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isPlugin, profileWarnings } from '@claimcheck/core/hosting'
import type { Logger } from '@claimcheck/core/plugin'
import type { Instant } from '@claimcheck/core/rules'
import { withinTime } from '../base/time-limit.ts'
import { type HostConfig, type PluginEntry, pluginProcesses } from '../config/config.ts'
import { isNamedBy, type NamedReader } from './identity.ts'
import { type ConnectionTypes, inProcess } from './in-process.ts'
import { loadIsolated } from './isolation/load-isolated.ts'
import { lookAlikeProblems } from './look-alikes.ts'
import { locatePlugin, type PluginPackage } from './package.ts'
import { PluginError, refuse } from './plugin-error.ts'
import { createPluginLogger } from './plugin-logger.ts'
import { definitionProblems, optionsProblems, partsProblems } from './problems.ts'
import { reachOf } from './reach.ts'
import {
  conflicts,
  createRegistry,
  type LoadedPlugin,
  missingProviders,
  missingSources,
  type Registry,
} from './registry.ts'
import { isShipped } from './shipped.ts'

/** The time limit of a setup in this process. Other processes have limits of processor time. */
const SETUP_TIMEOUT_MS = 60_000

/** The host's logger, from which each plugin gets a child logger. */
export interface HostLogger extends Logger {
  child(bindings: Readonly<Record<string, unknown>>): Logger
}

interface LoadOptions {
  readonly logger: HostLogger
  readonly now: () => Instant
  readonly setupTimeoutMs?: number
}

interface Named {
  /** Plugins that the operator names for sources. */
  readonly sourceReaders?: readonly NamedReader[]
}

/**
 * Loads all plugins.
 * @throws PluginError with all problems of all plugins
 */
export async function loadPlugins(
  {
    plugins: listed,
    signer,
    pluginDir,
    dataDir,
    sourceReaders = [],
  }: Pick<HostConfig, 'plugins' | 'pluginDir' | 'dataDir'> & Partial<Pick<HostConfig, 'signer'>> & Named,
  options: LoadOptions,
): Promise<Registry> {
  const entries = signer ? [...listed, signer] : listed
  const problems: string[] = []
  const plugins: LoadedPlugin[] = []
  // Finds types of all plugins: one may read through the connections of another.
  const types: ConnectionTypes = (provider) =>
    plugins.flatMap(({ parts }) => parts.connections).find((type) => type.provider === provider)
  // Plugins are located side by side, because each goes through many files, and loaded one after the other, as they are listed.
  const locating = entries.map(({ use }) => locate(use, pluginDir, dataDir))
  const located = await Promise.allSettled(locating)
  // Isolated plugins share the memory.
  const isolated = located.filter(
    (one, index) => one.status === 'fulfilled' && !one.value.comesWithServer && !entries[index]!.trusted,
  ).length
  for (const [index, entry] of entries.entries()) {
    try {
      const found = await locating[index]!
      const loaded = await loadPlugin(entry, found, types, { ...options, dataDir, isolated })
      const isShipped = found.comesWithServer
      // A plugin that is trusted with all is trusted with words, too.
      const isNamed = entry.trusted || sourceReaders.some((reader) => isNamedBy(reader, loaded.identity))
      const plugin = { ...loaded, identity: { ...loaded.identity, isShipped, isNamed } }
      const wrong = [...signingProblems(plugin, entry === signer), ...lookAlikeProblems(plugin)]
      if (wrong.length > 0) await plugin.parts.close()
      refuse(wrong)
      plugins.push(plugin)
      warnOf(plugin, options.logger)
    } catch (error) {
      problems.push(...problemsOf(error).map((problem) => `${entry.use}: ${problem}`))
    }
  }
  problems.push(...conflicts(plugins))
  // A plugin that failed to load may be the one that offers the missing providers.
  if (problems.length === 0) problems.push(...missingProviders(plugins), ...missingSources(plugins))
  if (problems.length > 0) {
    await Promise.all(plugins.map(({ parts }) => parts.close()))
    throw new PluginError(problems)
  }
  return createRegistry(plugins)
}

function warnOf({ name, parts }: LoadedPlugin, logger: Pick<Logger, 'warn'>): void {
  for (const { profile } of parts.verifiers) {
    const { action, version } = profile
    for (const problem of profileWarnings(profile))
      logger.warn({ plugin: name, action, version, problem }, 'a profile may say what its author does not mean')
  }
}

interface Located {
  readonly located: PluginPackage
  readonly comesWithServer: boolean
}

async function locate(use: string, pluginDir: string, dataDir: string): Promise<Located> {
  const located = await locatePlugin(use, pluginDir, [dataDir])
  return { located, comesWithServer: await isShipped(located) }
}

/** Requires the plugin that signs the log to be named apart from those that read destinations: commands that do not read load it, too. */
function signingProblems({ signingBackend }: LoadedPlugin, isSigner: boolean): string[] {
  if (isSigner === (signingBackend !== undefined)) return []
  return isSigner
    ? ['it has no signing backend: name a plugin under signer that has one']
    : ['it has a signing backend: name it under signer, and not under plugins']
}

function problemsOf(error: unknown): readonly string[] {
  if (error instanceof PluginError) return error.problems
  return [error instanceof Error ? error.message : String(error)]
}

/**
 * Loads one plugin, trusted or into a process of its own.
 * @throws PluginError; Error for a failure of the plugin's own
 */
async function loadPlugin(
  entry: PluginEntry,
  { located, comesWithServer }: Located,
  types: ConnectionTypes,
  { dataDir, isolated, ...options }: LoadOptions & { readonly dataDir: string; readonly isolated: number },
): Promise<LoadedPlugin> {
  const { logger, now } = options
  const { trusted: isListed, isolation = 'full', memory_mib: memoryMib, processes, with: given } = entry
  if (isListed || comesWithServer) return loadInTime(given, located, types, { ...options, comesWithServer })
  const named = logger.child({ plugin: located.name ?? entry.use })
  const cells = pluginProcesses(processes, isolated)
  const { name, codeHash, parts } = await loadIsolated(located, {
    given,
    isolation,
    dataDir,
    memoryMib,
    cells,
    logger: named,
    now,
    types,
  })
  return {
    name,
    identity: { ...identityOf(name, located), codeHash },
    folder: located.root ?? dirname(located.entry),
    isolation: isolation === 'full' ? 'isolated' : 'open',
    parts,
    anchorer: undefined,
    signingBackend: undefined,
  }
}

interface TrustedOptions extends LoadOptions {
  /**
   * True for a plugin that comes with the server. The project's tests examined what it is: to do so again would take longer than all else that it
   * does at a start.
   */
  readonly comesWithServer: boolean
}

/**
 * Loads a trusted plugin within a time limit.
 * @throws as `loadTrusted` does; Error when it takes too long
 */
async function loadInTime(...given: Parameters<typeof loadTrusted>): Promise<LoadedPlugin> {
  const { setupTimeoutMs: limitMs = SETUP_TIMEOUT_MS } = given[3]
  const loading = loadTrusted(...given)
  try {
    return await withinTime(loading, limitMs, () => new Error(`its setup takes longer than ${limitMs} ms`))
  } catch (error) {
    // A plugin whose setup succeeds too late would run on, and keep the service from ending.
    void loading.then(({ parts }) => parts.close()).catch(() => {})
    throw error
  }
}

/**
 * Loads a trusted plugin.
 * @throws PluginError, and the plugin's own errors
 */
async function loadTrusted(
  given: PluginEntry['with'],
  located: PluginPackage,
  types: ConnectionTypes,
  { logger, now, comesWithServer }: TrustedOptions,
): Promise<LoadedPlugin> {
  const { default: plugin } = (await import(pathToFileURL(located.entry).href)) as { default?: unknown }
  if (!isPlugin(plugin)) throw new Error('its default export is not the result of definePlugin')
  if (!comesWithServer) refuse(definitionProblems(plugin))
  refuse(optionsProblems(plugin, given))
  const { name, manifest } = plugin
  const named = createPluginLogger({ logger: logger.child({ plugin: name }), now })
  const made = await plugin.setup({ logger: named }, given as never)
  if (!comesWithServer) refuse(partsProblems(made))
  return {
    name,
    identity: identityOf(name, located),
    folder: located.root ?? dirname(located.entry),
    isolation: 'trusted',
    parts: inProcess(made, types, { manifest, reach: reachOf(manifest, given, true), logger: named, now }),
    anchorer: made.anchorer,
    signingBackend: made.signingBackend,
  }
}

function identityOf(name: string, located: PluginPackage): LoadedPlugin['identity'] {
  return { package: located.name ?? name, version: located.version, codeHash: located.codeHash }
}
