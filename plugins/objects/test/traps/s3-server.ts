/** A service of the S3 API over a bucket's history: REST and XML as AWS describes them, and how others differ from it. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Bucket,
  type BucketState,
  compositeOf,
  etagOf,
  type Put,
  type Service,
  type StoredVersion,
} from './object-store.ts'
import { type Keys, percentEncode, type S3Error, signatureProblem } from './signature.ts'

export interface S3Request {
  readonly method: string
  readonly bucket: string
  readonly key: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
}

type Headers = Readonly<Record<string, string>>

export interface Answer {
  readonly status: number
  readonly headers?: Headers
  readonly body?: string | Buffer
  /** The size that is told of a content which is too large to be sent. */
  readonly size?: number
}

/** What the credentials may do; everything, when left out. */
export interface Rights {
  readonly list?: boolean
  readonly listVersions?: boolean
  readonly read?: boolean
  readonly readVersions?: boolean
  readonly versioning?: boolean
}

/** A cache in front that answers with what it kept. */
export interface Copies {
  readonly from: number
  readonly until: number
  /** The moment at which the copies were made. */
  readonly madeAt: number
  /** Tells the age, or only that it is a copy. */
  readonly shows: 'age' | 'x-cache'
}

export interface Front {
  readonly buckets: readonly Bucket[]
  readonly service: Service
  readonly keys: Keys
  readonly now: () => number
  readonly rights?: Rights
  readonly clockMs?: number
  /** How far lists are behind. */
  readonly listLagMs?: number
  /** How far everything is behind, as at another site. */
  readonly lagMs?: number
  /** The most entries of a page. */
  readonly pageSize?: number
  /** Markers of pages that lead nowhere: the first page again, or none. */
  readonly markers?: 'ignored' | 'missing'
  readonly copies?: Copies | undefined
  /** Answers in place of all else. */
  readonly instead?: ((request: S3Request, at: number) => Answer | undefined) | undefined
}

class RefusedRequest extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super(`refused with status ${answer.status}`)
    this.answer = answer
  }
}

export async function startS3(front: Front): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const { now, clockMs = 0 } = front
    response.setHeader('date', new Date(now() + clockMs).toUTCString())
    response.setHeader('x-amz-request-id', 'TX234S0F24A06C7')
    write(request, response, answerOf(front, request))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function write(request: IncomingMessage, response: ServerResponse, { status, headers, body = '', size }: Answer): void {
  response.writeHead(status, { 'content-length': size ?? Buffer.byteLength(body), ...headers })
  if (request.method === 'HEAD') response.end()
  else if (size === undefined) response.end(body)
  else response.destroy()
}

function answerOf(front: Front, incoming: IncomingMessage): Answer {
  const { now, clockMs = 0, copies, instead, keys, service } = front
  const request = readRequest(incoming)
  const early = instead?.(request, now())
  if (early) return early
  const problem = signatureProblem(incoming, keys, service.region, now() + clockMs)
  if (problem) return errorAnswer(problem)
  const isKept = copies !== undefined && copies.from <= now() && now() < copies.until
  const at = isKept ? copies.madeAt : now()
  const answer = answerAt(front, request, at)
  return isKept ? keptAnswer(answer, copies, now()) : answer
}

function keptAnswer(answer: Answer, { madeAt, shows }: Copies, now: number): Answer {
  const told: Headers = shows === 'age' ? { age: String(Math.floor((now - madeAt) / 1000)) } : { 'x-cache': 'HIT' }
  return { ...answer, headers: { ...answer.headers, date: new Date(madeAt).toUTCString(), ...told } }
}

function readRequest({ method = 'GET', url = '/', headers }: IncomingMessage): S3Request {
  const [path = '', query = ''] = url.split('?')
  const [, bucket = '', ...rest] = path.split('/').map(decodeURIComponent)
  return { method, bucket, key: rest.join('/'), query: new URLSearchParams(query.replaceAll('+', '%2B')), headers }
}

function answerAt(front: Front, request: S3Request, at: number): Answer {
  try {
    const bucket = front.buckets.find(({ name }) => name === request.bucket)
    if (!bucket) refuse({ status: 404, code: 'NoSuchBucket', message: 'The specified bucket does not exist' })
    return request.key === '' ? bucketAnswer(front, request, bucket, at) : objectAnswer(front, request, bucket, at)
  } catch (error) {
    if (error instanceof RefusedRequest) return error.answer
    throw error
  }
}

