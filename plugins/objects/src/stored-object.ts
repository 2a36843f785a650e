/** Reads the object at a key by the API of S3: the list of its versions, its headers, and the digest of its content. */
import {
  type Auth,
  type CheckContext,
  clockBehindMs,
  DestinationError,
  type DestinationErrorCode,
  isDestinationError,
  isOldCopy,
  MAX_DIGEST_BYTES,
  statusError,
} from '@claimcheck/core/plugin'
import { encode, keyPath, type ObjectName } from './target.ts'
import { type Element, parseXml, textIn } from './xml.ts'

const ENTRIES_A_PAGE = 100
const MOST_PAGES = 10
const LONGEST_XML_BYTES = 1024 * 1024
/** Seconds for which a cache may have kept an answer that shows no object, or another one. */
const MOST_AGE_S = 60

/** The meaning of S3's codes where it is another than that of the status. */
const MEANINGS: Readonly<Record<string, DestinationErrorCode>> = {
  InvalidAccessKeyId: 'unauthorized',
  SignatureDoesNotMatch: 'unauthorized',
  ExpiredToken: 'unauthorized',
  InvalidToken: 'unauthorized',
  TokenRefreshRequired: 'unauthorized',
  AuthorizationHeaderMalformed: 'misconfigured',
  PermanentRedirect: 'misconfigured',
  RequestTimeTooSkewed: 'unavailable',
  SlowDown: 'rate_limited',
}

/** A version in the list, or a delete marker, which takes the object away. */
export interface Entry {
  /** The id of the version; `null` for what was put while versions were not kept, undefined from a list without versions. */
  readonly versionId: string | undefined
  readonly isMarker: boolean
  readonly isNewest: boolean
  readonly size: number
  /** The time of the upload, or of its beginning, in milliseconds. */
  readonly modifiedAt: number
  /** Tells that it was uploaded as a whole, so that its time is that of the upload. */
  readonly isWhole: boolean
}

export interface Listing {
  /** The versions of the key, newest first. */
  readonly entries: readonly Entry[]
  /** Tells whether the list has all versions of the key that were not deleted for good. */
  readonly hasAllVersions: boolean
  /** Tells that the list is denied to these keys. */
  readonly isHidden?: boolean
}

/** An object, as its headers tell. */
export interface StoredObject extends Pick<Entry, 'versionId' | 'size' | 'modifiedAt' | 'isWhole'> {
  /** The SHA-256 of all its content, in hexadecimal, which the service computed at the upload; undefined without one. */
  readonly checksum: string | undefined
  readonly etag: string
  /** Tells that its content has an encoding, which an HTTP client takes off. */
  readonly isEncoded: boolean
  /** Tells that it was asked for without a version, which needs no right to versions. */
  readonly isCurrent: boolean
  /** Tells that a cache has kept the answer, so that the object may be another one by now. */
  readonly isOld: boolean
  /** Milliseconds by which the service's clock is behind; undefined if it does not state its time. */
  readonly clockBehindMs: number | undefined
}

export type OpenObject = ReturnType<typeof openObject>

/**
 * Opens the object at a key of a bucket; the key '' stands for all keys, which begin with it.
 * @throws DestinationError `unsupported_target` for a key that no address can carry
 */
