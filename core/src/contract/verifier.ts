/** The contract between Claimcheck and a verifier, which reports what it saw. Core decides the verdict: a plugin cannot say "verified". */
import type { Static, TSchema } from 'typebox'
import type { Instant, Observation } from '../evidence.ts'
import type { JsonObject } from '../json.ts'
import type { ActionProfile } from '../profile.ts'
import type { Auth, DeclaredCredential } from './auth.ts'
import type { CheckLimits, FetchInit, GuardedFetch } from './fetch.ts'
import type { Answer, Http } from './http.ts'
import type { ConnectInit, Query, QueryAnswer, Socket } from './socket.ts'

/** A claim as a verifier gets it: validated against the profile, and normalized. */
export interface Claim<P = JsonObject> {
  /** The name under which the claim was submitted: the profile's action or one of its aliases. */
  readonly action: string
  readonly target: string
  readonly params: P
  readonly claimedAt: Instant
  readonly deadlineAt: Instant
  readonly submittedAt: Instant
}

export interface Verifier<P extends TSchema = TSchema, F extends TSchema = TSchema> {
  readonly profile: ActionProfile<P, F>
  /** The connection types through which the verifier can read. */
  readonly providers: readonly string[]
  readonly limits?: CheckLimits
  /**
   * The source of a claim that is read without a connection, for `access.anonymous`; undefined for a claim that needs one. The host refuses
   * requests of such a check to other origins, and signs `provider` and `baseUrl` into the receipt.
   */
  anonymousSource?(claim: Claim<Static<P>>): AnonymousSource | undefined
  /**
   * The base address at which a claim is read through a connection, if it is not the connection's own. The manifest must allow its host.
   * The host signs it into the receipt, and shares out what it can do at a time by it.
   * @throws DestinationError `unsupported_target` for a target that leads nowhere, or with the `param` that cannot be. The claim is refused,
   * as it is for any other error
   */
  destination?(claim: Claim<Static<P>>, connection: Connection): string
  /**
   * Brings values that can be written in several ways into one form, such as a commit id in upper case, before the claim's digest is made.
   * If several plugins can read a claim, all have to normalize it to the same.
   */
  normalize?(claim: { target: string; params: Static<P> }): { target: string; params: Static<P> }
  /**
   * Reads the destination and reports what it saw. Each check needs an answer of its origin, its own or that of a read that it joined by
   * `cache.share`, of any status: what it reports without one is recorded as `verifier_error`.
   * @throws DestinationError when it could not read. Anything else that it throws is recorded as `verifier_error`.
   */
  check(claim: Claim<Static<P>>, context: CheckContext): Promise<Observation<Static<F>>>
}

export interface AnonymousSource {
  readonly provider: string
  readonly baseUrl: string
}

/** The largest answer that `digest` reads. */
export const MAX_DIGEST_BYTES = 512 * 1024 * 1024

