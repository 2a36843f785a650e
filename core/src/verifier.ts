/**
 * The contract between Claimcheck and a plugin. One rule carries it: a verifier reports what it saw, core decides.
 * A plugin has no way to say "verified".
 */

import { type Static, type TObject, type TSchema, Type } from 'typebox'
import type { Anchorer } from './anchor/anchorer.ts'
import type { DestinationErrorCode, Instant, Observation } from './evidence.ts'
import type { JsonObject } from './json.ts'
import type { ActionProfile } from './profile.ts'

/** A claim as a verifier sees it: validated against the profile, and normalized. */
export interface Claim<P = JsonObject> {
  /** The name claimed: the profile's action or one of its aliases. */
  readonly action: string
  readonly target: string
  readonly params: P
  readonly claimedAt: Instant
  readonly deadlineAt: Instant
}

export interface Verifier<P extends TSchema = TSchema, F extends TSchema = TSchema> {
  readonly profile: ActionProfile<P, F>
  /** The providers of the connections it reads through. */
  readonly providers: readonly string[]
  /**
   * Where claims are read without a connection, for `access.anonymous`. Requests of such a check to other origins are refused.
   * `provider` and `baseUrl` are signed into the receipt.
   */
  anonymousSource?(claim: Claim<Static<P>>): { readonly provider: string; readonly baseUrl: string }
  /** The one form of a target and params that may be written in several, such as an upper-case sha. Applied before the claim is digested. */
  normalize?(claim: { target: string; params: Static<P> }): { target: string; params: Static<P> }
  /**
   * Reads the destination once and says what it saw.
   * @throws DestinationError when it could not read. Anything else thrown is the verifier's own fault and recorded as that.
   */
  check(claim: Claim<Static<P>>, context: CheckContext): Promise<Observation<Static<F>>>
}

export interface CheckContext {
  /** What the claim is read through; null for a public action without one. */
  readonly connection: Connection | null
  /**
   * GET and HEAD only. Every address is checked and pinned, time and size are bounded, redirects stay on the same origin.
   * @throws DestinationError `unavailable` or `timeout` when there is no answer. An answer of any status is returned; its `url` is
   * where it came from, after redirects.
   */
  readonly fetch: GuardedFetch
  /**
   * The address that a host may be reached at, checked as `fetch` checks it; for programs that make their own requests.
   * @throws DestinationError `unavailable`
   */
  readonly resolve: (url: string) => Promise<ResolvedAddress>
  /** Aborts when the check's time is over. */
  readonly signal: AbortSignal
  readonly now: () => Instant
  readonly logger: Logger
  readonly cache: CheckCache
  /** What earlier checks of this claim saw, oldest first. */
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
  /** The connection type's options, secrets included. Of these alone there may be others at the next check. */
  readonly options: O
}

export type GuardedFetch = (
  url: string,
  init?: { readonly method?: 'GET' | 'HEAD'; readonly headers?: Readonly<Record<string, string>> },
) => Promise<Response>

export interface ResolvedAddress {
  readonly hostname: string
  readonly port: number
  /** An IP address. */
  readonly address: string
}

export interface Logger {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void
  info(fields: Readonly<Record<string, unknown>>, message: string): void
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
}

/**
 * A bounded memory of one plugin, shared by its checks through one connection while that has the same credentials, and by those
 * through none. Entries may go at any time.
 */
export interface CheckCache {
  get(key: string): unknown
  set(key: string, value: unknown): void
  /**
   * One read for all checks that wait for it. A caller never joins a read that has already begun: it would
   * take an answer from before its own check for evidence of now.
   */
  share<T>(key: string, read: () => Promise<T>): Promise<T>
}

/** Could not read: the destination gave no answer that tells about the outcome. Never evidence for or against the agent. */
export class DestinationError extends Error {
  override readonly name = 'DestinationError'
  readonly code: DestinationErrorCode
  /** How long the destination asked not to be read again. Milliseconds. */
  readonly retryAfterMs?: number
  /** The HTTP status that was the answer, where there was one. */
  readonly status?: number

  constructor(
    code: DestinationErrorCode,
    options: { readonly retryAfterMs?: number; readonly status?: number; readonly cause?: unknown } = {},
  ) {
    super(`could not read the destination: ${code}`, { cause: options.cause })
    this.code = code
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
    if (options.status !== undefined) this.status = options.status
  }
}

/** A kind of destination that a workspace can connect to. A new one needs no change in console, command line or API. */
export interface ConnectionType<O extends TObject = TObject> {
  /** `github` */
  readonly provider: string
  /** `GitHub` */
  readonly title: string
  /** Its options; secrets are marked with `secret()`. */
  readonly options: O
  /** How to make credentials that can only read. */
  readonly help: string
  /** The base address of the destination, as the options have it or by default. Requests to other origins are refused. */
  baseUrl(options: Static<O>): string
  /** The connection is one that this claim can be read through. */
  fits(options: Static<O>, claim: Claim): boolean
  /** Tries the destination with these options. @throws DestinationError */
  probe(
    options: Static<O>,
    context: Pick<CheckContext, 'fetch' | 'resolve' | 'signal' | 'logger'>,
  ): Promise<ProbeResult>
}

export interface ProbeResult {
  /** The permissions that the credentials have, in the destination's own names. */
  readonly scopes: readonly string[]
  /** What the owner should know: permissions that are more than reading needs, above all. */
  readonly warnings: readonly string[]
}

const SECRET = 'x-secret'

/** A string option that is stored encrypted and never shown again. */
export function secret(options: { readonly description: string }) {
  return Type.String({ minLength: 1, maxLength: 4096, ...options, [SECRET]: true })
}

export function isSecret(schema: object): boolean {
  return (schema as Record<string, unknown>)[SECRET] === true
}

/** Of a connection type's options. */
export function secretNames({ options }: Pick<ConnectionType, 'options'>): string[] {
  return Object.keys(options.properties).filter((name) => isSecret(options.properties[name]!))
}

/** What the host gives a plugin: an allow-list, nothing more. */
export interface PluginHost {
  readonly logger: Logger
  readonly now: () => Instant
}

export interface PluginParts {
  readonly verifiers?: readonly Verifier[]
  readonly connections?: readonly ConnectionType[]
  /** An installation has one at most. */
  readonly anchorer?: Anchorer
  /** Called once when the host stops, after the last check. */
  close?(): Promise<void>
}

export interface Plugin<O extends TObject = TObject> {
  readonly name: string
  /** The version of this contract that the plugin was written for. */
  readonly api: 1
  /** What its entry in the configuration may say under `with`. */
  readonly options: O
  setup(host: PluginHost, options: Static<O>): PluginParts | Promise<PluginParts>
}

// A registered symbol: a plugin may carry a copy of core of its own, so that instanceof would not know it.
const PLUGIN_TAG = Symbol.for('claimcheck.plugin')

/** Tags a plugin's declaration; its result is the default export of the plugin's package. */
export function definePlugin<O extends TObject>(plugin: Plugin<O>): Plugin<O> {
  return Object.assign(plugin, { [PLUGIN_TAG]: true })
}

export function isPlugin(value: unknown): value is Plugin {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[PLUGIN_TAG] === true
}

/** Loses nothing but the type parameters, which a host cannot know. */
export function defineVerifier<P extends TSchema, F extends TSchema>(verifier: Verifier<P, F>): Verifier {
  return verifier as unknown as Verifier
}

/** Loses nothing but the type parameter, which a host cannot know. */
export function defineConnectionType<O extends TObject>(type: ConnectionType<O>): ConnectionType {
  return type as unknown as ConnectionType
}