export function openObject(
  { url, bucket, key, auth }: ObjectName & { readonly url: string; readonly auth: Auth | undefined },
  { fetch, digest, cache, now }: Pick<CheckContext, 'fetch' | 'now'> & Partial<Pick<CheckContext, 'digest' | 'cache'>>,
) {
  const bucketUrl = `${url}/${bucket}`
  const path = keyPath(key)
  const addressOf = (query: Query) => `${bucketUrl}/${path}${queryText(query)}`

  async function read(query: Query): Promise<Element> {
    const response = await fetch(bucketUrl + queryText(query), { auth, redirect: 'manual' })
    return readDocument(response, now())
  }

  async function listPage(query: Query): Promise<Element> {
    const page = await read({ 'encoding-type': 'url', prefix: key, ...query })
    if (page.name !== 'ListVersionsResult' && page.name !== 'ListBucketResult') throw unexpected()
    // An address with a bucket in its name answers for that one.
    if (textIn(page, 'Name') !== bucket) throw new DestinationError('misconfigured')
    return page
  }

  return {
    /** Lists the bucket as it is now, which proves the right to do so. */
    listPlainly: () => listPage({ 'list-type': '2', 'max-keys': '1' }),

    /** Lists the versions of the key, back to those that were replaced before a moment. It proves the right to list the bucket. */
    async listVersions(since: number): Promise<Listing> {
      const entries: Entry[] = []
      let markers: Query = {}
      for (let pages = 0; pages < MOST_PAGES; pages++) {
        const query = { versions: '', 'max-keys': String(ENTRIES_A_PAGE), ...markers }
        const page = await listPage(query).catch((error: unknown) => {
          if (pages === 0 && hasNoVersions(error)) return this.listPlainly()
          throw error
        })
        if (page.name === 'ListBucketResult') return { entries: [], hasAllVersions: false }
        const { own, next } = entriesIn(page, key)
        entries.push(...own)
        const isReplacedBefore = (entries.at(-2)?.modifiedAt ?? since) < since
        if (!next || isReplacedBefore) return { entries: sort(entries), hasAllVersions: true }
        markers = next
      }
      return { entries: sort(entries), hasAllVersions: false }
    },

    /** Reads the headers of the object, or of one of its versions; undefined where the service has none, or does not show it. */
    async head(versionId?: string): Promise<StoredObject | undefined> {
      const response = await fetch(addressOf({ versionId }), {
        method: 'HEAD',
        headers: { 'x-amz-checksum-mode': 'ENABLED' },
        redirect: 'manual',
        auth,
      })
      const { status, headers } = response
      await response.body?.cancel()
      const isOld = isOldCopy(headers, MOST_AGE_S)
      // Amazon answers 400 to an id that is no version's, and 405 to that of a delete marker.
      const isMissing = status === 404 || (versionId !== undefined && (status === 400 || status === 405))
      if (isMissing && !isOld) return undefined
      if (status !== 200) throw isMissing ? unexpected(status) : statusError(response, now())
      const isCurrent = versionId === undefined
      return objectIn(headers, { isCurrent, isOld, clockBehindMs: clockBehindMs(headers, now()) })
    },

    /** Tells whether the bucket keeps versions now. */
    async keepsVersions(): Promise<boolean> {
      const configuration = await read({ versioning: '' })
      return configuration.name === 'VersioningConfiguration' && textIn(configuration, 'Status') === 'Enabled'
    },

    /**
     * The SHA-256 of the content, in hexadecimal: the service's checksum, or computed from what it sends.
     * @throws DestinationError `too_large` for content that is too large to be read
     */
    async sha256(stored: StoredObject): Promise<string> {
      const { checksum, versionId, etag, size, modifiedAt } = stored
      const name = JSON.stringify([bucketUrl, key, versionId, etag, size, modifiedAt])
      const known = checksum ?? cache?.get(name)
      if (typeof known === 'string') return known
      const sha256 = await computeDigest(stored)
      cache?.set(name, sha256)
      return sha256
    },
  }

  async function computeDigest({ versionId, isCurrent, etag, size, isEncoded }: StoredObject): Promise<string> {
    if (size > MAX_DIGEST_BYTES) throw new DestinationError('too_large')
    const address = addressOf({
      versionId: isCurrent || versionId === 'null' ? undefined : versionId,
      // Else an HTTP client would unpack what was stored as gzip, and the digest would be another.
      'response-content-encoding': isEncoded ? 'identity' : undefined,
    })
    const answer = await digest!(address, { algorithms: ['sha256'], redirect: 'manual', auth })
    if (answer.status !== 200) throw statusError(answer, now())
    const isAsStored = isPlain(answer.headers) && answer.bytes === size && etagIn(answer.headers) === etag
    if (!isAsStored) throw unexpected()
    return hexOf(answer.digests.sha256!)
  }
}

/** Reads a document of XML. @throws DestinationError by the code in the answer, or by its status */
export async function readDocument(response: Response, now: number): Promise<Element> {
  const { status } = response
  const text = await readText(response)
  if (status === 200) return parseXml(text)
  const { code, retryAfterMs } = statusError(response, now)
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs }
  throw new DestinationError(MEANINGS[errorCode(text) ?? ''] ?? code, { status, ...wait })
}

/** The code in an answer of S3 that is an error; undefined of any other text. */
export function errorCode(text: string): string | undefined {
  try {
    return textIn(parseXml(text), 'Code')
  } catch {
    return undefined
  }
}

type Query = Readonly<Record<string, string | undefined>>

