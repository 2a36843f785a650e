/** HTTP for most checks, on top of a guarded `fetch`: JSON of a known shape, headers alone, pages, and the usual meaning of statuses. */
import type { Static, TSchema } from 'typebox'
import type { Instant } from '../evidence.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { retryAfterMs } from '../retry-after.ts'
import { Value } from '../typebox.ts'
import { parseUrl } from '../url.ts'
import { DestinationError } from './destination-error.ts'
import { type CheckLimits, type FetchInit, type GuardedFetch, USUAL_ANSWER_BYTES } from './fetch.ts'
import { readJson, USUAL_JSON_BYTES } from './json-answer.ts'

/** The options of a request, and the answers that it takes besides a successful one. */
export interface HttpInit extends Omit<FetchInit, 'method' | 'call'> {
  /** Statuses that say something about the outcome, such as 404 for a part of something that was seen. Their answers have no value. */
  readonly also?: readonly number[]
}

export interface JsonInit<T extends TSchema> extends HttpInit {
  /** The least shape of the answer. An answer of another shape is an `unexpected_response`. */
  readonly schema: T
}

export interface PageInit<T extends TSchema> extends JsonInit<T> {
  /** Returns the URL of the next page; undefined at the end. Defaults to the link `next` of the Link header (RFC 8288). */
  readonly next?: (page: JsonAnswer<Static<T>>) => string | undefined
  /** Number of pages beyond which the list is an error, because what was not read is no evidence of absence. */
  readonly most?: number
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The address after redirects. */
  readonly url: string
}

export interface JsonAnswer<T> extends Answer {
  readonly value: T
}

/** An answer to a call that has errors: the one of JSON-RPC, or those of GraphQL, as the destination wrote them. */
export interface CallRefusal extends Answer {
  readonly errors: readonly JsonValue[]
}

export interface CallInit<T extends TSchema> extends Omit<JsonInit<T>, 'also'> {
  /**
   * Returns the value that a refusal means, or throws what it means: only the plugin knows what an error says of the outcome. Called also for
   * statuses without a usual meaning, such as 400. Left out, a refusal is an `unexpected_response`.
   */
  refused?(refusal: CallRefusal): Static<T>
}

/** Requests, each of which throws DestinationError for an answer that says nothing about the outcome. See `statusError`. */
export interface Http {
  json<T extends TSchema>(
    url: string,
    init: JsonInit<T> & { readonly also?: undefined },
  ): Promise<JsonAnswer<Static<T>>>
  /** Requests JSON of a known shape. The answer's `value` is undefined for a status in `also`. */
  json<T extends TSchema>(url: string, init: JsonInit<T>): Promise<JsonAnswer<Static<T> | undefined>>
  head(url: string, init?: HttpInit): Promise<Answer>
  /** Reads the pages of a list. @throws DestinationError `too_large` for more pages than `most`, which defaults to 10 */
  paginate<T extends TSchema>(url: string, init: PageInit<T>): AsyncIterable<JsonAnswer<Static<T>>>
  /** Calls a method of JSON-RPC 2.0 that the manifest declares. The answer's `value` is its result. */
  rpc<T extends TSchema>(
    url: string,
    method: string,
    params: JsonValue,
    init: CallInit<T>,
  ): Promise<JsonAnswer<Static<T>>>
  /** Sends a GraphQL query whose text the manifest declares. The answer's `value` is its data; data beside errors is a refusal. */
  graphql<T extends TSchema>(
    url: string,
    query: string,
    variables: JsonObject,
    init: CallInit<T>,
  ): Promise<JsonAnswer<Static<T>>>
}

const MOST_PAGES = 10

