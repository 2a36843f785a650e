/** Reads a repository of a container registry by the OCI distribution specification: manifests, tags, and the platforms of images. */
import { createHash } from 'node:crypto'
import {
  type Auth,
  type CheckContext,
  DestinationError,
  isDestinationError,
  isOldCopy,
  parseUrl,
  readJson,
  type Static,
  statusError,
  type TSchema,
  Type,
  Value,
} from '@claimcheck/core/plugin'
import { lackingOf, normalizePlatform } from './platform.ts'

const IMAGES: ReadonlySet<string | undefined> = new Set([
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
])
const INDEXES: ReadonlySet<string | undefined> = new Set([
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
])
/** All four types, because registries answer MANIFEST_UNKNOWN for a tag of a type that the request does not name. */
const ACCEPT = [...IMAGES, ...INDEXES].join(', ')
/** The types of configurations that tell a platform. Those of charts and other artifacts tell none. */
const IMAGE_CONFIGS: ReadonlySet<string | undefined> = new Set([
  'application/vnd.oci.image.config.v1+json',
  'application/vnd.docker.container.image.v1+json',
])
/** The type of the configuration of a Helm chart, which is for no platform. */
const CHART_CONFIG = 'application/vnd.cncf.helm.config.v1+json'
/** The errors of a 404 that says that there is no such manifest. Harbor writes the second. */
const UNKNOWN: readonly string[] = ['MANIFEST_UNKNOWN', 'NOT_FOUND']

/** The size of the largest manifest that registries have to take, by the specification. */
export const MOST_BYTES = 4 * 1024 * 1024
const MOST_AGE_S = 60
/** The longest manifest that is remembered, in characters: the cache limits how many entries it has, and not their size. */
const MOST_KEPT = 32 * 1024
const TAGS_A_PAGE = 1000
const MOST_PAGES = 40
const MOST_UNDECLARED = 8

const Digest = Type.String({ pattern: '^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$' })
const Platform = Type.Object({
  os: Type.String(),
  architecture: Type.String(),
  variant: Type.Optional(Type.String()),
})
const Descriptor = Type.Object({
  mediaType: Type.Optional(Type.String()),
  digest: Digest,
  platform: Type.Optional(Platform),
  annotations: Type.Optional(Type.Object({ 'vnd.docker.reference.type': Type.Optional(Type.String()) })),
})
type Descriptor = Static<typeof Descriptor>

// A document that is an image and an index would be taken for the one by some clients, and for the other by others (CVE-2021-41190).
const common = { schemaVersion: Type.Literal(2), mediaType: Type.Optional(Type.String()) }
const Image = Type.Object({ ...common, config: Descriptor, manifests: Type.Optional(Type.Null()) })
const Index = Type.Object({
  ...common,
  manifests: Type.Array(Descriptor),
  config: Type.Optional(Type.Null()),
  layers: Type.Optional(Type.Null()),
})
const Errors = Type.Object({ errors: Type.Array(Type.Object({ code: Type.String() })) })
const Tags = Type.Object({ tags: Type.Union([Type.Array(Type.String()), Type.Null()]) })

type Algorithm = 'sha256' | 'sha512'

/** A manifest as the registry answered it: of an image, or an index of them. */
export interface Manifest {
  /** The digests of its bytes, which this check or an earlier one computed. */
  readonly digests: Readonly<Record<Algorithm, string>>
  /** The images and other things that an index lists; undefined of an image. */
  readonly children: readonly Descriptor[] | undefined
  /** The configuration of an image; undefined of an index. */
  readonly config: Descriptor | undefined
  /** Tells that a cache has kept the answer, so that the tag may be another one by now. */
  readonly isOld: boolean
}

export type Repository = ReturnType<typeof openRepository>

