/** Bounds the body of an answer, in size and time, while it is read. */

import type { SendInit } from '@claimcheck/core/hosting'
import { toDestinationError } from '@claimcheck/core/hosting'
import { DestinationError } from '@claimcheck/core/plugin'
import { codingsOf, decoded, isLeftCoded } from './codings.ts'

const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** Tells whether an answer has a body. The headers of an answer to HEAD describe a body that does not come. */
export function hasBody(method: string, status: number): boolean {
  return method !== 'HEAD' && !NO_BODY.has(status)
}

/**
 * Copies the response; reading the body of the copy fails when the body is too large or the time is over. A compressed body counts by its size after
 * decompression.
 * @throws DestinationError `unexpected_response` for an invalid status, and for a body that was compressed several times over
 */
export function limitBody(
  response: Response,
  { method, signal, received }: Pick<SendInit, 'method' | 'signal' | 'received'>,
  maxBytes: number,
): Response {
  const { status, statusText, headers } = response
  // The constructor of Response refuses such statuses. A few bytes that were compressed twice are enough to keep a processor busy.
  const codings = codingsOf(headers)
  const isRead = response.body !== null && hasBody(method, status)
  if (status < 200 || status > 599 || (isRead && codings.length > 1)) throw refused(response)
  const copy = (body: ReadableStream | null) => {
    const copied = new Response(body, { status, statusText, headers: [...headers] })
    // The constructor of Response cannot set the URL.
    return Object.defineProperty(copied, 'url', { value: response.url })
  }
  if (!isRead) {
    void response.body?.cancel().catch(() => {})
    return copy(null)
  }
  const raw = response.body as ReadableStream<Uint8Array>
  const body = isLeftCoded(headers) ? decoded(raw, codings[0]) : raw
  if (!body) throw refused(response)
  const reader = body.getReader()
  let size = 0
  return copy(
    new ReadableStream({
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) return controller.close()
          size += value.length
          if (size > maxBytes) {
            throw new DestinationError('too_large', { status })
          }
          await received?.(value.length)
          controller.enqueue(value)
        } catch (error) {
          void reader.cancel().catch(() => {})
          controller.error(isWronglyCoded(error) ? refused(response) : toDestinationError(error, signal))
        }
      },
      cancel: (reason) => reader.cancel(reason),
    }),
  )
}

function refused({ status, body }: Response): DestinationError {
  void body?.cancel().catch(() => {})
  return new DestinationError('unexpected_response', { status })
}

/** Recognizes an error of zlib or Brotli for a body that is not coded as its headers say. */
function isWronglyCoded(error: unknown): boolean {
  const { code } = ((error as { cause?: unknown }).cause ?? error) as { readonly code?: unknown }
  return typeof code === 'string' && /^(?:Z_|ERR__ERROR|ERR_BROTLI)/.test(code)
}
