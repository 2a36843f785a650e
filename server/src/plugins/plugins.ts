/** Loads the configured plugins, and reports all their problems before the service starts. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  type ActionProfile,
  type Anchorer,
  type CheckContext,
  type ConnectionType,
  type Instant,
  isPlugin,
  type Logger,
  type PluginParts,
  type Verifier,
} from '@claimcheck/core'
import { withinTime } from '../base/time-limit.ts'
import { validator } from '../base/validation.ts'
import type { Config, PluginEntry } from '../config/config.ts'
import { createCheckCache } from './check-cache.ts'
import { partsProblems, schemaProblem } from './problems.ts'

const API = 1
const SETUP_TIMEOUT_MS = 10_000

export interface RegisteredVerifier {
  readonly verifier: Verifier
  /** The providers whose connections can read a claim of this action; an alias may accept fewer than its action. */
  readonly providers: readonly string[]
  /** The plugin's logger and cache, which each check gets. */
  readonly tools: Pick<CheckContext, 'logger' | 'cache'>
}

/** Finds by name what the loaded plugins offer. */
export interface Registry {
  /** @param version of the profile; the newest, which takes new claims, when left out */
  verifierFor(action: string, version?: string): RegisteredVerifier | undefined
  connectionType(provider: string): ConnectionType | undefined
  /** In the order in which the plugins list them. */
  connectionTypes(): readonly ConnectionType[]
  /** The newest of each action. */
  profiles(): readonly ActionProfile[]
  /** Every version that is loaded. */
  allProfiles(): readonly ActionProfile[]
  /** The actions that can be verified through a connection of this provider. */
  actionsFor(provider: string): readonly string[]
  /** The actions that can be verified without a connection. */
  publicActions(): readonly string[]
  readonly anchorer: Anchorer | undefined
  /** In the order of the configuration. */
  readonly plugins: readonly LoadedPlugin[]
}