/** @param url the address of the registry @param name the name of the repository */
export function openRepository(
  { url, name, auth }: { readonly url: string; readonly name: string; readonly auth: Auth },
  { fetch, http, now, cache }: Pick<CheckContext, 'fetch' | 'http' | 'now' | 'cache'>,
) {
  const path = `${url}/v2/${name}`
  const tagsPath = `${path}/tags/list`

  /** Reads a manifest by its tag or digest; undefined where the registry says that it has none. */
  async function readManifest(reference: string): Promise<Manifest | undefined> {
    const response = await fetch(`${path}/manifests/${reference}`, { headers: { accept: ACCEPT }, auth })
    const { status, headers } = response
    const isOld = isOldCopy(headers, MOST_AGE_S)
    if (status === 404) return requireUnknown(response, isOld)
    const bytes = await readBytes(response)
    requireDigest(bytes, reference)
    return { ...(await manifestIn(bytes, headers)), isOld }
  }

  /** Tells whether the tag is still the manifest that was read before. */
  async function isStill(tag: string, known: Manifest): Promise<boolean> {
    const init = { method: 'HEAD', headers: { accept: ACCEPT }, auth } as const
    const { status, headers } = await fetch(`${path}/manifests/${tag}`, init)
    const digest = headers.get('docker-content-digest')
    return status === 200 && !isOldCopy(headers, MOST_AGE_S) && digest !== null && digestLike(digest, known) === digest
  }

  /** Requires of a 404 that the registry itself says now that it has no such manifest. */
  async function requireUnknown(response: Response, isOld: boolean): Promise<undefined> {
    if (!(await saysUnknown(response))) throw statusError(response, now())
    if (isOld) throw unexpected(404)
  }

  async function readBytes(response: Response): Promise<Uint8Array<ArrayBuffer>> {
    if (response.status !== 200) {
      await response.body?.cancel()
      throw statusError(response, now())
    }
    const body = await response.arrayBuffer().catch((cause: unknown) => {
      throw isDestinationError(cause) ? cause : new DestinationError('unexpected_response', { status: 200, cause })
    })
    return new Uint8Array(body)
  }

  /** Reads the platform in an image's configuration, which is content of its own; undefined for what is no image. */
  async function platformIn(config: Descriptor): Promise<string | undefined> {
    if (config.mediaType === CHART_CONFIG) return undefined
    // Other things than images and charts, such as modules of WebAssembly, have platforms that are written elsewhere.
    if (!IMAGE_CONFIGS.has(config.mediaType)) throw unexpected()
    const bytes = await readBytes(await fetch(`${path}/blobs/${config.digest}`, { auth, contentDigest: config.digest }))
    return platformName(await parse(bytes, Platform))
  }

  /** Reads the platform of a child for which its index names none. */
  async function platformOfChild({ digest }: Descriptor): Promise<string | undefined> {
    const manifest = await readManifest(digest)
    // An index within an index is not followed.
    if (!manifest?.config) throw unexpected()
    return platformIn(manifest.config)
  }

  return {
    readManifest,
    /**
     * Reads the manifest of a tag. While the tag goes on being one that is not wanted, its digest alone is asked for: Docker Hub counts each read of a
     * manifest against a limit of some hundred in six hours.
     */
    async readTag(tag: string, isWanted: (manifest: Manifest) => boolean): Promise<Manifest | undefined> {
      const key = `${path}:${tag}`
      const known = cache.get(key) as Manifest | undefined
      if (known && !isWanted(known) && (await isStill(tag, known))) return known
      const manifest = await readManifest(tag)
      if (manifest && !manifest.isOld && JSON.stringify(manifest).length <= MOST_KEPT) cache.set(key, manifest)
      return manifest
    },
    /**
     * Requires that the registry shows the repository to these credentials, and does not list the tag: one whose manifest is missing is there.
     * @throws DestinationError `forbidden` where the repository is hidden
     */
    async requireUnlisted(tag: string): Promise<void> {
      const pages = http.paginate(`${tagsPath}?n=${TAGS_A_PAGE}`, {
        schema: Tags,
        auth,
        most: MOST_PAGES,
        // A registry behind a proxy links to an address of its own, so the query alone counts.
        next({ headers }) {
          const [, link] = /<([^<>]*)>\s*;[^,<]*\brel="?next\b/i.exec(headers.get('link') ?? '') ?? []
          if (link === undefined) return undefined
          const query = parseUrl(link, tagsPath)?.search
          if (!query) throw unexpected()
          return tagsPath + query
        },
      })
      for await (const { value, headers } of pages) {
        if (value.tags?.includes(tag) || isOldCopy(headers, MOST_AGE_S)) throw unexpected()
      }
    },
    /** Lists the platforms of a manifest. @param wanted those for which it is asked: an index that names all of them is not read further */
    async platformsOf({ children, config }: Manifest, wanted: readonly string[]): Promise<readonly string[]> {
      if (!children) return [await platformIn(config!)].filter((one) => one !== undefined)
      const images = children.filter(isImage)
      const named = images.flatMap(({ platform }) => (platform ? [platformName(platform)] : []))
      const unnamed = images.filter(({ platform }) => !platform)
      if (lackingOf(wanted, named).length === 0) return named
      if (unnamed.length > MOST_UNDECLARED) throw new DestinationError('too_large')
      const read = await Promise.all(unnamed.map(platformOfChild))
      return [...named, ...read.filter((one) => one !== undefined)]
    },
  }
}

