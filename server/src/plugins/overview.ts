/** Describes a loaded plugin for operators and owners: its package, where it runs, how it fares, what it may reach, what it verifies. */
import type { Manifest, SocketGrant } from '@claimcheck/core/hosting'
import type { Statement } from '@claimcheck/core/plugin'
import type { CellsState, PluginState } from './hosted.ts'
import { nameInReceipts } from './identity.ts'
import type { Isolation, LoadedPlugin } from './registry.ts'

export interface PluginOverview {
  readonly name: string
  readonly package: string
  readonly version: string | undefined
  /** The digest of the plugin's code, as receipts write it. */
  readonly codeHash: string | undefined
  readonly isolation: Isolation
  readonly state: PluginState
  readonly manifest: Manifest
  readonly actions: readonly { readonly action: string; readonly version: string; readonly title: string }[]
  /** The connections that the plugin offers. */
  readonly connections: readonly { readonly provider: string; readonly title: string }[]
  /** The connections through which the plugin reads, its own and those of other plugins. */
  readonly readsThrough: readonly string[]
  /** The chain on which the plugin anchors the log. */
  readonly chain: string | undefined
  /** The place of the keys with which the plugin signs the log. */
  readonly signsWith: string | undefined
}

export function overviewOf({
  name,
  identity,
  isolation,
  parts,
  anchorer,
  signingBackend,
}: LoadedPlugin): PluginOverview {
  const { verifiers, connections, manifest } = parts
  const { version, codeHash, ...named } = nameInReceipts(identity)
  return {
    name,
    package: named.package,
    version,
    codeHash,
    isolation,
    state: parts.state(),
    manifest,
    actions: verifiers.map(({ profile }) => ({
      action: profile.action,
      version: profile.version,
      title: profile.words.title,
    })),
    connections: connections.map(({ provider, title }) => ({ provider, title })),
    readsThrough: [...new Set(verifiers.flatMap(({ providers }) => providers))],
    chain: anchorer?.chain,
    signsWith: signingBackend?.name,
  }
}

export const ISOLATION_WORDS: Readonly<Record<Isolation, string>> = {
  trusted: 'Runs inside the service: the operator trusts it with everything that the service has.',
  isolated:
    'Runs in a sandbox of its own: it reaches nothing but what is listed here, and that only through the service.',
  open: 'Runs WITHOUT a sandbox around it, as the configuration says: nothing keeps it from the network, or from other programs of its user.',
}

const OPTION = 'options.'
const CONNECTION = 'connection.'

/** Writes the hosts of a manifest in words; empty for a plugin that asks none. */
export function hostWords({ hosts }: Pick<Manifest, 'hosts'>): string[] {
  return hosts.map((host) => {
    if (host.startsWith(CONNECTION)) return `the address that a workspace types as ${host.slice(CONNECTION.length)}`
    if (host === 'target') return 'any public host that a claim names'
    return host.startsWith(OPTION) ? `the address in its option ${host.slice(OPTION.length)}` : host
  })
}

/** Writes in words where the service exchanges the credentials of a plugin's connections for tokens. */
export function tokenHostWords({ tokenHosts = [] }: Pick<Manifest, 'tokenHosts'>): string[] {
  return hostWords({ hosts: tokenHosts })
}

/** Writes in words the methods that a plugin may use besides GET and HEAD. */
export function methodWords({ methods = {} }: Pick<Manifest, 'methods'>): string[] {
  const { jsonRpc = [], graphql = [], dav = [] } = methods
  return [
    ...jsonRpc.map((method) => `the JSON-RPC method ${method}`),
    ...graphql.map((query) => `the GraphQL query ${query.replace(/\s+/g, ' ').trim()}`),
    ...dav.map(({ method, path, body }) => `${method} at ${path} with ${body.replace(/\s+/g, ' ').trim()}`),
  ]
}

export function socketWords({ sockets = [] }: Pick<Manifest, 'sockets'>): string[] {
  return sockets.map((grant) => {
    const way = grant.tls === 'starttls' ? ', after STARTTLS' : ''
    const port = grant.port === 'connection' ? 'the port that a workspace types' : `port ${grant.port}`
    return `${port}, ${grant.tls === false ? 'without' : 'with'} TLS${way}, ${saysAt(grant)}`
  })
}

function saysAt(grant: SocketGrant): string {
  if ('statements' in grant) return `${grant.protocol}: ${grant.statements.map(statementWords).join(' | ')}`
  return `${grant.protocol}: ${grant.commands.join(', ') || 'no command'}`
}

function statementWords({ text, identifiers }: Statement): string {
  const words = text.replace(/\s+/g, ' ').trim()
  return identifiers ? `${words}, with any base table and its columns in the places` : words
}

/** Writes one line for each plugin that takes no checks now, without any text of the plugin's own: everybody reads it. */
export function idlePlugins(plugins: readonly Pick<LoadedPlugin, 'name' | 'parts'>[]): string[] {
  return plugins.flatMap(({ name, parts }) => {
    const { status, lastEnd } = parts.state()
    const reason = lastEnd === undefined ? '' : ` (${lastEnd})`
    return status === 'running' ? [] : [`the plugin ${name} does not run${reason}: its claims wait`]
  })
}

/** Writes the state of a plugin in words. */
export function stateWords({ status, restarts, lastEnd, cells }: PluginState): string {
  const often = restarts === 0 ? 'no restarts' : `${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`
  const ended = lastEnd === undefined ? '' : `; it ended last because: ${lastEnd}`
  return `${status}, ${often}${ended}${cells ? `; ${cellWords(cells)}` : ''}`
}

function cellWords({ most, running, working, starts, evictions }: CellsState): string {
  const processes = `${running} ${running === 1 ? 'process' : 'processes'}, ${working} at work of at most ${most}`
  return `${processes}; ${starts} started, ${evictions} ended for others or idle`
}

/** Lists what a plugin is and may do, in words. */
export function factsOf(plugin: PluginOverview): readonly (readonly [label: string, words: string | undefined])[] {
  const { version, codeHash, isolation, state, manifest, actions, connections, readsThrough, chain, signsWith } = plugin
  const listed = (texts: readonly string[]) => (texts.length === 0 ? undefined : texts.join('; '))
  return [
    ['package', version === undefined ? plugin.package : `${plugin.package} ${version}`],
    ['digest', codeHash],
    ['runs', `${isolation}. ${ISOLATION_WORDS[isolation]}`],
    ['state', stateWords(state)],
    ['may ask', listed(hostWords(manifest)) ?? 'no host'],
    ['gets tokens at', listed(tokenHostWords(manifest))],
    ['may also send', listed(methodWords(manifest))],
    ['sockets', listed(socketWords(manifest))],
    ['programs', listed(manifest.programs ?? [])],
    ['verifies', listed(actions.map(({ action, version, title }) => `${title} (${action}, version ${version})`))],
    ['connects', listed(connections.map(({ provider, title }) => `${title} (${provider})`))],
    ['reads through', listed(readsThrough)],
    ['anchors on', chain],
    ['signs with', signsWith],
  ]
}