function refuse(problem: S3Error, headers: Headers = {}): never {
  throw new RefusedRequest(errorAnswer(problem, headers))
}

export function errorAnswer({ status, code, message }: S3Error, headers: Headers = {}): Answer {
  const body = `${PROLOGUE}<Error><Code>${code}</Code><Message>${escaped(message)}</Message><RequestId>TX234S0F24A06C7</RequestId></Error>`
  return { status, headers: { 'content-type': 'application/xml', ...headers }, body }
}

const PROLOGUE = '<?xml version="1.0" encoding="UTF-8"?>\n'
const NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
const DENIED: S3Error = { status: 403, code: 'AccessDenied', message: 'Access Denied' }
const NOT_IMPLEMENTED: S3Error = {
  status: 501,
  code: 'NotImplemented',
  message: 'A header you provided implies functionality that is not implemented',
}

function mayOrRefuse(right: boolean | undefined): void {
  if (right === false) refuse(DENIED)
}

/** Answers a request for a bucket itself. */
function bucketAnswer(front: Front, { query, method }: S3Request, bucket: Bucket, at: number): Answer {
  const { rights = {}, service, lagMs = 0, listLagMs = 0 } = front
  const state = bucket.stateAt(at - lagMs)
  if (query.has('versioning')) {
    if (!service.hasVersions) refuse(NOT_IMPLEMENTED)
    mayOrRefuse(rights.versioning)
    const status = state.status === undefined ? '' : `<Status>${state.status}</Status>`
    return xml(`<VersioningConfiguration ${NAMESPACE}>${status}</VersioningConfiguration>`)
  }
  if (query.has('location')) return xml(`<LocationConstraint ${NAMESPACE}>${service.region}</LocationConstraint>`)
  const listed = bucket.stateAt(at - Math.max(lagMs, listLagMs))
  if (query.has('versions')) {
    if (!service.hasVersions) refuse(NOT_IMPLEMENTED)
    mayOrRefuse(rights.listVersions ?? rights.list)
    return xml(versionList(front, bucket, listed, query))
  }
  if ([...query.keys()].some((name) => !LIST_PARAMETERS.has(name))) refuse(NOT_IMPLEMENTED)
  mayOrRefuse(rights.list)
  if (method === 'HEAD') return { status: 200, headers: { 'x-amz-bucket-region': service.region } }
  return xml(objectList(front, bucket, listed, query))
}

const LIST_PARAMETERS: ReadonlySet<string> = new Set([
  'list-type',
  'prefix',
  'delimiter',
  'max-keys',
  'encoding-type',
  'start-after',
  'continuation-token',
  'fetch-owner',
  'marker',
])
const MOST_KEYS = 1000

function xml(body: string): Answer {
  return { status: 200, headers: { 'content-type': 'application/xml' }, body: PROLOGUE + body }
}

function pageSizeOf({ pageSize = MOST_KEYS }: Front, query: URLSearchParams): number {
  return Math.min(pageSize, Number(query.get('max-keys') ?? MOST_KEYS))
}

interface Entry {
  readonly key: string
  readonly version: StoredVersion
  readonly isLatest: boolean
}

function versionList(front: Front, { name }: Bucket, state: BucketState, query: URLSearchParams): string {
  const { service, markers } = front
  const prefix = query.get('prefix') ?? ''
  const [keyMarker, idMarker] = [query.get('key-marker') ?? '', query.get('version-id-marker') ?? '']
  const all: readonly Entry[] = sortedKeys(state)
    .filter((key) => key.startsWith(prefix))
    .flatMap((key) => state.versions.get(key)!.map((version, index) => ({ key, version, isLatest: index === 0 })))
  const marked = all.findIndex(({ key, version }) => key === keyMarker && version.id === idMarker)
  const after = idMarker === '' ? all.findLastIndex(({ key }) => compare(key, keyMarker) <= 0) : marked
  const start = keyMarker === '' || markers === 'ignored' ? 0 : after + 1
  const size = pageSizeOf(front, query)
  const page = all.slice(start, start + size)
  const isTruncated = start + size < all.length
  const last = page.at(-1)
  const write = keyWriter(service, query)
  const next =
    isTruncated && last && markers !== 'missing'
      ? `<NextKeyMarker>${write(last.key)}</NextKeyMarker><NextVersionIdMarker>${last.version.id}</NextVersionIdMarker>`
      : '<NextVersionIdMarker></NextVersionIdMarker>'
  const entries = service.markersFirst
    ? page.toSorted((one, other) => Number(one.version.put !== undefined) - Number(other.version.put !== undefined))
    : page
  return [
    `<ListVersionsResult ${NAMESPACE}><Name>${name}</Name><Prefix>${write(prefix)}</Prefix>`,
    `<KeyMarker>${write(keyMarker)}</KeyMarker><VersionIdMarker>${idMarker}</VersionIdMarker>${next}`,
    `<MaxKeys>${size}</MaxKeys>${encodingOf(query)}<IsTruncated>${isTruncated}</IsTruncated>`,
    ...entries.map((entry) => versionEntry(front, entry, write)),
    '</ListVersionsResult>',
  ].join('')
}