export interface LoadedPlugin {
  readonly name: string
  readonly parts: PluginParts
  readonly tools: Pick<CheckContext, 'logger' | 'cache'>
}

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
interface HostLogger extends Logger {
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
  for (const entry of entries) {
    try {
      const expire = () => new Error(`its setup takes longer than ${limitMs} ms`)
      const plugin = await withinTime(loadPlugin(entry, pluginDir, options), limitMs, expire)
      const wrong = partsProblems(plugin.parts)
      problems.push(...wrong.map((problem) => `${entry.use}: ${problem}`))
      if (wrong.length === 0) plugins.push(plugin)
    } catch (error) {
      problems.push(`${entry.use}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  problems.push(...duplicates(plugins))
  // A plugin that failed to load may be the one that offers a missing provider.
  if (problems.length === 0) problems.push(...missingProviders(plugins))
  if (problems.length > 0) throw new PluginError(problems)
  return createRegistry(plugins)
}

async function loadPlugin(entry: PluginEntry, folder: string, { logger, now }: LoadOptions): Promise<LoadedPlugin> {
  const { default: plugin } = await importFrom(folder, entry.use)
  if (!isPlugin(plugin)) throw new Error('its default export is not the result of definePlugin')
  if (plugin.api !== API)
    throw new Error(`it needs plugin api ${plugin.api}; this version of the service has api ${API}`)
  if (typeof plugin.name !== 'string' || plugin.name === '') throw new Error('it has no name')
  if (typeof plugin.setup !== 'function') throw new Error('it has no setup function')
  const wrongOptions = schemaProblem(plugin.options)
  if (wrongOptions !== undefined) throw new Error(`the schema of its options does not compile: ${wrongOptions}`)
  const issues = validator(plugin.options)(entry.with, ['with'])
  if (issues.length > 0) throw new Error(issues.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '))
  const tools = { logger: logger.child({ plugin: plugin.name }), cache: createCheckCache() }
  const parts = await plugin.setup({ logger: tools.logger, now }, entry.with as never)
  return { name: plugin.name, parts, tools }
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

function duplicates(plugins: readonly LoadedPlugin[]): string[] {
  const problems: string[] = []
  const owners = new Map<string, string>()
  for (const { name, parts } of plugins) {
    for (const offer of offersOf(name, parts)) {
      const owner = owners.get(offer)
      if (owner !== undefined) problems.push(`${name}: ${owner} already offers the ${offer}`)
      owners.set(offer, name)
    }
  }
  return problems
}

function offersOf(name: string, { connections = [], verifiers = [], anchorer }: PluginParts): string[] {
  // A name stands for one action, of which a plugin may offer several versions, each once.
  const named = verifiers.flatMap(({ profile: { action, aliases = {}, version } }) =>
    [action, ...Object.keys(aliases)].map((name) => ({ name, action, version })),
  )
  const actions = new Map(
    named.map(({ name, action, version }, index) => {
      const again = named.slice(0, index).filter((one) => one.name === name && one.version === version).length
      return [`${name} ${action} ${again}`, name]
    }),
  )
  return [
    `plugin ${name}`,
    ...connections.map(({ provider }) => `provider ${provider}`),
    ...[...actions.values()].map((action) => `action ${action}`),
    ...(anchorer ? ['anchorer'] : []),
  ]
}

function missingProviders(plugins: readonly LoadedPlugin[]): string[] {
  const offered = new Set(plugins.flatMap(({ parts }) => parts.connections ?? []).map(({ provider }) => provider))
  return plugins.flatMap(({ name, parts }) => {
    const read = new Set((parts.verifiers ?? []).flatMap(({ providers }) => providers))
    return [...read]
      .filter((provider) => !offered.has(provider))
      .map((provider) => `${name}: no plugin offers the provider ${provider}`)
  })
}

function createRegistry(plugins: readonly LoadedPlugin[]): Registry {
  // By action or alias, and by version: the newest version takes new claims, the others judge those that were submitted under them.
  const verifiers = new Map<string, Map<string, RegisteredVerifier>>()
  const types = new Map<string, ConnectionType>()
  const profiles: ActionProfile[] = []

  function register(action: string, registered: RegisteredVerifier): void {
    const versions = verifiers.get(action) ?? new Map<string, RegisteredVerifier>()
    versions.set(registered.verifier.profile.version, registered)
    verifiers.set(action, versions)
  }

  for (const { parts, tools } of plugins) {
    for (const type of parts.connections ?? []) types.set(type.provider, type)
    for (const verifier of parts.verifiers ?? []) {
      const { profile, providers } = verifier
      profiles.push(profile)
      register(profile.action, { verifier, providers, tools })
      for (const [alias, only] of Object.entries(profile.aliases ?? {})) {
        const accepted = providers.filter((provider) => only.providers.includes(provider))
        register(alias, { verifier, providers: accepted, tools })
      }
    }
  }

  const newest = new Map([...verifiers].map(([action, versions]) => [action, newestOf(versions)]))
  const current = [...newest.values()].filter(
    (one, index, all) => all.findIndex(({ verifier }) => verifier === one.verifier) === index,
  )
  return {
    plugins,
    anchorer: plugins.find(({ parts }) => parts.anchorer)?.parts.anchorer,
    verifierFor: (action, version) =>
      version === undefined ? newest.get(action) : verifiers.get(action)?.get(version),
    connectionType: (provider) => types.get(provider),
    connectionTypes: () => [...types.values()],
    profiles: () => current.map(({ verifier }) => verifier.profile),
    allProfiles: () => profiles,
    actionsFor: (provider) =>
      current.filter(({ providers }) => providers.includes(provider)).map(({ verifier }) => verifier.profile.action),
    publicActions: () =>
      current
        .filter(({ verifier }) => verifier.profile.access.anonymous)
        .map(({ verifier }) => verifier.profile.action),
  }
}

function newestOf(versions: ReadonlyMap<string, RegisteredVerifier>): RegisteredVerifier {
  const [first, ...others] = versions.values()
  return others.reduce(
    (one, other) => (Number(other.verifier.profile.version) > Number(one.verifier.profile.version) ? other : one),
    first!,
  )
}

/** The registry of commands that run without plugins. */
export const EMPTY_REGISTRY: Registry = createRegistry([])
