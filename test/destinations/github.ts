/**
 * A GitHub stand-in on loopback: its REST API, read-only, over commits with the ids that git gives them. What it answers is
 * held against GitHub's published description; an answer that does not fit fails loudly, with 599.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Faults } from './faults.ts'
import { failure, rateLimitAnswer } from './github-answers.ts'
import { Network } from './github-network.ts'
import { GitHubRepository, type GitHubRepositoryOptions } from './github-repository.ts'
import { type Answer, answerFor, REPOSITORY_TEMPLATE } from './github-routes.ts'
import { answerCheck } from './github-schema.ts'

export interface Token {
  readonly token: string
  /** The private repositories that it shows. */
  readonly repositories?: readonly GitHubRepository[]
  /** Metadata alone shows that a private repository exists, not what is in it. Default true. */
  readonly contents?: boolean
  /** Of a classic token: `repo, read:org`. */
  readonly scopes?: string
}

export interface GitHubOptions {
  /** The host's clock, of its push log and its answers' `Date`. */
  readonly now?: () => number
}

const LIMIT = 5000

export class GitHubStandIn {
  readonly faults = new Faults()
  /** Every request, oldest first: `GET /repos/acme/app`. */
  readonly requests: string[] = []
  /** The statuses of the answers, in the same order; 0 while there is none. */
  readonly statuses: number[] = []
  /** What was wrong with its own answers. */
  readonly invalidAnswers: string[] = []
  readonly #now: () => number
  readonly #server: Server
  readonly #bySlug = new Map<string, GitHubRepository>()
  readonly #byId = new Map<number, GitHubRepository>()
  readonly #renamed = new Map<string, number>()
  readonly #tokens = new Map<string, Token>()
  #lastId = 1000

