/** Loads the configured plugins, and reports all their problems before the service starts. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ConnectionType, type Instant, isPlugin, type Logger, PLUGIN_API, type Plugin } from '@claimcheck/core'
import { withinTime } from '../base/time-limit.ts'
import { validator } from '../base/validation.ts'
import type { Config, PluginEntry } from '../config/config.ts'
import { inProcess } from './in-process.ts'
import { createPluginLogger } from './plugin-logger.ts'
import { partsProblems, pluginProblems } from './problems.ts'
import { reachOf } from './reach.ts'
import { conflicts, createRegistry, type LoadedPlugin, missingProviders, type Registry } from './registry.ts'

const SETUP_TIMEOUT_MS = 10_000

/** One of the plugins, or all of them together, cannot be used. */
export class PluginError extends Error {
  override readonly name = 'PluginError'
  readonly code = 'unusable_plugins'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(['The configured plugins cannot be used:', ...problems.map((problem) => `  ${problem}`)].join('\n'))
    this.problems = problems
  }
}

/** The host's logger, from which each plugin gets a child logger. */
export interface HostLogger extends Logger {
  child(bindings: Readonly<Record<string, unknown>>): Logger
}

interface LoadOptions {
  readonly logger: HostLogger
  readonly now: () => Instant
  readonly setupTimeoutMs?: number
}

/** @throws PluginError with all problems of all plugins */
export async function loadPlugins(
  { plugins: entries, pluginDir }: Pick<Config, 'plugins' | 'pluginDir'>,
  options: LoadOptions,
): Promise<Registry> {
  const { setupTimeoutMs: limitMs = SETUP_TIMEOUT_MS } = options
  const problems: string[] = []
  const plugins: LoadedPlugin[] = []
  // Of all plugins: one may read through the connections of another.
  const types: Types = (provider) =>
    plugins.flatMap(({ parts }) => parts.connections).find((type) => type.provider === provider)
  for (const entry of entries) {
    try {
      const expire = () => new Error(`its setup takes longer than ${limitMs} ms`)
      plugins.push(await withinTime(loadPlugin(entry, pluginDir, types, options), limitMs, expire))
    } catch (error) {
      const found =
        error instanceof PluginError ? error.problems : [error instanceof Error ? error.message : String(error)]
      problems.push(...found.map((problem) => `${entry.use}: ${problem}`))
    }
  }
  problems.push(...conflicts(plugins))
  // A plugin that failed to load may be the one that offers a missing provider.
  if (problems.length === 0) problems.push(...missingProviders(plugins))
  if (problems.length > 0) {
    await Promise.all(plugins.map(({ parts }) => parts.close()))
    throw new PluginError(problems)
  }
  return createRegistry(plugins)
}

type Types = (provider: string) => Pick<ConnectionType, 'options'> | undefined

/** @throws PluginError, Error */
async function loadPlugin(
  entry: PluginEntry,
  folder: string,
  types: Types,
  { logger, now }: LoadOptions,
): Promise<LoadedPlugin> {
  const { default: plugin } = await importFrom(folder, entry.use)
  if (!isPlugin(plugin)) throw new Error('its default export is not the result of definePlugin')
  checkDefinition(plugin, entry.with)
  const pluginLogger = createPluginLogger({ logger: logger.child({ plugin: plugin.name }), now })
  const parts = await plugin.setup({ logger: pluginLogger, now }, entry.with as never)
  refuse(partsProblems(parts))
  const { name, manifest } = plugin
  return {
    name,
    identity: { package: name, version: undefined, codeHash: '' },
    isolation: 'trusted',
    parts: inProcess(parts, types, { manifest, reach: reachOf(manifest, entry.with, true), logger: pluginLogger, now }),
    anchorer: parts.anchorer,
  }
}

/** @throws PluginError */
function checkDefinition(plugin: Plugin, given: PluginEntry['with']): void {
  if (plugin.api !== PLUGIN_API) {
    throw new Error(`it needs plugin api ${plugin.api}; this version of the service has api ${PLUGIN_API}`)
  }
  refuse(pluginProblems(plugin))
  refuse(validator(plugin.options)(given, ['with']).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`))
}

/** @throws PluginError */
function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new PluginError(problems)
}

/** Resolves the module as code in the folder of the configuration file would. */
async function importFrom(folder: string, use: string): Promise<{ default?: unknown }> {
  let path: string
  try {
    path = createRequire(join(folder, 'claimcheck.config.json')).resolve(use)
  } catch (cause) {
    throw new Error(`it is not installed: install it in the folder of the configuration file, ${folder}`, { cause })
  }
  return import(pathToFileURL(path).href)
}