function versionEntry(front: Front, { key, version, isLatest }: Entry, write: (key: string) => string): string {
  const { id, put } = version
  const tag = put ? 'Version' : 'DeleteMarker'
  return [
    `<${tag}><Key>${write(key)}</Key><VersionId>${id}</VersionId><IsLatest>${isLatest}</IsLatest>`,
    `<LastModified>${listedTime(front, version)}</LastModified>${put ? storedParts(front, put) : ''}`,
    `<Owner><ID>75aa57f09aa0c8caeab4f8c24e99d10f8e7faeebf76c078efc7c6caea54ba06a</ID></Owner></${tag}>`,
  ].join('')
}

function storedParts({ service }: Front, put: Put): string {
  const algorithm = put.checksum?.toUpperCase()
  const checksum =
    service.checksums === 'typed' && algorithm
      ? `<ChecksumAlgorithm>${algorithm}</ChecksumAlgorithm><ChecksumType>${checksumType(put)}</ChecksumType>`
      : ''
  const storage = put.headers?.['x-amz-storage-class'] ?? 'STANDARD'
  return `<ETag>&quot;${etagOf(put)}&quot;</ETag>${checksum}<Size>${put.content.size}</Size><StorageClass>${storage}</StorageClass>`
}

function objectList(front: Front, { name }: Bucket, state: BucketState, query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? ''
  const token = query.get('continuation-token')
  const from =
    token === null ? (query.get('start-after') ?? query.get('marker') ?? '') : Buffer.from(token, 'base64').toString()
  const current = sortedKeys(state).flatMap((key) => {
    const version = state.versions.get(key)![0]!
    return key.startsWith(prefix) && compare(key, from) > 0 && version.put ? [{ key, version, put: version.put }] : []
  })
  const size = pageSizeOf(front, query)
  const page = current.slice(0, size)
  const isTruncated = current.length > size
  const write = keyWriter(front.service, query)
  const next = isTruncated
    ? `<NextContinuationToken>${Buffer.from(page.at(-1)!.key).toString('base64')}</NextContinuationToken>`
    : ''
  return [
    `<ListBucketResult ${NAMESPACE}><Name>${name}</Name><Prefix>${write(prefix)}</Prefix><KeyCount>${page.length}</KeyCount>`,
    `<MaxKeys>${size}</MaxKeys>${encodingOf(query)}<IsTruncated>${isTruncated}</IsTruncated>${next}`,
    ...page.map(
      ({ key, version, put }) =>
        `<Contents><Key>${write(key)}</Key><LastModified>${listedTime(front, version)}</LastModified>${storedParts(front, put)}</Contents>`,
    ),
    '</ListBucketResult>',
  ].join('')
}

function sortedKeys({ versions }: BucketState): string[] {
  return [...versions.keys()].sort(compare)
}

