/** Reads a registry: with the usual meaning of statuses, and with conditional requests where the answer is small enough to be kept. */
import {
  type CheckContext,
  clockBehindMs,
  DestinationError,
  isDestinationError,
  isOldCopy,
  type ProbeContext,
  statusError,
} from '@claimcheck/core/plugin'
import type { FoundVersion, Place } from './ecosystem.ts'

export interface ReadInit<T> {
  /** The name of the kind of value, because one URL can be read as several. */
  readonly as: string
  readonly accept: string
  /** Statuses of answers that have no value, and are no errors. */
  readonly also?: readonly number[]
  /** Reads the answer's body. An error that is no DestinationError makes the answer an unexpected one. */
  parse(response: Response): T | Promise<T>
}

export interface RegistryValue<T> extends Pick<FoundVersion, 'clockBehindMs'> {
  readonly value: T
  readonly isDoubtful: boolean
}

interface Remembered {
  readonly etag: string
  readonly value: unknown
}

/** The greatest age, in seconds, that the host counts in answers of a registry that is not public. */
const MOST_COUNTED_S = 60

/** The longest remembered value, in characters of its JSON: the cache limits how many entries it has, and not their size. */
const MAX_REMEMBERED_LENGTH = 32 * 1024

type Registry = Pick<Place, 'auth'> & Partial<Pick<Place, 'isPublic'>>

export class RegistryReader {
  readonly #registry: Registry
  readonly #context: ProbeContext & Partial<Pick<CheckContext, 'cache'>>

  /** Creates a reader. @param context the context of a check, or of a probe, which has no cache */
  constructor(registry: Registry, context: ProbeContext & Partial<Pick<CheckContext, 'cache'>>) {
    this.#registry = registry
    this.#context = context
  }

  /**
   * Reads a value. Undefined for a status in `also`.
   * @throws DestinationError `unexpected_response` for such a status in a copy that is too old to count
   */
  async get<T>(url: string, init: ReadInit<T>): Promise<RegistryValue<T> | undefined> {
    const { as, accept, also = [], parse } = init
    const { auth, isPublic = false } = this.#registry
    const { fetch, now, cache } = this.#context
    const key = `${as} ${url}`
    const known = cache?.get(key) as Remembered | undefined
    const response = await fetch(url, { headers: { accept, ...(known && { 'if-none-match': known.etag }) }, auth })
    const { status, headers } = response
    const behindMs = clockBehindMs(headers, now())
    const isOld = isTooOld(headers, isPublic)
    if (status === 304 && known) return { value: known.value as T, clockBehindMs: behindMs, isDoubtful: isOld }
    if (status !== 200) {
      await response.body?.cancel()
      if (!also.includes(status)) throw statusError(response, now())
      if (isOld) throw new DestinationError('unexpected_response', { status })
      return undefined
    }
    const value = await readBody(response, parse)
    const etag = headers.get('etag')
    const isWhole = tellsItsEnd(headers)
    const isSmall = JSON.stringify(value).length <= MAX_REMEMBERED_LENGTH
    if (isWhole && etag !== null && isSmall) cache?.set(key, { etag, value })
    return { value, clockBehindMs: behindMs, isDoubtful: isOld || !isWhole }
  }
}

/** The error for an answer other than what was asked for. */
export function unexpected(): DestinationError {
  return new DestinationError('unexpected_response', { status: 200 })
}

/** Tells whether the registry answered, but with something else. It may still show the same elsewhere, unless it asks to wait. */
export function isAnswer(error: unknown): error is DestinationError {
  return isDestinationError(error) && error.status !== undefined && error.code !== 'rate_limited'
}

/**
 * Tells whether an answer is too old to count. The host counts any age of a public registry's answers, whose lag without one is known, but only a
 * minute of others'.
 */
export function isTooOld(headers: Headers, isPublic: boolean): boolean {
  return isPublic ? Number.isNaN(Number(headers.get('age'))) : isOldCopy(headers, MOST_COUNTED_S)
}

/** Tells whether an answer says where it ends. Otherwise a broken connection makes a part look like the whole. */
export function tellsItsEnd(headers: Headers): boolean {
  return headers.has('content-length') || headers.has('transfer-encoding')
}

async function readBody<T>(response: Response, parse: (response: Response) => T | Promise<T>): Promise<T> {
  try {
    return await parse(response)
  } catch (cause) {
    throw isDestinationError(cause)
      ? cause
      : new DestinationError('unexpected_response', { status: response.status, cause })
  }
}

/** The parts of a body as they arrive. */
export function bodyOf({ body }: Response): AsyncIterable<Uint8Array> {
  return (body ?? []) as unknown as AsyncIterable<Uint8Array>
}
