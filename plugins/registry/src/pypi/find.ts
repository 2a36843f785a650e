/** Looks for a version at PyPI, or at an index that has PyPI's JSON API. Its times and digests are the index's own. */
import { type CheckContext, DestinationError, type LogTime } from '@claimcheck/core/plugin'
import type { FoundVersion, Place, Query } from '../ecosystem.ts'
import { sha256Integrity } from '../integrity.ts'
import { json } from '../json.ts'
import { readPruned } from '../pruned-json.ts'
import { createReader, type Read, unexpected } from '../reader.ts'
import { logTime } from '../times.ts'
import { type File, Project, Release } from './answers.ts'
import { normalizeProject } from './name.ts'
import { isSamePep440 } from './version.ts'

export const SIMPLE_JSON = 'application/vnd.pypi.simple.v1+json'

export async function findOnPypi(query: Query, place: Place, context: CheckContext): Promise<FoundVersion> {
  const { name, version } = query
  const { baseUrl } = place
  const { cache, http } = context
  const reader = createReader(place, context)
  const url = `${baseUrl}/pypi/${name}/${encodeURIComponent(version)}/json`

  async function readRelease(): Promise<Read<Release> | undefined> {
    const read = await reader.get(url, { ...json('pypi release', Release), also: [404] })
    if (read && !isAsked(read.value, query)) throw unexpected()
    return read
  }

  /** Undefined where there is none. */
  async function readProject(): Promise<Read<Project> | undefined> {
    const wanted = { name: 'value', versions: 'value', 'project-status': 'value' } as const
    const init = json('pypi project', Project, (response) => readPruned(response, wanted))
    const read = await reader.get(`${baseUrl}/simple/${name}/`, { ...init, accept: SIMPLE_JSON, also: [404] })
    if (read && normalizeProject(read.value.name) !== name) throw unexpected()
    return read
  }

  const release = await cache.share(url, readRelease)
  if (release && release.value.urls.length > 0) return foundRelease(release, query)
  // It is there in name only.
  if (release) return { isListed: false, isEmptied: true, facts: { package_listed: true } }

  // That there is no such version is said only of a project that is seen.
  const project = await cache.share(`${baseUrl} ${name}`, readProject)
  if (!project) {
    if (!place.sees(name)) throw new DestinationError('forbidden', { status: 404 })
    await http.head(`${baseUrl}/simple/`, { headers: { accept: SIMPLE_JSON }, auth: place.auth })
    return { isListed: false, facts: { package_listed: false } }
  }
  // Published while we were reading, or not known to every replica yet: the next read will tell.
  if (project.value.versions.some((listed) => isSamePep440(listed, version))) throw unexpected()
  return {
    isListed: false,
    ...(isEmptied(project.value) && { isEmptied: true }),
    isDoubtful: project.isDoubtful,
    facts: { package_listed: true },
  }
}

/** A project begins with its first file. While it is in quarantine, PyPI lists none of them. */
function isEmptied({ versions, 'project-status': status }: Project): boolean {
  return versions.length === 0 || (status as { readonly status?: unknown } | undefined)?.status === 'quarantined'
}

function isAsked({ info }: Release, { name, version }: Query): boolean {
  return normalizeProject(info.name) === name && isSamePep440(info.version, version)
}

/** A version has several files, and more may come. It was published with the first of them. */
function foundRelease(
  { value, clockBehindMs, isDoubtful }: Read<Release>,
  { version, integrity }: Query,
): FoundVersion {
  const { urls } = value
  const claimed = urls.filter(({ digests }) => integrity === undefined || sha256Integrity(digests.sha256) === integrity)
  const files = claimed.length > 0 ? claimed : urls
  const [file] = files
  const tellsDigest = files.length === 1 || (integrity !== undefined && claimed.length > 0)
  const published = earliest(files)
  return {
    isListed: true,
    ...(integrity !== undefined && { hasContent: claimed.length > 0 }),
    ...(published && { published }),
    isDoubtful,
    ...(clockBehindMs !== undefined && { clockBehindMs }),
    facts: {
      // As the claim writes it: 1.0 is 1.0.0 there.
      version,
      package_listed: true,
      ...(tellsDigest && { integrity: sha256Integrity(file!.digests.sha256), integrity_by: 'registry' }),
      ...(files.every(({ yanked }) => yanked === true) && { yanked: true }),
    },
  }
}

/** Undefined where a file has no time: it may be the first. */
function earliest(files: readonly File[]): Required<LogTime> | undefined {
  const times = files.map(({ upload_time_iso_8601 }) => logTime(upload_time_iso_8601))
  return times.reduce((first, time) => (first && time && first.notBefore <= time.notBefore ? first : first && time))
}
