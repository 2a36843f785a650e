/** Looks for a version in a sparse index of Cargo's. Its digests and times are the registry's own. */
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { FoundVersion, Place, Query } from '../ecosystem.ts'
import { sha256Integrity } from '../integrity.ts'
import { json } from '../json.ts'
import { createReader } from '../reader.ts'
import { parseSemVer } from '../semver.ts'
import { logTime } from '../times.ts'
import { Config, type IndexEntry, indexPath, readIndexFile } from './index-file.ts'

export async function findOnCargo(query: Query, place: Place, context: CheckContext): Promise<FoundVersion> {
  const { name, version, integrity } = query
  const { baseUrl } = place
  const reader = createReader(place, context)
  const url = `${baseUrl}/${indexPath(name)}`
  const parse = (response: Response) => readIndexFile(response, name)
  // The protocol has three ways to say that there is no such crate; 451 does not say that there never was.
  const read = await context.cache.share(url, () =>
    reader.get(url, { as: 'cargo index', accept: 'text/plain', also: [404, 410], parse }),
  )
  if (!read) {
    if (!place.sees(name)) throw new DestinationError('forbidden', { status: 404 })
    await reader.get(`${baseUrl}/config.json`, json('cargo config', Config))
    return { isListed: false, facts: { package_listed: false } }
  }

  const { clockBehindMs, isDoubtful } = read
  const entry = read.value.find(({ vers }) => vers === version)
  if (!entry) {
    // Cargo takes versions that differ in nothing else for one: which of them was meant cannot be told.
    if (read.value.some(({ vers }) => withoutBuild(vers) === withoutBuild(version))) {
      throw new DestinationError('ambiguous_claim')
    }
    return { isListed: false, published: null, isDoubtful, facts: { package_listed: true } }
  }
  const digest = sha256Integrity(entry.cksum)
  return {
    isListed: true,
    isDoubtful,
    ...(integrity !== undefined && { hasContent: digest === integrity }),
    ...publishedAt(entry),
    ...(clockBehindMs !== undefined && { clockBehindMs }),
    facts: {
      version,
      package_listed: true,
      integrity: digest,
      integrity_by: 'registry',
      ...(entry.yanked && { yanked: true }),
    },
  }
}

/** Not every registry writes the time down. */
function publishedAt({ pubtime }: IndexEntry): Pick<FoundVersion, 'published'> {
  if (pubtime === undefined) return {}
  const published = logTime(pubtime)
  if (!published) throw new DestinationError('unexpected_response', { status: 200 })
  return { published }
}

function withoutBuild(version: string): string | undefined {
  return parseSemVer(version)?.withoutBuild
}
