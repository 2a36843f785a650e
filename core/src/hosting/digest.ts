/** Computes digests of an answer's content as it arrives, and stores none of it. */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { DestinationError } from '../contract/destination-error.ts'
import type { FetchInit } from '../contract/fetch.ts'
import type { DigestAlgorithm, DigestAnswer } from '../contract/verifier.ts'
import { BreachError } from './failures.ts'
import { encodeBase64 } from './schemes/hashes.ts'

/** The part of `createHash` of `node:crypto` that a digest uses. */
export type CreateHash = (algorithm: DigestAlgorithm) => {
  update(part: Uint8Array): unknown
  digest(encoding: 'base64'): string
}

const ALGORITHMS: ReadonlySet<unknown> = new Set<DigestAlgorithm>(['sha256', 'sha512'])
const START_BYTES = 16

/**
 * Headers of a request for a digest, which ask for the content as it is, not compressed.
 * @throws BreachError for algorithms that are not of the contract
 */
export function digestHeaders(
  headers: Readonly<Record<string, string>> = {},
  algorithms: readonly DigestAlgorithm[],
): Record<string, string> {
  if (!algorithms.every((algorithm) => ALGORITHMS.has(algorithm)))
    throw new BreachError('a digest may be sha256 or sha512 only')
  return { 'accept-encoding': 'identity', ...headers }
}

/**
 * Reads an answer to its end and computes its digests.
 * @param maxDecodedBytes size limit of content that arrives compressed, because a few bytes can become any number
 * @throws DestinationError, also that of the body, such as `too_large`
 */
export async function digestAnswer(
  response: Response,
  {
    algorithms,
    createHash,
    maxDecodedBytes,
  }: {
    readonly algorithms: readonly DigestAlgorithm[]
    readonly createHash: CreateHash
    readonly maxDecodedBytes: number
  },
): Promise<DigestAnswer> {
  const { status, headers, url } = response
  const hashes = [...new Set(algorithms)].map((algorithm) => [algorithm, createHash(algorithm)] as const)
  const isCompressed = !/^(?:identity)?$/i.test(headers.get('content-encoding')?.trim() ?? '')
  const mostBytes = isCompressed ? maxDecodedBytes : Number.POSITIVE_INFINITY
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader()
  let bytes = 0
  let start = ''
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    const { value } = part
    if (bytes < START_BYTES) start += bytesToHex(value.subarray(0, START_BYTES - bytes))
    bytes += value.length
    if (bytes > mostBytes) {
      await reader?.cancel()
      throw new DestinationError('too_large', { status })
    }
    for (const [, hash] of hashes) hash.update(value)
  }
  const digests = Object.fromEntries(hashes.map(([algorithm, hash]) => [algorithm, hash.digest('base64')]))
  return { status, headers, url, bytes, start, digests }
}

const DIGEST_BYTES: Readonly<Record<DigestAlgorithm, number>> = { sha256: 32, sha512: 64 }

interface ContentDigest {
  readonly algorithm: DigestAlgorithm
  readonly base64: string
}

/** Reads the digest of known content. @throws BreachError for another form, or a request that reads no content */
export function readContentDigest(text: unknown, { method = 'GET', call, redirect }: FetchInit): ContentDigest {
  const [, algorithm, hex = ''] = /^(sha256|sha512):((?:[0-9a-f]{2})+)$/.exec(String(text)) ?? []
  const bytes = hexToBytes(hex)
  if (algorithm === undefined || bytes.length !== DIGEST_BYTES[algorithm as DigestAlgorithm])
    throw new BreachError('the digest of known content is sha256: or sha512: and hexadecimal digits')
  if (method !== 'GET' || call !== undefined || redirect !== undefined)
    throw new BreachError('known content is read by GET, and its redirect is followed')
  return { algorithm: algorithm as DigestAlgorithm, base64: encodeBase64(bytes) }
}

/**
 * Reads an answer with known content to its end. Answers without success stay as they are.
 * @param url the address that was asked, in place of that of another origin, which is often signed
 * @throws DestinationError `unexpected_response` for other content, also that of the body, such as `too_large`
 */
export async function requireContent(
  response: Response,
  { algorithm, base64 }: ContentDigest,
  { url, createHash }: { readonly url: string; readonly createHash: CreateHash },
): Promise<Response> {
  const { status, headers } = response
  if (!response.ok) return response
  const bytes = new Uint8Array(await response.arrayBuffer())
  const hash = createHash(algorithm)
  hash.update(bytes)
  if (hash.digest('base64') !== base64) throw new DestinationError('unexpected_response', { status })
  // The constructor of Response cannot set the URL.
  return Object.defineProperty(new Response(bytes, { status, headers }), 'url', { value: url })
}
