/** The codings of an answer's content: a body that is read was never coded more than once. */
import { Duplex } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** Lists the codings of a body. `identity` is none, also where a server lists it beside another one. */
export function codingsOf(headers: Headers): string[] {
  const named = (headers.get('content-encoding') ?? '').split(',').map((coding) => coding.trim().toLowerCase())
  return named.filter((coding) => coding !== '' && coding !== 'identity')
}

/** Tells whether fetch leaves a body coded: it decodes nothing where one of the codings in the list is `identity`. */
export function isLeftCoded(headers: Headers): boolean {
  return codingsOf(headers).length > 0 && /(?:^|,)\s*identity\s*(?:,|$)/i.test(headers.get('content-encoding') ?? '')
}

/**
 * Decodes a body.
 * @returns undefined for an unknown coding
 */
export function decoded(
  body: ReadableStream<Uint8Array>,
  coding: string | undefined,
): ReadableStream<Uint8Array> | undefined {
  if (coding === undefined) return body
  const decoder = decoderOf(coding)
  return decoder && body.pipeThrough(Duplex.toWeb(decoder) as ReadableWritablePair<Uint8Array, Uint8Array>)
}

function decoderOf(coding: string) {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      return createInflate()
    case 'br':
      return createBrotliDecompress()
    default:
      return undefined
  }
}
