/** Sends requests to the REST API of Bitbucket Data Center. */

import { bearer, type CheckContext, type Static, type TSchema } from '@claimcheck/core/plugin'
import { createRest, type Rest, type RestAccess, unexpectedAnswer } from '../rest.ts'
import type { PageOf } from './answers.ts'

export interface ServerApi extends Rest {
  /** Reads the values of a list, page by page. @throws DestinationError `too_large` where there are too many */
  pages<T extends TSchema>(path: string, schema: ReturnType<typeof PageOf<T>>): AsyncIterable<Static<T>[]>
}

const MOST_PAGES = 10
const PAGE = 250

export function createServerApi({ baseUrl, token }: RestAccess, context: Pick<CheckContext, 'http'>): ServerApi {
  const rest = createRest(`${baseUrl}/rest`, bearer(token), context)
  return {
    ...rest,
    // Some answers of the server are empty where there is nothing.
    find: (path, schema, also = [204, 404]) => rest.find(path, schema, also),
    async *pages(path, schema) {
      const from = (start: number) => `${path}${path.includes('?') ? '&' : '?'}limit=${PAGE}&start=${start}`
      let start = 0
      const pages = rest.paginate(from(start), {
        schema,
        most: MOST_PAGES,
        next({ value: { isLastPage, nextPageStart } }) {
          if (isLastPage) return undefined
          // A list that does not go on would be read again and again.
          if (typeof nextPageStart !== 'number' || nextPageStart <= start) throw unexpectedAnswer()
          start = nextPageStart
          return from(start)
        },
      })
      for await (const { value } of pages) yield value.values
    },
  }
}
