/** Has a package's file read, and its digest computed: the one in the registry's answers is what its publisher sent along. */
import { type CheckContext, DestinationError, parseUrl, statusError } from '@claimcheck/core/plugin'
import type { Place } from '../ecosystem.ts'
import { algorithmOf } from '../integrity.ts'
import { isTooOld, type RegistryValue, tellsItsEnd } from '../reader.ts'
import type { Manifest } from './answers.ts'

/** The beginning of every package's file, which tells it from a page that says that there is none right now. */
const GZIP = '1f8b'

interface Remembered {
  readonly declared: string
  readonly value: string
  /** Tells that a second read had the same digest: one odd answer must not confirm itself. */
  readonly isConfirmed: boolean
}

/**
 * Computes the digest of a package's file. A file that twice had another digest than the claimed one is not read again until its publisher says
 * something else of it.
 * @throws DestinationError `unsupported_target` where the registry does not serve the file itself: a check reads one origin alone
 */
export async function hashTarball(
  { tarball, integrity: declaredDigest, shasum }: Manifest['dist'],
  { integrity, place }: { readonly integrity: string; readonly place: Place },
  { digest, cache, now }: Pick<CheckContext, 'digest' | 'cache' | 'now'>,
): Promise<Pick<RegistryValue<string>, 'value' | 'isDoubtful'>> {
  const algorithm = algorithmOf(integrity)
  const { url, isMoved } = addressOf(tarball, place.baseUrl)
  const key = `digest ${algorithm} ${url}`
  const declared = JSON.stringify([declaredDigest, shasum])
  const known = cache.get(key) as Remembered | undefined
  const isKnown = known !== undefined && known.declared === declared
  if (isKnown && known.isConfirmed && known.value !== integrity) return { value: known.value, isDoubtful: false }
  const asked = { algorithms: [algorithm], headers: { accept: '*/*' }, auth: place.auth }
  const { status, headers, start, digests } = await digest(url, asked)
  if (isMoved && status === 404) throw new DestinationError('unsupported_target')
  if (status !== 200) throw statusError({ status, headers }, now())
  if (!start.startsWith(GZIP)) throw new DestinationError('unexpected_response', { status })
  const value = `${algorithm}-${digests[algorithm]}`
  const isDoubtful = isTooOld(headers, place.isPublic) || !tellsItsEnd(headers)
  // A publisher that says nothing of a file leaves nothing to show that another one is there now.
  const isDeclared = declaredDigest !== undefined || shasum !== undefined
  if (!isDoubtful && isDeclared) cache.set(key, { declared, value, isConfirmed: isKnown && known.value === value })
  return { value, isDoubtful }
}

/**
 * The address of the file at the registry. Behind a proxy a registry may name an inner host, which nobody else reaches: the same path leads there
 * from the registry's address.
 */
function addressOf(tarball: string, baseUrl: string): { readonly url: string; readonly isMoved: boolean } {
  const file = parseUrl(tarball)
  if (!file) throw new DestinationError('unsupported_target')
  const base = new URL(baseUrl)
  if (file.origin === base.origin) return { url: file.href, isMoved: false }
  const path = file.pathname + file.search
  const isBelow = path.startsWith(base.pathname.replace(/\/?$/, '/'))
  return { url: isBelow ? base.origin + path : baseUrl + path, isMoved: true }
}
