/** Finds by name what the loaded plugins offer, and tells which offers do not go together. */

import { hostOptionProblems } from '@claimcheck/core/hosting'
import type { ActionProfile, Anchorer, SigningBackend } from '@claimcheck/core/plugin'
import { canonicalize } from '@claimcheck/core/receipts'
import type { JsonObject, JsonValue } from '@claimcheck/core/rules'
import type { HostedConnectionType, HostedParts, HostedVerifier, PluginIdentity } from './hosted.ts'
import { isStranger } from './identity.ts'

/**
 * The place in which a plugin runs. `trusted`: in this process. `isolated`: in a process of its own. `open`: in one without a sandbox around it, by
 * the configuration.
 */
export type Isolation = 'trusted' | 'isolated' | 'open'

export interface LoadedPlugin {
  readonly name: string
  readonly identity: PluginIdentity
  /** The folder of the plugin's code. */
  readonly folder: string
  readonly isolation: Isolation
  readonly parts: HostedParts
  readonly anchorer: Anchorer | undefined
  readonly signingBackend: SigningBackend | undefined
}

/** An action in one version. Several plugins may read it, each through its own providers. */
export interface RegisteredVerifier {
  /** The verifier of the first plugin; the profiles of the others are equal. */
  readonly verifier: HostedVerifier
  /** The providers whose connections can read a claim of this action; an alias may accept fewer than its action. */
  readonly providers: readonly string[]
  /** The reader of claims without a connection. */
  readonly anonymous: Reader | undefined
  readonly byProvider: ReadonlyMap<string, Reader>
}

export interface Reader {
  readonly verifier: HostedVerifier
  readonly plugin: LoadedPlugin
}

export type Registry = ReturnType<typeof createRegistry>

/** Finds offers that would leave open which plugin is meant, or take from one what it reads. */
export function conflicts(plugins: readonly LoadedPlugin[]): string[] {
  const problems: string[] = []
  const owners = new Map<string, LoadedPlugin>()
  const claim = (plugin: LoadedPlugin, offer: string) => {
    const owner = owners.get(offer)
    if (owner !== undefined) problems.push(`${nameOf(plugin)}: ${nameOf(owner)} already offers the ${offer}`)
    else owners.set(offer, plugin)
  }
  const profiles = new Map<string, { readonly profile: ActionProfile; readonly owner: LoadedPlugin }>()
  for (const plugin of plugins) {
    for (const offer of offersOf(plugin)) claim(plugin, offer)
    for (const { profile, providers, anonymousSource } of plugin.parts.verifiers) {
      const offer = `action ${profile.action} version ${profile.version}`
      const { owner, profile: other } = profiles.get(offer) ?? { owner: plugin, profile }
      profiles.set(offer, { owner, profile: other })
      // Several plugins may read one action, each its own providers, if all have the same profile.
      const difference = differenceOf(other, profile)
      if (difference !== undefined) {
        problems.push(`${plugin.name}: ${owner.name} already offers the ${offer}, with another ${difference}`)
        continue
      }
      for (const provider of providers) claim(plugin, `${offer} at ${provider}`)
      if (anonymousSource) claim(plugin, `${offer} without a connection`)
    }
  }
  return [...problems, ...foreignNames(plugins), ...olderVersions(plugins), ...strayHosts(plugins)]
}

/** Lists the offers that one plugin alone may make, beside its actions. */
function offersOf({ name, parts, anchorer }: LoadedPlugin): string[] {
  const providers = parts.connections.map(({ provider }) => `provider ${provider}`)
  return [`plugin ${name}`, ...providers, ...(anchorer ? ['anchorer'] : [])]
}

/** Finds hosts in manifests that name no option of the connections that the plugin offers or reads through. */
function strayHosts(plugins: readonly LoadedPlugin[]): string[] {
  const types = new Map(plugins.flatMap(({ parts }) => parts.connections.map((type) => [type.provider, type])))
  return plugins.flatMap((plugin) => {
    const { verifiers, connections, manifest } = plugin.parts
    const read = verifiers.flatMap(({ providers }) => providers.flatMap((provider) => types.get(provider) ?? []))
    const problems = hostOptionProblems(manifest, [...connections, ...read])
    return problems.map((problem) => `${nameOf(plugin)}: the plugin.manifest.hosts: ${problem}`)
  })
}

