/** Errors between a program and the service: one class for each thing that a program does about them. */
import { retryAfterMs } from '@claimcheck/core/plugin'
import type { ClaimRequest, ClaimStatus, ErasedReceipt, ValidationErrorItem } from './wire.ts'

/** The base of all errors of this package. */
export class ClaimcheckError extends Error {
  override readonly name: string = 'ClaimcheckError'
}

/** Says that the client could not reach the service, or that its answer broke off. */
export class ConnectionError extends ClaimcheckError {
  override readonly name = 'ConnectionError'
}

/** The error of an answer that is not one of the service's. */
export class UnexpectedAnswerError extends ClaimcheckError {
  override readonly name = 'UnexpectedAnswerError'
}

/** The error of an answer or a verdict that did not come in time. The checks of a claim go on without the program. */
export class TimeoutError extends ClaimcheckError {
  override readonly name = 'TimeoutError'
  /** The claim that was waited for, as it was last seen. */
  readonly claim: ClaimStatus | undefined

  constructor(message: string, claim?: ClaimStatus, options?: ErrorOptions) {
    super(message, options)
    this.claim = claim
  }
}

/** The error of work that is done, and could not be claimed. Submit `claim` again when the service is there: it has its id. */
export class NotClaimedError<Result = unknown> extends ClaimcheckError {
  override readonly name = 'NotClaimedError'
  /** The value that the work returned. */
  readonly result: Result
  readonly claim: ClaimRequest

  constructor(result: Result, claim: ClaimRequest, cause: unknown) {
    super(`the work is done, but not claimed: ${(cause as Error).message}`, { cause })
    this.result = result
    this.claim = claim
  }
}

/** One mistake in a request. */
export interface Issue {
  /** The field with the mistake, such as `params.sha`. */
  readonly field: string
  readonly message: string
  /** A code of the mistake, such as `missing` or `string_pattern_mismatch`. */
  readonly type: string
}

/** The error of an answer with a status other than success. */
export class ApiError extends ClaimcheckError {
  override readonly name: string = 'ApiError'
  readonly status: number
  /** The explanation of the service. */
  readonly detail: string
  /** Each mistake in the request, where the service lists them. */
  readonly issues: readonly Issue[]
  /** The wait that the service asks for, in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor({ status, detail, issues, retryAfterMs }: Answered) {
    super(`the service answered ${status}: ${detail}`)
    this.status = status
    this.detail = detail
    this.issues = issues
    this.retryAfterMs = retryAfterMs
  }
}

/** Status 400, 413, 415 or 422: the request is wrong. `issues` names the fields. */
export class InvalidRequestError extends ApiError {
  override readonly name = 'InvalidRequestError'
}

/** Status 401: the key is missing, unknown, expired or revoked. */
export class AuthenticationError extends ApiError {
  override readonly name = 'AuthenticationError'
}

/** Status 403: the key is good, but may not do this. */
export class ForbiddenError extends ApiError {
  override readonly name = 'ForbiddenError'
}

/** Status 404: there is no such thing in this workspace. What belongs to another workspace answers the same. */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError'
}

/** Status 410: the content of the receipt was erased. Its entry in the log is still there. */
export class GoneError extends ApiError {
  override readonly name = 'GoneError'
  readonly erased: ErasedReceipt | undefined

  constructor(answered: Answered) {
    super(answered)
    this.erased = answered.erased
  }
}

/** Status 429, also after all retries. */
export class RateLimitedError extends ApiError {
  override readonly name = 'RateLimitedError'
}

/** Status 500 to 599, also after all retries. */
export class ServiceUnavailableError extends ApiError {
  override readonly name = 'ServiceUnavailableError'
}

interface Answered {
  readonly status: number
  readonly detail: string
  readonly issues: readonly Issue[]
  readonly retryAfterMs: number | undefined
  readonly erased: ErasedReceipt | undefined
}

const CLASSES: Readonly<Record<number, new (answered: Answered) => ApiError>> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  403: ForbiddenError,
  404: NotFoundError,
  410: GoneError,
  413: InvalidRequestError,
  415: InvalidRequestError,
  422: InvalidRequestError,
  429: RateLimitedError,
}

const LONGEST_DETAIL = 500

/** Makes the error of an answer. @param text the body of the answer, which need not be of the service: a proxy in between may have given it */
export function errorOf(status: number, headers: Headers, text: string): ApiError {
  const { detail, erased } = objectIn(text) as { readonly detail?: unknown; readonly erased?: ErasedReceipt }
  const issues = Array.isArray(detail) ? detail.map(issueOf) : []
  const words = issues.map(({ field, message }) => `${field}: ${message}`).join('; ')
  const answered: Answered = {
    status,
    detail: words || (typeof detail === 'string' ? detail : text.slice(0, LONGEST_DETAIL)),
    issues,
    retryAfterMs: retryAfterMs(headers, Date.parse(headers.get('date') ?? '') || Date.now()),
    erased,
  }
  const Class = CLASSES[status] ?? (status >= 500 ? ServiceUnavailableError : ApiError)
  return new Class(answered)
}

/** Parses a JSON object. @returns an empty one for any other text */
export function objectIn(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** Drops the first part of `loc`, the part of the request, which says nothing to a reader of a field. */
function issueOf(item: Partial<ValidationErrorItem> | null): Issue {
  const loc = Array.isArray(item?.loc) ? item.loc : []
  const field = (loc.length > 1 ? loc.slice(1) : loc).join('.')
  return { field, message: String(item?.msg ?? ''), type: String(item?.type ?? '') }
}
