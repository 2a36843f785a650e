/** Downloads a package's file and computes its digest: the one in the registry's answers is what its publisher sent along. */
import { createHash } from 'node:crypto'
import { DestinationError, parseUrl } from '@claimcheck/core/plugin'
import type { Place } from '../ecosystem.ts'
import { algorithmOf } from '../integrity.ts'
import { bodyOf, type Read, type Reader } from '../reader.ts'

/** What every package's file begins with. A page that says that there is none right now does not. */
const GZIP = [0x1f, 0x8b] as const

/**
 * @param integrity whose algorithm is used
 * @throws DestinationError `unsupported_target` where the file is elsewhere: a check reads one origin alone. `too_large` for a file beyond the
 *   host's limit
 */
export async function hashTarball(url: string, integrity: string, place: Place, reader: Reader): Promise<Read<string>> {
  const algorithm = algorithmOf(integrity)
  const isSameOrigin = parseUrl(url)?.origin === new URL(place.baseUrl).origin
  if (!isSameOrigin) throw new DestinationError('unsupported_target')
  const read = await reader.get(url, {
    as: algorithm,
    accept: '*/*',
    async parse(response) {
      const hash = createHash(algorithm)
      const start: number[] = []
      for await (const part of bodyOf(response)) {
        if (start.length < GZIP.length) start.push(...part.subarray(0, GZIP.length - start.length))
        hash.update(part)
      }
      if (GZIP.some((byte, index) => start[index] !== byte)) throw new TypeError('the answer is no package')
      return `${algorithm}-${hash.digest('base64')}`
    },
  })
  return read!
}