/** Names a plugin with its package, which is what the operator lists: two plugins can have one name. */
function nameOf({ name, identity }: LoadedPlugin): string {
  return identity.package === name ? name : `${name} (${identity.package})`
}

/** Finds names that stand for different actions: a name is for one action, in all its versions. */
function foreignNames(plugins: readonly LoadedPlugin[]): string[] {
  const meant = new Map<string, { readonly action: string; readonly plugin: string }>()
  return plugins.flatMap((owner) =>
    owner.parts.verifiers.flatMap(({ profile: { action, aliases = {} } }) =>
      [...new Set([action, ...Object.keys(aliases)])].flatMap((name) => {
        const plugin = nameOf(owner)
        const known = meant.get(name) ?? { action, plugin }
        meant.set(name, known)
        // An alias that is the action itself would be read through fewer providers.
        const isClear = known.action === action && !Object.hasOwn(aliases, action)
        return isClear ? [] : [`${plugin}: ${known.plugin} already offers the action ${name}`]
      }),
    ),
  )
}

/**
 * Finds actions of which a plugin has older versions only. The newest version of an action takes all new claims. A plugin that lacks it would read
 * none of them, without a word. Older versions are for claims that wait still: a plugin may lack those.
 */
function olderVersions(plugins: readonly LoadedPlugin[]): string[] {
  const newest = new Map<string, { readonly version: number; readonly plugin: string }>()
  const read = plugins.flatMap(({ name: plugin, parts }) => {
    const own = new Map<string, number>()
    for (const { profile } of parts.verifiers) {
      own.set(profile.action, Math.max(Number(profile.version), own.get(profile.action) ?? 0))
    }
    return [...own].map(([action, version]) => ({ plugin, action, version }))
  })
  for (const { plugin, action, version } of read) {
    const known = newest.get(action)
    if (known === undefined || version > known.version) newest.set(action, { version, plugin })
  }
  return read.flatMap(({ plugin, action, version }) => {
    const { version: last, plugin: owner } = newest.get(action)!
    return version === last
      ? []
      : [
          `${plugin}: ${owner} offers version ${last} of the action ${action}, which takes all new claims; it has version ${version}`,
        ]
  })
}

/** Finds the first member in which two profiles differ. */
function differenceOf(one: ActionProfile, other: ActionProfile): string | undefined {
  if (one === other) return undefined
  const [first, second] = [one, other].map((profile) => JSON.parse(JSON.stringify(profile)) as JsonObject)
  const text = (value: JsonValue | undefined) => (value === undefined ? '' : canonicalize({ value }))
  const names = [...new Set([...Object.keys(first!), ...Object.keys(second!)])].sort()
  return names.find((name) => text(first![name]) !== text(second![name]))
}

