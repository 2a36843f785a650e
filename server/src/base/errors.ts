/** The errors of the services, with closed codes: http/ turns them into answers, cli/ into messages. */

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

export type ServiceErrorCode = 'invalid' | 'not_found' | 'bad_request' | 'conflict' | 'read_only' | 'unavailable'

export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ServiceErrorCode
  /** With `invalid`: every mistake. */
  readonly issues: readonly Issue[]

  constructor(code: ServiceErrorCode, detail: string, options: { issues?: readonly Issue[]; cause?: unknown } = {}) {
    super(detail, { cause: options.cause })
    this.code = code
    this.issues = options.issues ?? []
  }
}
