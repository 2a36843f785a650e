/** Finds by name what the loaded plugins offer, and tells what of it does not go together. */
import { type ActionProfile, type Anchorer, canonicalize, type JsonObject } from '@claimcheck/core'
import type { HostedConnectionType, HostedParts, HostedVerifier, PluginIdentity } from './hosted.ts'

/** `trusted`: in this process. `isolated`: in a process of its own. `open`: the same without a sandbox around it, by the configuration. */
export type Isolation = 'trusted' | 'isolated' | 'open'

export interface LoadedPlugin {
  readonly name: string
  readonly identity: PluginIdentity
  /** Of its code. */
  readonly folder: string
  readonly isolation: Isolation
  readonly parts: HostedParts
  readonly anchorer: Anchorer | undefined
}

/** An action in one version. Several plugins may read it, each through its own providers. */
export interface RegisteredVerifier {
  /** Of the first plugin; the profiles of the others are equal. */
  readonly verifier: HostedVerifier
  /** The providers whose connections can read a claim of this action; an alias may accept fewer than its action. */
  readonly providers: readonly string[]
  /** Reads the claims without a connection. */
  readonly anonymous: Reader | undefined
  readonly byProvider: ReadonlyMap<string, Reader>
}

export interface Reader {
  readonly verifier: HostedVerifier
  readonly plugin: LoadedPlugin
}

