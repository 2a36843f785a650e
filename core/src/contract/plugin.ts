/** The contract of a plugin: its manifest, its options, and the parts that it adds to an installation. */
import type { Static, TObject } from 'typebox'
import type { Anchorer } from '../anchor/anchorer.ts'
import type { SigningBackend } from '../signing/backend.ts'
import type { ConnectionType } from './connection.ts'
import type { SocketGrant } from './socket.ts'
import type { Logger, Verifier } from './verifier.ts'

/** The version of the contract. A host loads plugins of this version only. */
export const PLUGIN_API = 3

/** Says of a plugin for another version of the contract what its user and its author can do. @returns undefined for this version */
export function apiProblem(api: unknown): string | undefined {
  if (api === PLUGIN_API) return undefined
  const remedy =
    Number(api) > PLUGIN_API
      ? 'update the service'
      : 'install a newer version of the plugin, or change it by "From API 2 to 3" in plugins/README.md'
  return `is for plugin API ${api}, and this is API ${PLUGIN_API}: ${remedy}`
}

/** Everything that a plugin may reach. Operators see it, and the host refuses everything else. */
export interface Manifest {
  /**
   * Hosts that the plugin may ask: names such as `api.example.com` or `*.example.com`; `connection.<name>` for the address that a workspace typed
   * into that option of its connection, with its scheme and port; `options.<name>` for the address in that option of the operator's; `target`
   * for any public host that a claim names, which gets no credentials. An entry without a port means the usual one; of sockets, those in
   * `sockets`.
   */
  readonly hosts: readonly string[]
  /**
   * Hosts at which the host exchanges the credentials of connections for tokens, besides the destination itself. They are named as in
   * `hosts`, without `target`. The plugin cannot ask them.
   */
  readonly tokenHosts?: readonly string[]
  /** Calls that the plugin may send besides GET and HEAD, because they only read. */
  readonly methods?: {
    /** The names of methods of JSON-RPC 2.0. */
    readonly jsonRpc?: readonly string[]
    /** The texts of GraphQL queries. */
    readonly graphql?: readonly string[]
    /** The methods of WebDAV that only read. */
    readonly dav?: readonly DavMethod[]
    /** The paths of the URLs that take calls of JSON-RPC and GraphQL, such as `/graphql`. Defaults to the base address itself. */
    readonly paths?: readonly string[]
  }
  /**
   * The TCP ports at which the plugin speaks another protocol than HTTP, and everything that it may say there. One entry for a port with, and
   * without, TLS; and one each for `connection`, the port that a workspace typed.
   */
  readonly sockets?: readonly SocketGrant[]
  /** The programs that the plugin starts, such as `git`. Only a plugin that the operator trusts may start any. */
  readonly programs?: readonly string[]
}

export interface DavMethod {
  /** The name by which a check calls the method. */
  readonly name: string
  readonly method: 'PROPFIND' | 'REPORT'
  /** The path below the base address, such as `/calendars/*`, where `*` at the end stands for every path below. */
  readonly path: string
  readonly depth: '0' | '1'
  /** XML with `{name}` in the place of a parameter, in the text of an element or in the value of an attribute. */
  readonly body: string
}

/** Everything that a plugin gets from the host. */
export interface PluginHost {
  readonly logger: Logger
}

export interface PluginParts {
  readonly verifiers?: readonly Verifier[]
  readonly connections?: readonly ConnectionType[]
  /** The plugin's anchorer. Only one of an installation's plugins may have one, and the operator must trust it. */
  readonly anchorer?: Anchorer
  /** The plugin's signing backend. Only the plugin that the configuration names as `signer` has one, and the operator trusts it. */
  readonly signingBackend?: SigningBackend
  /** Ends what the plugin holds open. The host calls it once as it stops, after the last check. */
  close?(): Promise<void>
}

export interface Plugin<O extends TObject = TObject> {
  readonly name: string
  readonly api: typeof PLUGIN_API
  readonly manifest: Manifest
  /** The schema of the options that the configuration gives the plugin under `with`. */
  readonly options: O
  setup(host: PluginHost, options: Static<O>): PluginParts | Promise<PluginParts>
}

// A registered symbol, because a plugin can be installed with another copy of core: instanceof would fail.
const PLUGIN_TAG = Symbol.for('claimcheck.plugin')

/** Marks a plugin. A plugin's package has the result as its default export. */
export function definePlugin<O extends TObject>(plugin: Plugin<O>): Plugin<O> {
  return Object.assign(plugin, { [PLUGIN_TAG]: true })
}

export function isPlugin(value: unknown): value is Plugin {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[PLUGIN_TAG] === true
}
