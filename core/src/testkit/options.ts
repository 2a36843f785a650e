/** The input of the kit by a plugin's author: the plugin, a destination, and rows of situations with what each must give. */
import type { Plugin } from '../contract/plugin.ts'
import type { DestinationErrorCode, Instant, Mark, Stay } from '../evidence.ts'
import type { JsonObject } from '../json.ts'
import type { VerdictValue } from '../verdict.ts'

export interface ConformanceOptions<S = unknown, P = unknown> {
  readonly plugin: Plugin
  /** The plugin's options, as an operator's configuration gives them. */
  readonly options?: OrAt<JsonObject>
  /** The connection that the cases are read through; without it they are read anonymously. Its secrets have at least 12 characters. */
  readonly connection?: OrAt<GivenConnection>
  /** Valid credentials that may see less: a check must not call absent what they hide. */
  readonly unprivileged?: OrAt<GivenConnection>
  readonly destination: Destination<S, P>
  /** A situation in which what the cases claim is not there yet. The kit goes back to it to see that checks notice changes. */
  readonly before?: S
  /**
   * A situation in which another destination answers, such as another database or account, for a connection type that is `identified`. All
   * other situations are of one identity.
   */
  readonly another?: S
  readonly cases: readonly Case<S, P>[]
  /**
   * Names of the kit's checks, while a plugin's author works on them. Others are made only where these need them, and the report says in
   * `untested` that it is not whole.
   */
  readonly only?: readonly string[]
}

/**
 * A value, or a function of the address at which the plugin is to read. The function is needed only where a plugin sends requests by
 * programs: what it sends by the host reaches the destination whatever its base address is, `https://api.example.com` included.
 */
export type OrAt<T> = T | ((url: string) => T)

export interface GivenConnection {
  readonly provider: string
  readonly options: JsonObject
  /** Target that a probe tries, where the type has a `trial`. These options can read it. */
  readonly target?: string
  /** The identity that the connection's trial told, for a type that is `identified`. Defaults to the one that the first check tells. */
  readonly identity?: string
}

/** A place to read, on loopback. See `recorded` for one that replays answers. */
export interface Destination<S = unknown, P = unknown> {
  /** Starts the place on loopback. @param now the kit's clock, for a destination that tells times of its own */
  start(host: { readonly now: () => Instant }): Promise<RunningDestination>
  /**
   * Brings the place into a situation, from whatever situation it is in. The same situation is always the same, ids included.
   * @returns what the cases' `claim` and `sees` get, where they are functions
   */
  set?(situation: S): P | Promise<P>
  /** Tells that the place answers the same whatever the credentials are, as recordings do. The kit then tries no wrong ones. */
  readonly ignoresCredentials?: boolean
}

export interface RunningDestination {
  /** The address of the place, such as `http://127.0.0.1:4000`, or `tcp://127.0.0.1:4000` where it speaks another protocol than HTTP. */
  readonly url: string
  /** Address of the place's sockets, such as `tcp://127.0.0.1:4001`, if it also speaks HTTP. */
  readonly socketUrl?: string
  stop(): unknown
}

export interface Case<S = unknown, P = unknown> {
  /** The situation in words. */
  readonly name: string
  readonly situation?: S
  /** Later situations, by milliseconds after `claimedAt`. */
  readonly changes?: readonly { readonly afterMs: number; readonly situation: S }[]
  readonly claim: CaseClaim | ((prepared: P) => CaseClaim)
  /** Replaces the connection of all cases; null for none. */
  readonly connection?: OrAt<GivenConnection> | null
  /** Time between `claimedAt` and the claim's arrival and first check. Defaults to a second. */
  readonly submittedAfterMs?: number
  /** The sight that the first check must have. */
  readonly sees: Sight | ((prepared: P) => Sight)
  /** The verdict of the rules over all checks that such a claim gets. */
  readonly verdict: VerdictValue
  /**
   * The requests, as `GET /path?query`, to which a 404 says that something is not there. Never the one that shows that the credentials may
   * see it: its 404 hides.
   */
  readonly absentRoutes?: readonly RegExp[]
  /**
   * The requests, and answers on connections as `SOCKET 1, answer 2`, that only add facts or certainty: without their answers the check says the same, with a weaker mark at most. */
  readonly extraRoutes?: readonly RegExp[]
}

export interface CaseClaim {
  /** The action of the claim. Defaults to the profile's own name. */
  readonly action?: string
  readonly target: string
  readonly params: JsonObject
  /** The time that the claim gives for its deed. Defaults to the time when the kit began. */
  readonly claimedAt?: Instant
  /** The deadline of the claim. Defaults to `claimedAt` and the profile's `deadlineMs`. */
  readonly deadlineAt?: Instant
}

/** The sight of a check. Facts that are not named may have any value; a mark that is not named must not be there. */
export type Sight =
  | (SightDetails & { readonly kind: 'present'; readonly differs?: readonly string[] })
  | (SightDetails & { readonly kind: 'absent' })
  | { readonly error: DestinationErrorCode }

interface SightDetails {
  readonly mark?: Mark
  readonly facts?: JsonObject
  readonly stays?: readonly Stay[]
}

export interface Report {
  readonly ok: boolean
  readonly checks: readonly ReportedCheck[]
  /** Checks that were not made, with what the author can bring for them. */
  readonly untested: readonly string[]
}

export interface ReportedCheck {
  /** A stable name of the check, such as `fault.429-without-retry-after`. */
  readonly name: string
  readonly ok: boolean
  /** The plugin's mistake, as a sentence. */
  readonly problem?: string
  /** The request that the check struck or concerned: `GET /path?query`. */
  readonly route?: string
  /** The name of the case that the check ran on. */
  readonly case?: string
}