/** Understands the bytes of a manifest, whose type and digest have to be those that its headers name. */
async function manifestIn(bytes: Uint8Array<ArrayBuffer>, headers: Headers): Promise<Omit<Manifest, 'isOld'>> {
  requireDigest(bytes, headers.get('docker-content-digest'))
  const [type] = (headers.get('content-type') ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  const isIndex = INDEXES.has(type)
  if (!isIndex && !IMAGES.has(type)) throw unexpected()
  const { mediaType = type, manifests, config } = isIndex ? await parse(bytes, Index) : await parse(bytes, Image)
  if (mediaType !== type) throw unexpected()
  const digests = { sha256: digestOf(bytes, 'sha256'), sha512: digestOf(bytes, 'sha512') }
  return { digests, children: manifests ?? undefined, config: config ?? undefined }
}

/** Tells whether a child of an index is an image, and no attestation of one. */
export function isImage({ platform, annotations }: Descriptor): boolean {
  const isUnknown = platform?.os === 'unknown' && platform.architecture === 'unknown'
  return !isUnknown && annotations?.['vnd.docker.reference.type'] !== 'attestation-manifest'
}

/** The only image of an index; undefined of an index with several or none, and of an image. */
export function onlyImage({ children = [] }: Manifest): Descriptor | undefined {
  const [image, ...others] = children.filter(isImage)
  return others.length === 0 && IMAGES.has(image?.mediaType) ? image : undefined
}

/** The digest of a manifest by the algorithm of another digest. */
export function digestLike(other: string, { digests }: Manifest): string {
  return digests[algorithmOf(other)]
}

function algorithmOf(digest: string): Algorithm {
  return digest.startsWith('sha512:') ? 'sha512' : 'sha256'
}

function digestOf(bytes: Uint8Array, algorithm: Algorithm): string {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`
}

/** Requires that bytes have a digest, where the text is one: a tag is none, and not every registry names the digest in a header. */
function requireDigest(bytes: Uint8Array, text: string | null): void {
  if (Value.Check(Digest, text) && digestOf(bytes, algorithmOf(text)) !== text) throw unexpected()
}

function platformName({ os, architecture, variant = '' }: Static<typeof Platform>): string {
  return normalizePlatform([os, architecture, variant].join('/'))
}

async function parse<T extends TSchema>(bytes: Uint8Array<ArrayBuffer>, schema: T): Promise<Static<T>> {
  const value = await readJson(new Response(bytes), MOST_BYTES)
  if (!Value.Check(schema, value)) throw unexpected()
  return value as Static<T>
}

async function saysUnknown(response: Response): Promise<boolean> {
  try {
    const value = await readJson(response)
    return Value.Check(Errors, value) && value.errors.some(({ code }) => UNKNOWN.includes(code))
  } catch (error) {
    if (isDestinationError(error) && error.code === 'unexpected_response') return false
    throw error
  }
}

/** The error for an answer that says nothing of the tag. */
export function unexpected(status = 200): DestinationError {
  return new DestinationError('unexpected_response', { status })
}
