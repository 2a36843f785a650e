/** What a plugin's author gives the kit: the plugin, a destination, and rows of situations with what each must give. */
import type { Plugin } from '../contract/plugin.ts'
import type { DestinationErrorCode, Instant, Mark, Stay } from '../evidence.ts'
import type { JsonObject } from '../json.ts'
import type { VerdictValue } from '../verdict.ts'

export interface ConformanceOptions<S = unknown, P = unknown> {
  readonly plugin: Plugin
  /** What an operator's configuration gives the plugin. */
  readonly options?: OrAt<JsonObject>
  /** Through which the cases are read; without one they are read anonymously. Its secrets have 12 characters at least. */
  readonly connection?: OrAt<GivenConnection>
  /** Credentials that are valid and may see less: what they hide must not be absent. */
  readonly unprivileged?: OrAt<GivenConnection>
  readonly destination: Destination<S, P>
  /** A situation in which what the cases claim is not there yet. The kit goes back to it to see that checks notice changes. */
  readonly before?: S
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
  /** What a probe is to try, where the type has a `trial`: these options can read it. */
  readonly target?: string
}

/** A place to read, on loopback. See `recorded` for one that replays answers. */
export interface Destination<S = unknown, P = unknown> {
  /** @param now the kit's clock, for a destination that tells times of its own */
  start(host: { readonly now: () => Instant }): Promise<RunningDestination>
  /**
   * Brings the place into a situation, from whatever situation it is in. The same situation is always the same, ids included.
   * @returns what the cases' `claim` and `sees` get, where they are functions
   */
  set?(situation: S): P | Promise<P>
  /** It answers the same whatever the credentials are, as recordings do: the kit does not try wrong ones. */
  readonly ignoresCredentials?: boolean
}

export interface RunningDestination {
  /** `http://127.0.0.1:4000`; `tcp://127.0.0.1:4000` where it speaks another protocol than HTTP. */
  readonly url: string
  /** Where it speaks both: where its sockets lead, `tcp://127.0.0.1:4001`. */
  readonly socketUrl?: string
  stop(): unknown
}

export interface Case<S = unknown, P = unknown> {
  /** What the situation is, in words. */
  readonly name: string
  readonly situation?: S
  /** How the situation changes, by milliseconds after `claimedAt`. */
  readonly changes?: readonly { readonly afterMs: number; readonly situation: S }[]
  readonly claim: CaseClaim | ((prepared: P) => CaseClaim)
  /** In place of the connection of all cases; null: none. */
  readonly connection?: OrAt<GivenConnection> | null
  /** When the claim arrives and is first read, after `claimedAt`. A second, when left out. */
  readonly submittedAfterMs?: number
  /** What the first check must see. */
  readonly sees: Sight | ((prepared: P) => Sight)
  /** What the rules make of all checks that such a claim gets. */
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
  /** The profile's own name for it when left out. */
  readonly action?: string
  readonly target: string
  readonly params: JsonObject
  /** When the kit began, when left out. */
  readonly claimedAt?: Instant
  /** `claimedAt` and the profile's `deadlineMs`, when left out. */
  readonly deadlineAt?: Instant
}

/** What a check sees. Facts that are not named may have any value; a mark that is not named must not be there. */
export type Sight =
  | (Seen & { readonly kind: 'present'; readonly differs?: readonly string[] })
  | (Seen & { readonly kind: 'absent' })
  | { readonly error: DestinationErrorCode }

interface Seen {
  readonly mark?: Mark
  readonly facts?: JsonObject
  readonly stays?: readonly Stay[]
}

export interface Report {
  readonly ok: boolean
  readonly checks: readonly ReportedCheck[]
  /** What could not be tested, and what the author can bring for it. */
  readonly untested: readonly string[]
}

export interface ReportedCheck {
  /** Stable: `fault.429-without-retry-after`. */
  readonly name: string
  readonly ok: boolean
  /** What the plugin did, as a sentence. */
  readonly problem?: string
  /** `GET /path?query` */
  readonly route?: string
  /** The name of the case. */
  readonly case?: string
}
