/** How a credential scheme spends the secrets of a connection: one module each, which the host runs and no plugin sees. */
import type { Credential } from '../../contract/credentials.ts'
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

/** What the host gives a scheme for one request of a check. */
export interface SchemeHost {
  /** What the workspace typed into an option, secrets in clear; undefined where it left it out, or the declaration does. */
  value(option: string | undefined): string | undefined
  /** The same. @throws DestinationError `misconfigured` where the workspace left it out */
  required(option: string): string
  /** Sends a request to the destination. Redirects are answers. A scheme may send a few. @throws DestinationError */
  send(request: Outgoing): Promise<Response>
  /**
   * Asks a token host, or the destination itself, and reads the answer to its end.
   * @param outlives it ends by a time limit and not with the check: its answer is worth more than this check
   * @throws DestinationError also for a host that the manifest does not declare as one
   */
  exchange(request: Outgoing, options?: { readonly outlives: boolean }): Promise<Exchanged>
  /** What is kept for these credentials between requests and checks. */
  readonly memory: CredentialMemory
  /** The refresh tokens of the connection, which change. */
  readonly refreshes: Refreshes
  readonly now: () => Instant
  /** Random bytes, in hexadecimal. */
  nonce(): string
}

export interface Exchanged {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Belongs to one connection with its current credentials, the origin that is read, and this process. Entries can disappear at any time. */
export interface CredentialMemory {
  get(key: string): string | undefined
  /** @param until when it is forgotten */
  set(key: string, value: string, until: Instant): void
  delete(key: string): void
  /** Single-flight: who asks while the work for this key is under way gets its result. */
  once<T>(key: string, work: () => Promise<T>): Promise<T>
}

export interface AccessToken {
  readonly accessToken: string
  readonly since: Instant
  readonly until: Instant
}

/** What a token endpoint gave for a refresh token. */
export interface Refreshed extends AccessToken {
  /** Left out: the earlier one stays. */
  readonly refreshToken?: string | undefined
}

export interface NotRefreshed {
  readonly error: DestinationError
  /** When the same refresh token may be sent again. `at once`: the answer was lost. */
  readonly again: 'at once' | 'later' | 'never'
}

export interface RefreshAsked {
  /** Its secret is the first refresh token. */
  readonly option: string
  /** As the check has it. */
  readonly typed: string
  /** Whether an access token that is stored does. */
  isUsable(token: AccessToken): boolean
  /** Never rejects. */
  exchange(refreshToken: string): Promise<Refreshed | NotRefreshed>
}

export interface Refreshes {
  /**
   * Exchanges the newest refresh token, one host at a time, and stores what it brought before it resolves. Resolves with what another host
   * has stored, where that is usable.
   * @throws DestinationError `unauthorized` where the token endpoint refuses the refresh token
   */
  refresh(asked: RefreshAsked): Promise<AccessToken>
}

export interface NamedOption {
  readonly name: string
  /** The option has to be a secret; it may be one, when left out; `false`: it must not be one. */
  readonly isSecret?: boolean
}

export interface Scheme<C extends Credential = Credential> {
  /** The form of a declaration. */
  readonly form: TSchema | ((credential: C) => TSchema)
  /** The options that a declaration names. */
  options(credential: C): readonly NamedOption[]
  /** What is wrong with a declaration of that form. */
  problems?(credential: C): readonly string[]
  /**
   * Sends a request with the credential. It takes the secrets out of what the plugin gets to see of the answer.
   * @throws BreachError for a request that the scheme does not spend the credential on
   * @throws DestinationError
   */
  spend(credential: C, request: Outgoing, host: SchemeHost): Promise<Response>
}
