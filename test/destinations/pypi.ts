/** A stand-in for PyPI: its JSON API and the JSON of its simple API. Each answer is held against the documented form. */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type TSchema, Type, Value } from '@claimcheck/core/plugin'
import { RegistryStandIn, type Reply, type StandIn, startStandIn } from './stand-in.ts'

interface Upload {
  readonly version: string
  readonly filename: string
  readonly sha256: string
  readonly at: number
  yanked: boolean
}

interface Project {
  /** As its owner writes it. */
  readonly name: string
  uploads: Upload[]
  readonly emptied: Set<string>
}

/** docs.pypi.org/api/json: of the members that every answer has, those that somebody reads. */
const ReleaseForm = Type.Object({
  info: Type.Object({ name: Type.String(), version: Type.String() }),
  urls: Type.Array(
    Type.Object({
      digests: Type.Object({ sha256: Type.String() }),
      filename: Type.String(),
      upload_time_iso_8601: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z$' }),
      yanked: Type.Boolean(),
    }),
  ),
})
/** PEP 691 and PEP 700. */
const ProjectForm = Type.Object({
  meta: Type.Object({ 'api-version': Type.String({ pattern: '^1\\.[1-9]$' }) }),
  name: Type.String({ pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$' }),
  versions: Type.Array(Type.String()),
})

/** How an index that has the simple API alone shows it: docs of devpi, pypiserver, Nexus and Gitea, PEP 503, 691 and 700. */
export interface SimpleIndex {
  /** Where it is: `/simple`, or devpi's `/+simple`. */
  readonly path: '/simple' | '/+simple'
  /** A page of links; as JSON with the times of the uploads, or without them and without a list of versions. */
  readonly form: 'html' | 'json-1.1' | 'json-1.0'
  /** What links and files tell of their content. */
  readonly digest?: 'sha256' | 'md5'
  /** Asked for no page, it answers 406. */
  readonly isStrict?: boolean
  /** Its pages escape no `>` in quoted values, as HTML allows. */
  readonly isUnescaped?: boolean
}

export class PypiStandIn extends RegistryStandIn {
  readonly #projects: Map<string, Project>

  private constructor(server: StandIn, now: () => number, projects: Map<string, Project>) {
    super(server, now)
    this.#projects = projects
  }

  static async start(now: () => number = Date.now, index?: SimpleIndex): Promise<PypiStandIn> {
    const projects = new Map<string, Project>()
    const server = await startStandIn(now, (request) =>
      index ? answerSimply(projects, index, request) : answer(projects, request),
    )
    return new PypiStandIn(server, now, projects)
  }

  /** As if nothing had ever been uploaded. */
  reset(): void {
    this.#projects.clear()
  }

  /** @returns the SHA-256 of the file in hexadecimal */
  upload(name: string, version: string, { at = this.now(), content = '', kind = 'py3-none-any.whl' } = {}): string {
    const project = this.#projects.get(key(name)) ?? { name, uploads: [], emptied: new Set() }
    const between = kind.startsWith('tar.') ? '.' : '-'
    const filename = `${key(name).replaceAll('-', '_')}-${version}${between}${kind}`
    const sha256 = this.digestOf(name, version, kind, content)
    project.uploads.push({ version, filename, sha256, at, yanked: false })
    this.#projects.set(key(name), project)
    return sha256
  }

  /** In hexadecimal, of a file that may be uploaded later. */
  digestOf(name: string, version: string, kind: string, content = ''): string {
    return createHash('sha256')
      .update(`${key(name)} ${version} ${kind} ${content}`)
      .digest('hex')
  }

  yank(name: string, version: string): void {
    for (const upload of this.#projects.get(key(name))!.uploads) if (upload.version === version) upload.yanked = true
  }

  /** The release and its files. @param keepsRelease only its files */
  remove(name: string, version: string, { keepsRelease = false } = {}): void {
    const project = this.#projects.get(key(name))!
    project.uploads = project.uploads.filter((upload) => upload.version !== version)
    if (keepsRelease) project.emptied.add(version)
  }
}

function key(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-')
}

/** Releases are found under every form of their version: PyPI compares the canonical one. */
function canonical(version: string): string {
  return version.replace(/(?:\.0)+$/, '')
}

function answer(projects: ReadonlyMap<string, Project>, { url = '', headers }: IncomingMessage): Reply {
  if (url === '/simple/') return { headers: { 'content-type': 'application/vnd.pypi.simple.v1+json' } }
  const [, releaseOf, version] = /^\/pypi\/([^/]+)\/([^/]+)\/json$/.exec(url) ?? []
  const [, simpleOf] = /^\/simple\/([^/]+)\/$/.exec(url) ?? []
  const project = projects.get(key(releaseOf ?? simpleOf ?? ''))
  if (!project) return { status: 404, body: { message: 'Not Found' } }
  if (simpleOf !== undefined) {
    const isJson = headers.accept?.startsWith('application/vnd.pypi.simple.v1+json')
    return isJson ? { body: held(ProjectForm, simple(project)) } : { body: Buffer.from('<!DOCTYPE html>') }
  }
  const asked = canonical(decodeURIComponent(version!))
  const uploads = project.uploads.filter((upload) => canonical(upload.version) === asked)
  const known = uploads[0]?.version ?? [...project.emptied].find((emptied) => canonical(emptied) === asked)
  if (known === undefined) return { status: 404, body: { message: 'Not Found' } }
  return { body: held(ReleaseForm, release(project, known, uploads)) }
}

function answerSimply(projects: ReadonlyMap<string, Project>, index: SimpleIndex, request: IncomingMessage): Reply {
  const { path, form, digest = 'sha256', isStrict = false, isUnescaped = false } = index
  const { url = '', headers } = request
  if (!url.startsWith(`${path}/`)) return { status: 404, body: Buffer.from('Not found') }
  const accepts = (type: string) => (headers.accept ?? '*/*').split(',').some((one) => one.trim().startsWith(type))
  if (form === 'html' && isStrict && !accepts('text/html') && !accepts('*/*')) return { status: 406 }
  const type = form === 'html' ? 'text/html; charset=utf-8' : 'application/vnd.pypi.simple.v1+json'
  const reply = (body: string): Reply => ({ headers: { 'content-type': type }, body: Buffer.from(body) })
  const name = url.slice(path.length + 1).replace(/\/$/, '')
  if (name === '') return reply(form === 'html' ? '<!DOCTYPE html><html><body></body></html>' : '{"projects":[]}')
  const project = projects.get(name)
  if (!project) return { status: 404, body: Buffer.from('Not found') }
  return reply(
    form === 'html'
      ? page(project, digest, isUnescaped ? '>' : '&gt;')
      : JSON.stringify(listing(project, form, digest)),
  )
}

function page({ name, uploads }: Project, digest: 'sha256' | 'md5', above: string): string {
  const links = uploads.map(({ filename, sha256, yanked }) => {
    const told = digest === 'sha256' ? sha256 : 'd41d8cd98f00b204e9800998ecf8427e'
    const attributes = yanked ? ' data-yanked="broken"' : ''
    return `<a data-requires-python="${above}=3.8" href="../../packages/ab/${encodeURIComponent(filename)}#${digest}=${told}"${attributes}>${filename}</a><br/>`
  })
  return `<!DOCTYPE html>\n<html><head><meta name="pypi:repository-version" content="1.0"><title>Links for ${name}</title></head>
<body><h1>Links for ${name}</h1>\n${links.join('\n')}\n</body></html>`
}

function listing({ name, uploads }: Project, form: SimpleIndex['form'], digest: 'sha256' | 'md5'): object {
  const isDated = form === 'json-1.1'
  const files = uploads.map(({ filename, sha256, at, yanked }) => ({
    ...{ filename, url: `../../packages/ab/${filename}`, yanked: yanked ? 'broken' : false },
    hashes: digest === 'sha256' ? { sha256 } : {},
    ...(isDated && { size: 1, 'upload-time': new Date(at).toISOString().replace('Z', '417Z') }),
  }))
  const versions = [...new Set(uploads.map(({ version }) => version))]
  return { meta: { 'api-version': isDated ? '1.1' : '1.0' }, name: key(name), files, ...(isDated && { versions }) }
}

function held(form: TSchema, body: object): object {
  const [error] = Value.Errors(form, body)
  if (error) throw new Error(`the stand-in's answer has not the documented form: ${JSON.stringify(error)}`)
  return body
}

function release({ name }: Project, version: string, uploads: readonly Upload[]): object {
  const urls = uploads.map(({ filename, sha256, at, yanked }) => ({
    ...{ digests: { sha256 }, filename, yanked },
    upload_time_iso_8601: new Date(at).toISOString().replace('Z', '417Z'),
  }))
  return { info: { name, version }, urls }
}

function simple({ name, uploads, emptied }: Project): object {
  return {
    meta: { 'api-version': '1.1' },
    name: key(name),
    versions: [...new Set([...uploads.map(({ version }) => version), ...emptied])],
  }
}
