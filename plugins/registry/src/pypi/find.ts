/** Looks for a version at PyPI or another index: by PyPI's JSON API, or else by the simple API. Its times and digests are the index's own. */
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { FoundVersion, Place, Query } from '../ecosystem.ts'
import { sha256Integrity } from '../integrity.ts'
import { json } from '../json.ts'
import { isAnswer, RegistryReader, type RegistryValue, unexpected } from '../reader.ts'
import { logTime } from '../times.ts'
import { Release } from './answers.ts'
import { normalizeProject } from './name.ts'
import { readListing, SIMPLE } from './simple.ts'
import { isSamePep440 } from './version.ts'

export async function findOnPypi(query: Query, place: Place, context: CheckContext): Promise<FoundVersion> {
  const { name, version } = query
  const { cache, http } = context
  const reader = new RegistryReader(place, context)
  const { simple, root } = rootsOf(place.baseUrl)
  const url = `${root}/pypi/${name}/${encodeURIComponent(version)}/json`

  /** Reads a release; undefined if there is none, or no JSON API: whatever such an index answers, its listing says what it has. */
  async function readRelease(): Promise<RegistryValue<Release> | undefined> {
    try {
      const read = await reader.get(url, { ...json('pypi release', Release), also: [404] })
      const info = read?.value.info
      if (info && !(normalizeProject(info.name) === name && isSamePep440(info.version, version))) throw unexpected()
      return read
    } catch (error) {
      if (place.isPublic || !isAnswer(error)) throw error
      return undefined
    }
  }

  const release = await cache.share(url, readRelease)
  if (release) {
    const { urls } = release.value
    // A release without files has nothing but its name.
    if (urls.length === 0) return { isListed: false, isEmptied: true, facts: { package_listed: true } }
    const files = urls.map(({ digests, upload_time_iso_8601: at, yanked }) => ({ ...digests, at, yanked }))
    return foundFiles(files, release, query)
  }

  // Absence of the version is shown by the listing of a visible project alone.
  const listing = await cache.share(`${simple} ${name} ${version}`, () => readListing(simple, query, reader))
  if (!listing) {
    if (!place.sees(name)) throw new DestinationError('forbidden', { status: 404 })
    await http.head(`${simple}/`, { headers: { accept: SIMPLE }, auth: place.auth })
    return { isListed: false, facts: { package_listed: false } }
  }
  const { files, hasVersion, isEmptied, isWhole } = listing.value
  if (files.length > 0) {
    const listed = files.map(({ hashes, 'upload-time': at, yanked }) => ({ ...hashes, at, yanked }))
    return foundFiles(listed, listing, query)
  }
  // The version was published while we were reading, or is not known to every replica yet: the next read will tell.
  if (hasVersion || !isWhole) throw unexpected()
  return { isListed: false, isEmptied, isDoubtful: listing.isDoubtful, facts: { package_listed: true } }
}

/**
 * The addresses of the two APIs below a base address, which may be that of the simple API, as pip's `index-url` names it. devpi has it at `+simple`.
 */
export function rootsOf(baseUrl: string): { readonly simple: string; readonly root: string } {
  const root = baseUrl.replace(/\/\+?simple$/, '')
  return { simple: root === baseUrl ? `${root}/simple` : baseUrl, root }
}

interface ListedFile {
  /** The digest of the file, if the index tells it. */
  readonly sha256?: string
  readonly at: unknown
  readonly yanked: unknown
}

/** Describes a version by its files, of which there may be several, and more may come. It was published with the first of them. */
function foundFiles(
  all: readonly ListedFile[],
  { clockBehindMs, isDoubtful }: Pick<RegistryValue<unknown>, 'clockBehindMs' | 'isDoubtful'>,
  { version, integrity }: Query,
): FoundVersion {
  const digestOf = ({ sha256 }: ListedFile) => sha256 && sha256Integrity(sha256)
  const claimed = all.filter((file) => integrity === undefined || digestOf(file) === integrity)
  // The claimed file may be one of which the index tells no digest.
  if (claimed.length === 0 && all.some(({ sha256 }) => sha256 === undefined)) throw unexpected()
  const files = claimed.length > 0 ? claimed : all
  const isTold = files.length === 1 || (integrity !== undefined && claimed.length > 0)
  const digest = isTold ? digestOf(files[0]!) : undefined
  const times = files.flatMap(({ at }) => logTime(at) ?? []).sort((one, other) => one.notBefore - other.notBefore)
  return {
    isListed: true,
    hasContent: integrity === undefined ? undefined : claimed.length > 0,
    // A file without a time may be the first of the version.
    published: times.length === files.length ? times[0] : undefined,
    latest: times.at(-1),
    isDoubtful,
    clockBehindMs,
    facts: {
      // The version is written as in the claim: 1.0 is 1.0.0 at an index.
      version,
      package_listed: true,
      ...(digest !== undefined && { integrity: digest, integrity_by: 'registry' }),
      // A yanked file has true here, or the reason of yanking (PEP 691).
      ...(files.every(({ yanked }) => yanked === true || (typeof yanked === 'string' && yanked)) && { yanked: true }),
    },
  }
}
