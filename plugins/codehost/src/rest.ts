/** Requests to the REST API of a host, all to one address and with one credential. */
import type { Auth, CheckContext, JsonAnswer, PageInit, Static, TSchema } from '@claimcheck/core/plugin'

type Paging<T extends TSchema> = Pick<Required<PageInit<T>>, 'schema' | 'next' | 'most'> & Pick<PageInit<T>, 'also'>

export interface Rest {
  /** @throws DestinationError for every status but 200, and for an answer that does not match the schema */
  get<T extends TSchema>(path: string, schema: T): Promise<JsonAnswer<Static<T>>>
  /** `value` is undefined for a status in `also`; when left out, for 404, which can also mean that these credentials may not see it. */
  find<T extends TSchema>(path: string, schema: T, also?: readonly number[]): Promise<JsonAnswer<Static<T> | undefined>>
  /** @param next the path of the next page. @throws DestinationError `too_large` where there are more than `most` */
  paginate<T extends TSchema>(path: string, init: Paging<T>): AsyncIterable<JsonAnswer<Static<T>>>
}

export function createRest(root: string, auth: Auth | undefined, { http }: Pick<CheckContext, 'http'>): Rest {
  return {
    get: (path, schema) => http.json(root + path, { schema, auth }),
    find: (path, schema, also = [404]) => http.json(root + path, { schema, auth, also }),
    paginate: (path, { next, ...init }) =>
      http.paginate(root + path, {
        ...init,
        auth,
        next(page) {
          const following = next(page)
          return following === undefined ? undefined : root + following
        },
      }),
  }
}