/** Compares by the bytes of UTF-8. */
function compare(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

function encodingOf(query: URLSearchParams): string {
  return query.has('encoding-type') ? '<EncodingType>url</EncodingType>' : ''
}

function keyWriter({ spacesAsHex = false }: Service, query: URLSearchParams): (key: string) => string {
  if (!query.has('encoding-type')) return escaped
  return (key) => {
    const encoded = key.split('/').map(percentEncode).join('/')
    return spacesAsHex ? encoded : encoded.replaceAll('%20', '+')
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** Answers a request for an object. */
function objectAnswer(front: Front, request: S3Request, bucket: Bucket, at: number): Answer {
  const { rights = {}, service, lagMs = 0 } = front
  const { key, query, headers } = request
  const odd = [...query.keys()].find((name) => !OBJECT_PARAMETERS.has(name) && !name.startsWith('response-'))
  if (odd !== undefined) refuse(NOT_IMPLEMENTED)
  const id = query.get('versionId') ?? undefined
  if (id !== undefined && !service.hasVersions) refuse(NOT_IMPLEMENTED)
  const versions = bucket.stateAt(at - lagMs).versions.get(key) ?? []
  const version = id === undefined ? versions[0] : versions.find((one) => one.id === id)
  mayOrRefuse(id === undefined ? rights.read : (rights.readVersions ?? rights.read))
  if (!version?.put) return refuseMissing(front, version, id)
  const { put } = version
  const { content } = put
  if (isArchived(put) && request.method === 'GET') {
    refuse({
      status: 403,
      code: 'InvalidObjectState',
      message: "The operation is not valid for the object's storage class",
    })
  }
  const kept: Headers = bucket.stateAt(at).status === undefined ? {} : { 'x-amz-version-id': version.id }
  const overridden = query.get('response-content-encoding')
  const told = {
    'last-modified': new Date(toldTime(front, version)).toUTCString(),
    etag: `"${etagOf(put)}"`,
    'accept-ranges': 'bytes',
    'content-type': 'binary/octet-stream',
    ...kept,
    ...put.headers,
    ...(overridden !== null && { 'content-encoding': overridden }),
    ...(headers['x-amz-checksum-mode']?.toString().toUpperCase() === 'ENABLED' && checksumHeaders(service, put)),
    ...(query.has('partNumber') && put.parts && { 'x-amz-mp-parts-count': String(put.parts) }),
  } as Headers
  return content.bytes
    ? { status: 200, headers: { ...told, 'content-length': String(content.size) }, body: content.bytes }
    : { status: 200, headers: told, size: content.size }
}

const OBJECT_PARAMETERS: ReadonlySet<string> = new Set(['versionId', 'partNumber', 'x-id'])

function refuseMissing({ rights = {} }: Front, marker: StoredVersion | undefined, id: string | undefined): never {
  if (marker && id !== undefined) {
    refuse(
      { status: 405, code: 'MethodNotAllowed', message: 'The specified method is not allowed against this resource.' },
      { 'x-amz-delete-marker': 'true' },
    )
  }
  if (rights.list === false) refuse(DENIED)
  if (id !== undefined) {
    refuse({ status: 404, code: 'NoSuchVersion', message: 'The specified version does not exist.' })
  }
  refuse(
    { status: 404, code: 'NoSuchKey', message: 'The specified key does not exist.' },
    marker ? { 'x-amz-delete-marker': 'true', 'x-amz-version-id': marker.id } : {},
  )
}

function isArchived({ headers }: Put): boolean {
  return ['GLACIER', 'DEEP_ARCHIVE'].includes(headers?.['x-amz-storage-class'] ?? '')
}

function checksumType({ parts, checksum }: Put): 'COMPOSITE' | 'FULL_OBJECT' {
  return parts !== undefined && checksum === 'sha256' ? 'COMPOSITE' : 'FULL_OBJECT'
}

function checksumHeaders({ checksums }: Service, put: Put): Headers {
  const { checksum, content, parts } = put
  if (checksums === 'none' || checksum === undefined) return {}
  const type: Headers = checksums === 'typed' ? { 'x-amz-checksum-type': checksumType(put) } : {}
  if (checksum === 'crc64nvme') return { 'x-amz-checksum-crc64nvme': 'AAAAAAAAAAA=', ...type }
  const suffix = checksums === 'bare' ? '' : `-${parts}`
  const value =
    parts === undefined ? content.sha256.toString('base64') : `${compositeOf(put).toString('base64')}${suffix}`
  return { 'x-amz-checksum-sha256': value, ...type }
}

/** The time of a version by the clock of the service, in whole seconds. */
function toldTime({ service, clockMs = 0 }: Front, { modifiedAt }: StoredVersion): number {
  const seconds = (modifiedAt + clockMs) / 1000
  return (service.roundsUp ? Math.ceil(seconds) : Math.floor(seconds)) * 1000
}

function listedTime(front: Front, version: StoredVersion): string {
  const { service, clockMs = 0 } = front
  return new Date(service.listsMs ? version.modifiedAt + clockMs : toldTime(front, version)).toISOString()
}

/** Refuses requests for some time, as AWS does where there are too many. */
export function slowBetween(from: number, until: number): Front['instead'] {
  return (_, at) =>
    from <= at && at < until
      ? errorAnswer({ status: 503, code: 'SlowDown', message: 'Please reduce your request rate.' })
      : undefined
}
