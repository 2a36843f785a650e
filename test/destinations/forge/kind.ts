/**
 * What is different at each kind of code host: a table of routes, and a few words about how it says no.
 *
 *     const gitea: CodeHostKind = {
 *       name: 'Gitea',
 *       basePath: '/api/v1',
 *       check: answerCheck('gitea/openapi-extract.json', { isClosed: true, required: { Branch: ['name', 'commit'] } }),
 *       sharesNumbers: true,
 *       routes: [
 *         {
 *           template: '/repos/{owner}/{repo}/branches/{branch}',
 *           wide: ['branch'],
 *           needs: 'contents',
 *           answer: ({ state, params }) => {
 *             const tip = state.tip(params.branch!)
 *             return tip === undefined ? { status: 404, body: {...} } : { status: 200, body: branchAnswer(tip) }
 *           },
 *         },
 *       ],
 *       find: ({ owner, repo }) => ({ slug: `${owner}/${repo}` }),
 *       ...
 *     }
 *     const standIn = await StandIn.start(gitea, { now })
 */
import type { IncomingMessage } from 'node:http'
import type { ForgeRepository } from './model.ts'
import type { AnswerCheck } from './schema.ts'
import type { StandIn } from './stand-in.ts'
import type { RepositoryState } from './state.ts'

/** What a token may read beside that a repository exists. */
export type Right = 'contents' | 'pull_requests' | 'issues' | 'checks' | 'statuses' | 'actions' | 'administration'

export interface Token {
  readonly token: string
  /** The private repositories that it shows. */
  readonly repositories?: readonly ForgeRepository[]
  /** Metadata alone shows that a private repository exists, not what is in it. Default true. */
  readonly contents?: boolean
  /** What it may read of the private ones; all, when left out. With `contents: false`: without it. */
  readonly rights?: readonly Right[]
  /** As the host writes them in an answer: `repo, read:org`. */
  readonly scopes?: string
  /** Whose it is. */
  readonly account?: string
  /** When it ends; never, when left out. */
  readonly until?: number
}

/** What an endpoint is given. */
export interface Call {
  readonly repository: ForgeRepository
  /** What answers show of it: of now, or of when the replica is that answers. */
  readonly state: RepositoryState
  /** Decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The base of the API, for the addresses in answers. */
  readonly api: string
  /** The path and query that were asked for. */
  readonly path: string
  readonly token: Token | undefined
  readonly standIn: StandIn
}

/** Of an endpoint that is of no repository. */
export type PlainCall = Omit<Call, 'repository' | 'state'>

export interface GraphqlCall extends Pick<PlainCall, 'token' | 'standIn'> {
  readonly text: string
  readonly variables: Readonly<Record<string, unknown>>
}

export interface Reply {
  readonly status: number
  /** No body, when left out. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Route<C = Call> {
  /** The path in the host's description that its answers must fit, from the base path on. */
  readonly template: string
  /** The path in the description, where it is another one. */
  readonly described?: string
  /** Parameters that may have slashes. */
  readonly wide?: readonly string[]
  /** Of a private repository, what the token must be allowed to read. */
  readonly needs?: Right
  answer(call: C): Reply | Promise<Reply>
}

/** How a path names a repository. */
export type RepositoryKey = { readonly slug: string } | { readonly id: number } | { readonly uuid: string }

/** What is different at each kind of host. */
export interface CodeHostKind {
  readonly name: string
  /** `/api/v4`; empty where there is none. */
  readonly basePath: string
  readonly check: AnswerCheck
  /** Of repositories. */
  readonly routes: readonly Route[]
  readonly plainRoutes?: readonly Route<PlainCall>[]
  /** Where queries of GraphQL are sent: the path from the origin on, and what one gets. */
  readonly graphql?: { readonly path: string; answer(call: GraphqlCall): Reply }
  /** Answers a request that carries no token; undefined for one that does. */
  answerFirst?(request: IncomingMessage, path: string, standIn: StandIn): Promise<Reply | undefined>
  /** Pull requests and issues are counted together. */
  readonly sharesNumbers: boolean
  readonly pullRef?: (number: number) => string
  readonly makesTestMerges?: boolean
  /** Which repository the parameters of a route name. */
  find(params: Readonly<Record<string, string>>): RepositoryKey
  /** Another address of the same endpoint, as the routes have it. */
  readonly rewrite?: (path: string, standIn: StandIn) => string
  /** What a request for the old name gets. Absent: what the repository gives under its new one. */
  readonly moved?: (repository: ForgeRepository, call: PlainCall) => Reply
  /** The token in a request; that of `Authorization: Bearer` or `token`, when left out. */
  readonly tokenIn?: (request: IncomingMessage) => string | undefined
  /** For a repository that there is not, or that the token does not show; and for a path that there is not. */
  notFound(): Reply
  badCredentials(): Reply
  /** For a token that shows the repository, and not this of it. `notFound`, when left out. */
  readonly forbidden?: (needs: Right) => Reply
  /** Of every answer: limits of rate, scopes. */
  readonly headers?: (standIn: StandIn, token: Token | undefined) => Readonly<Record<string, string>>
  /** It gives ETags, and 304 for the same one. */
  readonly hasEtags?: boolean
}
