/** A real git server on loopback: `git http-backend` over a folder of bare repositories. */
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Faults } from './faults.ts'
import { git, httpBackend } from './git.ts'
import { type CommitOptions, initBare, writeCommit, writeRef } from './objects.ts'

export interface Credentials {
  readonly username: string
  readonly password: string
}

export interface GitRepositoryOptions {
  readonly defaultBranch?: string
  /** Needed to read and to push. Without them everyone may. */
  readonly credentials?: Credentials
  /** Serves partial clones, as the large hosts do. Default true. */
  readonly filters?: boolean
  /** Default 2; 0 is what servers spoke before 2018. */
  readonly protocolVersion?: 0 | 2
  /** Gives out parts of a history, over protocol 2. Default true. */
  readonly shallow?: boolean
  /** Over protocol 0, hands out any object by its id, as the large hosts do; else what its branches have. Default true. */
  readonly anyObject?: boolean
  /** Its address has no `.git` at its end, as at Azure Repos, CodeCommit and cgit, and its media types have a charset. Default false. */
  readonly isPlain?: boolean
}

export class GitServer {
  readonly faults = new Faults()
  /** Every request, oldest first: `GET /acme/app.git/info/refs?service=git-upload-pack`. */
  readonly requests: string[] = []
  readonly #folder: string
  readonly #server: Server
  readonly #repositories = new Map<string, GitRepository>()
  readonly #renamed = new Map<string, string>()

  readonly #now: () => number
  #port: number

  private constructor(folder: string, port: number, now: () => number) {
    this.#port = port
    this.#now = now
    this.#folder = folder
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy())
    })
  }

  /** @param port 0 for any free one @param now the clock of its answers' `Date` */
  static async start(port = 0, now: () => number = Date.now): Promise<GitServer> {
    const server = new GitServer(await mkdtemp(join(tmpdir(), 'git-server-')), port, now)
    await server.listen()
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Comes back after `stopListening`, at the same address and with everything that it had. */
  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(this.#port, '127.0.0.1', resolve)
    })
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Nothing answers at its address any more. */
  async stopListening(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.stopListening()
    await rm(this.#folder, { recursive: true, force: true })
  }

  async createRepository(slug: string, options: GitRepositoryOptions = {}): Promise<GitRepository> {
    const { defaultBranch = 'main', filters = true, anyObject = true } = options
    const folder = this.#pathOf(slug)
    const wanted = anyObject ? 'allowAnySHA1InWant' : 'allowReachableSHA1InWant'
    const uploads = `[uploadpack]\n\t${wanted} = true\n\tallowFilter = ${filters}\n`
    await initBare(folder, defaultBranch, `[http]\n\treceivepack = true\n${uploads}`)
    const repository = new GitRepository(folder, options)
    this.#repositories.set(slug, repository)
    this.#renamed.delete(slug)
    return repository
  }

  /** The old address redirects to the new one. */
  async rename(slug: string, newSlug: string): Promise<void> {
    const { options } = this.#repositories.get(slug)!
    await mkdir(dirname(this.#pathOf(newSlug)), { recursive: true })
    await rename(this.#pathOf(slug), this.#pathOf(newSlug))
    this.#repositories.delete(slug)
    this.#repositories.set(newSlug, new GitRepository(this.#pathOf(newSlug), options))
    this.#renamed.set(slug, newSlug)
  }

  async delete(slug: string): Promise<void> {
    this.#repositories.delete(slug)
    await rm(this.#pathOf(slug), { recursive: true })
  }

  #pathOf(slug: string): string {
    return join(this.#folder, `${slug}.git`)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests.push(`${request.method} ${request.url}`)
    response.setHeader('date', new Date(this.#now()).toUTCString())
    if (await this.faults.strike(request, response)) return
    const url = new URL(request.url ?? '/', this.url)
    const [, slug = '', suffix, rest = ''] = /^\/([^/]+\/[^/]+?)(\.git)?(\/.*)$/.exec(decodeURI(url.pathname)) ?? []
    const newSlug = this.#renamed.get(slug)
    if (newSlug) return end(response, 301, { location: `/${newSlug}.git${rest}${url.search}` })
    const repository = this.#repositories.get(slug)
    if (!repository) return end(response, 404)
    const { credentials, protocolVersion = 2, shallow = true, isPlain = false } = repository.options
    if (isPlain === (suffix !== undefined)) return end(response, 404)
    if (!isAllowed(request, credentials)) {
      return end(response, 401, { 'www-authenticate': 'Basic realm="git"' })
    }
    const protocol = protocolVersion === 2 ? request.headers['git-protocol']?.toString() : undefined
    if (isPlain) url.pathname = `/${slug}.git${rest}`
    const answer = isPlain ? withCharset(response) : response
    await httpBackend(this.#folder, url, request, shallow ? answer : withoutShallow(answer), protocol)
  }
}

/** One repository, and how agents and attackers change it. */
export class GitRepository {
  readonly folder: string
  readonly options: GitRepositoryOptions

  constructor(folder: string, options: GitRepositoryOptions) {
    this.folder = folder
    this.options = options
  }

  /** A commit in its object store that no ref holds: not pushed. */
  commit(options?: CommitOptions): Promise<string> {
    return writeCommit(this.folder, options)
  }

  /** Moves a branch, as a push does; whether by a fast-forward or by force is not asked. */
  async push(branch: string, sha: string): Promise<void> {
    await writeRef(this.folder, `refs/heads/${branch}`, sha)
  }

  async deleteBranch(branch: string): Promise<void> {
    await git(this.folder, ['update-ref', '-d', `refs/heads/${branch}`])
  }

  /** The id that the tag's ref holds: the tag object's when it is annotated, else the commit's. */
  async tag(name: string, sha: string, { annotated = false } = {}): Promise<string> {
    await git(this.folder, ['tag', ...(annotated ? ['-a', '-m', name] : []), name, sha])
    return git(this.folder, ['rev-parse', `refs/tags/${name}`])
  }

  /** What HEAD names; the branch need not exist. */
  async setDefaultBranch(branch: string): Promise<void> {
    await writeFile(join(this.folder, 'HEAD'), `ref: refs/heads/${branch}\n`)
  }
}

function isAllowed({ headers }: IncomingMessage, credentials: Credentials | undefined): boolean {
  if (!credentials) return true
  const expected = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')
  return headers.authorization === `Basic ${expected}`
}

function withCharset(response: ServerResponse): ServerResponse {
  const { writeHead } = response
  response.writeHead = ((code: number, headers: Record<string, string>) => {
    const type = headers['content-type']
    const sent = type === undefined ? headers : { ...headers, 'content-type': `${type}; charset=utf-8` }
    return writeHead.call(response, code, sent)
  }) as typeof response.writeHead
  return response
}

/** Its server does not say that it can do it; the other word is one that nobody knows, of the same length. */
function withoutShallow(response: ServerResponse): ServerResponse {
  const { write } = response
  response.write = (chunk: Buffer) => {
    const text = chunk.toString('latin1').replace('fetch=shallow', 'fetch=without')
    return write.call(response, Buffer.from(text, 'latin1'), 'utf8', undefined)
  }
  return response
}

function end(response: ServerResponse, code: number, headers: Record<string, string> = {}): void {
  response.writeHead(code, { 'content-type': 'text/plain', ...headers })
  response.end()
}
