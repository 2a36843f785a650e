/** The contract between Claimcheck and a plugin: a verifier reports what it saw, and core decides the verdict. A plugin cannot say "verified". */

import { type Static, type TObject, type TSchema, Type } from 'typebox'
import type { Anchorer } from './anchor/anchorer.ts'
import type { DestinationErrorCode, Instant, Observation } from './evidence.ts'
import type { JsonObject } from './json.ts'
import type { ActionProfile } from './profile.ts'

/** A claim as a verifier gets it: validated against the profile, and normalized. */
export interface Claim<P = JsonObject> {
  /** The name under which it was submitted: the profile's action or one of its aliases. */
  readonly action: string
  readonly target: string
  readonly params: P
  readonly claimedAt: Instant
  readonly deadlineAt: Instant
}

export interface Verifier<P extends TSchema = TSchema, F extends TSchema = TSchema> {
  readonly profile: ActionProfile<P, F>
  /** The connection types through which it can read. */
  readonly providers: readonly string[]
  /**
   * Where claims are read without a connection, for `access.anonymous`. The host refuses requests of such a check to other origins,
   * and signs `provider` and `baseUrl` into the receipt.
   */
  anonymousSource?(claim: Claim<Static<P>>): { readonly provider: string; readonly baseUrl: string }
  /** Brings what can be written in several ways into one form, such as a commit id in upper case. Applied before the claim's digest is made. */
  normalize?(claim: { target: string; params: Static<P> }): { target: string; params: Static<P> }
  /**
   * Reads the destination and reports what it saw.
   * @throws DestinationError when it could not read. Anything else that it throws is recorded as `verifier_error`.
   */
  check(claim: Claim<Static<P>>, context: CheckContext): Promise<Observation<Static<F>>>
}

export interface CheckContext {
  /** `null` for a public action that is read without a connection. */
  readonly connection: Connection | null
  /**
   * GET and HEAD only. Private addresses are refused, time and size are limited, and only redirects to the same origin are followed.
   * An answer of any status is returned; its `url` is the address after redirects.
   * @throws DestinationError `unavailable` or `timeout` when there is no answer
   */
  readonly fetch: GuardedFetch
  /**
   * The IP address of a URL's host, checked as `fetch` does it, for programs that send their own requests.
   * @throws DestinationError `unavailable`
   */
  readonly resolve: (url: string) => Promise<ResolvedAddress>
  /** Aborted when the check's time is over. */
  readonly signal: AbortSignal
  readonly now: () => Instant
  readonly logger: Logger
  readonly cache: CheckCache
  /**
   * An opaque name of whose share of the host's capacity this check uses (its workspace). A plugin that bounds resources of its own does so
   * by this name.
   */
  readonly share: string
  /** What earlier checks of this claim saw, oldest first. Checks that could not read are not among them. */
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
  /** The connection type's options with their secrets. They can change between two checks; the rest cannot. */
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
 * A plugin's memory between checks. Checks share one when they read through the same connection with the same credentials, or all
 * without a connection. It is limited in size: entries can disappear at any time.
 */
export interface CheckCache {
  get(key: string): unknown
  set(key: string, value: unknown): void
  /**
   * One read for all checks that wait for it. A caller never joins a read that has already begun: the answer could be older than its
   * check.
   */
  share<T>(key: string, read: () => Promise<T>): Promise<T>
}

/** The destination could not be read. It is never evidence for or against the agent. */
export class DestinationError extends Error {
  override readonly name = 'DestinationError'
  readonly code: DestinationErrorCode
  /** How long the destination asks to wait. Milliseconds. */
  readonly retryAfterMs?: number
  /** The HTTP status of the answer, if there was an answer. */
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

/** Compares the name, because a plugin and its host can have different copies of core. */
export function isDestinationError(error: unknown): error is DestinationError {
  return error instanceof Error && error.name === 'DestinationError'
}

/** A kind of destination that a workspace can connect to. The console, the command line and the API get their forms from it. */
export interface ConnectionType<O extends TObject = TObject> {
  /** The name in the API: `github`. */
  readonly provider: string
  /** The name that people see: `GitHub`. */
  readonly title: string
  /** The options of a connection. Secrets are marked with `secret()`. */
  readonly options: O
  /** How to make credentials that can only read, for the person who connects. */
  readonly help: string
  /** The base address of the destination, from the options or by default. The host refuses requests of a check to other origins. */
  baseUrl(options: Static<O>): string
  /** Whether this claim can be read through a connection with these options. */
  fits(options: Static<O>, claim: Claim): boolean
  /** Sends a request with these options to see whether they work. @throws DestinationError */
  probe(
    options: Static<O>,
    context: Pick<CheckContext, 'fetch' | 'resolve' | 'signal' | 'logger'>,
  ): Promise<ProbeResult>
}

export interface ProbeResult {
  /** The permissions that the credentials have, in the destination's own names. */
  readonly scopes: readonly string[]
  /** What the owner should know, above all that the credentials can do more than read. */
  readonly warnings: readonly string[]
}

const SECRET = 'x-secret'

/** A string option that is stored encrypted and never shown. */
export function secret(options: { readonly description: string }) {
  return Type.String({ minLength: 1, maxLength: 4096, ...options, [SECRET]: true })
}

export function isSecret(schema: object): boolean {
  return (schema as Record<string, unknown>)[SECRET] === true
}

/** The names of a connection type's secret options. */
export function secretNames({ options }: Pick<ConnectionType, 'options'>): string[] {
  return Object.keys(options.properties).filter((name) => isSecret(options.properties[name]!))
}

/** Everything that a plugin gets from the host. */
export interface PluginHost {
  readonly logger: Logger
  readonly now: () => Instant
}

export interface PluginParts {
  readonly verifiers?: readonly Verifier[]
  readonly connections?: readonly ConnectionType[]
  /** Only one of an installation's plugins may have one. */
  readonly anchorer?: Anchorer
  /** Called once when the host stops, after the last check. */
  close?(): Promise<void>
}

export interface Plugin<O extends TObject = TObject> {
  readonly name: string
  /** The version of this contract that the plugin was written for. */
  readonly api: 1
  /** The schema of what the configuration gives the plugin under `with`. */
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

/** Drops the type parameters, which a host cannot know. */
export function defineVerifier<P extends TSchema, F extends TSchema>(verifier: Verifier<P, F>): Verifier {
  return verifier as unknown as Verifier
}

/** Drops the type parameter, which a host cannot know. */
export function defineConnectionType<O extends TObject>(type: ConnectionType<O>): ConnectionType {
  return type as unknown as ConnectionType
}
