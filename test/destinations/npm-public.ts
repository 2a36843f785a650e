/**
 * A stand-in for npm's public registry, for what Verdaccio does otherwise: `time` keeps what was unpublished, a number is never given
 * again, private packages answer 404.
 */
import type { IncomingMessage } from 'node:http'
import { RegistryStandIn, type Reply, type StandIn, startStandIn } from './stand-in.ts'
import { contentOf, fileOf, integrityOf } from './verdaccio.ts'

interface Version {
  readonly file: Buffer
  readonly manifest: Readonly<Record<string, unknown>>
}

interface Package {
  readonly isPrivate: boolean
  readonly withoutDocuments?: number | undefined
  readonly versions: Map<string, Version>
  readonly time: Record<string, unknown>
  readonly tags: Record<string, string>
  readme: string
}

export interface NpmPublication {
  readonly at?: number
  readonly content?: string
  readonly tag?: string
  readonly isPrivate?: boolean
  readonly deprecated?: string
  /** Where the answers say that the file is. */
  readonly tarball?: string
  /** The document of the package has this many bytes more, as one of many versions has. */
  readonly documentBytes?: number
  /** What the documents of versions are answered with, as by registries that have none: GitHub Packages 405, Azure Artifacts 404, others 401. */
  readonly withoutDocuments?: 401 | 404 | 405
}

export class NpmStandIn extends RegistryStandIn {
  readonly #packages: Map<string, Package>
  readonly #tokens: Set<string>

  private constructor(server: StandIn, now: () => number, packages: Map<string, Package>, tokens: Set<string>) {
    super(server, now)
    this.#packages = packages
    this.#tokens = tokens
  }

  static async start(now: () => number = Date.now): Promise<NpmStandIn> {
    const packages = new Map<string, Package>()
    const tokens = new Set<string>()
    const server = await startStandIn(now, (request) => answer(packages, tokens, request))
    return new NpmStandIn(server, now, packages, tokens)
  }

  /** Whoever has it sees private packages. */
  addToken(token: string): void {
    this.#tokens.add(token)
  }

  /** As if nothing had ever been published. */
  reset(): void {
    this.#packages.clear()
  }

  /** @returns the digest of its file */
  publish(name: string, version: string, publication: NpmPublication = {}): string {
    const { at = this.now(), content = contentOf(name, version), tag = 'latest' } = publication
    const { isPrivate = false, deprecated, tarball, withoutDocuments, documentBytes } = publication
    const known: Package = this.#packages.get(name) ?? {
      isPrivate,
      withoutDocuments,
      versions: new Map(),
      time: {},
      tags: {},
      readme: `# ${name}\n"{ }"`,
    }
    if (documentBytes !== undefined) known.readme = 'x'.repeat(documentBytes)
    if (known.time[version] !== undefined) throw new Error(`${name}@${version} was published before`)
    const time = new Date(at).toISOString()
    known.time.created ??= time
    Object.assign(known.time, { modified: time, [version]: time })
    known.tags[tag] = version
    const file = `${this.url}/${name}/-/${name.split('/').at(-1)}-${version}.tgz`
    const manifest = {
      name,
      version,
      ...(deprecated === undefined ? {} : { deprecated }),
      dist: { integrity: integrityOf(content), tarball: tarball ?? file },
      _id: `${name}@${version}`,
    }
    known.versions.set(version, { file: fileOf(content), manifest })
    this.#packages.set(name, known)
    return integrityOf(content)
  }

  unpublish(name: string, version: string, at = this.now()): void {
    const { versions, time, tags } = this.#packages.get(name)!
    versions.delete(version)
    for (const [tag, named] of Object.entries(tags)) if (named === version) delete tags[tag]
    time.modified = new Date(at).toISOString()
  }

  /** As a Verdaccio does: nothing tells that it was there. */
  forget(name: string, version: string): void {
    this.unpublish(name, version)
    delete this.#packages.get(name)!.time[version]
  }

  /** The whole package: its document has times alone. */
  unpublishAll(name: string, at = this.now()): void {
    const { versions, time } = this.#packages.get(name)!
    const when = new Date(at).toISOString()
    Object.assign(time, { modified: when, unpublished: { time: when, versions: [...versions.keys()] } })
    versions.clear()
  }
}

function answer(
  packages: ReadonlyMap<string, Package>,
  tokens: ReadonlySet<string>,
  { url = '', headers }: IncomingMessage,
): Reply {
  const token = headers.authorization?.replace(/^Bearer /, '')
  const isReader = token !== undefined && tokens.has(token)
  if (url === '/-/whoami') return isReader ? { body: { username: 'reader' } } : { status: 401, body: {} }
  if (url === '/-/ping') return { body: {} }
  const [, path = '', version, file] = /^\/((?:@[^/%]+%2f)?[^/@]+)(?:\/([^/]+))?()$/.exec(url) ?? partsOfFile(url) ?? []
  const name = path.replace('%2f', '/')
  const known = packages.get(name)
  if (!known || (known.isPrivate && !isReader)) return { status: 404, body: { error: 'Not found' } }
  if (file) {
    const found = known.versions.get(version!)
    return found ? { body: found.file } : { status: 404 }
  }
  if (version === undefined) return { body: packument(name, known) }
  if (known.withoutDocuments !== undefined) return { status: known.withoutDocuments, body: {} }
  const found = known.versions.get(known.tags[version] ?? version)
  return found ? { body: found.manifest } : { status: 404, body: `version not found: ${version}` }
}

/** The parts of a file's address: nothing, the name, the version, the file. */
function partsOfFile(url: string): string[] | undefined {
  const [, name, file] = /^\/(.+)\/-\/(.+)\.tgz$/.exec(url) ?? []
  return name === undefined ? undefined : [url, name, file!.slice(name.split('/').at(-1)!.length + 1), file!]
}

function packument(name: string, { versions, time, tags, readme }: Package): object {
  if (versions.size === 0) return { _id: name, name, time }
  const all = Object.fromEntries([...versions].map(([version, { manifest }]) => [version, manifest]))
  return { _id: name, name, 'dist-tags': tags, versions: all, time, readme }
}
