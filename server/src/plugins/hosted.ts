/** The functions of a plugin as the service calls them, wherever it runs. Every call is awaited, gets copies, and returns what nobody has checked yet. */

import type { Pace } from '@claimcheck/core/hosting'
import type {
  ActionProfile,
  AnonymousSource,
  CheckLimits,
  Claim,
  Connection,
  ConnectionType,
  Manifest,
  PreviousRead,
} from '@claimcheck/core/plugin'
import type { JsonObject } from '@claimcheck/core/rules'
import { defined } from '../base/pick.ts'
import type { CheckRequests, Reach } from '../outbound/outbound.ts'

/** The workspace that a call is for. An isolated plugin works for each in another process. */
export interface Tenant {
  readonly workspaceId: string
  /** Pays for what the workspace uses. */
  readonly payer: string
  /** `deciding`: a check that decides its claim; `brief`: a function that asks nothing of the host. Both may use places that are kept. */
  readonly urgency?: 'deciding' | 'brief'
}

/** One check, as the service hands it to a plugin. */
export interface CheckCall {
  readonly claim: Claim
  /** The connection with its secrets, which do not reach the plugin. */
  readonly connection: Connection | null
  readonly previous: readonly PreviousRead[]
  readonly requests: CheckRequests
  /** Aborts when the check's time is over. Creating its signal costs, so it is read late. */
  readonly timer: Pick<AbortController, 'signal'>
  readonly tenant: Tenant
  /** The origin of the destination. */
  readonly origin: string
}

export interface HostedVerifier {
  readonly profile: ActionProfile
  /** The connection types through which it can read. */
  readonly providers: readonly string[]
  readonly limits: CheckLimits
  readonly reach: Reach
  /** Slows its reads, together with all else of its plugin; no limit, when left out. */
  readonly pace?: Pace
  readonly anonymousSource?: (claim: Claim, tenant: Tenant) => Promise<AnonymousSource | undefined>
  readonly destination?: (claim: Claim, connection: Connection, tenant: Tenant) => Promise<string>
  readonly normalize?: (claim: Normalizable, tenant: Tenant) => Promise<unknown>
  check(call: CheckCall): Promise<unknown>
}

export type Normalizable = Pick<Claim, 'target' | 'params'>

type ConnectionData = Pick<
  ConnectionType,
  'provider' | 'title' | 'options' | 'credentials' | 'help' | 'trial' | 'refusesHidden'
>

/** Copies the data of a connection type, without its functions. */
export function connectionData(type: ConnectionData): ConnectionData {
  const { provider, title, options, credentials, help, trial, refusesHidden } = type
  return { provider, title, options, help, ...defined({ credentials, trial, refusesHidden }) }
}

export interface HostedConnectionType extends ConnectionData {
  readonly reach: Reach
  /** Slows its reads, as that of verifiers does. */
  readonly pace?: Pace
  /** The base address of a type whose options cannot choose it. */
  readonly onlyAddress: string | undefined
  baseUrl(options: JsonObject, tenant: Tenant): Promise<string>
  fits(options: JsonObject, claim: Claim, tenant: Tenant): Promise<boolean>
  /** @param call.target what is to be tried, where its `trial` asks for one */
  probe(
    options: JsonObject,
    call: Pick<CheckCall, 'requests' | 'timer' | 'tenant'> & { readonly target?: string | undefined },
  ): Promise<unknown>
}

/** Whose code it is. The receipt names it. */
export interface PluginIdentity {
  /** The package's name; the plugin's own, where it is a lone file. */
  readonly package: string
  readonly version: string | undefined
  /** The digest of its files: `sha256:<hex>`. */
  readonly codeHash: string
  /** It comes with the server, by its place and its digest. */
  readonly isShipped?: boolean
  /** The operator names it for a source, or trusts it. */
  readonly isNamed?: boolean
}

export interface PluginState {
  readonly status: 'running' | 'restarting' | 'stopped'
  readonly restarts: number
  /** Why a process ended last. */
  readonly lastEnd?: string
  /** The processes of a plugin that does not run in this one. */
  readonly cells?: CellsState
}

/** The processes of an isolated plugin, on this host. */
export interface CellsState {
  /** The most workspaces that it works for at a time. */
  readonly most: number
  /** The limit of all its processes together. */
  readonly memoryMib: number
  /** They take calls. */
  readonly running: number
  /** They work on calls now. */
  readonly working: number
  /** Calls that wait for a place. */
  readonly waiting: number
  readonly starts: number
  /** Ended, since another workspace needed the place or its memory, or after long idleness. */
  readonly evictions: number
}

/** The process of the plugin ended during a call. */
export class PluginEndedError extends Error {
  override readonly name = 'PluginEndedError'
  /** It worked on no other call. */
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
  /** Ends what it runs. */
  close(): Promise<void>
}
