/** Manifests and indexes as docker, BuildKit, Helm and ORAS push them. */
import { createHash } from 'node:crypto'

export const OCI_MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
export const OCI_INDEX = 'application/vnd.oci.image.index.v1+json'
export const DOCKER_MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json'
export const DOCKER_LIST = 'application/vnd.docker.distribution.manifest.list.v2+json'
export const SIGNED_SCHEMA_1 = 'application/vnd.docker.distribution.manifest.v1+prettyjws'
export const OCI_ARTIFACT = 'application/vnd.oci.artifact.manifest.v1+json'

/** A manifest or an index, or a blob. */
export interface Document {
  readonly mediaType: string
  readonly bytes: Buffer
  readonly digest: string
}

/** What one push uploads: the document that gets the tag, and all that it names. */
export interface Pushed extends Document {
  readonly platform?: Platform
  /** The documents that an index names. */
  readonly children: readonly Pushed[]
  readonly blobs: readonly Document[]
}

export interface Platform {
  readonly os: string
  readonly architecture: string
  readonly variant?: string
}

export function digestOf(bytes: Buffer, algorithm = 'sha256'): string {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`
}

/** Writes JSON with the indentation of the program that pushes it: digests are of bytes, not of values. */
function documentOf(mediaType: string, value: unknown, indent = 2): Document {
  const bytes = Buffer.from(JSON.stringify(value, null, indent))
  return { mediaType, bytes, digest: digestOf(bytes) }
}

function descriptorOf({ mediaType, bytes, digest }: Document): object {
  return { mediaType, size: bytes.length, digest }
}

function layerOf(content: string): Document {
  const bytes = Buffer.from(`layer of ${content}`)
  return { mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', bytes, digest: digestOf(bytes) }
}

/** `linux/arm64/v8` as the parts of a descriptor. */
export function platformOf(text: string): Platform {
  const [os, architecture, variant] = text.split('/') as [string, string, string?]
  return { os, architecture, ...(variant !== undefined && { variant }) }
}

/** A single image, as BuildKit pushes it; `isDocker` as `docker push` did before. */
export function image(content: string, platform = 'linux/amd64', isDocker = false): Pushed {
  const layer = layerOf(content)
  const parts = platformOf(platform)
  const config = documentOf(
    isDocker ? 'application/vnd.docker.container.image.v1+json' : 'application/vnd.oci.image.config.v1+json',
    { ...parts, config: { Cmd: ['/api'] }, rootfs: { type: 'layers', diff_ids: [layer.digest] } },
    0,
  )
  const mediaType = isDocker ? DOCKER_MANIFEST : OCI_MANIFEST
  const manifest = documentOf(
    mediaType,
    { schemaVersion: 2, mediaType, config: descriptorOf(config), layers: [descriptorOf(layer)] },
    isDocker ? 3 : 2,
  )
  return { ...manifest, platform: parts, children: [], blobs: [config, layer] }
}

/** The attestation that BuildKit pushes beside an image, which an index lists as `unknown/unknown`. */
function attestation(of: Pushed): Pushed {
  const layer = documentOf('application/vnd.in-toto+json', {
    predicateType: 'https://slsa.dev/provenance/v1',
    of: of.digest,
  })
  const config = documentOf('application/vnd.oci.image.config.v1+json', {
    architecture: 'unknown',
    os: 'unknown',
    config: {},
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
  })
  const manifest = documentOf(OCI_MANIFEST, {
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    config: descriptorOf(config),
    layers: [descriptorOf(layer)],
  })
  return { ...manifest, platform: platformOf('unknown/unknown'), children: [], blobs: [config, layer] }
}

/** An index of images; `attested` with an attestation for each. */
export function index(images: readonly Pushed[], attested = false, mediaType = OCI_INDEX): Pushed {
  const attestations = attested ? images.map((one) => attestation(one)) : []
  const manifests = [
    ...images.map((one) => ({ ...descriptorOf(one), platform: one.platform })),
    ...attestations.map((one, at) => ({
      ...descriptorOf(one),
      annotations: {
        'vnd.docker.reference.digest': images[at]!.digest,
        'vnd.docker.reference.type': 'attestation-manifest',
      },
      platform: one.platform,
    })),
  ]
  const children = [...images, ...attestations]
  return { ...documentOf(mediaType, { schemaVersion: 2, mediaType, manifests }), children, blobs: [] }
}

/** A chart, as `helm push` makes it: a manifest whose configuration names no platform. */
export function chart(content: string): Pushed {
  const layer = layerOf(content)
  const config = documentOf('application/vnd.cncf.helm.config.v1+json', { name: content, version: '1.4.0' }, 0)
  const manifest = documentOf(
    OCI_MANIFEST,
    { schemaVersion: 2, config: descriptorOf(config), layers: [descriptorOf(layer)] },
    0,
  )
  return { ...manifest, children: [], blobs: [config, layer] }
}

/** An artifact of the media type that was only in release candidates of the specification, which some registries still store. */
export function artifact(content: string): Pushed {
  const layer = layerOf(content)
  const value = { mediaType: OCI_ARTIFACT, artifactType: 'application/vnd.acme.sbom', blobs: [descriptorOf(layer)] }
  return { ...documentOf(OCI_ARTIFACT, value, 0), children: [], blobs: [layer] }
}

/**
 * An image of schema 1. Its signatures are in the served bytes, and not in the digest, which is that of the payload alone.
 */
export function signedSchema1(content: string): Pushed {
  const payload = JSON.stringify({ schemaVersion: 1, name: 'acme/api', tag: content, architecture: 'amd64' }, null, 3)
  const signatures = JSON.stringify([{ signature: 'c2lnbmF0dXJl', protected: 'e30' }])
  const bytes = Buffer.from(`${payload.slice(0, -2)},\n   "signatures": ${signatures}\n}`)
  return { mediaType: SIGNED_SCHEMA_1, bytes, digest: digestOf(Buffer.from(payload)), children: [], blobs: [] }
}

/** A document that can be read as an image, and as an index of another one (CVE-2021-41190). */
export function imageAndIndex(asImage: Pushed, asIndex: Pushed): Pushed {
  const own = { ...JSON.parse(asImage.bytes.toString()), ...JSON.parse(asIndex.bytes.toString()) }
  const { children, blobs } = { children: asIndex.children, blobs: asImage.blobs }
  return { ...documentOf(OCI_INDEX, { ...own, mediaType: undefined }), children, blobs }
}
