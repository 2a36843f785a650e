/**
 * What the stand-ins of all code hosts have in common: a server on loopback over real repositories, tokens and their rights,
 * renames, clocks, faults, and that every answer is held against the host's published description. An answer that does not
 * fit fails loudly: with 599, and `close` rejects.
 * What differs is the host's kind (`kind.ts`).
 */
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { Faults } from '../faults.ts'
import { httpBackend } from '../git.ts'
import type { Call, CodeHostKind, PlainCall, Reply, RepositoryKey, Right, Route, Token } from './kind.ts'
import { type ForgeHost, ForgeRepository, type ForgeRepositoryOptions } from './model.ts'
import { ObjectPool } from './pool.ts'

// A host needs this one import.
export type { Call, CodeHostKind, PlainCall, Reply, RepositoryKey, Right, Route, Token } from './kind.ts'

export interface StandInOptions {
  /** The host's clock, of its log and its answers' `Date`. */
  readonly now?: () => number
  /** A path in front of the base path, as of a host that shares its address: `/git`. */
  readonly prefix?: string
}

interface Compiled<C> {
  readonly pattern: RegExp
  readonly route: Route<C>
}

export class StandIn {
  readonly kind: CodeHostKind
  readonly faults = new Faults()
  /** Every request, oldest first: `GET /repos/acme/app`. */
  readonly requests: string[] = []
  /** The statuses of the answers, in the same order; 0 while there is none. */
  readonly statuses: number[] = []
  /** What was wrong with its own answers. */
  readonly invalidAnswers: string[] = []
  readonly #now: () => number
  readonly #root: string
  readonly #prefix: string
  readonly #server: Server
  readonly #host: ForgeHost
  readonly #routes: readonly Compiled<Call>[]
  readonly #plainRoutes: readonly Compiled<PlainCall>[]
  /** Those that are not deleted. */
  readonly #repositories = new Set<ForgeRepository>()
  readonly #renamed = new Map<string, ForgeRepository>()
  readonly #tokens = new Map<string, Token>()
  #lastId = 1000

