/** A small S3 of buckets in memory. It checks signatures, keeps versions, and answers as Amazon documents it. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { signatureError } from './signature.ts'

export interface Put {
  readonly content: string
  /** The time by the server's clock; of an upload in parts, that of its beginning. */
  readonly at: number
  /** Puts it in parts. */
  readonly inParts?: true
  /** Computes the checksum that a client asked for at the upload. */
  readonly withChecksum?: true
  readonly encoding?: string
}

interface Version extends Partial<Put> {
  readonly id: string
  readonly at: number
}

interface Reply {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

function refusal(status: number, code: string): Reply {
  return {
    status,
    body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>m</Message></Error>`,
  }
}

type Versioning = 'Enabled' | 'Suspended' | undefined

export interface S3Options {
  readonly now: () => number
  readonly secrets: Readonly<Record<string, string>>
  /** The ids of keys that may read objects, and not list them. */
  readonly mayNotList?: readonly string[]
}

export const REGION = 'eu-central-1'
const hash = (algorithm: string, text: string, encoding: 'hex' | 'base64') =>
  createHash(algorithm).update(text).digest(encoding)

export class S3 {
  versioning: Versioning
  /** The versions by key, newest first. One without content is a delete marker. */
  readonly #objects = new Map<string, Version[]>()
  readonly #options: S3Options
  readonly #bucket: string
  #ids = 0
  /** Names what the service does not have, by the query that asks for it. */
  lacks: readonly string[] = []

  constructor(bucket: string, options: S3Options) {
    this.#bucket = bucket
    this.#options = options
  }

  clear(versioning?: Versioning): void {
    this.versioning = versioning
    this.#objects.clear()
    this.#ids = 0
  }

  put(key: string, put: Put): string {
    return this.#add(key, put)
  }

  remove(key: string, at: number): void {
    if (this.versioning) this.#add(key, { at })
    else this.#objects.delete(key)
  }

  /** Deletes a version for good. */
  purge(key: string, id: string): void {
    this.#objects.set(
      key,
      (this.#objects.get(key) ?? []).filter((version) => version.id !== id),
    )
  }

  #add(key: string, put: Omit<Version, 'id'>): string {
    const id = this.versioning === 'Enabled' ? `v${++this.#ids}.id` : 'null'
    const others = (this.#objects.get(key) ?? []).filter((version) => id !== 'null' || version.id !== 'null')
    this.#objects.set(key, [{ ...put, id }, ...others])
    return id
  }

  async start(): Promise<{ readonly url: string; stop(): Promise<void> }> {
    const server = createServer((request, response) => this.#answer(request, response)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      stop: async () => {
        server.closeAllConnections()
        server.close()
      },
    }
  }

  #answer({ method = '', url = '', headers }: IncomingMessage, response: ServerResponse): void {
    response.setHeader('date', new Date(this.#options.now()).toUTCString())
    const { status, body, ...more } = this.#reply(method, url, headers)
    response.writeHead(status, more.headers ?? { 'content-type': 'application/xml' })
    response.end(method === 'HEAD' ? undefined : body)
  }

  #reply(method: string, url: string, headers: IncomingHttpHeaders): Reply {
    const { secrets, mayNotList = [] } = this.#options
    const wrong = signatureError({ method, url, headers }, secrets)
    if (wrong) return refusal(403, wrong)
    const [, id = ''] = /Credential=([^/]+)/.exec(String(headers.authorization)) ?? []
    const mayList = !mayNotList.includes(id)
    const { pathname, searchParams } = new URL(url, 'http://s3')
    const [bucket, ...rest] = pathname.slice(1).split('/').map(decodeURIComponent)
    if (bucket === '') return refusal(403, 'AccessDenied')
    if (bucket !== this.#bucket) return refusal(404, 'NoSuchBucket')
    if (this.lacks.some((name) => searchParams.has(name))) return refusal(501, 'NotImplemented')
    if (rest.length === 0)
      return mayList ? { status: 200, body: this.#list(searchParams) } : refusal(403, 'AccessDenied')
    const versions = this.#objects.get(rest.join('/')) ?? []
    const asked = searchParams.get('versionId')
    const version = asked === null ? versions[0] : versions.find((one) => one.id === asked)
    if (version?.content !== undefined) return this.#show(version, searchParams, headers)
    if (version && asked !== null) return refusal(405, 'MethodNotAllowed')
    return mayList ? refusal(404, asked === null ? 'NoSuchKey' : 'NoSuchVersion') : refusal(403, 'AccessDenied')
  }

  #show(version: Version, query: URLSearchParams, headers: IncomingHttpHeaders): Reply {
    const { content = '', inParts, withChecksum } = version
    const checksum = hash('sha256', content, 'base64')
    const showsChecksum = withChecksum && headers['x-amz-checksum-mode'] === 'ENABLED'
    const encoding = query.get('response-content-encoding') ?? version.encoding
    return {
      status: 200,
      body: content,
      headers: {
        'last-modified': new Date(version.at).toUTCString(),
        'content-length': String(Buffer.byteLength(content)),
        etag: etagOf(version),
        ...(this.versioning && { 'x-amz-version-id': version.id }),
        ...(encoding && { 'content-encoding': encoding }),
        ...(showsChecksum && {
          'x-amz-checksum-sha256': inParts ? `${hash('sha256', checksum, 'base64')}-2` : checksum,
          'x-amz-checksum-type': inParts ? 'COMPOSITE' : 'FULL_OBJECT',
        }),
      },
    }
  }

  #list(query: URLSearchParams): string {
    const document = (name: string, inner: string) =>
      `<?xml version="1.0" encoding="UTF-8"?>\n<${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner}</${name}>`
    if (query.has('versioning'))
      return document('VersioningConfiguration', this.versioning ? `<Status>${this.versioning}</Status>` : '')
    const prefix = query.get('prefix') ?? ''
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).sort()
    const all = keys.flatMap((key) =>
      this.#objects.get(key)!.map((version, index) => entryOf(key, version, index === 0)),
    )
    const most = Number(query.get('max-keys') ?? 1000)
    const from = Number(query.get('version-id-marker') ?? 0)
    const page = all.slice(from, from + most)
    const isCut = from + most < all.length
    const head = `<Name>${this.#bucket}</Name><EncodingType>url</EncodingType><Prefix>${encodeKey(prefix)}</Prefix><IsTruncated>${isCut}</IsTruncated>`
    if (!query.has('versions')) return document('ListBucketResult', head)
    const markers = `<NextKeyMarker>${encodeKey(prefix)}</NextKeyMarker><NextVersionIdMarker>${from + most}</NextVersionIdMarker>`
    return document('ListVersionsResult', head + (isCut ? markers : '') + page.join(''))
  }
}

function entryOf(key: string, version: Version, isLatest: boolean): string {
  const name = version.content === undefined ? 'DeleteMarker' : 'Version'
  const content =
    version.content === undefined
      ? ''
      : `<ETag>${etagOf(version).replaceAll('"', '&quot;')}</ETag><Size>${Buffer.byteLength(version.content)}</Size>`
  const at = new Date(Math.floor(version.at / 1000) * 1000).toISOString()
  return `<${name}><Key>${encodeKey(key)}</Key><VersionId>${version.id}</VersionId><IsLatest>${isLatest}</IsLatest><LastModified>${at}</LastModified>${content}</${name}>`
}

function etagOf({ content = '', inParts }: Version): string {
  return `"${hash('md5', content, 'hex')}${inParts ? '-2' : ''}"`
}

function encodeKey(key: string): string {
  return encodeURIComponent(key).replaceAll('%20', '+').replaceAll('%2F', '/')
}
