/** A bucket by its history: what was put, deleted and switched, and when. Its state at a moment is a replay of all that came before. */
import { createHash } from 'node:crypto'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** What a service of the S3 API does in its own way, as its documentation and bug reports tell. */
export interface Service {
  readonly baseUrl: string
  readonly region: string
  /** Lists versions and tells whether a bucket keeps them; else both are not implemented. */
  readonly hasVersions: boolean
  /** Keeps versions of each bucket from its creation on. */
  readonly alwaysVersions?: boolean
  /** Gives checksums to `x-amz-checksum-mode: ENABLED`: with their type, with the number of parts alone, or with nothing beside. */
  readonly checksums: 'typed' | 'untyped' | 'bare' | 'none'
  /** The moment that `Last-Modified` of a multipart upload tells. */
  readonly multipartTime: 'begin' | 'end'
  /** Rounds times to whole seconds upwards. */
  readonly roundsUp?: boolean
  /** Lists times with milliseconds. */
  readonly listsMs?: boolean
  /** Writes spaces in listed keys as `%20` instead of `+`. */
  readonly spacesAsHex?: boolean
  /** Lists delete markers before all versions. */
  readonly markersFirst?: boolean
  readonly versionId: (key: string, at: number) => string
}

export type Versioning = 'Enabled' | 'Suspended'

export interface Content {
  /** The bytes; none of a content that is too large to be read. */
  readonly bytes: Buffer | undefined
  readonly size: number
  readonly sha256: Buffer
  readonly md5: Buffer
}

export interface Put {
  readonly key: string
  readonly content: Content
  /** The algorithm of the checksum that was sent with it; none, when left out. */
  readonly checksum?: 'sha256' | 'crc64nvme'
  /** The number of parts of a multipart upload. */
  readonly parts?: number
  readonly begunAt?: number
  /** The time that a copy kept of its source. */
  readonly sourceTime?: number
  /** Headers that are stored with it, as `content-encoding` and the agent's own metadata. */
  readonly headers?: Readonly<Record<string, string>>
  readonly etag?: string
}

export interface StoredVersion {
  readonly id: string
  readonly modifiedAt: number
  /** What was put; none, where this is a delete marker. */
  readonly put?: Put
}

type Change =
  | { readonly kind: 'put'; readonly at: number; readonly put: Put }
  | { readonly kind: 'delete'; readonly at: number; readonly key: string }
  | { readonly kind: 'erase'; readonly at: number; readonly key: string; readonly id: string }
  | { readonly kind: 'versioning'; readonly at: number; readonly status: Versioning }

export interface BucketState {
  readonly status: Versioning | undefined
  /** The versions of each key, the current one first. */
  readonly versions: ReadonlyMap<string, readonly StoredVersion[]>
}

/** The id of a version that was put while the bucket kept none. */
export const NULL_VERSION = 'null'

export class Bucket {
  readonly service: Service
  readonly name: string
  readonly #changes: Change[] = []

  constructor(service: Service, name = 'acme-reports') {
    this.service = service
    this.name = name
    if (service.alwaysVersions) this.setVersioning('Enabled', 0)
  }

  /** Tells of a put that ended at a moment. @returns the id of its version, if the bucket keeps versions then */
  put(put: Put, at: number): string {
    this.#add({ kind: 'put', at, put })
    return this.service.versionId(put.key, at)
  }

  delete(key: string, at: number): string {
    this.#add({ kind: 'delete', at, key })
    return this.service.versionId(key, at)
  }

  /** Deletes one version for good, which leaves no trace. */
  erase(key: string, id: string, at: number): void {
    this.#add({ kind: 'erase', at, key, id })
  }

  setVersioning(status: Versioning, at: number): this {
    this.#add({ kind: 'versioning', at, status })
    return this
  }

  stateAt(moment: number): BucketState {
    const versions = new Map<string, StoredVersion[]>()
    let status: Versioning | undefined
    for (const change of this.#changes.filter(({ at }) => at <= moment)) {
      if (change.kind === 'versioning') {
        status = change.status
        continue
      }
      const key = change.kind === 'put' ? change.put.key : change.key
      const next = changed(this.service, versions.get(key) ?? [], change, status)
      if (next.length > 0) versions.set(key, next)
      else versions.delete(key)
    }
    return { status, versions }
  }

  #add(change: Change): void {
    this.#changes.push(change)
    this.#changes.sort((one, other) => one.at - other.at)
  }
}

