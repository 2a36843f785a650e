/**
 * The functions of a plugin as the service calls them, wherever it runs. Every call is awaited, gets copies, and returns a result that nobody has
 * checked yet.
 */

import type { AnonymousSource, CheckLimits, Manifest, Pace } from '@claimcheck/core/hosting'
import type { ActionProfile, Claim, Connection, ConnectionType, PreviousRead } from '@claimcheck/core/plugin'
import type { JsonObject } from '@claimcheck/core/rules'
import { defined } from '../base/pick.ts'
import type { CheckRequests, Reach } from '../outbound/outbound.ts'

/** The workspace for which a plugin is called. An isolated plugin works for each in another process. */
export interface Tenant {
  readonly workspaceId: string
  readonly payer: string
  /**
   * The urgency of the call: `deciding` for a check that decides its claim, `brief` for a function that asks nothing of the host. Both may use places
   * that are kept.
   */
  readonly urgency?: 'deciding' | 'brief'
}

/** One check, as the service hands it to a plugin. */
export interface CheckCall {
  readonly claim: Claim
  /** The connection with its secrets, which stay from the plugin. */
  readonly connection: Connection | null
  readonly previous: readonly PreviousRead[]
  readonly requests: CheckRequests
  /** The controller that aborts when the check's time is over. Creating its signal costs, so it is read late. */
  readonly timer: Pick<AbortController, 'signal'>
  readonly tenant: Tenant
  /** The origin of the claim's destination. */
  readonly origin: string
}

export interface HostedVerifier {
  readonly profile: ActionProfile
  /** The connection types through which the verifier can read. */
  readonly providers: readonly string[]
  readonly limits: CheckLimits
  readonly reach: Reach
  /** Slows the verifier's reads, together with all other reads of its plugin; no limit, when left out. */
  readonly pace?: Pace
  readonly anonymousSource?: (claim: Claim, tenant: Tenant) => Promise<AnonymousSource | undefined>
  readonly destination?: (claim: Claim, connection: Connection, tenant: Tenant) => Promise<string>
  readonly normalize?: (claim: Normalizable, tenant: Tenant) => Promise<unknown>
  check(call: CheckCall): Promise<unknown>
}

export type Normalizable = Pick<Claim, 'target' | 'params'>

type ConnectionData = Pick<
  ConnectionType,
  'provider' | 'title' | 'options' | 'credentials' | 'help' | 'trial' | 'hints' | 'refusesHidden' | 'identified'
>

/** Copies the data of a connection type, without its functions. */
export function connectionData(type: ConnectionData): ConnectionData {
  const { provider, title, options, credentials, help, trial, hints, refusesHidden, identified } = type
  return { provider, title, options, help, ...defined({ credentials, trial, hints, refusesHidden, identified }) }
}

export interface HostedConnectionType extends ConnectionData {
  readonly reach: Reach
  /** Slows the reads of probes, together with all other reads of the plugin; no limit, when left out. */
  readonly pace?: Pace
  /** The base address of a type whose options cannot choose it. */
  readonly onlyAddress: string | undefined
  baseUrl(options: JsonObject, tenant: Tenant): Promise<string>
  fits(options: JsonObject, claim: Claim, tenant: Tenant): Promise<boolean>
  /**
   * Tries a connection.
   * @param call.target the target to try, if the type's `trial` asks for one
   */
  probe(
    options: JsonObject,
    call: Pick<CheckCall, 'requests' | 'timer' | 'tenant'> & { readonly target?: string | undefined },
  ): Promise<unknown>
}

/** The package of a plugin, which receipts name. */
export interface PluginIdentity {
  /** The package's name; for a lone file, the plugin's own. */
  readonly package: string
  readonly version: string | undefined
  /** The digest of the plugin's files: `sha256:<hex>`. */
  readonly codeHash: string
  /** True if the plugin comes with the server, by its place and its digest. */
  readonly isShipped?: boolean
  /** True if the operator names the plugin for a source, or trusts it. */
  readonly isNamed?: boolean
}

export interface PluginState {
  readonly status: 'running' | 'restarting' | 'stopped'
  readonly restarts: number
  /** The reason that a process of the plugin ended last. */
  readonly lastEnd?: string
  /** The state of the processes of a plugin that does not run in this one. */
  readonly cells?: CellsState
}

/** The state of an isolated plugin's processes on this host. */
export interface CellsState {
  /** The most workspaces that the plugin works for at a time. */
  readonly most: number
  /** The limit of all processes of the plugin together. */
  readonly memoryMib: number
  /** The number of processes that take calls. */
  readonly running: number
  /** The number of processes that work on calls now. */
  readonly working: number
  /** The number of calls that wait for a place. */
  readonly waiting: number
  readonly starts: number
  /** The number of processes that ended because another workspace needed their place or memory, or after long idleness. */
  readonly evictions: number
}

/** An error that says that the process of the plugin ended during a call. */
export class PluginEndedError extends Error {
  override readonly name = 'PluginEndedError'
  /** True if the process worked on no other call. */
  readonly wasAlone: boolean

  constructor(message: string, wasAlone: boolean) {
    super(message)
    this.wasAlone = wasAlone
  }
}

/** A plugin that runs in this process, or in one of its own. */
export interface HostedParts {
  readonly verifiers: readonly HostedVerifier[]
  readonly connections: readonly HostedConnectionType[]
  readonly manifest: Manifest
  state(): PluginState
  /** Tells whether the plugin takes calls for this workspace now. */
  isRunningFor(workspaceId: string): boolean
  /** Ends everything that the plugin runs. */
  close(): Promise<void>
}
