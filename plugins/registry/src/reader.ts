/** Reads a registry: with the usual meaning of statuses, and with conditional requests where the answer is small enough to be kept. */
import {
  type CheckContext,
  clockBehindMs,
  DestinationError,
  isDestinationError,
  type ProbeContext,
  statusError,
} from '@claimcheck/core/plugin'
import type { Place } from './ecosystem.ts'

export interface ReadInit<T> {
  /** What the answer is read as: one URL can be read as several things. */
  readonly as: string
  readonly accept: string
  /** Statuses to which there is no value. */
  readonly also?: readonly number[]
  /** Reads the answer's body. What it throws that is no DestinationError makes the answer an unexpected one. */
  parse(response: Response): T | Promise<T>
}

export interface Read<T> {
  readonly value: T
  /** As in `FoundVersion`. */
  readonly clockBehindMs: number | undefined
  /** As in `FoundVersion`. */
  readonly isDoubtful: boolean
}

interface Remembered {
  readonly etag: string
  readonly value: unknown
}

const MOST_COUNTED_MS = 60_000

/** In characters, as JSON. The cache limits the number of its entries, and not their size. */
const MAX_REMEMBERED_LENGTH = 32 * 1024

/** @param cache a probe has none */
export function createReader(
  { auth, isPublic = false }: Pick<Place, 'auth'> & Partial<Pick<Place, 'isPublic'>>,
  { fetch, now, cache }: ProbeContext & Partial<Pick<CheckContext, 'cache'>>,
) {
  return {
    /** Undefined for a status in `also`. @throws DestinationError `unexpected_response` for such a status in a copy that is too old to count */
    async get<T>(url: string, { as, accept, also = [], parse }: ReadInit<T>): Promise<Read<T> | undefined> {
      const key = `${as} ${url}`
      const known = cache?.get(key) as Remembered | undefined
      const response = await fetch(url, {
        headers: { accept, ...(known && { 'if-none-match': known.etag }) },
        auth,
      })
      const { status, headers } = response
      const behindMs = clockBehindMs(headers, now())
      const isOld = isOldCopy(headers, isPublic)
      if (status === 304 && known) return { value: known.value as T, clockBehindMs: behindMs, isDoubtful: isOld }
      if (status !== 200) {
        await response.body?.cancel()
        if (!also.includes(status)) throw statusError(response, now())
        if (isOld) throw new DestinationError('unexpected_response', { status })
        return undefined
      }
      const value = await parsed(response, parse)
      const etag = headers.get('etag')
      const isWhole = tellsItsEnd(headers)
      const isKept = isWhole && etag !== null && JSON.stringify(value).length <= MAX_REMEMBERED_LENGTH
      if (isKept) cache?.set(key, { etag, value })
      return { value, clockBehindMs: behindMs, isDoubtful: isOld || !isWhole }
    },
  }
}

/** Of a registry that answered something else than what was asked for. */
export function unexpected(): DestinationError {
  return new DestinationError('unexpected_response', { status: 200 })
}

/** The registry answered, and it was not what was asked for. It may still show the same elsewhere, unless it asks to wait. */
export function isAnswer(error: unknown): error is DestinationError {
  return isDestinationError(error) && error.status !== undefined && error.code !== 'rate_limited'
}

/** The host counts any age of the public registries' answers, but only a minute of others'. */
export function isOldCopy(headers: Headers, isPublic: boolean): boolean {
  const ageMs = Number(headers.get('age') ?? 0) * 1000
  return isPublic ? Number.isNaN(ageMs) : !(ageMs <= MOST_COUNTED_MS)
}

/** Else what a broken connection left of it looks like the whole. */
export function tellsItsEnd(headers: Headers): boolean {
  return headers.has('content-length') || headers.has('transfer-encoding')
}

async function parsed<T>(response: Response, parse: (response: Response) => T | Promise<T>): Promise<T> {
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
