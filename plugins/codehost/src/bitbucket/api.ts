/** Requests to the REST API of Bitbucket Cloud. */
import {
  bearer,
  type CheckContext,
  DestinationError,
  type JsonAnswer,
  parseUrl,
  type Static,
  type TSchema,
} from '@claimcheck/core/plugin'
import { unexpected } from '../http-failure.ts'

export interface BitbucketAccess {
  readonly baseUrl: string
  /** A handle. */
  readonly token: string
}

export interface BitbucketApi {
  /** @throws DestinationError for every status but 200, and for an answer that does not match the schema */
  read<T extends TSchema>(path: string, schema: T): Promise<JsonAnswer<Static<T>>>
  /** Undefined for 404, which can also mean that these credentials may not see it. */
  find<T extends TSchema>(path: string, schema: T): Promise<JsonAnswer<Static<T>> | undefined>
  /** None at all for 404, where `find` finds nothing. @throws DestinationError `too_large` where there are too many */
  pages<T extends TSchema>(path: string, schema: T, next: NextPage<T>): AsyncIterable<Static<T>>
}

/** The query of the next page; undefined at the end. */
export type NextPage<T extends TSchema> = (page: Static<T>) => string | undefined

const MOST_PAGES = 10

export function createBitbucketApi(
  { baseUrl, token }: BitbucketAccess,
  { http }: Pick<CheckContext, 'http'>,
): BitbucketApi {
  const auth = bearer(token)
  return {
    read: (path, schema) => http.json(baseUrl + path, { schema, auth }),
    async find(path, schema) {
      const answer = await http.json(baseUrl + path, { schema, auth, also: [404] })
      return answer.status === 404 ? undefined : (answer as JsonAnswer<Static<typeof schema>>)
    },
    async *pages(path, schema, next) {
      const [resource] = path.split('?')
      const asked = http.paginate(baseUrl + path, {
        schema,
        auth,
        also: [404],
        most: MOST_PAGES,
        next({ value }) {
          const query = next(value)
          return query === undefined ? undefined : `${baseUrl}${resource}?${query}`
        },
      })
      let isFirst = true
      for await (const { status, value } of asked) {
        if (status === 404 && isFirst) return
        if (status === 404) throw new DestinationError('unexpected_response', { status })
        isFirst = false
        yield value
      }
    },
  }
}

/** Takes only the query from the link to the next page, and never the address: behind a proxy that is another one. */
export function linkedPage({ next }: { readonly next?: string }): string | undefined {
  if (next === undefined) return undefined
  const url = parseUrl(next)
  if (!url) throw unexpected()
  return url.search.slice(1)
}