function queryText(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encode(value)}`],
  )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** Tells whether a service has no list of versions, as Cloudflare R2. */
function hasNoVersions(error: unknown): boolean {
  return isDestinationError(error) && (error.status === 405 || error.status === 501)
}

/** Reads the versions of a key in a page of a list, and where the next page with some begins. */
function entriesIn(page: Element, key: string): { readonly own: readonly Entry[]; readonly next: Query | undefined } {
  const isEncoded = textIn(page, 'EncodingType') === 'url'
  const keyIn = (element: Element, name: string) => {
    const text = textIn(element, name)
    return text !== undefined && isEncoded ? decodeKey(text) : text
  }
  const listed = page.children.filter(({ name }) => ENTRIES.has(name))
  const own = listed.filter((element) => keyIn(element, 'Key') === key)
  // Keys come in order, and the key itself is the first of those that begin with it.
  const isLast = own.length < listed.length || textIn(page, 'IsTruncated') !== 'true'
  const next = isLast
    ? undefined
    : {
        'key-marker': keyIn(page, 'NextKeyMarker') ?? refuse(),
        'version-id-marker': textIn(page, 'NextVersionIdMarker'),
      }
  return { own: own.map(entryOf), next }
}

const ENTRIES: ReadonlySet<string> = new Set(['Version', 'DeleteMarker'])

function entryOf(element: Element): Entry {
  const isMarker = element.name === 'DeleteMarker'
  const modifiedAt = Date.parse(textIn(element, 'LastModified') ?? '')
  const size = isMarker ? 0 : sizeOf(textIn(element, 'Size'))
  const versionId = textIn(element, 'VersionId')
  if (Number.isNaN(modifiedAt) || versionId === undefined) throw unexpected()
  const isWhole = isMarker || isWholeBy(textIn(element, 'ETag'))
  return { versionId, isMarker, isNewest: textIn(element, 'IsLatest') === 'true', size, modifiedAt, isWhole }
}

/** Sorts versions, newest first. The order in the list tells those of one second apart. */
function sort(entries: readonly Entry[]): Entry[] {
  return entries.toSorted((a, b) => Number(b.isNewest) - Number(a.isNewest) || b.modifiedAt - a.modifiedAt)
}

function objectIn(headers: Headers, read: Pick<StoredObject, 'isCurrent' | 'isOld' | 'clockBehindMs'>): StoredObject {
  const modifiedAt = Date.parse(headers.get('last-modified') ?? '')
  if (Number.isNaN(modifiedAt)) throw unexpected()
  const etag = etagIn(headers)
  // A copy of another bucket's object has the time at which that one was put.
  const isReplica = headers.get('x-amz-replication-status') === 'REPLICA'
  return {
    ...read,
    versionId: headers.get('x-amz-version-id') ?? undefined,
    size: sizeOf(headers.get('content-length')),
    modifiedAt,
    etag,
    isWhole: isWholeBy(etag) && !isReplica,
    isEncoded: !isPlain(headers),
    checksum: checksumIn(headers, isWholeBy(etag)),
  }
}

/** Reads the service's checksum of all content. That of an object in parts is one of their checksums, and ends with their number. */
function checksumIn(headers: Headers, isWhole: boolean): string | undefined {
  const text = headers.get('x-amz-checksum-sha256') ?? ''
  const type = headers.get('x-amz-checksum-type')
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text) || !(type === 'FULL_OBJECT' || (type === null && isWhole))) return undefined
  return hexOf(text)
}

/** Tells by an ETag whether an object was uploaded as a whole: one in parts ends with their number. */
function isWholeBy(etag: string | undefined): boolean {
  return /^"?[0-9a-f]{32}"?$/i.test(etag ?? '')
}

function etagIn(headers: Headers): string {
  return (headers.get('etag') ?? '').replace(/^W\//, '')
}

function isPlain(headers: Headers): boolean {
  return /^(?:identity)?$/i.test(headers.get('content-encoding')?.trim() ?? '')
}

export function hexOf(base64: string): string {
  return Buffer.from(base64, 'base64').toString('hex')
}

function sizeOf(text: string | null | undefined): number {
  const size = /^[0-9]{1,15}$/.test(text ?? '') ? Number(text) : undefined
  return size ?? refuse()
}

/** Decodes a key of a list, in which some services write a space as a plus sign, and all write a plus sign as an escape. */
function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return refuse()
  }
}

export async function readText(response: Response): Promise<string> {
  const { status } = response
  try {
    const bytes = await response.arrayBuffer()
    if (bytes.byteLength > LONGEST_XML_BYTES) throw new DestinationError('too_large', { status })
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw isDestinationError(cause) ? cause : new DestinationError('unexpected_response', { status, cause })
  }
}

function refuse(): never {
  throw unexpected()
}

/** The error for an answer that says nothing of the object. */
export function unexpected(status = 200): DestinationError {
  return new DestinationError('unexpected_response', { status })
}
