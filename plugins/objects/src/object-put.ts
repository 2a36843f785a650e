/** The verifier of `storage.object.put`: it reads the object at a key, and the log of its versions. */
import {
  credential,
  DestinationError,
  defineVerifier,
  isDestinationError,
  isLongBefore,
  type LogTime,
  type Observation,
  type PreviousRead,
  type Stay,
  showsClaimed,
  windowStart,
} from '@claimcheck/core/plugin'
import { connectionType, type Options } from './connection.ts'
import { type Facts, type Params, profile, versionFact } from './profile.ts'
import {
  type Entry,
  hexOf,
  type Listing,
  type OpenObject,
  openObject,
  type StoredObject,
  unexpected,
} from './stored-object.ts'
import { endpointOf, objectOf } from './target.ts'

/** Time by which services may lag that are not Amazon's. Milliseconds. */
const LAG_MS = 10_000
/** Milliseconds by which an upload may be earlier than its time: Swift rounds up to whole seconds. */
const ROUNDED_MS = 1000
/** The slowest upload that is taken into account, in bytes a millisecond: a service may tell the time at which one began. */
const SLOWEST_UPLOAD = 100
/** Largest number of replaced versions that a check compares. */
const MOST_REPLACED = 7

export const objectPut = defineVerifier({
  profile,
  providers: [connectionType.provider],
  limits: { requests: 40, timeMs: 60_000 },
  normalize: ({ target, params }) => ({ target, params: normalizeParams(params) }),
  async check(claim, { connection, previous, now, ...context }): Promise<Observation<Facts>> {
    const { params } = claim
    const { base_url, keeps_versions = false } = connection!.options as Options
    const place = { url: endpointOf(base_url), ...objectOf(claim.target), auth: credential('keys') }
    const object = openObject(place, { ...context, now })
    const since = windowStart(claim, profile.removedWithinMs)
    const inTimeUntil = claim.claimedAt + profile.toleranceMs

    // The list comes first, because it proves that a 404 hides nothing.
    const listing = await object.listVersions(since).catch(hiddenListing)
    const found = await findObject(object, listing, params)
    const compared = found && (await compare(object, found, params))
    const isAsClaimed = compared?.differs.length === 0
    if (!isAsClaimed) refuseUnseen(listing, found)

    const isInTime = found && isAsClaimed && Math.min(now(), endOf(found, now())) <= inTimeUntil
    const log = isInTime ? NO_LOG : await readLog(object, listing, { params, since, now })
    if (found && isAsClaimed) {
      const own = ownStay(found, log.isWhole, inTimeUntil, now())
      const stays = [own, ...(log.stays ?? [])].filter((stay) => stay !== undefined)
      const facts = { ...compared?.facts, ...timeFacts(found, claim.claimedAt, previous) }
      return { kind: 'present', differs: [], facts, ...(stays.length > 0 && { stays }) }
    }
    const isLogged = log.isWhole && keeps_versions && (await object.keepsVersions())
    // The look just after the submission gets no lag, because it alone shows that the object was not there yet.
    const told = { ...toldBy(log, isLogged), ...(now() >= inTimeUntil && { ageMs: LAG_MS }) }
    if (!compared) return { kind: 'absent', facts: listing.entries[0]?.isMarker ? { deleted: true } : {}, ...told }
    return { kind: 'present', ...compared, ...told, ...(isFixed(params, compared) && { mark: 'final' }) }
  },
})

/**
 * Reads the version that a claim names, or else the object at the key; undefined where there is none.
 * @throws DestinationError `forbidden` where the list shows what a request does not, because these keys may list what they may not read
 */
async function findObject(
  object: OpenObject,
  { entries }: Listing,
  { version_id }: Params,
): Promise<StoredObject | undefined> {
  if (version_id !== undefined) {
    const version = await object.head(version_id)
    if (version) return version
    if (entries.some((entry) => entry.versionId === version_id && !entry.isMarker)) throw hidden()
  }
  const current = await object.head()
  if (!current && entries.some(({ isNewest, isMarker }) => isNewest && !isMarker)) throw hidden()
  return current
}

/** Makes the listing of keys that may not list versions: nothing shows that something is missing, and what they can read is there all the same. */
function hiddenListing(error: unknown): Listing {
  if (!isDestinationError(error) || error.code !== 'forbidden' || error.status !== 403) throw error
  return { entries: [], hasAllVersions: false, isHidden: true }
}

/** Refuses to deny an outcome by a copy of a cache, or by keys that do not see what is missing. @throws DestinationError */
function refuseUnseen({ isHidden = false }: Listing, found: StoredObject | undefined): void {
  if (found?.isOld) throw unexpected()
  if (isHidden) throw new DestinationError('forbidden', { status: 403 })
}

function hidden(): DestinationError {
  return new DestinationError('forbidden', { status: 404 })
}

/** Tells whether the claimed version differs for ever: the content of a version never changes, but what has the id `null` is written over. */
function isFixed({ version_id }: Params, { differs }: Compared): boolean {
  return version_id !== undefined && version_id !== 'null' && !differs.includes('version_id')
}

/** The part of an observation that says what the log of versions tells of an object that is not there as claimed. */
function toldBy({ stays }: Log, isLogged: boolean): Pick<Observation, 'stays' | 'mark'> {
  if (!stays) return { mark: 'may_have_been' }
  return stays.length > 0 || isLogged ? { stays } : {}
}