  private constructor(now: () => number) {
    this.#now = now
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        this.invalidAnswers.push(String(error))
        response.writeHead(599).end()
      })
    })
  }

  static async start({ now = Date.now }: GitHubOptions = {}): Promise<GitHubStandIn> {
    const standIn = new GitHubStandIn(now)
    await new Promise<void>((resolve) => standIn.#server.listen(0, '127.0.0.1', resolve))
    return standIn
  }

  /** The base of the API. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Rejects when one of its answers did not fit GitHub's description: what was tested was not GitHub. */
  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    if (this.invalidAnswers.length > 0) throw new Error(`wrong answers: ${this.invalidAnswers.join('\n')}`)
  }

  async createRepository(slug: string, options: GitHubRepositoryOptions = {}): Promise<GitHubRepository> {
    const id = ++this.#lastId
    const network = new Network()
    return this.#add(new GitHubRepository({ id, slug, network, isFork: false, now: this.#now }, options))
  }

  /** Shares the upstream's objects, as forks at GitHub do. */
  async fork({ network, defaultBranch }: GitHubRepository, slug: string): Promise<GitHubRepository> {
    const id = ++this.#lastId
    return this.#add(new GitHubRepository({ id, slug, network, isFork: true, now: this.#now }, { defaultBranch }))
  }

  /** The old name leads to it until another repository takes it. */
  rename(repository: GitHubRepository, newSlug: string): void {
    this.#bySlug.delete(repository.slug)
    this.#renamed.set(repository.slug, repository.id)
    repository.slug = newSlug
    this.#bySlug.set(newSlug, repository)
  }

  delete(repository: GitHubRepository): void {
    this.#bySlug.delete(repository.slug)
    this.#byId.delete(repository.id)
  }

  /** Every other token is refused with 401. */
  addToken(token: Token): void {
    this.#tokens.set(token.token, token)
  }

  /** As its owner does, or as it runs out. */
  revokeToken(token: string): void {
    this.#tokens.delete(token)
  }

  #add(repository: GitHubRepository): GitHubRepository {
    this.#bySlug.set(repository.slug, repository)
    this.#byId.set(repository.id, repository)
    this.#renamed.delete(repository.slug)
    return repository
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = this.requests.push(`${request.method} ${request.url}`) - 1
    this.statuses.push(0)
    response.on('finish', () => {
      this.statuses[at] = response.statusCode
    })
    const asked = this.#repositoryAt(new URL(request.url ?? '/', this.url).pathname)
    const { isDated = true, ageSeconds, clockAheadMs = 0 } = asked?.answering ?? {}
    response.sendDate = false
    if (isDated) response.setHeader('date', new Date(this.#now() + clockAheadMs).toUTCString())
    if (ageSeconds !== undefined) response.setHeader('age', String(ageSeconds))
    if (await this.faults.strike(request, response)) return

    const credential = request.headers.authorization?.replace(/^(?:Bearer|token) /, '')
    const token = credential === undefined ? undefined : this.#tokens.get(credential)
    const isRefused = credential !== undefined && token === undefined
    const answer = isRefused ? badCredentials() : await this.#route(new URL(request.url ?? '/', this.url), token)
    this.#send(request, response, answer, token)
  }

  /** Also by a name that it had. */
  #repositoryAt(path: string): GitHubRepository | undefined {
    const [, kind, one = '', two = ''] = path.split('/')
    const slug = `${one}/${two}`
    const id = kind === 'repositories' ? Number(one) : this.#renamed.get(slug)
    return id === undefined ? this.#bySlug.get(slug) : this.#byId.get(id)
  }

  async #route(url: URL, token: Token | undefined): Promise<Answer> {
    const path = url.pathname.split('/').slice(1)
    if (url.pathname === '/rate_limit') {
      return { template: '/rate_limit', status: 200, body: rateLimitAnswer(this.#rate()) }
    }
    const byId = path[0] === 'repositories'
    const slug = byId ? '' : path.slice(1, 3).join('/')
    const rest = path.slice(byId ? 2 : 3)
    const movedTo = this.#renamed.get(slug)
    if (movedTo !== undefined && this.#byId.has(movedTo)) return this.#moved(movedTo, rest, url.search)

    const repository = byId ? this.#byId.get(Number(path[1])) : this.#bySlug.get(slug)
    const isShown = repository && (!repository.isPrivate || token?.repositories?.includes(repository))
    if (!isShown) return notFound()
    if (rest.length > 0 && repository.isPrivate && token?.contents === false) return notFound()
    return answerFor(repository, rest, url.searchParams, this.url) ?? notFound()
  }

  #moved(id: number, rest: readonly string[], search: string): Answer {
    const location = `${this.url}/${['repositories', id, ...rest].join('/')}${search}`
    const body = { message: 'Moved Permanently', url: location, documentation_url: 'https://docs.github.com/rest' }
    return { template: REPOSITORY_TEMPLATE, status: 301, body, headers: { location } }
  }

  #send(
    request: IncomingMessage,
    response: ServerResponse,
    { template, status, body, headers = {} }: Answer,
    token: Token | undefined,
  ): void {
    const problem = answerCheck()(template, status, body)
    if (problem !== undefined) {
      this.invalidAnswers.push(problem)
      response.writeHead(599).end(problem)
      return
    }
    const text = JSON.stringify(body)
    const etag = `W/"${createHash('sha256').update(text).digest('hex')}"`
    const rate = this.#rate()
    response.setHeader('x-ratelimit-limit', rate.limit)
    response.setHeader('x-ratelimit-remaining', rate.remaining)
    response.setHeader('x-ratelimit-used', rate.used)
    response.setHeader('x-ratelimit-reset', rate.reset)
    response.setHeader('x-github-media-type', 'github.v3; format=json')
    if (token?.scopes !== undefined) response.setHeader('x-oauth-scopes', token.scopes)
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    if (status === 200) response.setHeader('etag', etag)
    if (status === 200 && request.headers['if-none-match'] === etag) {
      response.writeHead(304).end()
      return
    }
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(text)
  }

  #rate() {
    const used = Math.min(this.requests.length, LIMIT)
    return { limit: LIMIT, used, remaining: LIMIT - used, reset: Math.ceil(this.#now() / 1000) + 3600 }
  }
}

function notFound(): Answer {
  return { template: REPOSITORY_TEMPLATE, status: 404, body: failure(404, 'Not Found') }
}

function badCredentials(): Answer {
  return { template: REPOSITORY_TEMPLATE, status: 401, body: failure(401, 'Bad credentials') }
}
