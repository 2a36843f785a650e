/**
 * Container registries by the OCI distribution specification over a scripted repository, with an issuer of tokens: how Docker's own registry,
 * Docker Hub, GHCR, GitLab, Quay, Harbor and ECR answer, by their documentation and by reports of their bugs.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DOCKER_LIST, DOCKER_MANIFEST, type Document, digestOf, SIGNED_SCHEMA_1 } from './images.ts'
import { type Repository, SECOND } from './repository.ts'

/** An answer, with JSON where the body is no text. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

interface Kind {
  /** Code and message of a manifest that is not there. */
  readonly unknownManifest: readonly [code: string, message: string]
  /** How it asks who reads; `open` does not ask. */
  readonly challenge: 'open' | 'bearer' | 'basic'
  /**
   * What those read who may not see a repository, and where there is none: `404` says that there is none, `401` refuses the token,
   * `no token` refuses to issue one.
   */
  readonly hides: '404' | '401' | 'no token'
  /** The name of the service in its challenge. */
  readonly service: string
  readonly pageSize: number
  readonly leavesOutDigest?: boolean
  readonly listType?: string
  /** Finds by its digest only what a tag leads to. */
  readonly forgetsUntagged?: boolean
  /** What it says of a tag that was deleted, where it remembers. */
  readonly deletedTag?: readonly [code: string, message: string]
  /** Sends who asks for a blob to its store at another address. */
  readonly redirectsBlobs?: boolean
  /** Lists a repository without tags as `null`; else it is unknown. */
  readonly listsNull?: boolean
}

const USUAL: Kind = {
  unknownManifest: ['MANIFEST_UNKNOWN', 'manifest unknown'],
  challenge: 'open',
  hides: '404',
  service: 'registry',
  pageSize: 1000,
}

export const KINDS = {
  'docker-registry': { ...USUAL, pageSize: Number.POSITIVE_INFINITY },
  'Docker Hub': { ...USUAL, challenge: 'bearer', hides: '401', service: 'registry.docker.io', redirectsBlobs: true },
  GHCR: { ...USUAL, challenge: 'bearer', hides: 'no token', service: 'ghcr.io', pageSize: 100, redirectsBlobs: true },
  GitLab: {
    ...USUAL,
    challenge: 'bearer',
    hides: '401',
    service: 'container_registry',
    pageSize: 100,
    listsNull: true,
  },
  Quay: {
    ...USUAL,
    challenge: 'bearer',
    hides: '401',
    service: 'quay.io',
    pageSize: 50,
    redirectsBlobs: true,
    forgetsUntagged: true,
    deletedTag: ['TAG_EXPIRED', 'Tag was deleted or has expired. To pull, revive via time machine'],
  },
  Harbor: {
    ...USUAL,
    unknownManifest: ['NOT_FOUND', 'artifact acme/api not found'],
    challenge: 'bearer',
    hides: '401',
    service: 'harbor-registry',
    listsNull: true,
  },
  ECR: {
    ...USUAL,
    unknownManifest: ['MANIFEST_UNKNOWN', 'Requested image not found'],
    challenge: 'basic',
    service: 'ecr.amazonaws.com',
    pageSize: 100,
    leavesOutDigest: true,
    listType: 'text/plain; charset=utf-8',
    listsNull: true,
    redirectsBlobs: true,
  },
} satisfies Record<string, Kind>

export type KindName = keyof typeof KINDS

/** A request, with the moment at which it came, from the deed on. */
export interface Asked {
  readonly method: string
  readonly path: string
  /** `manifests`, `tags`, `blobs` or `token`. */
  readonly place: string
  /** A tag or a digest. */
  readonly reference: string
  readonly at: number
}

export interface RegistryScript {
  readonly kind: KindName
  readonly repository: Repository
  /** Who may read it, by their user names; anybody, when left out. */
  readonly readers?: readonly string[]
  /** Passwords by user names. */
  readonly accounts?: Readonly<Record<string, string>>
  /** How far behind each of its replicas is, which answer in turn. */
  readonly lagsMs?: readonly number[]
  /** Whether tokens come from a server of their own. */
  readonly issuerElsewhere?: boolean
  readonly tokenSeconds?: number
  /** Answers in place of the registry. */
  readonly instead?: (asked: Asked) => Answer | undefined
  /** Changes its answers, as a proxy in front does. */
  readonly changes?: (asked: Asked, answer: Answer) => Answer
  /** How far its clock is off. */
  readonly clockMs?: number
}

export interface RunningRegistry {
  readonly url: string
  readonly issuerUrl: string
  close(): Promise<void>
}

