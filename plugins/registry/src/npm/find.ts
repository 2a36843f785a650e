/** Looks for a version at an npm registry: its own document shows whether it is there, and the package's document since when. */
import { type CheckContext, DestinationError, isDestinationError } from '@claimcheck/core/plugin'
import type { FoundVersion, Place, Query } from '../ecosystem.ts'
import { algorithmOf } from '../integrity.ts'
import { json } from '../json.ts'
import { readPruned } from '../pruned-json.ts'
import { createReader, type Read } from '../reader.ts'
import { logTime } from '../times.ts'
import { Manifest, Packument, Ping } from './answers.ts'
import { hashTarball } from './tarball.ts'

type PackageRecord = Pick<FoundVersion, 'published' | 'removedBy' | 'clockBehindMs'>

const WANTED = { name: 'value', versions: 'names', time: 'value' } as const

export async function findOnNpm(query: Query, place: Place, context: CheckContext): Promise<FoundVersion> {
  const { name, version, integrity } = query
  const { cache, logger } = context
  const reader = createReader(place, context)
  const url = `${place.baseUrl}/${name.replace('/', '%2f')}`
  const shared = <T>(what: string, read: () => Promise<T>) => cache.share(`${url} ${what}`, read)

  /** Undefined where there is none. */
  async function readManifest(): Promise<Manifest | undefined> {
    const read = await reader.get(`${url}/${version}`, { ...json('npm version', Manifest), also: [404] })
    // A tag's name leads to a version's document, too, and so does a version that is written in another way.
    if (read && (read.value.name !== name || read.value.version !== version)) throw unexpected()
    return read?.value
  }

  /** Undefined where there is none. */
  async function readPackument(): Promise<Read<Packument> | undefined> {
    const init = json('npm package', Packument, (response) => readPruned(response, WANTED))
    const read = await reader.get(url, { ...init, also: [404] })
    if (read && read.value.name !== name) throw unexpected()
    return read
  }

  /** Of a version that is there. Without a record only our own reads tell when it came, so nothing hangs on it. */
  async function readRecord(): Promise<PackageRecord> {
    try {
      const packument = await shared('package', readPackument)
      return packument ? recordOf(version, packument) : {}
    } catch (error) {
      if (!isDestinationError(error)) throw error
      logger.warn({ err: error }, 'the record of the package could not be read')
      return {}
    }
  }

  const manifest = await shared(version, readManifest)
  if (manifest) {
    const { dist, deprecated } = manifest
    const file =
      integrity &&
      (await shared(`${version} ${algorithmOf(integrity)}`, () => hashTarball(dist.tarball, integrity, place, reader)))
    return {
      isListed: true,
      ...(file && { hasContent: file.value === integrity, isDoubtful: file.isDoubtful }),
      ...(await readRecord()),
      facts: {
        version,
        package_listed: true,
        ...(file && { integrity: file.value, integrity_by: 'claimcheck' }),
        ...(deprecated && { deprecated: true }),
      },
    }
  }

  // That there is no such version is said only of a package that is seen.
  const packument = await shared('package', readPackument)
  if (!packument) {
    if (!place.sees(name)) throw new DestinationError('forbidden', { status: 404 })
    await reader.get(`${place.baseUrl}/-/ping`, json('npm ping', Ping))
    return { isListed: false, facts: { package_listed: false } }
  }
  // Published while we were reading, or not known to every replica yet: the next read will tell.
  if (Object.hasOwn(packument.value.versions ?? {}, version)) throw new DestinationError('unavailable')
  const record = recordOf(version, packument)
  return {
    isListed: false,
    isDoubtful: packument.isDoubtful,
    ...record,
    facts: { package_listed: true, ...(record.published && { unpublished: true }) },
  }
}

function recordOf(version: string, { value: { time }, clockBehindMs }: Read<Packument>): PackageRecord {
  if (time === undefined) return {}
  if (!Object.hasOwn(time, version) && time.unpublished !== undefined) return recordOfNone(version, time.unpublished)
  const published = Object.hasOwn(time, version) ? logTime(time[version]) : null
  if (published === undefined) throw unexpected()
  // To take a version away is a change, so it was done by the time of the last one.
  const removedBy = logTime(time.modified)?.notAfter
  return {
    published,
    ...(removedBy !== undefined && { removedBy }),
    ...(clockBehindMs !== undefined && { clockBehindMs }),
  }
}

/** Everything was unpublished, with which the times of the versions may have gone. */
function recordOfNone(version: string, unpublished: unknown): PackageRecord {
  const { versions } = (unpublished ?? {}) as { readonly versions?: unknown }
  // It was there, and nothing tells when.
  if (Array.isArray(versions) && versions.includes(version)) throw new DestinationError('ambiguous_claim')
  return {}
}

function unexpected(): DestinationError {
  return new DestinationError('unexpected_response', { status: 200 })
}
