/** Reads GitLab's REST API: with the token in GitLab's own header, and with lists that are read to their end. */

import { type CheckContext, header, type Static, type TSchema } from '@claimcheck/core/plugin'
import { createRest, type Rest, type RestAccess, unexpectedAnswer } from '../rest.ts'

export interface GitLabApi extends Rest {
  /** Reads the pages of a list. @throws DestinationError `too_large` where there are more than `most` */
  pages<T extends TSchema>(
    path: string,
    schema: T,
    page: { readonly size: number; readonly most: number },
  ): AsyncIterable<Static<T>>
}

export function createGitLabApi({ baseUrl, token }: RestAccess, context: Pick<CheckContext, 'http'>): GitLabApi {
  const auth = token === undefined ? undefined : header('PRIVATE-TOKEN', token)
  const rest = createRest(`${baseUrl}/api/v4`, auth, context)
  return {
    ...rest,
    async *pages(path, schema, { size, most }) {
      let page = 1
      const paged = () => `${path}${path.includes('?') ? '&' : '?'}per_page=${size}&page=${page}`
      const next = ({ headers }: { readonly headers: Headers }) => {
        // A short page is not the end: entries that these credentials may not see are left out of it. Only the header tells the end.
        const told = headers.get('x-next-page')
        if (told === '') return undefined
        page++
        if (told !== String(page)) throw unexpectedAnswer()
        return paged()
      }
      for await (const { value } of rest.paginate(paged(), { schema, next, most })) {
        // A page that is longer than was asked for would cost more than the limits of pages allow.
        if (Array.isArray(value) && value.length > size) throw unexpectedAnswer()
        yield value
      }
    },
  }
}

/** Collects the items of all pages. */
export async function collectAll<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = []
  for await (const page of pages) all.push(...page)
  return all
}
