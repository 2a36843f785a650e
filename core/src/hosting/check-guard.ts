/** What a host gives for the requests of one check: what it may ask, and how that is made. */
import type { SecretValues } from '../contract/auth.ts'
import type { CheckLimits } from '../contract/fetch.ts'
import type { Manifest } from '../contract/plugin.ts'
import type { Instant } from '../evidence.ts'
import type { SocketAddress } from './base-address.ts'
import type { BreachError } from './breach.ts'
import type { ClientCertificate, Connected } from './credentials.ts'
import type { CreateHash } from './digest.ts'
import type { Pace } from './pace.ts'
import type { QueryResult, SecretQuery } from './sockets/query.ts'
import type { Dialed, RawSocket } from './sockets/streams.ts'

/** The rule that a check broke. */
export type RequestRule = 'hosts' | 'origin' | 'address' | 'methods' | 'headers' | 'credentials' | 'sockets' | 'limits'

export interface RequestGuard {
  /** Each request reads its signal. */
  readonly timer: Pick<AbortController, 'signal'>
  readonly now: () => Instant
  /** The only one that the check may read. */
  readonly origin: string
  /** Of that origin. Calls go there, where the manifest declares no paths for them. */
  readonly baseUrl: string
  /** The connection that the check reads through; none, when left out. */
  readonly connected?: Connected | undefined
  readonly manifest: Pick<Manifest, 'hosts' | 'methods' | 'sockets'>
  /** Of the connection, by handle. */
  readonly secrets: SecretValues
  readonly limits?: CheckLimits | undefined
  readonly userAgent: string
  /** Of one answer, and of all in a check. */
  readonly maxDigestBytes: number
  /** Says when the bytes of an answer that came may be passed on; now, when left out. */
  readonly pace?: Pace | undefined
  /** Runs a read for digests once there is room for one. */
  readonly limitDigests?: (<T>(read: () => Promise<T>) => Promise<T>) | undefined
  /** Counts a request against a budget. The result takes the headers of its answer. */
  readonly spend?: (() => (headers?: Headers) => void) | undefined
  /** Hears of what is refused. @param breach the plugin asked for what its manifest does not allow */
  readonly refused: (rule: RequestRule, problem: string, breach?: BreachError) => void
}

/** How a host makes what the rules allow. `A`: what it found out about an address that it lets through. */
export interface Transport<A> {
  /** @param publicOnly a claim names the address @throws DestinationError for an address that the host does not reach */
  admitUrl(text: string, publicOnly: boolean): A & { readonly url: URL }
  /** As `admitUrl`. */
  admitSocket(address: SocketAddress, publicOnly: boolean): A
  send(admitted: A & { readonly url: URL }, init: SendInit, maxBytes: number): Promise<Response>
  /** Begins a connection, over TLS from its first byte where the address says so. */
  dial(address: SocketAddress, admitted: A): Dialed
  /** Goes over to TLS on an open connection. Left out by a host that carries all in plain. */
  readonly secure?: (plain: RawSocket, address: SocketAddress) => Dialed
  /** @throws DestinationError */
  query(address: SocketAddress, admitted: A, asked: SecretQuery): Promise<QueryResult>
  /** The address that a name of a host leads to. */
  lookUp(hostname: string, admitted: A): Promise<string>
  readonly createHash: CreateHash
}

export interface SendInit {
  readonly method: string
  readonly headers: Headers
  readonly body?: string | undefined
  readonly signal: AbortSignal
  /** Counts the request once more, because it is sent again. Throws DestinationError where it may not be. */
  readonly sentAgain?: () => void
  /** Counts bytes of the body as they come. Throws DestinationError where a check may read no more. */
  readonly received?: Pace
  readonly clientCertificate?: ClientCertificate | undefined
  /** It ends by its signal alone: neither with its check nor with the host. */
  readonly outlives?: boolean
}