export interface Registry {
  /** @param version of the profile; the newest, which takes new claims, when left out */
  verifierFor(action: string, version?: string): RegisteredVerifier | undefined
  connectionType(provider: string): HostedConnectionType | undefined
  /** In the order in which the plugins list them. */
  connectionTypes(): readonly HostedConnectionType[]
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

/** What would leave open which plugin is meant. */
export function conflicts(plugins: readonly LoadedPlugin[]): string[] {
  const problems: string[] = []
  const owners = new Map<string, LoadedPlugin>()
  const claim = (plugin: LoadedPlugin, offer: string) => {
    const owner = owners.get(offer)
    if (owner !== undefined) problems.push(`${nameOf(plugin)}: ${nameOf(owner)} already offers the ${offer}`)
    else owners.set(offer, plugin)
  }
  const profiles = new Map<string, ActionProfile>()
  for (const plugin of plugins) {
    claim(plugin, `plugin ${plugin.name}`)
    for (const { provider } of plugin.parts.connections) claim(plugin, `provider ${provider}`)
    if (plugin.anchorer) claim(plugin, 'anchorer')
    for (const { profile, providers, anonymousSource } of plugin.parts.verifiers) {
      for (const name of [profile.action, ...Object.keys(profile.aliases ?? {})]) {
        const action = `action ${name}`
        const other = profiles.get(`${name} ${profile.version}`)
        // Several plugins may read one action, each its own providers, if all mean the same by it.
        if (other && !isSame(other, profile)) {
          claim(plugin, action)
          continue
        }
        profiles.set(`${name} ${profile.version}`, profile)
        if (!other) owners.set(action, owners.get(action) ?? plugin)
        for (const provider of providers) claim(plugin, `${action} version ${profile.version} at ${provider}`)
        if (anonymousSource) claim(plugin, `${action} version ${profile.version} without a connection`)
      }
    }
  }
  return [...problems, ...foreignNames(plugins), ...foreignVersions(plugins)]
}

/** With its package, which is what the operator lists: two plugins can have one name. */
function nameOf({ name, identity }: LoadedPlugin): string {
  return identity.package === name ? name : `${name} (${identity.package})`
}

/** A name stands for one action, in all its versions. */
function foreignNames(plugins: readonly LoadedPlugin[]): string[] {
  const meant = new Map<string, { readonly action: string; readonly plugin: string }>()
  return plugins.flatMap((owner) =>
    owner.parts.verifiers.flatMap(({ profile: { action, aliases = {} } }) =>
      [action, ...Object.keys(aliases)].flatMap((name) => {
        const plugin = nameOf(owner)
        const known = meant.get(name) ?? { action, plugin }
        meant.set(name, known)
        return known.action === action ? [] : [`${plugin}: ${known.plugin} already offers the action ${name}`]
      }),
    ),
  )
}

/**
 * Of the plugins that read one action, one has every version of it: the newest version takes all new claims, and would take the action
 * away from a plugin that does not have it.
 */
function foreignVersions(plugins: readonly LoadedPlugin[]): string[] {
  const offers = new Map<string, Map<string, Set<string>>>()
  for (const { name, parts } of plugins) {
    for (const { profile } of parts.verifiers) {
      const byPlugin = offers.get(profile.action) ?? new Map<string, Set<string>>()
      offers.set(profile.action, byPlugin.set(name, (byPlugin.get(name) ?? new Set()).add(profile.version)))
    }
  }
  return [...offers].flatMap(([action, byPlugin]) => {
    const [owner, all] = [...byPlugin].reduce((one, other) => (other[1].size > one[1].size ? other : one))
    return [...byPlugin]
      .filter(([, versions]) => [...versions].some((version) => !all.has(version)))
      .map(([plugin]) => `${plugin}: ${owner} already offers the action ${action}, and not in all its versions`)
  })
}

function isSame(one: ActionProfile, other: ActionProfile): boolean {
  const text = (profile: ActionProfile) => canonicalize(JSON.parse(JSON.stringify(profile)) as JsonObject)
  return text(one) === text(other)
}

export function missingProviders(plugins: readonly LoadedPlugin[]): string[] {
  const offered = new Set(plugins.flatMap(({ parts }) => parts.connections).map(({ provider }) => provider))
  return plugins.flatMap((plugin) => {
    const read = new Set(plugin.parts.verifiers.flatMap(({ providers }) => providers))
    return [...read]
      .filter((provider) => !offered.has(provider))
      .map((provider) => `${nameOf(plugin)}: no plugin offers the provider ${provider}`)
  })
}

interface Growing extends RegisteredVerifier {
  anonymous: Reader | undefined
  providers: string[]
  readonly byProvider: Map<string, Reader>
}

export function createRegistry(plugins: readonly LoadedPlugin[]): Registry {
  // By action or alias, and by version: the newest version takes new claims, the others judge those that were submitted under them.
  const verifiers = new Map<string, Map<string, Growing>>()
  const types = new Map<string, HostedConnectionType>()

  function register(action: string, accepted: readonly string[], reader: Reader): void {
    const { verifier } = reader
    const versions = verifiers.get(action) ?? new Map<string, Growing>()
    verifiers.set(action, versions)
    const { version } = verifier.profile
    const known: Growing = versions.get(version) ?? {
      verifier,
      providers: [],
      anonymous: undefined,
      byProvider: new Map(),
    }
    versions.set(version, known)
    known.providers.push(...accepted)
    for (const provider of accepted) known.byProvider.set(provider, reader)
    if (verifier.anonymousSource) known.anonymous ??= reader
  }

  for (const plugin of plugins) {
    for (const type of plugin.parts.connections) types.set(type.provider, type)
    for (const verifier of plugin.parts.verifiers) {
      const { profile, providers } = verifier
      const reader = { verifier, plugin }
      register(profile.action, providers, reader)
      for (const [alias, only] of Object.entries(profile.aliases ?? {})) {
        register(
          alias,
          providers.filter((provider) => only.providers.includes(provider)),
          reader,
        )
      }
    }
  }

  const newest = new Map([...verifiers].map(([action, versions]) => [action, newestOf(versions)]))
  // Once, also under its aliases.
  const once = (all: Iterable<RegisteredVerifier>, name: (profile: ActionProfile) => string) => [
    ...new Map([...all].map((one) => [name(one.verifier.profile), one])).values(),
  ]
  const byAction = [...newest].filter(([name, { verifier }]) => name === verifier.profile.action).map(([, one]) => one)
  const current = once(byAction, ({ action }) => action)
  const everyVersion = once(
    [...verifiers.values()].flatMap((versions) => [...versions.values()]),
    ({ action, version }) => `${action} ${version}`,
  )
  return {
    plugins,
    anchorer: plugins.find(({ anchorer }) => anchorer)?.anchorer,
    verifierFor: (action, version) =>
      version === undefined ? newest.get(action) : verifiers.get(action)?.get(version),
    connectionType: (provider) => types.get(provider),
    connectionTypes: () => [...types.values()],
    profiles: () => current.map(({ verifier }) => verifier.profile),
    allProfiles: () => everyVersion.map(({ verifier }) => verifier.profile),
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

/** The verifier that reads a claim through a connection of this provider; null: without one. */
export function readerOf(registered: RegisteredVerifier, provider: string | null): Reader | undefined {
  return provider === null ? registered.anonymous : registered.byProvider.get(provider)
}

/** The registry of commands that run without plugins. */
export const EMPTY_REGISTRY: Registry = createRegistry([])
