/** Reads GitHub's REST API: in one version, with every answer checked against a schema, and with conditional requests. */
import {
  type Auth,
  type CheckContext,
  DestinationError,
  type Instant,
  parseUrl,
  readJson,
  type Static,
  type TSchema,
  Value,
} from '@claimcheck/core/plugin'
import { httpFailure } from '../rest.ts'
import { FailureAnswer } from './answers.ts'

export interface GitHubAccess {
  /** The address of the REST API, without a slash at its end. */
  readonly baseUrl: string
  /** Left out for what anyone may read. */
  readonly auth?: Auth | undefined
  /** The identifiers of who posts our own reports. */
  readonly reporters?: readonly string[]
}

/** A status whose meaning depends on the request. */
export type Refusal = 403 | 404 | 409 | 410 | 422

export interface Refused {
  readonly refused: Refusal
}

export interface GitHubAnswer<T> {
  readonly value: T
  readonly link: string | null
  readonly headers: Headers
}

/** The first pages of a list, which may have more. */
export interface ListStart<T> {
  readonly pages: readonly T[]
  /** Tells that the list has more pages. */
  readonly isCut: boolean
}

interface Remembered {
  readonly etag: string
  readonly value: unknown
  readonly link: string | null
}

/**
 * Limit of the characters of a remembered answer. A page of the push log takes two thirds of it. The cache limits the number of its entries, and not
 * their size.
 */
const MAX_REMEMBERED_LENGTH = 32 * 1024
/** Limit of an answer, because a page of check runs has what their apps wrote about them. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
const MOST_PAGES = 10
const HEADERS = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' }

export type GitHubApi = ReturnType<typeof createGitHubApi>

export function createGitHubApi(
  { baseUrl, auth }: GitHubAccess,
  { fetch, now, cache }: Pick<CheckContext, 'fetch' | 'now'> & Partial<Pick<CheckContext, 'cache'>>,
) {
  async function find<T extends TSchema>(
    path: string,
    schema: T,
    refusals: readonly Refusal[],
  ): Promise<GitHubAnswer<Static<T>> | Refused> {
    const url = baseUrl + path
    const key = `github ${url}`
    const known = cache?.get(key) as Remembered | undefined
    const response = await fetch(url, {
      headers: known ? { ...HEADERS, 'if-none-match': known.etag } : HEADERS,
      auth,
    })
    const { status, headers } = response
    // The value was checked when it was remembered: a URL is always read with the same schema.
    if (status === 304 && known) return { value: known.value as Static<T>, link: known.link, headers }
    if (status !== 200) return requireRefusal(response, refusals, now())
    const value = await readJson(response, MAX_ANSWER_BYTES)
    if (!Value.Check(schema, value)) throw new DestinationError('unexpected_response', { status })
    const link = headers.get('link')
    const etag = headers.get('etag')
    if (etag !== null) {
      const remembered: Remembered = { etag, value: Value.Clean(schema, value), link }
      if (JSON.stringify(remembered).length <= MAX_REMEMBERED_LENGTH) cache?.set(key, remembered)
    }
    return { value, link, headers }
  }

  async function findStart<T extends TSchema>(
    path: string,
    schema: T,
    refusals: readonly Refusal[],
    most = MOST_PAGES,
  ): Promise<ListStart<Static<T>> | Refused> {
    const pages: Static<T>[] = []
    for (let page = 1; page <= most; page++) {
      const answer = await find(`${path}&page=${page}`, schema, page === 1 ? refusals : [])
      if ('refused' in answer) return answer
      pages.push(answer.value)
      if (linkTo('next', answer.link) === undefined) return { pages, isCut: false }
    }
    return { pages, isCut: true }
  }

  async function findList<T extends TSchema>(
    path: string,
    schema: T,
    refusals: readonly Refusal[],
  ): Promise<readonly Static<T>[] | Refused> {
    const start = await findStart(path, schema, refusals)
    if ('refused' in start) return start
    if (start.isCut) throw new DestinationError('too_large')
    return start.pages
  }

  return {
    /** Reads a resource. @throws DestinationError for every status but 200, and for an answer that does not match the schema */
    get: async <T extends TSchema>(path: string, schema: T) =>
      (await find(path, schema, [])) as GitHubAnswer<Static<T>>,
    /** Reads a resource that may be refused. @param refusals the statuses that are returned as `refused` @throws DestinationError as `get` */
    find,
    /** Reads all pages of a list. @param path a path with a query @throws DestinationError as `get`, and `too_large` where there are too many */
    list: async <T extends TSchema>(path: string, schema: T) =>
      (await findList(path, schema, [])) as readonly Static<T>[],
    /** Reads all pages of a list, or why the first one is refused. */
    findList,
    /** Reads the first pages of a list. @param path a path with a query @throws DestinationError as `get` */
    start: async <T extends TSchema>(path: string, schema: T, most: number) =>
      (await findStart(path, schema, [], most)) as ListStart<Static<T>>,
    /** Reads the first pages of a list, or why the first one is refused. */
    findStart,
  }
}

/** The URL of another page by the `Link` header. Only its query is used, and never the address. */
export function linkTo(page: 'next' | 'last', link: string | null): URL | undefined {
  const found = link?.split(',').find((part) => part.includes(`rel="${page}"`))
  const url = found?.match(/<([^>]+)>/)?.[1]
  return url === undefined ? undefined : parseUrl(url)
}

/** The number of the last page; 1 where there is no other; undefined where the header does not tell it. */
export function lastPage(link: string | null): number | undefined {
  if (linkTo('next', link) === undefined) return 1
  const page = linkTo('last', link)?.searchParams.get('page') ?? ''
  return /^[1-9]\d{0,5}$/.test(page) ? Number(page) : undefined
}

/** Reads which refusal an answer is. @throws DestinationError for a failure that is none of these refusals */
async function requireRefusal(response: Response, refusals: readonly Refusal[], now: Instant): Promise<Refused> {
  const body = await readJson(response).catch(() => undefined)
  const message = Value.Check(FailureAnswer, body) ? body.message : ''
  const failure = httpFailure(response, now, message)
  const refused = refusals.find((refusal) => refusal === response.status)
  if (refused === undefined || failure.code === 'rate_limited') throw failure
  return { refused }
}