export async function startRegistry(
  script: RegistryScript,
  now: () => number,
  start: number,
): Promise<RunningRegistry> {
  const { kind: name, repository, lagsMs = [0], instead, changes = (_asked, answer) => answer, clockMs = 0 } = script
  const kind: Kind = KINDS[name]
  let turn = 0

  const registry = await listen((request, response) => {
    const asked = askedOf(request, now() - start)
    const viewed = { ...asked, at: asked.at - lagsMs[turn++ % lagsMs.length]! }
    const answer = instead?.(asked) ?? changes(asked, answerOf(request, viewed, asked.at))
    send(request, response, answer, now() + clockMs)
  })
  const issuer = script.issuerElsewhere
    ? await listen((request, response) => {
        const asked = { ...askedOf(request, now() - start), place: 'token' }
        send(request, response, instead?.(asked) ?? issue(request, asked.at), now() + clockMs)
      })
    : registry

  function answerOf(request: IncomingMessage, asked: Asked, at: number): Answer {
    if (asked.place === 'token') return issue(request, at)
    const refusal = refusalOf(request, at)
    if (refusal) return refusal
    if (asked.place === '') return { status: 200, body: {} }
    return shown(kind, repository, asked, request)
  }

  /** A token of the reader for this repository, with what it may read, which may be nothing. */
  function issue(request: IncomingMessage, at: number): Answer {
    const { searchParams } = new URL(request.url!, 'http://issuer')
    const user = userOf(request)
    if (user === null) return error(401, 'UNAUTHORIZED', 'incorrect username or password')
    const scope = searchParams.get('scope') ?? ''
    const mayRead = scope === `repository:${repository.name}:pull` && isReader(user)
    if (kind.hides === 'no token' && !mayRead) {
      return user === undefined
        ? error(401, 'UNAUTHORIZED', 'authentication required')
        : error(403, 'DENIED', 'requested access to the resource is denied')
    }
    const { tokenSeconds = 300 } = script
    const until = at + tokenSeconds * SECOND
    const token = Buffer.from(JSON.stringify({ mayRead, until })).toString('base64url')
    return { status: 200, body: { token, access_token: token, expires_in: tokenSeconds } }
  }

  function refusalOf(request: IncomingMessage, at: number): Answer | undefined {
    const needsToken = kind.challenge !== 'open' || script.readers !== undefined
    if (!needsToken) return nameOf(request) === repository.name ? undefined : unknownName(request)
    if (kind.hides === '404' && kind.challenge === 'open') {
      const user = userOf(request)
      return user !== null && isReader(user) && nameOf(request) === repository.name ? undefined : unknownName(request)
    }
    if (kind.challenge === 'basic') {
      if (!userOf(request)) return challenge(`Basic realm="${registry.url}/",service="${kind.service}"`)
      return nameOf(request) === repository.name ? undefined : unknownName(request)
    }
    const sent = request.headers.authorization?.match(/^Bearer (.+)$/)?.[1]
    const { mayRead, until } = sent
      ? JSON.parse(Buffer.from(sent, 'base64url').toString())
      : { mayRead: false, until: 0 }
    if (mayRead && at < until) return nameOf(request) === repository.name ? undefined : unknownName(request)
    const scope = `repository:${nameOf(request)}:pull`
    return challenge(`Bearer realm="${issuer.url}/token",service="${kind.service}",scope="${scope}"`)
  }

  /** The user's name; undefined of anybody, null of wrong credentials. */
  function userOf(request: IncomingMessage): string | undefined | null {
    const sent = request.headers.authorization?.match(/^Basic (.+)$/)?.[1]
    if (sent === undefined) return undefined
    const [user, ...password] = Buffer.from(sent, 'base64').toString().split(':') as [string, ...string[]]
    return script.accounts?.[user] === password.join(':') ? user : null
  }

  function isReader(user: string | undefined): boolean {
    return script.readers === undefined || (user !== undefined && script.readers.includes(user))
  }

  return {
    url: registry.url,
    issuerUrl: issuer.url,
    async close() {
      await Promise.all([...new Set([registry, issuer])].map((one) => one.close()))
    },
  }
}

/** What a reader of the repository reads. */
function shown(kind: Kind, repository: Repository, asked: Asked, request: IncomingMessage): Answer {
  const { place, reference, at } = asked
  if (place === 'tags') return tagsShown(kind, repository, at, request)
  if (place === 'blobs') {
    const blob = repository.blob(reference)
    if (!blob) return error(404, 'BLOB_UNKNOWN', 'blob unknown to registry')
    if (kind.redirectsBlobs) return { status: 307, headers: { location: `https://blobs.example/${reference}?sig=e30` } }
    return { status: 200, headers: { 'content-type': 'application/octet-stream' }, body: blob.bytes }
  }
  const digest = reference.includes(':') ? reference : repository.tagged(reference, at)
  const isForgotten = reference.includes(':') && kind.forgetsUntagged && !repository.isAlive(reference, at)
  const document = digest === undefined || isForgotten ? undefined : repository.manifest(digest, at)
  if (!document) {
    const wasDeleted = kind.deletedTag && repository.hadTag(reference, at)
    return error(404, ...(wasDeleted ? kind.deletedTag : kind.unknownManifest))
  }
  return manifestShown(kind, repository, document, { at, request })
}

