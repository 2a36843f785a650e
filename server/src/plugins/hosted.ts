/** What the service calls of a plugin, wherever that runs. Every call is awaited, gets copies, and returns what nobody has checked yet. */

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
import type { CheckRequests, Reach } from '../outbound/outbound.ts'

/** One check, as the service hands it to a plugin. */
export interface CheckCall {
  readonly claim: Claim
  /** With its secrets, which do not reach the plugin. */
  readonly connection: Connection | null
  readonly previous: readonly PreviousRead[]
  readonly requests: CheckRequests
  /** Aborts when the check's time is over. Creating its signal costs, so it is read late. */
  readonly timer: Pick<AbortController, 'signal'>
  readonly share: string
  /** Of the destination. */
  readonly origin: string
}

export interface HostedVerifier {
  readonly profile: ActionProfile
  /** The connection types through which it can read. */
  readonly providers: readonly string[]
  readonly limits: CheckLimits
  readonly reach: Reach
  readonly anonymousSource?: (claim: Claim) => Promise<AnonymousSource | undefined>
  readonly destination?: (claim: Claim, connection: Connection) => Promise<string>
  readonly normalize?: (claim: Normalizable) => Promise<unknown>
  check(call: CheckCall): Promise<unknown>
}

export type Normalizable = Pick<Claim, 'target' | 'params'>

export interface HostedConnectionType
  extends Pick<ConnectionType, 'provider' | 'title' | 'options' | 'help' | 'trial'> {
  readonly reach: Reach
  /** Where options cannot choose it. */
  readonly onlyAddress: string | undefined
  baseUrl(options: JsonObject): Promise<string>
  fits(options: JsonObject, claim: Claim): Promise<boolean>
  /** @param call.target what is to be tried, where its `trial` asks for one */
  probe(
    options: JsonObject,
    call: Pick<CheckCall, 'requests' | 'timer'> & { readonly target?: string | undefined },
  ): Promise<unknown>
}

/** Whose code it is. The receipt names it. */
export interface PluginIdentity {
  /** The package's name; the plugin's own, where it is a lone file. */
  readonly package: string
  readonly version: string | undefined
  /** Of its files: `sha256:<hex>`. */
  readonly codeHash: string
}

export interface PluginState {
  readonly status: 'running' | 'restarting' | 'stopped'
  readonly restarts: number
  /** Why its process ended last. */
  readonly lastEnd?: string
}

/** The check ended the process of its plugin, and is not made again now. */
export class PluginEndedError extends Error {
  override readonly name = 'PluginEndedError'
}

/** A plugin that runs in this process, or in one of its own. */
export interface HostedParts {
  readonly verifiers: readonly HostedVerifier[]
  readonly connections: readonly HostedConnectionType[]
  readonly manifest: Manifest
  state(): PluginState
  /** Ends what it runs. */
  close(): Promise<void>
}
