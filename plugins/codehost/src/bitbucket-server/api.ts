/** Requests to the REST API of Bitbucket Data Center. */
import { bearer, type CheckContext, type JsonAnswer, type Static, type TSchema } from '@claimcheck/core/plugin'
import { unexpected } from '../http-failure.ts'
import type { PageOf } from './answers.ts'

export interface ServerAccess {
  /** With the context path. */
  readonly baseUrl: string
  /** A handle. */
  readonly token: string
}

export interface ServerApi {
  /** @throws DestinationError for every status but 200, and for an answer that does not match the schema */
  read<T extends TSchema>(path: string, schema: T): Promise<JsonAnswer<Static<T>>>
  /** Undefined for 404, which can also mean that these credentials may not see it, and for 204. */
  find<T extends TSchema>(path: string, schema: T): Promise<JsonAnswer<Static<T>> | undefined>
  /** All values of a list. @throws DestinationError `too_large` where there are too many */
  pages<T extends TSchema>(path: string, schema: ReturnType<typeof PageOf<T>>): AsyncIterable<Static<T>[]>
}

const MOST_PAGES = 10
const PAGE = 250

export function createServerApi({ baseUrl, token }: ServerAccess, { http }: Pick<CheckContext, 'http'>): ServerApi {
  const auth = bearer(token)
  const urlOf = (path: string) => `${baseUrl}/rest${path}`
  return {
    read: (path, schema) => http.json(urlOf(path), { schema, auth }),
    async find(path, schema) {
      const answer = await http.json(urlOf(path), { schema, auth, also: [204, 404] })
      return answer.status === 200 ? (answer as JsonAnswer<Static<typeof schema>>) : undefined
    },
    async *pages(path, schema) {
      const from = (start: number) => `${urlOf(path)}${path.includes('?') ? '&' : '?'}limit=${PAGE}&start=${start}`
      let start = 0
      const pages = http.paginate(from(start), {
        schema,
        auth,
        most: MOST_PAGES,
        next({ value: { isLastPage, nextPageStart } }) {
          if (isLastPage) return undefined
          // A list that does not go on would be read again and again.
          if (typeof nextPageStart !== 'number' || nextPageStart <= start) throw unexpected()
          start = nextPageStart
          return from(start)
        },
      })
      for await (const { value } of pages) yield value.values
    },
  }
}
