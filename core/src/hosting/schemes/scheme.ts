/** The interface between a host and a credential scheme, which spends the secrets of a connection where no plugin sees them. */
import type { DestinationError } from '../../contract/destination-error.ts'
import type { Instant } from '../../evidence.ts'
import type { TSchema } from '../../typebox.ts'

/** A request to the destination. */
export interface Outgoing {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  readonly body?: string | undefined
}

/** The host's side of a scheme, for what gets an access token. */
export interface TokenHost {
  /** The value that the workspace typed into an option, secrets in clear; undefined where it, or the declaration, has none. */
  value(option: string | undefined): string | undefined
  /** The value of an option. @throws DestinationError `misconfigured` where the workspace left it out */
  required(option: string): string
  /**
   * Asks a token host, or the destination itself, and reads the answer to its end.
   * @param outlives true to end it by a time limit and not with the check, because its answer is worth more than this check
   * @throws DestinationError, also for a host that the manifest does not declare as a token host
   */
  exchange(request: Outgoing, options?: { readonly outlives: boolean }): Promise<ExchangeAnswer>
  /** The memory of the connection's credentials between requests and checks. */
  readonly memory: CredentialMemory
  /** Exchanges the connection's refresh tokens, which change. */
  readonly refreshes: Refreshes
  readonly now: () => Instant
  /** Makes random bytes, in hexadecimal. */
  nonce(): string
}

/** The host's side of a scheme, for one request of a check. */
export interface SchemeHost extends TokenHost {
  /** Sends a request to the destination, and follows no redirect. A scheme may send a few. @throws DestinationError */
  send(request: Outgoing): Promise<Response>
}

export interface ExchangeAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Memory of one connection with its current credentials, and of the origin that is read, in this process. Entries can disappear at any time. */
export interface CredentialMemory {
  get(key: string): string | undefined
  /** Stores a value under a key. @param until the time at which the value is forgotten */
  set(key: string, value: string, until: Instant): void
  delete(key: string): void
  /** Runs work once: callers that ask while the work for this key is under way get its result. */
  once<T>(key: string, work: () => Promise<T>): Promise<T>
}

export interface AccessToken {
  readonly accessToken: string
  readonly since: Instant
  readonly until: Instant
}

const FRESH_MS = 60_000

/** Tells whether a token was made just now: it is refused for another reason than its age, so a new one would change nothing. */
export function isFresh({ since }: AccessToken, now: Instant): boolean {
  return now - since < FRESH_MS
}

/** The tokens that a token endpoint gave for a refresh token. */
export interface NewTokens extends AccessToken {
  /** The next refresh token; undefined where the earlier one stays in use. */
  readonly refreshToken?: string | undefined
}

export interface RefreshFailure {
  readonly error: DestinationError
  /** Tells when the same refresh token may be sent again; `at once` after a lost answer. */
  readonly again: 'at once' | 'later' | 'never'
}

export interface RefreshRequest {
  /** The option whose secret is the first refresh token. */
  readonly option: string
  /** The refresh token that the workspace typed. */
  readonly typed: string
  /** Tells whether a stored access token will do. */
  isUsable(token: AccessToken): boolean
  /** Exchanges a refresh token at the token endpoint. Never rejects. */
  exchange(refreshToken: string): Promise<NewTokens | RefreshFailure>
}

export interface Refreshes {
  /**
   * Exchanges the newest refresh token, one host at a time, and stores the new tokens before it resolves. Resolves with the token that
   * another host has stored, if it is usable.
   * @throws DestinationError `unauthorized` where the token endpoint refuses the refresh token
   */
  refresh(asked: RefreshRequest): Promise<AccessToken>
}

export interface NamedOption {
  readonly name: string
  /** `true` if the option has to be a secret, `false` if it must not be one. Left out if it may be one. */
  readonly isSecret?: boolean
}

/** A kind of credential, and how requests spend it. @typeParam C a declaration of the kind */
export interface Scheme<C extends { readonly scheme: string }> {
  /** The schema of the scheme's declarations. */
  readonly form: TSchema | ((credential: C) => TSchema)
  /** The options that a declaration names. */
  options(credential: C): readonly NamedOption[]
  /** Lists the problems of a declaration whose form is valid. */
  problems?(credential: C): readonly string[]
  /**
   * Sends a request with the credential, and takes the secrets out of the answer that the plugin gets.
   * @throws BreachError for a request that the scheme does not spend the credential on
   * @throws DestinationError
   */
  spend(credential: C, request: Outgoing, host: SchemeHost): Promise<Response>
  /**
   * Gets an access token, a stored or a new one. Left out by schemes that have none.
   * @param refused a token that the destination refused, so that another one is needed
   * @throws DestinationError where there is none
   */
  token?(credential: C, host: TokenHost, refused?: AccessToken): Promise<AccessToken>
  /**
   * Makes a keyed fingerprint of a text. Left out by schemes that make none.
   * @throws BreachError for what is no text, or too long
   * @throws DestinationError `misconfigured` where the workspace left the key out, or its key is too short
   */
  fingerprint?(credential: C, text: string, host: Pick<TokenHost, 'required'>): string
}