/** The facts on the time of an object that is there as claimed. */
function timeFacts(found: StoredObject, claimedAt: number, previous: readonly PreviousRead[]): Facts {
  const time = timeOf(found)
  // An earlier read that did not show it tells since when it is there.
  if (!time) return previous.every(({ observation }) => showsClaimed(observation)) ? { undated: true } : {}
  const isOld = isLongBefore(time, found, { claimedAt, inTimeUntil: claimedAt + profile.toleranceMs })
  return isOld ? { preexisting: true } : {}
}

function normalizeParams({ sha256, ...params }: Params): Params {
  if (sha256 === undefined) return params
  return { ...params, sha256: sha256.endsWith('=') ? hexOf(sha256) : sha256.toLowerCase() }
}

interface Compared {
  readonly differs: readonly string[]
  readonly facts: Facts
}

/** Compares an object with the claim. */
async function compare(
  object: OpenObject,
  found: StoredObject,
  { version_id, size, sha256 }: Params,
): Promise<Compared> {
  const found_version = versionFact(found.versionId)
  const isOtherVersion = version_id !== undefined && version_id !== found_version
  const isOtherSize = size !== undefined && size !== found.size
  // Reads no content of another version or size, which differs without that.
  const mustRead = sha256 !== undefined && !isOtherVersion && !isOtherSize
  const found_sha256 = mustRead ? await object.sha256(found) : found.checksum
  const isOtherContent = sha256 !== undefined && found_sha256 !== undefined && sha256 !== found_sha256
  const facts: Facts = {
    ...(found_version !== undefined && { found_version }),
    found_size: found.size,
    ...(found_sha256 !== undefined && { found_sha256 }),
    last_modified: new Date(found.modifiedAt).toISOString(),
  }
  const differences = { version_id: isOtherVersion, size: isOtherSize, sha256: isOtherContent }
  return { differs: Object.keys(differences).filter((name) => differences[name as keyof Params]), facts }
}

type Timed = Pick<Entry, 'modifiedAt' | 'size' | 'isWhole'>

/**
 * The latest time of an upload, by the service's clock; undefined where it tells only when an upload in parts began, or when the original of a
 * copy was put.
 */
function timeOf({ modifiedAt, size, isWhole }: Timed): LogTime | undefined {
  return isWhole ? { notAfter: modifiedAt + 999 + Math.ceil(size / SLOWEST_UPLOAD) } : undefined
}

/** The latest moment at which a version can have come. */
function endOf(one: Timed, now: number): number {
  return timeOf(one)?.notAfter ?? now
}

/**
 * The stay of an object that is there as claimed, where it tells more than the read itself. Only versions tell that it was not there before:
 * without them it may have been put several times.
 */
function ownStay(found: StoredObject, hasLog: boolean, inTimeUntil: number, now: number): Stay | undefined {
  const time = timeOf(found)
  const notBefore = found.modifiedAt - ROUNDED_MS
  const isVersion = hasLog && found.versionId !== undefined && found.versionId !== 'null'
  if (!time) return isVersion && notBefore > inTimeUntil ? { appeared: { notBefore, notAfter: now } } : undefined
  if (time.notAfter > now) return undefined
  return { appeared: isVersion ? { notBefore, ...time } : time }
}

interface Log {
  /** The stays of versions that were as claimed, and were replaced or deleted; undefined where one of them cannot be read. */
  readonly stays: readonly Stay[] | undefined
  /** Tells whether the list has all versions of the key since the window's start. */
  readonly isWhole: boolean
}

const NO_LOG: Log = { stays: [], isWhole: false }

interface Window {
  readonly params: Params
  readonly since: number
  readonly now: () => number
}

async function readLog(object: OpenObject, listing: Listing, window: Window): Promise<Log> {
  const { entries, hasAllVersions } = listing
  const { params, since, now } = window
  // An object that was put while versions were not kept has replaced what nothing tells of.
  const isForgotten = entries.some((entry) => entry.versionId === 'null' && endOf(entry, now()) >= since)
  const replaced = params.version_id === undefined ? replacedIn(entries, window) : []
  const stays = await staysOf(object, replaced, window)
  return { stays, isWhole: hasAllVersions && !isForgotten && stays !== undefined }
}

interface Replaced {
  readonly versionId: string | undefined
  readonly removed: Required<LogTime>
}

/** Selects versions that may be the claimed one, and were replaced or deleted in the window. */
function replacedIn(entries: readonly Entry[], { params, since, now }: Window): readonly Replaced[] {
  return entries.flatMap(({ versionId, size, isMarker }, index) => {
    const next = entries[index - 1]
    const mayBe = !isMarker && (params.size === undefined || params.size === size)
    if (!next || !mayBe || endOf(next, now()) < since) return []
    return [{ versionId, removed: { notBefore: next.modifiedAt - ROUNDED_MS, notAfter: endOf(next, now()) } }]
  })
}

async function staysOf(
  object: OpenObject,
  replaced: readonly Replaced[],
  { params, now }: Window,
): Promise<readonly Stay[] | undefined> {
  if (replaced.length > MOST_REPLACED) return undefined
  const stays: Stay[] = []
  try {
    for (const { versionId, removed } of replaced) {
      const version = await object.head(versionId)
      if (!version) return undefined
      const { differs } = await compare(object, version, params)
      const notBefore = Math.min(version.modifiedAt - ROUNDED_MS, removed.notBefore)
      const appeared = { notBefore, notAfter: endOf(version, now()) }
      if (differs.length === 0) stays.push({ appeared, removed, removedWhole: true })
    }
    return stays
  } catch (error) {
    if (isDestinationError(error)) return undefined
    throw error
  }
}