  protected constructor(kind: CodeHostKind, root: string, { now = Date.now, prefix = '' }: StandInOptions) {
    this.kind = kind
    this.#root = root
    this.#now = now
    this.#prefix = prefix
    this.#routes = kind.routes.map(compiled)
    this.#plainRoutes = (kind.plainRoutes ?? []).map(compiled)
    this.#host = {
      now,
      nextId: () => ++this.#lastId,
      sharesNumbers: kind.sharesNumbers,
      pullRef: (number) => kind.pullRef?.(number),
      makesTestMerges: kind.makesTestMerges ?? false,
    }
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => this.#fail(response, String(error)))
    })
  }

  static async start(kind: CodeHostKind, options: StandInOptions = {}): Promise<StandIn> {
    const standIn = new StandIn(kind, await mkdtemp(join(tmpdir(), 'code-host-')), options)
    await new Promise<void>((resolve) => standIn.#server.listen(0, '127.0.0.1', resolve))
    return standIn
  }

  /** Without the API's path; git is served below it, read-only: `${origin}/acme/app.git`. */
  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${this.#prefix}`
  }

  /** The base of the API. */
  get url(): string {
    return this.origin + this.kind.basePath
  }

  /** Rejects when one of its answers did not fit the host's description: what was tested was not that host. */
  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    await rm(this.#root, { recursive: true, force: true })
    if (this.invalidAnswers.length > 0) throw new Error(`wrong answers: ${this.invalidAnswers.join('\n')}`)
  }

  /** By the host's clock. */
  now(): number {
    return this.#now()
  }

  async createRepository(slug: string, options: ForgeRepositoryOptions = {}): Promise<ForgeRepository> {
    const pool = await ObjectPool.create(join(this.#root, `pool-${++this.#lastId}.git`))
    return this.#add(await ForgeRepository.create({ ...this.#given(slug), pool }, options))
  }

  /** Has the upstream's objects, and none of its branches: push them. */
  async fork(upstream: ForgeRepository, slug: string, options: ForgeRepositoryOptions = {}): Promise<ForgeRepository> {
    const { pool, defaultBranch } = upstream
    return this.#add(
      await ForgeRepository.create({ ...this.#given(slug), pool, upstream }, { defaultBranch, ...options }),
    )
  }

  #given(slug: string) {
    return { host: this.#host, slug, root: this.#root }
  }

  #add(repository: ForgeRepository): ForgeRepository {
    this.#repositories.add(repository)
    this.#renamed.delete(repository.slug.toLowerCase())
    return repository
  }

  /** The old name leads to it until another repository takes it. */
  rename(repository: ForgeRepository, newSlug: string): void {
    this.#renamed.set(repository.slug.toLowerCase(), repository)
    this.#renamed.delete(newSlug.toLowerCase())
    repository.slug = newSlug
  }

  /** Pull requests from it stay, without their repository. */
  delete(repository: ForgeRepository): void {
    this.#repositories.delete(repository)
    repository.deletedAt = repository.now()
  }

  /** Every other token is refused. */
  addToken(token: Token): void {
    this.#tokens.set(token.token, token)
  }

  /** Ends a token, as its owner does, or as it runs out; all tokens, when none is named. */
  revokeToken(token?: string): void {
    if (token === undefined) this.#tokens.clear()
    else this.#tokens.delete(token)
  }

  /** Those that are not deleted. */
  get repositories(): readonly ForgeRepository[] {
    return [...this.#repositories]
  }

  /** Also by a name that it had. */
  find(key: RepositoryKey): Found | undefined {
    const all = [...this.#repositories]
    const repository = all.find((one) => isNamed(one, key))
    if (repository) return { repository, isMoved: false }
    const old = 'slug' in key ? this.#renamed.get(key.slug.toLowerCase()) : undefined
    return old && this.#repositories.has(old) ? { repository: old, isMoved: true } : undefined
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = this.requests.push(`${request.method} ${request.url}`) - 1
    this.statuses.push(0)
    response.on('finish', () => {
      this.statuses[at] = response.statusCode
    })
    const url = new URL(request.url ?? '/', this.origin)
    const asked = this.#match(url)
    const { isDated = true, clockAheadMs = 0 } = asked?.found?.repository.answering ?? {}
    response.sendDate = false
    if (isDated) response.setHeader('date', new Date(this.#now() + clockAheadMs).toUTCString())
    if (await this.faults.strike(request, response)) return

    const first = await this.kind.answerFirst?.(request, url.pathname, this)
    if (first) {
      this.#send(request, response, undefined, first, undefined)
      return
    }
    const credential = this.kind.tokenIn ? this.kind.tokenIn(request) : bearerIn(request)
    const known = credential === undefined ? undefined : this.#tokens.get(credential)
    const token = known && (known.until ?? Number.POSITIVE_INFINITY) > this.#now() ? known : undefined
    if (await this.#serveGit(url, request, response, token)) return
    const isRefused = credential !== undefined && token === undefined
    const { graphql } = this.kind
    if (request.method === 'POST' && url.pathname === graphql?.path) {
      const { query, variables } = (await json(request)) as { query: string; variables: Record<string, unknown> }
      const call = { token, standIn: this, text: query, variables }
      this.#send(request, response, undefined, isRefused ? this.kind.badCredentials() : graphql.answer(call), token)
      return
    }
    // The world may have changed while a fault's hook ran: the path is read again.
    const answer = isRefused ? this.kind.badCredentials() : await this.#route(url, this.#match(url), token)
    this.#send(request, response, asked?.template, answer, token)
  }

  /** Which endpoint a path is of, and which repository. */
  #match(url: URL): Match | undefined {
    const base = this.#prefix + this.kind.basePath
    if (!url.pathname.startsWith(base)) return undefined
    const asked = url.pathname.slice(base.length)
    const path = this.kind.rewrite?.(asked, this) ?? asked
    for (const { pattern, route } of this.#routes) {
      const params = paramsIn(pattern, path)
      if (!params) continue
      return { kind: 'repository', route, params, ...described(route), found: this.find(this.kind.find(params)) }
    }
    for (const { pattern, route } of this.#plainRoutes) {
      const params = paramsIn(pattern, path)
      if (params) return { kind: 'plain', route, params, ...described(route), found: undefined }
    }
    return undefined
  }

  async #route(url: URL, asked: Match | undefined, token: Token | undefined): Promise<Reply> {
    const { kind } = this
    if (!asked) return kind.notFound()
    const { params } = asked
    const path = url.pathname.slice((this.#prefix + kind.basePath).length) + url.search
    const call: PlainCall = { params, query: url.searchParams, api: this.url, path, token, standIn: this }
    if (asked.kind === 'plain') return asked.route.answer(call)
    const { route, found } = asked
    if (!found) return kind.notFound()
    const { repository, isMoved } = found
    if (isMoved && kind.moved) return kind.moved(repository, call)

    const isMember = token?.repositories?.includes(repository) ?? false
    if (repository.isPrivate && !isMember) return kind.notFound()
    const needs = route.needs
    if (needs && repository.isPrivate && !(isMember && may(token!, needs)))
      return kind.forbidden?.(needs) ?? kind.notFound()
    return route.answer({ ...call, repository, state: repository.asOf() })
  }

  #send(
    request: IncomingMessage,
    response: ServerResponse,
    template: string | undefined,
    { status, body, headers = {} }: Reply,
    token: Token | undefined,
  ): void {
    const { kind } = this
    const problem = template === undefined ? undefined : kind.check(template, status, body)
    if (problem !== undefined) {
      this.#fail(response, problem)
      return
    }
    for (const [name, value] of Object.entries(kind.headers?.(this, token) ?? {})) response.setHeader(name, value)
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    if (body === undefined) {
      response.writeHead(status).end()
      return
    }
    const text = JSON.stringify(body)
    if (kind.hasEtags && status === 200) {
      const etag = `W/"${createHash('sha256').update(text).digest('hex')}"`
      response.setHeader('etag', etag)
      if (request.headers['if-none-match'] === etag) {
        response.writeHead(304).end()
        return
      }
    }
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(text)
  }

  #fail(response: ServerResponse, problem: string): void {
    this.invalidAnswers.push(problem)
    if (!response.headersSent) response.writeHead(599)
    response.end(problem)
  }

  /** To read alone. The replicas' lag is none of git's. A token is the password, of whatever user. */
  async #serveGit(
    url: URL,
    request: IncomingMessage,
    response: ServerResponse,
    bearer: Token | undefined,
  ): Promise<boolean> {
    const path = decodeURI(url.pathname).slice(this.#prefix.length)
    const [, slug = '', rest = ''] = /^\/(.+?)\.git(\/(?:info\/refs|git-upload-pack))$/.exec(path) ?? []
    if (!slug) return false
    const found = this.find({ slug })
    if (!found) return end(response, 404)
    const { repository, isMoved } = found
    const token = bearer ?? this.#tokens.get(passwordIn(request) ?? '')
    const isAllowed = !repository.isPrivate || (token?.repositories?.includes(repository) && may(token, 'contents'))
    if (!isAllowed) return end(response, 401, { 'www-authenticate': 'Basic realm="git"' })
    if (isMoved) return end(response, 301, { location: `${this.#prefix}/${repository.slug}.git${rest}${url.search}` })
    const served = new URL(`/${repository.id}.git${rest}${url.search}`, this.origin)
    await httpBackend(this.#root, served, request, response, request.headers['git-protocol']?.toString())
    return true
  }
}

interface Found {
  readonly repository: ForgeRepository
  readonly isMoved: boolean
}

interface Matched {
  readonly params: Readonly<Record<string, string>>
  /** In the description. */
  readonly template: string
  readonly found: Found | undefined
}

type Match = Matched &
  (
    | { readonly kind: 'repository'; readonly route: Route }
    | { readonly kind: 'plain'; readonly route: Route<PlainCall> }
  )

function described({ described, template }: Pick<Route, 'described' | 'template'>): Pick<Matched, 'template'> {
  return { template: described ?? template }
}

function isNamed(repository: ForgeRepository, key: RepositoryKey): boolean {
  if ('id' in key) return repository.id === key.id
  if ('uuid' in key) return repository.uuid === key.uuid
  return repository.slug.toLowerCase() === key.slug.toLowerCase()
}

/** The rights that a token has to a private repository that it shows. */
export function may({ contents = true, rights }: Token, right: Right): boolean {
  if (right === 'contents' && !contents) return false
  // Metadata alone is nothing else.
  return rights === undefined ? contents : rights.includes(right)
}

function compiled<C>(route: Route<C>): Compiled<C> {
  const source = route.template.replace(/[.+*?^$()|[\]\\]/g, '\\$&').replace(/\{(\w+)\}/g, (_, name: string) => {
    return `(?<${name}>${route.wide?.includes(name) ? '.+' : '[^/]+'})`
  })
  return { pattern: new RegExp(`^${source}$`), route }
}

function paramsIn(pattern: RegExp, path: string): Record<string, string> | undefined {
  const match = pattern.exec(path)
  if (!match) return undefined
  try {
    return Object.fromEntries(
      Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]),
    )
  } catch {
    return undefined
  }
}

function bearerIn({ headers }: IncomingMessage): string | undefined {
  const { authorization } = headers
  return authorization?.startsWith('Basic ') ? undefined : authorization?.replace(/^(?:Bearer|token) /, '')
}

function passwordIn({ headers }: IncomingMessage): string | undefined {
  const [, encoded] = /^Basic (.+)$/.exec(headers.authorization ?? '') ?? []
  return (
    encoded &&
    Buffer.from(encoded, 'base64')
      .toString()
      .replace(/^[^:]*:/, '')
  )
}

function end(response: ServerResponse, status: number, headers: Readonly<Record<string, string>> = {}): true {
  response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end()
  return true
}