export interface CheckContext {
  /** The connection to read through; `null` for a public action that is read without one. */
  readonly connection: Connection | null
  /**
   * Sends GET and HEAD, and the calls that the manifest declares. Private addresses are refused, time and size are limited, and only redirects
   * to the same origin are followed. An answer of any status is returned; its `url` is the address after redirects. A check asks its own origin;
   * one that reads a place that its claim names, by the manifest's `target`, may also ask the same with `www.` before its name, or without it.
   * @throws DestinationError `unavailable` or `timeout` when there is no answer; reading the body throws `too_large`, too
   */
  readonly fetch: GuardedFetch
  /** `fetch` with JSON, schemas and the usual meaning of statuses. */
  readonly http: Http
  /**
   * Reads an answer of any status to its end as `fetch` does, and gives digests of its content, which is not stored: of up to 512 MiB, or of
   * `bodyBytes` if it comes compressed.
   * @throws DestinationError as `fetch` and the reading of a body do
   */
  readonly digest: (url: string, init: DigestInit) => Promise<DigestAnswer>
  /**
   * Makes the keyed fingerprint of a text: `hmac-sha256:` and the hexadecimal HMAC-SHA-256, by a key of the connection, of
   * `claimcheck.fingerprint:` and the text. It hides values that are too few for a hash, such as a state or an address, from readers of a receipt.
   * @param key `credential()` of a declaration of the scheme `fingerprint`
   * @throws DestinationError `misconfigured` where the connection has no key, or one of less than 16 characters; `too_large` for a text
   * of more than 32,768 characters
   */
  readonly fingerprint: (key: DeclaredCredential, text: string) => Promise<string>
  /**
   * Opens a TCP connection to the host of the base address, whose URL is `tls://host:port` or `tcp://host:port`; the manifest declares the port,
   * the protocol, and what may be written. Secrets go into `login` and nowhere else.
   * @throws DestinationError `unauthorized` where the login is refused, `misconfigured` where its mechanism is not offered
   */
  readonly connect: (url: string, init?: ConnectInit) => Promise<Socket>
  /**
   * Runs a statement that the manifest declares for the database at the base address, in a transaction that only reads.
   * @throws DestinationError `too_large` beyond `MAX_ROWS` rows, or the bytes of one answer; `unauthorized`, `forbidden`
   */
  readonly query: (url: string, query: Query) => Promise<QueryAnswer>
  /**
   * Resolves a URL's host to an IP address, checked as `fetch` does it, for programs that send their own requests.
   * @throws DestinationError `unavailable`
   */
  readonly resolve: (url: string) => Promise<ResolvedAddress>
  /**
   * Makes the header that carries a credential, for programs that send their own requests.
   * @throws TypeError unless the operator trusts the plugin and its manifest names programs
   */
  readonly reveal: (auth: Auth) => { readonly name: string; readonly value: string }
  /**
   * Runs a program that sends requests of its own to the check's origin, and counts its answer when `run` returns: a check without an
   * answer of its origin is no evidence.
   * @throws TypeError as `reveal`; the error of `run`
   */
  readonly ask: <T>(url: string, run: () => Promise<T>) => Promise<T>
  /** Aborted when the check's time is over. */
  readonly signal: AbortSignal
  readonly now: () => Instant
  readonly logger: Logger
  readonly cache: CheckCache
  /**
   * An opaque name of the workspace that uses the host's capacity for this check. A plugin that bounds other resources does so
   * by this name.
   */
  readonly share: string
  /** Earlier reads of this claim, oldest first. Checks that could not read are not among them. */
  readonly previous: readonly PreviousRead[]
}

/** A successful earlier check of the same claim. */
export interface PreviousRead {
  readonly sentAt: Instant
  readonly observation: Observation
}

export interface Connection<O = JsonObject> {
  readonly id: string
  readonly provider: string
  /** The connection type's options, with a handle for each secret. Options can change between two checks; `id` and `provider` cannot. */
  readonly options: O
  /** The identity that a probe told of the destination; undefined where none did. */
  readonly identity?: string | undefined
}

export type DigestAlgorithm = 'sha256' | 'sha512'

export interface DigestInit extends Pick<FetchInit, 'headers' | 'auth' | 'redirect'> {
  readonly algorithms: readonly DigestAlgorithm[]
}

export interface DigestAnswer extends Answer {
  /** The size of the content after decompression. */
  readonly bytes: number
  /** The first bytes, at most 16, in hexadecimal, which show the kind of file. */
  readonly start: string
  /** The digests in base64, by algorithm. */
  readonly digests: Readonly<Partial<Record<DigestAlgorithm, string>>>
}

export interface ResolvedAddress {
  readonly hostname: string
  readonly port: number
  /** The IP address of the URL's host. */
  readonly address: string
}

export interface Logger {
  info(fields: Readonly<Record<string, unknown>>, message: string): void
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
}

/**
 * A plugin's memory between checks. Checks share one when they read through the same connection with the same credentials, or all
 * without a connection. It is limited in size: entries can disappear at any time.
 */
export interface CheckCache {
  get(key: string): unknown
  set(key: string, value: unknown): void
  /**
   * Shares one read among all checks that wait for it. A caller never joins a read that has already begun, because the answer could be older
   * than its check.
   */
  share<T>(key: string, read: () => Promise<T>): Promise<T>
}

/**
 * Makes the same check under an earlier version of the profile, for claims that were submitted under it and wait.
 *
 * @param earlier the members of the profile that differed; undefined leaves a member out
 */
export function earlierVersion(
  verifier: Verifier,
  earlier: Pick<ActionProfile, 'version' | 'rulesVersion'> & {
    readonly [M in keyof ActionProfile]?: ActionProfile[M] | undefined
  },
): Verifier {
  return { ...verifier, profile: { ...verifier.profile, ...earlier } as ActionProfile }
}

/** Defines a verifier, without its type parameters, which a host cannot know. */
export function defineVerifier<P extends TSchema, F extends TSchema>(verifier: Verifier<P, F>): Verifier {
  return verifier as unknown as Verifier
}
