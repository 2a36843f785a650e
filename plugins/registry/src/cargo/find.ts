/** Looks for a version in a sparse index of Cargo. Its digests and times are the registry's own. */
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { FoundVersion, Place, Query } from '../ecosystem.ts'
import { sha256Integrity } from '../integrity.ts'
import { json } from '../json.ts'
import { RegistryReader, type RegistryValue, unexpected } from '../reader.ts'
import { parseSemVer } from '../semver.ts'
import { logTime } from '../times.ts'
import { Config, type IndexEntry, type IndexFile, indexPath, readIndexFile, spellingsOf } from './index-file.ts'

export async function findOnCargo(query: Query, place: Place, context: CheckContext): Promise<FoundVersion> {
  const { name, version, integrity } = query
  const { baseUrl } = place
  const reader = new RegistryReader(place, context)

  /**
   * Reads a crate's file in the index; undefined if there is no such crate, which the protocol says in three ways. Of them, 451 does not say that
   * there never was one.
   */
  function readIndex(spelling: string): Promise<RegistryValue<IndexFile> | undefined> {
    const url = `${baseUrl}/${indexPath(spelling)}`
    const parse = (response: Response) => readIndexFile(response, spelling)
    return context.cache.share(url, () =>
      reader.get(url, { as: 'cargo index', accept: 'text/plain', also: [404, 410], parse }),
    )
  }

  async function readOtherSpelling(): Promise<RegistryValue<IndexFile> | undefined> {
    const { names, areAll } = spellingsOf(name)
    for (const spelling of names) {
      const read = await readIndex(spelling)
      if (!read) continue
      // Registries other than crates.io may have two crates under the two spellings.
      if (!place.isPublic) throw new DestinationError('ambiguous_claim')
      return read
    }
    if (!areAll) throw new DestinationError('too_large')
    return undefined
  }

  const read = (await readIndex(name)) ?? (place.sees(name) ? await readOtherSpelling() : undefined)
  if (!read) {
    if (!place.sees(name)) throw new DestinationError('forbidden', { status: 404 })
    await reader.get(`${baseUrl}/config.json`, json('cargo config', Config))
    return { isListed: false, facts: { package_listed: false } }
  }

  const { clockBehindMs, isDoubtful } = read
  const { entries, isWhole } = read.value
  // Cargo takes the last of two lines for one version.
  const entry = entries.findLast(({ vers }) => vers === version)
  if (!entry) {
    // Cargo takes versions that differ in nothing but the build for one, so that nothing tells which of them was meant.
    if (entries.some(({ vers }) => withoutBuild(vers) === withoutBuild(version)))
      throw new DestinationError('ambiguous_claim')
    // The version may be in a line that could not be read.
    if (!isWhole) throw unexpected()
    return { isListed: false, published: null, ...recordOf(entries), isDoubtful, facts: { package_listed: true } }
  }
  const digest = digestOf(entry)
  if (integrity !== undefined && digest === undefined) throw unexpected()
  return {
    isListed: true,
    isDoubtful,
    hasContent: integrity === undefined ? undefined : digest === integrity,
    // The time is missing at registries that do not write it down.
    published: logTime(entry.pubtime),
    ...recordOf(entries),
    clockBehindMs,
    facts: {
      version,
      package_listed: true,
      ...(digest !== undefined && { integrity: digest, integrity_by: 'registry' as const }),
      ...(entry.yanked === true && { yanked: true as const }),
    },
  }
}

/** The beginning of a crate's record, if each of its lines has a time: owners can delete a whole crate, and the record begins anew. */
function recordOf(entries: readonly IndexEntry[]): Pick<FoundVersion, 'recordSince'> {
  const times = entries.map(({ pubtime }) => logTime(pubtime)?.notBefore ?? Number.NEGATIVE_INFINITY)
  return { recordSince: times.reduce((first, time) => Math.min(first, time)) }
}

function digestOf({ cksum }: IndexEntry): string | undefined {
  return typeof cksum === 'string' && /^[0-9a-f]{64}$/.test(cksum) ? sha256Integrity(cksum) : undefined
}

function withoutBuild(version: string): string | undefined {
  return parseSemVer(version)?.withoutBuild
}
