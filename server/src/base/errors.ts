/** Errors with closed codes. `http/` turns those of services into answers, `cli/` into messages. */

export abstract class CodedError<Code extends string> extends Error {
  readonly code: Code

  constructor(code: Code, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.code = code
  }
}

/** One mistake in an input: an item of a 422 answer. */
export interface Issue {
  readonly loc: Loc
  readonly msg: string
  readonly type: string
  readonly ctx?: Readonly<Record<string, unknown>>
  readonly input?: unknown
}

/** The position of a value in an input: `['body', 'params', 'sha']`. */
export type Loc = readonly (string | number)[]

export type ServiceErrorCode =
  | 'invalid'
  | 'not_found'
  | 'gone'
  | 'forbidden'
  | 'bad_request'
  | 'conflict'
  | 'too_many'
  | 'read_only'
  | 'unavailable'

interface ServiceErrorOptions {
  readonly issues?: readonly Issue[]
  readonly retryAfterMs?: number
  readonly more?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

export class ServiceError extends CodedError<ServiceErrorCode> {
  override readonly name = 'ServiceError'
  /** All mistakes of an error with the code `invalid`. */
  readonly issues: readonly Issue[]
  /** The time after which to try again, with the code `too_many`. */
  readonly retryAfterMs: number | undefined
  /** Further members of the answer to this error. */
  readonly more: Readonly<Record<string, unknown>> | undefined

  constructor(code: ServiceErrorCode, detail: string, options: ServiceErrorOptions = {}) {
    super(code, detail, { cause: options.cause })
    this.issues = options.issues ?? []
    this.retryAfterMs = options.retryAfterMs
    this.more = options.more
  }
}