function manifestShown(
  kind: Kind,
  repository: Repository,
  document: Document,
  { at, request }: { readonly at: number; readonly request: IncomingMessage },
): Answer {
  const accept = (request.headers.accept ?? '').split(',').map((type) => type.split(';')[0]!.trim())
  const { mediaType, bytes, digest } = document
  if (!accept.includes(mediaType) && mediaType !== SIGNED_SCHEMA_1) {
    const isOldReader = mediaType === DOCKER_LIST && accept.includes(DOCKER_MANIFEST)
    if (!isOldReader) return error(404, 'MANIFEST_UNKNOWN', 'manifest found, but accept header does not support it')
    // Who takes no lists gets the image for linux/amd64.
    const { manifests } = JSON.parse(bytes.toString())
    const usual = manifests.find((one: { platform: { architecture: string } }) => one.platform.architecture === 'amd64')
    return manifestShown(kind, repository, repository.manifest(usual.digest, at)!, { at, request })
  }
  const etag = `"${digest}"`
  if (request.headers['if-none-match'] === etag) return { status: 304, headers: { etag } }
  const says = kind.leavesOutDigest && request.method === 'GET' ? {} : { 'docker-content-digest': digest }
  return { status: 200, headers: { 'content-type': mediaType, etag, ...says }, body: bytes }
}

function tagsShown(kind: Kind, repository: Repository, at: number, request: IncomingMessage): Answer {
  const all = repository.tags(at)
  if (all.length === 0 && !kind.listsNull) return error(404, 'NAME_UNKNOWN', 'repository name not known to registry')
  const { searchParams } = new URL(request.url!, 'http://registry')
  const last = searchParams.get('next_page') ?? searchParams.get('last')
  const after = last === null ? all : all.filter((tag) => tag > last)
  const size = Math.min(Number(searchParams.get('n') ?? kind.pageSize), kind.pageSize)
  const page = after.slice(0, size)
  const more = new URLSearchParams({ last: page.at(-1) ?? '', n: String(size) })
  const link = `</v2/${repository.name}/tags/list?${more}>; rel="next"`
  return {
    status: 200,
    headers: {
      'content-type': kind.listType ?? 'application/json; charset=utf-8',
      ...(after.length > page.length && { link }),
    },
    body: { name: repository.name, tags: all.length === 0 ? null : page },
  }
}

function askedOf({ method = 'GET', url = '/' }: IncomingMessage, at: number): Asked {
  const path = url.split('?')[0]!
  const [, place = path === '/token' ? 'token' : '', reference = ''] =
    /\/(manifests|tags|blobs)\/([^/]+)$/.exec(path) ?? []
  return { method, path, place, reference: decodeURIComponent(reference), at }
}

function nameOf({ url = '/' }: IncomingMessage): string | undefined {
  return /^\/v2\/(.+)\/(?:manifests|tags|blobs)\/[^/]+$/.exec(url.split('?')[0]!)?.[1]
}

/** A registry that does not know a repository says of its manifests what it says of those of another. */
function unknownName(request: IncomingMessage): Answer | undefined {
  const { place } = askedOf(request, 0)
  if (place === '') return undefined
  return place === 'manifests'
    ? error(404, 'MANIFEST_UNKNOWN', 'manifest unknown')
    : error(404, 'NAME_UNKNOWN', 'repository name not known to registry')
}

function challenge(wwwAuthenticate: string): Answer {
  const { status, body } = error(401, 'UNAUTHORIZED', 'authentication required')
  return { status, headers: { 'www-authenticate': wwwAuthenticate }, body }
}

/** An error by the specification. */
export function error(status: number, code: string, message: string): Answer {
  return { status, body: { errors: [{ code, message, detail: {} }] } }
}

function send(request: IncomingMessage, response: ServerResponse, answer: Answer, at: number): void {
  const { status, headers = {}, body = '' } = answer
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body)
  const bytes = isRaw ? Buffer.from(body) : Buffer.from(JSON.stringify(body))
  response.writeHead(status, {
    'content-type': isRaw ? 'text/html' : 'application/json; charset=utf-8',
    'docker-distribution-api-version': 'registry/2.0',
    'content-length': status === 304 ? 0 : bytes.length,
    date: new Date(at).toUTCString(),
    ...headers,
  })
  response.end(request.method === 'HEAD' || status === 304 ? undefined : bytes)
}

async function listen(handle: RequestListener) {
  const server = createServer(handle).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The bytes of a document under another digest of the same content. */
export function sha512Of({ bytes }: Document): string {
  return digestOf(bytes, 'sha512')
}
