/** The parts of a check's requests that each host brings: the rules for the check, and the transport that carries it. */
import type { SecretValues } from '../contract/auth.ts'
import type { CheckLimits } from '../contract/fetch.ts'
import type { Manifest } from '../contract/plugin.ts'
import type { Instant } from '../evidence.ts'
import type { SocketAddress } from './base-address.ts'
import type { ClientCertificate, Connected } from './credentials.ts'
import type { CreateHash } from './digest.ts'
import type { BreachError } from './failures.ts'
import type { QueryResult, SecretQuery } from './sockets/query.ts'
import type { Dialed, Pace, RawSocket } from './sockets/streams.ts'

/** The rule that a check broke. */
export type RequestRule = 'hosts' | 'origin' | 'address' | 'methods' | 'headers' | 'credentials' | 'sockets' | 'limits'

export interface RequestGuard {
  /** The timer of the check. Each request reads its current signal. */
  readonly timer: Pick<AbortController, 'signal'>
  readonly now: () => Instant
  /** The only origin that the check may read. */
  readonly origin: string
  /** The base address at that origin. Calls go there if the manifest declares no paths for them. */
  readonly baseUrl: string
  /** The connection that the check reads through, if any. */
  readonly connected?: Connected | undefined
  readonly manifest: Pick<Manifest, 'hosts' | 'methods' | 'sockets'>
  /** The connection's secrets, by handle. */
  readonly secrets: SecretValues
  readonly limits?: CheckLimits | undefined
  readonly userAgent: string
  /** Limit of the bytes that a check digests, in one answer and in all. */
  readonly maxDigestBytes: number
  /** Slows the reading of bodies. Defaults to passing bytes on at once. */
  readonly pace?: Pace | undefined
  /** Runs a read for digests once there is room for one. */
  readonly limitDigests?: (<T>(read: () => Promise<T>) => Promise<T>) | undefined
  /** Counts a request against a budget. The function that it returns takes the headers of the answer. */
  readonly spend?: (() => (headers?: Headers) => void) | undefined
  /** Hears of each refusal. @param breach given where the plugin asked for what its manifest does not allow */
  readonly refused: (rule: RequestRule, problem: string, breach?: BreachError) => void
}

/** Carries what the rules allow. `A` is what the host knows of an address that it admits. */
export interface Transport<A> {
  /** Admits a URL. @param publicOnly true where a claim names the address @throws DestinationError for an address that the host does not reach */
  admitUrl(text: string, publicOnly: boolean): A & { readonly url: URL }
  /**
   * Admits the address of another origin to which content with a known digest is redirected, as `admitUrl` does. A host that reads none there leaves
   * it out.
   */
  readonly admitContent?: (text: string, publicOnly: boolean) => A & { readonly url: URL }
  /** Admits an address of a socket, as `admitUrl` does. */
  admitSocket(address: SocketAddress, publicOnly: boolean): A
  send(admitted: A & { readonly url: URL }, init: SendInit, maxBytes: number): Promise<Response>
  /** Begins a connection, with TLS from its first byte if the address says so. */
  dial(address: SocketAddress, admitted: A): Dialed
  /** Starts TLS on an open connection. A host that carries everything in plain leaves it out. */
  readonly secure?: (plain: RawSocket, address: SocketAddress) => Dialed
  /** Runs a declared statement at a database. @throws DestinationError where the database gives no rows */
  query(address: SocketAddress, admitted: A, asked: SecretQuery): Promise<QueryResult>
  /** Resolves a host name to an IP address. */
  lookUp(hostname: string, admitted: A): Promise<string>
  readonly createHash: CreateHash
}

export interface SendInit {
  readonly method: string
  readonly headers: Headers
  readonly body?: string | undefined
  readonly signal: AbortSignal
  /** Counts the request once more, because it is sent again. @throws DestinationError where the check has no requests left */
  readonly sentAgain?: () => void
  /** Counts bytes of the body as they come. @throws DestinationError where a check may read no more */
  readonly received?: Pace
  readonly clientCertificate?: ClientCertificate | undefined
  /** Tells that only the request's signal ends the request, neither the check nor the host. */
  readonly outlives?: boolean
}