function changed(
  service: Service,
  before: readonly StoredVersion[],
  change: Exclude<Change, { kind: 'versioning' }>,
  status: Versioning | undefined,
): StoredVersion[] {
  if (change.kind === 'erase') return before.filter(({ id }) => id !== change.id)
  const { at } = change
  const key = change.kind === 'put' ? change.put.key : change.key
  const id = status === 'Enabled' ? service.versionId(key, at) : NULL_VERSION
  const kept = status === 'Enabled' ? [...before] : before.filter((version) => version.id !== NULL_VERSION)
  if (change.kind === 'delete') return status === undefined ? kept : [{ id, modifiedAt: at }, ...kept]
  const { put } = change
  const multipartAt = service.multipartTime === 'begin' ? put.begunAt : undefined
  const version = { id, put, modifiedAt: put.sourceTime ?? multipartAt ?? at }
  // Of a multipart upload its beginning decides which version is the newest.
  const place = multipartAt === undefined ? 0 : kept.findIndex(({ modifiedAt }) => modifiedAt <= multipartAt)
  kept.splice(place === -1 ? kept.length : place, 0, version)
  return kept
}

export function contentOf(text: string | Buffer): Content {
  const bytes = Buffer.from(text as string)
  return { bytes, size: bytes.length, sha256: sha256(bytes), md5: md5(bytes) }
}

/** A content that is only told of, because it is too large. */
export function hugeContent(name: string, size: number): Content {
  return { bytes: undefined, size, sha256: sha256(name), md5: md5(name) }
}

export function etagOf({ content, parts, etag }: Put): string {
  if (etag !== undefined) return etag
  return parts === undefined ? content.md5.toString('hex') : `${md5(content.md5).toString('hex')}-${parts}`
}

/** The digest of the digests of all parts. */
export function compositeOf({ content, parts = 1 }: Put): Buffer {
  const { bytes, size } = content
  const partSize = Math.ceil(size / parts)
  const digests = Array.from({ length: parts }, (_, index) =>
    bytes ? sha256(bytes.subarray(index * partSize, (index + 1) * partSize)) : sha256(`${size} part ${index}`),
  )
  return sha256(Buffer.concat(digests))
}

export function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}

function md5(data: string | Buffer): Buffer {
  return createHash('md5').update(data).digest()
}

const idOf = (key: string, at: number) => sha256(`${key} ${at}`)

export const AWS: Service = {
  baseUrl: 'https://s3.eu-west-1.amazonaws.com',
  region: 'eu-west-1',
  hasVersions: true,
  checksums: 'typed',
  multipartTime: 'begin',
  versionId: (key, at) => idOf(key, at).toString('base64url').replaceAll('-', '.').slice(0, 32),
}

export const MINIO: Service = {
  baseUrl: 'https://minio.example',
  region: 'us-east-1',
  hasVersions: true,
  checksums: 'untyped',
  multipartTime: 'end',
  listsMs: true,
  versionId: (key, at) =>
    idOf(key, at)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5'),
}

export const CEPH: Service = {
  baseUrl: 'https://rgw.example:8443',
  region: 'default',
  hasVersions: true,
  checksums: 'none',
  multipartTime: 'end',
  listsMs: true,
  spacesAsHex: true,
  versionId: (key, at) => idOf(key, at).toString('base64url').slice(0, 32),
}

export const R2: Service = {
  baseUrl: 'https://0123456789abcdef0123456789abcdef.r2.cloudflarestorage.com',
  region: 'auto',
  hasVersions: false,
  checksums: 'typed',
  multipartTime: 'end',
  listsMs: true,
  versionId: (key, at) => idOf(key, at).toString('hex').slice(0, 32),
}

export const B2: Service = {
  baseUrl: 'https://s3.us-west-004.backblazeb2.com',
  region: 'us-west-004',
  hasVersions: true,
  alwaysVersions: true,
  checksums: 'none',
  multipartTime: 'begin',
  markersFirst: true,
  versionId: (key, at) =>
    `4_z6145af89f355ac2f74ed0c1b_f${idOf(key, at).toString('hex').slice(0, 16)}_d20260311_m093000_c004_v0402002_t0050`,
}

export const SWIFT: Service = {
  baseUrl: 'https://swift.example:8080',
  region: 'us-east-1',
  hasVersions: true,
  checksums: 'none',
  multipartTime: 'end',
  roundsUp: true,
  spacesAsHex: true,
  versionId: (_, at) => (at / 1000).toFixed(5),
}
