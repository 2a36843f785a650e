/**
 * Looks for a version at an npm registry: its own document shows whether it is there, and the package's document since when. Some registries
 * have no documents of versions; then the package's document shows all, as it does to npm.
 */
import { type CheckContext, DestinationError, isDestinationError, Value } from '@claimcheck/core/plugin'
import type { FoundVersion, Place, Query } from '../ecosystem.ts'
import { json } from '../json.ts'
import { readPruned } from '../pruned-json.ts'
import { isAnswer, RegistryReader, type RegistryValue, unexpected } from '../reader.ts'
import { logTime } from '../times.ts'
import { Manifest, Packument, Ping } from './answers.ts'
import { hashTarball } from './tarball.ts'

/** Members of the document's `time` that are about all versions. */
const TIMES_OF_ALL = ['modified', 'unpublished'] as const

type PackageRecord = Pick<FoundVersion, 'published' | 'removedBy' | 'clockBehindMs'>

export async function findOnNpm(query: Query, place: Place, context: CheckContext): Promise<FoundVersion> {
  const { refusal, ...found } = await lookFor(query, place, context)
  const isAsClaimed = found.isListed && found.hasContent !== false
  if (refusal && !isAsClaimed) throw refusal
  return found
}

/**
 * Looks for a version. Some registries refuse the documents of versions, which npm does not ask for. Their other answers count only for the claim.
 */
async function lookFor(
  query: Query,
  place: Place,
  context: CheckContext,
): Promise<FoundVersion & { readonly refusal?: DestinationError }> {
  const { name, version } = query
  const { readManifest, readPackument, readRecord, asked, found, ping } = documentsOf(query, place, context)
  const manifest = await readManifest()
  if (manifest !== undefined && !isDestinationError(manifest)) return found(manifest, readRecord)
  const refused = manifest && { refusal: manifest }

  // Absence of the version is shown by the document of a visible package alone.
  const packument = await readPackument()
  if (!packument) {
    if (!place.sees(name)) throw new DestinationError('forbidden', { status: 404 })
    await ping()
    return { isListed: false, ...refused, facts: { package_listed: false } }
  }
  const { versions = {} } = packument.value
  if (Object.hasOwn(versions, version)) {
    const listed = versions[version]
    if (!Value.Check(Manifest, listed)) throw unexpected()
    const seen = await found(asked(listed), async () => recordOf(version, packument))
    return { ...seen, ...refused, isDoubtful: packument.isDoubtful || seen.isDoubtful === true }
  }
  const record = recordOf(version, packument)
  return {
    isListed: false,
    ...refused,
    isDoubtful: packument.isDoubtful,
    ...record,
    facts: { package_listed: true, ...(record.published && { unpublished: true }) },
  }
}

/** Reads the documents of a version, each once for all claims that wait for it. */
function documentsOf({ name, version, integrity }: Query, place: Place, context: CheckContext) {
  const { cache, logger } = context
  const reader = new RegistryReader(place, context)
  const url = `${place.baseUrl}/${name.replace('/', '%2f')}`
  const shared = <T>(what: string, read: () => Promise<T>) => cache.share(`${url} ${what} ${version}`, read)

  /**
   * Requires the document of the claimed version: a tag's name leads to a version's document, too, and so does a version that is written in another
   * way.
   */
  function asked(manifest: Manifest): Manifest {
    if (manifest.name !== name || manifest.version !== version) throw unexpected()
    return manifest
  }

  /** Reads the document of the version; undefined if there is none, and the error for any other answer. */
  function readManifest(): Promise<Manifest | DestinationError | undefined> {
    return shared('version', async () => {
      try {
        const read = await reader.get(`${url}/${version}`, { ...json('npm version', Manifest), also: [404, 405] })
        return read && asked(read.value)
      } catch (error) {
        if (isAnswer(error)) return error
        throw error
      }
    })
  }

  /** Reads the document of the package; undefined if there is no such package. */
  function readPackument(): Promise<RegistryValue<Packument> | undefined> {
    return shared('package', async () => {
      const wanted = {
        name: 'value',
        versions: { only: [version] },
        time: { only: [version, ...TIMES_OF_ALL] },
      } as const
      const init = json(`npm package ${version}`, Packument, (response) => readPruned(response, wanted))
      const read = await reader.get(url, { ...init, also: [404] })
      if (read && read.value.name !== name) throw unexpected()
      return read
    })
  }

  async function readRecord(): Promise<PackageRecord> {
    const packument = await readPackument()
    return packument ? recordOf(version, packument) : {}
  }

  /** Reads the record of a version that is there, if it can be read. Without it only our own reads tell when the version came. */
  async function recordIfTold(record: () => Promise<PackageRecord>): Promise<PackageRecord> {
    try {
      return await record()
    } catch (error) {
      if (!isDestinationError(error)) throw error
      logger.warn({ err: error }, 'the record of the package could not be read')
      return {}
    }
  }

  async function found({ dist, deprecated }: Manifest, record: () => Promise<PackageRecord>): Promise<FoundVersion> {
    const file =
      integrity && (await shared(`file ${integrity}`, () => hashTarball(dist, { integrity, place }, context)))
    return {
      isListed: true,
      ...(file && { hasContent: file.value === integrity, isDoubtful: file.isDoubtful }),
      ...(await recordIfTold(record)),
      facts: {
        version,
        package_listed: true,
        ...(file && { integrity: file.value, integrity_by: 'claimcheck' }),
        ...(Boolean(deprecated) && { deprecated: true as const }),
      },
    }
  }

  const ping = () => reader.get(`${place.baseUrl}/-/ping`, json('npm ping', Ping))
  return { asked, readManifest, readPackument, readRecord, found, ping }
}

function recordOf(version: string, { value: { time }, clockBehindMs }: RegistryValue<Packument>): PackageRecord {
  if (time === undefined || time === null) return {}
  if (!Object.hasOwn(time, version) && time.unpublished !== undefined) return recordOfNone(version, time.unpublished)
  const published = Object.hasOwn(time, version) ? logTime(time[version]) : null
  if (published === undefined) throw unexpected()
  // Taking a version away is a change, so it was done by the time of the last change.
  const removedBy = logTime(time.modified)?.notAfter
  return {
    published,
    ...(removedBy !== undefined && { removedBy }),
    ...(clockBehindMs !== undefined && { clockBehindMs }),
  }
}

/** The record of a package of which everything was unpublished, with which the times of the versions may have gone. */
function recordOfNone(version: string, unpublished: unknown): PackageRecord {
  const { versions } = (unpublished ?? {}) as { readonly versions?: unknown }
  // The version was there, and nothing tells when.
  if (Array.isArray(versions) && versions.includes(version)) throw new DestinationError('ambiguous_claim')
  return {}
}
