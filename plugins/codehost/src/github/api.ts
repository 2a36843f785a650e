/** Reads GitHub's REST API: in one version, with every answer checked against a schema, and with conditional requests. */

import {
  bearer,
  type CheckContext,
  DestinationError,
  parseUrl,
  readJson,
  type Static,
  type TSchema,
  Value,
} from '@claimcheck/core/plugin'
import { httpFailure } from '../rest.ts'
import { FailureAnswer } from './answers.ts'

/** Statuses whose meaning depends on the request. */
export type Refusal = 403 | 404 | 409 | 410 | 422

export interface Answer<T> {
  readonly value: T
  readonly link: string | null
  readonly headers: Headers
}

export interface Refused {
  readonly refused: Refusal
}

export interface GitHubApi {
  /** @throws DestinationError for every status but 200, and for an answer that does not match the schema */
  get<T extends TSchema>(path: string, schema: T): Promise<Answer<Static<T>>>
  /** @param refusals the statuses that are returned as `refused` @throws DestinationError as `get` */
  find<T extends TSchema>(path: string, schema: T, refusals: readonly Refusal[]): Promise<Answer<Static<T>> | Refused>
  /** The first pages of a list. @param path has a query @throws DestinationError as `get` */
  start<T extends TSchema>(path: string, schema: T, most: number): Promise<Start<Static<T>>>
  /** All pages of a list. @param path has a query @throws DestinationError as `get`, and `too_large` where there are too many */
  list<T extends TSchema>(path: string, schema: T): Promise<readonly Static<T>[]>
  /** The same, or why the first page is refused. */
  findList<T extends TSchema>(
    path: string,
    schema: T,
    refusals: readonly Refusal[],
  ): Promise<readonly Static<T>[] | Refused>
  /** The first pages of such a list, or why the first one is refused. */
  findStart<T extends TSchema>(
    path: string,
    schema: T,
    refusals: readonly Refusal[],
  ): Promise<Start<Static<T>> | Refused>
}

export interface Start<T> {
  readonly pages: readonly T[]
  /** There are more. */
  readonly isCut: boolean
}

export interface GitHubAccess {
  readonly baseUrl: string
  /** A handle. */
  readonly token?: string
}

type Reading = Pick<CheckContext, 'fetch' | 'now'> & Partial<Pick<CheckContext, 'cache'>>

interface Remembered {
  readonly etag: string
  readonly value: unknown
  readonly link: string | null
}

/** In characters. A page of the push log takes two thirds of it. The cache limits the number of its entries, and not their size. */
const MAX_REMEMBERED_LENGTH = 32 * 1024
/** A page of check runs has what their apps wrote about them. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
const MOST_PAGES = 10

export function createGitHubApi({ baseUrl, token }: GitHubAccess, reading: Reading): GitHubApi {
  const { fetch, now, cache } = reading
  const baseHeaders = {
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
  }

  const api: GitHubApi = {
    get: async (path, schema) => unrefused(await api.find(path, schema, [])),
    async find<T extends TSchema>(path: string, schema: T, refusals: readonly Refusal[]) {
      const url = baseUrl + path
      const key = `github ${url}`
      const known = cache?.get(key) as Remembered | undefined
      const response = await fetch(url, {
        headers: known ? { ...baseHeaders, 'if-none-match': known.etag } : baseHeaders,
        auth: bearer(token),
      })
      const { status, headers } = response
      // The value was checked when it was remembered: a URL is always read with the same schema.
      if (status === 304 && known) return { value: known.value as Static<T>, link: known.link, headers }
      if (status !== 200) {
        const failure = httpFailure(response, now(), await failureMessage(response))
        const refused = refusals.find((refusal) => refusal === status)
        if (refused === undefined || failure.code === 'rate_limited') throw failure
        return { refused }
      }

      const value = await readJson(response, MAX_ANSWER_BYTES)
      if (!Value.Check(schema, value)) throw new DestinationError('unexpected_response', { status })
      const link = headers.get('link')
      const etag = headers.get('etag')
      if (etag !== null) {
        const remembered: Remembered = { etag, value: Value.Clean(schema, value), link }
        if (JSON.stringify(remembered).length <= MAX_REMEMBERED_LENGTH) cache?.set(key, remembered)
      }
      return { value, link, headers }
    },
    start: async (path, schema, most) => unrefused(await begin(path, schema, [], most)),
    list: async (path, schema) => unrefused(await api.findList(path, schema, [])),
    async findList<T extends TSchema>(path: string, schema: T, refusals: readonly Refusal[]) {
      const start = await begin(path, schema, refusals, MOST_PAGES)
      if ('refused' in start) return start
      if (start.isCut) throw new DestinationError('too_large')
      return start.pages
    },
    findStart: (path, schema, refusals) => begin(path, schema, refusals, MOST_PAGES),
  }
  return api

  async function begin<T extends TSchema>(
    path: string,
    schema: T,
    refusals: readonly Refusal[],
    most: number,
  ): Promise<Start<Static<T>> | Refused> {
    const pages: Static<T>[] = []
    for (let page = 1; page <= most; page++) {
      const answer = await api.find(`${path}&page=${page}`, schema, page === 1 ? refusals : [])
      if ('refused' in answer) return answer
      pages.push(answer.value)
      if (nextLink(answer.link) === undefined) return { pages, isCut: false }
    }
    return { pages, isCut: true }
  }
}

/** Of a request of which no refusal is returned. */
function unrefused<T extends object>(answer: T | Refused): T {
  return answer as T
}

/** Where the `Link` header says that the next page is. Only what it says of the page is used, and never the address. */
export function nextLink(link: string | null): URL | undefined {
  return linked(link, 'next')
}

/** The number of the last page; 1 where there is no other. Undefined where the header does not tell it. */
export function lastPage(link: string | null): number | undefined {
  if (nextLink(link) === undefined) return 1
  const page = linked(link, 'last')?.searchParams.get('page') ?? ''
  return /^[1-9]\d{0,5}$/.test(page) ? Number(page) : undefined
}

function linked(link: string | null, rel: 'next' | 'last'): URL | undefined {
  const found = link?.split(',').find((part) => part.includes(`rel="${rel}"`))
  const url = found?.match(/<([^>]+)>/)?.[1]
  return url === undefined ? undefined : parseUrl(url)
}

/** The message in the body of an error; empty when there is none. */
async function failureMessage(response: Response): Promise<string> {
  try {
    const body = await readJson(response)
    return Value.Check(FailureAnswer, body) ? body.message : ''
  } catch {
    return ''
  }
}
