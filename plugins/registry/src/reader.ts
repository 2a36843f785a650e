/** Reads a registry: with the usual meaning of statuses, and with conditional requests where the answer is small enough to be kept. */
import {
  type CheckContext,
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
}

export interface Reader {
  /** Undefined for a status in `also`. @throws DestinationError */
  get<T>(url: string, init: ReadInit<T>): Promise<Read<T> | undefined>
}

interface Remembered {
  readonly etag: string
  readonly value: unknown
}

/** In characters, as JSON. The cache limits the number of its entries, and not their size. */
const MAX_REMEMBERED_LENGTH = 32 * 1024

/** @param cache a probe has none */
export function createReader(
  { auth }: Pick<Place, 'auth'>,
  { fetch, now, cache }: ProbeContext & Partial<Pick<CheckContext, 'cache'>>,
): Reader {
  return {
    async get<T>(url: string, { as, accept, also = [], parse }: ReadInit<T>) {
      const key = `${as} ${url}`
      const known = cache?.get(key) as Remembered | undefined
      const response = await fetch(url, {
        headers: { accept, ...(known && { 'if-none-match': known.etag }) },
        auth,
      })
      const { status, headers } = response
      const theirNow = Date.parse(headers.get('date') ?? '')
      const clockBehindMs = Number.isNaN(theirNow) ? undefined : now() - theirNow
      if (status === 304 && known) return { value: known.value as T, clockBehindMs }
      if (status !== 200) {
        await response.body?.cancel()
        if (also.includes(status)) return undefined
        throw statusError(response, now())
      }
      const value = await parsed(response, parse)
      const etag = headers.get('etag')
      if (etag !== null && JSON.stringify(value).length <= MAX_REMEMBERED_LENGTH) cache?.set(key, { etag, value })
      return { value, clockBehindMs }
    },
  }
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
