/** Computes digests of an answer's content as it arrives, and stores none of it. */
import { bytesToHex } from '@noble/hashes/utils.js'
import { DestinationError } from '../contract/destination-error.ts'
import type { DigestAlgorithm, DigestAnswer } from '../contract/verifier.ts'
import { BreachError } from './failures.ts'

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