/** Finds actions that by their profile can be read without a connection, where no plugin says at which address. Receipts name that address. */
export function missingSources(plugins: readonly LoadedPlugin[]): string[] {
  const read = plugins.flatMap(({ name, parts }) => parts.verifiers.map((verifier) => ({ name, verifier })))
  const sameAs = (action: string, version: string) =>
    read.filter(({ verifier: { profile } }) => profile.action === action && profile.version === version)
  return read.flatMap(({ name, verifier: { profile } }) => {
    const { action, version, access } = profile
    const readers = sameAs(action, version)
    if (!access.anonymous || readers[0]!.name !== name || readers.some(({ verifier }) => verifier.anonymousSource))
      return []
    return [
      `${name}: no plugin has the anonymousSource of the action ${action} version ${version}, whose profile is read without a connection, too`,
    ]
  })
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

/**
 * Makes the registry.
 * @param plugins in the order of the configuration
 */
export function createRegistry(plugins: readonly LoadedPlugin[]) {
  // Verifiers are found by action or alias, and by version: the newest version takes new claims, the others judge those that were submitted under
  // them.
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

  const known = new Set(
    plugins
      .filter(({ identity }) => !isStranger(identity))
      .flatMap(({ parts }) => parts.verifiers.map(({ profile }) => `${profile.action} ${profile.version}`)),
  )
  const newest = new Map([...verifiers].map(([action, versions]) => [action, newestOf(versions)]))
  // Each profile counts once, also under its aliases.
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
    signingBackend: plugins.find(({ signingBackend }) => signingBackend)?.signingBackend,
    /**
     * Finds the verifier of an action.
     * @param version the version of the profile; by default the newest, which takes new claims
     */
    verifierFor: (action: string, version?: string): RegisteredVerifier | undefined =>
      version === undefined ? newest.get(action) : verifiers.get(action)?.get(version),
    connectionType: (provider: string) => types.get(provider),
    /** Finds the plugin that offers the connection type of a provider. */
    offeredBy: (provider: string) =>
      plugins.find(({ parts }) => parts.connections.some((type) => type.provider === provider))?.identity,
    /** Lists the connection types in the order of the plugins. */
    connectionTypes: (): readonly HostedConnectionType[] => [...types.values()],
    /** Lists the newest profile of each action. */
    profiles: (): readonly ActionProfile[] => current.map(({ verifier }) => verifier.profile),
    /** Lists every loaded version of each action's profile. */
    allProfiles: (): readonly ActionProfile[] => everyVersion.map(({ verifier }) => verifier.profile),
    /** Tells whether only strangers have a profile: plugins that do not come with the server, and that the operator does not name. */
    isForeign: ({ action, version }: Pick<ActionProfile, 'action' | 'version'>) => !known.has(`${action} ${version}`),
    /** Lists the actions that can be verified through a connection of this provider. */
    actionsFor: (provider: string): readonly string[] =>
      current.filter(({ providers }) => providers.includes(provider)).map(({ verifier }) => verifier.profile.action),
    /** Lists other names under which actions can be claimed through a connection of this provider. */
    aliasesFor: (provider: string): readonly string[] =>
      [...newest]
        .filter(([name, { verifier, providers }]) => name !== verifier.profile.action && providers.includes(provider))
        .map(([name]) => name),
    /** Lists other names under which the public actions can be claimed. */
    publicAliases: (): readonly string[] =>
      [...newest]
        .filter(([name, { verifier, anonymous }]) => name !== verifier.profile.action && isPublic(verifier, anonymous))
        .map(([name]) => name),
    /** Lists the actions that can be verified without a connection. */
    publicActions: (): readonly string[] =>
      current
        .filter(({ verifier, anonymous }) => isPublic(verifier, anonymous))
        .map(({ verifier }) => verifier.profile.action),
  }
}

function isPublic({ profile }: HostedVerifier, anonymous: Reader | undefined): boolean {
  return profile.access.anonymous && anonymous !== undefined
}

function newestOf(versions: ReadonlyMap<string, RegisteredVerifier>): RegisteredVerifier {
  const [first, ...others] = versions.values()
  return others.reduce(
    (one, other) => (Number(other.verifier.profile.version) > Number(one.verifier.profile.version) ? other : one),
    first!,
  )
}

/** Lists the readers that may read a claim of a workspace with connections of these providers; all readers, if none may. */
export function possibleReaders(registered: RegisteredVerifier, providers: readonly string[]): readonly Reader[] {
  const { byProvider, anonymous, verifier } = registered
  const own = providers.flatMap((provider) => byProvider.get(provider) ?? [])
  const possible = verifier.profile.access.anonymous && anonymous ? [...own, anonymous] : own
  return [...new Set(possible.length > 0 ? possible : byProvider.values())]
}

/** Finds the reader of a claim through a connection of this provider; null stands for no connection. */
export function readerOf(registered: RegisteredVerifier, provider: string | null): Reader | undefined {
  return provider === null ? registered.anonymous : registered.byProvider.get(provider)
}