export function createHttp({
  fetch,
  now,
  limits,
}: {
  readonly fetch: GuardedFetch
  readonly now: () => Instant
  readonly limits?: CheckLimits | undefined
}): Http {
  // Larger answers are read in parts, because parsing one at once would hold up every other check.
  const maxBytes = Math.min(limits?.bodyBytes ?? USUAL_JSON_BYTES, USUAL_ANSWER_BYTES)

  const ask = (url: string, request: FetchInit) =>
    fetch(url, { ...request, headers: { accept: 'application/json', ...request.headers } })

  async function read<T extends TSchema>(url: string, { schema, also = [], ...request }: JsonInit<T>) {
    const response = await ask(url, request)
    const { status, headers } = response
    const answer = { status, headers, url: response.url }
    if (also.includes(status)) {
      await response.body?.cancel()
      return { ...answer, value: undefined }
    }
    if (status !== 200) {
      await response.body?.cancel()
      throw statusError(response, now())
    }
    const value = await readJson(response, maxBytes)
    if (!Value.Check(schema, value)) throw new DestinationError('unexpected_response', { status })
    return { ...answer, value: value as Static<T> }
  }

  async function call<T extends TSchema>(
    url: string,
    { schema, refused, ...request }: CallInit<T>,
    sent: NonNullable<FetchInit['call']>,
  ): Promise<JsonAnswer<Static<T>>> {
    const response = await ask(url, { ...request, call: sent })
    const { status, headers } = response
    const answer = { status, headers, url: response.url }
    const failure = status === 200 ? undefined : statusError(response, now())
    if (failure && !(refused && failure.code === 'unexpected_response')) {
      await response.body?.cancel()
      throw failure
    }
    const members = membersOf((await readJson(response, maxBytes)) as JsonValue)
    const errors = errorsIn(members)
    if (errors && refused) return { ...answer, value: refused({ ...answer, errors }) }
    const value = 'jsonRpc' in sent ? members.result : members.data
    if (errors || failure || !Value.Check(schema, value)) throw new DestinationError('unexpected_response', { status })
    return { ...answer, value: value as Static<T> }
  }

  return {
    json: read as Http['json'],
    async head(url, { also = [], ...request } = {}) {
      const response = await fetch(url, { ...request, method: 'HEAD' })
      const { status, headers } = response
      await response.body?.cancel()
      if (!response.ok && !also.includes(status)) throw statusError(response, now())
      return { status, headers, url: response.url }
    },
    async *paginate<T extends TSchema>(url: string, { next = linkedNext, most = MOST_PAGES, ...init }: PageInit<T>) {
      let at: string | undefined = url
      for (let pages = 0; at !== undefined; pages++) {
        if (pages === most) throw new DestinationError('too_large')
        const page = (await read(at, init)) as JsonAnswer<Static<T>>
        yield page
        at = page.value === undefined ? undefined : next(page)
      }
    },
    rpc: (url, method, params, init) => call(url, init, { jsonRpc: method, params }),
    graphql: (url, query, variables, init) => call(url, init, { graphql: query, variables }),
  }
}

function membersOf(value: JsonValue): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** The errors in an answer to a call; undefined where it has none. */
function errorsIn({ error = null, errors }: JsonObject): readonly JsonValue[] | undefined {
  if (errors !== undefined) return Array.isArray(errors) ? errors : [errors]
  return error === null ? undefined : [error]
}

/** The target of the link `next` (RFC 8288). */
function linkedNext({ headers, url }: Answer): string | undefined {
  for (const link of (headers.get('link') ?? '').split(/,\s*(?=<)/)) {
    const [, target, parameters] = /^<([^>]*)>(.*)$/.exec(link.trim()) ?? []
    if (target === undefined || !/;\s*rel="?(?:[^";]*\s)?next(?:\s[^";]*)?"?\s*(?:;|$)/i.test(parameters ?? ''))
      continue
    return parseUrl(target, url)?.href
  }
  return undefined
}

/**
 * The usual meaning of a status other than success: 401 and 407 `unauthorized`, 403, 404 and 451 `forbidden`, 429 (or 403 with a limit's
 * headers) `rate_limited`, 408 `timeout`, 5xx `unavailable`, others `unexpected_response`. 404 is not absence: destinations answer it for
 * what these credentials may not see.
 */
export function statusError(response: Pick<Response, 'status' | 'headers'>, now: Instant): DestinationError {
  const { status, headers } = response
  const wait = waitMs(headers, now)
  const options = { status, ...(wait !== undefined && { retryAfterMs: wait }) }
  const tellsLimit = headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0'
  if (status === 429 || (status === 403 && tellsLimit)) return new DestinationError('rate_limited', options)
  if (status === 401 || status === 407) return new DestinationError('unauthorized', { status })
  if (status === 403 || status === 404 || status === 451) return new DestinationError('forbidden', { status })
  if (status === 408) return new DestinationError('timeout', { status })
  if (status >= 500) return new DestinationError('unavailable', options)
  return new DestinationError('unexpected_response', { status })
}

/** Milliseconds that the destination asks to wait, by `Retry-After` or the end of a limit that is used up. */
function waitMs(headers: Headers, now: Instant): number | undefined {
  // The destination's own time by its Date header, because a date in `Retry-After` is by the destination's clock.
  const theirNow = Date.parse(headers.get('date') ?? '') || now
  const asked = retryAfterMs(headers, theirNow)
  if (asked !== undefined) return asked
  const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN)
  return headers.get('x-ratelimit-remaining') === '0' && Number.isFinite(reset)
    ? Math.max(reset * 1000 - theirNow, 0)
    : undefined
}
