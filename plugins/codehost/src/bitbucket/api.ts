/** Sends requests to the REST API of Bitbucket Cloud. */

import {
  bearer,
  type CheckContext,
  DestinationError,
  parseUrl,
  type Static,
  type TSchema,
} from '@claimcheck/core/plugin'
import { createRest, type Rest, type RestAccess, unexpectedAnswer } from '../rest.ts'

export interface BitbucketApi extends Rest {
  /** Reads the pages of a list; no page for 404, where `find` finds nothing. @throws DestinationError `too_large` where there are too many */
  pages<T extends TSchema>(path: string, schema: T, next: NextPage<T>, most?: number): AsyncIterable<Static<T>>
}

/** Takes the query of the next page from a page; undefined at the end. */
type NextPage<T extends TSchema> = (page: Static<T>) => string | undefined

const MOST_PAGES = 10

export function createBitbucketApi({ baseUrl, token }: RestAccess, context: Pick<CheckContext, 'http'>): BitbucketApi {
  const rest = createRest(baseUrl, bearer(token), context)
  return {
    ...rest,
    async *pages(path, schema, nextQuery, most = MOST_PAGES) {
      const [resource] = path.split('?')
      const next = ({ value }: { readonly value: Static<typeof schema> }) => {
        const query = nextQuery(value)
        return query === undefined ? undefined : `${resource}?${query}`
      }
      let isFirst = true
      for await (const { status, value } of rest.paginate(path, { schema, next, most, also: [404] })) {
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
  if (!url) throw unexpectedAnswer()
  return url.search.slice(1)
}
