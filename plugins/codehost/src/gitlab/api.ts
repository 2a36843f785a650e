/** Reads GitLab's REST API: with the token in GitLab's own header, and with lists that are read to their end. */
import { type CheckContext, header, type JsonAnswer, type Static, type TSchema } from '@claimcheck/core/plugin'
import { unexpected } from '../http-failure.ts'

export interface GitLabAccess {
  /** Of the server, not of its API. */
  readonly baseUrl: string
  /** A handle. */
  readonly token?: string
}

export interface GitLabApi {
  /** @throws DestinationError for every other status but 200, and for an answer that does not match the schema */
  get<T extends TSchema>(path: string, schema: T): Promise<JsonAnswer<Static<T>>>
  /** Undefined for a status in `also`: they mean that something is not there. */
  find<T extends TSchema>(path: string, schema: T, also?: readonly number[]): Promise<Static<T> | undefined>
  /** The pages of a list. @throws DestinationError `too_large` where there are more than `most` */
  pages<T extends TSchema>(path: string, schema: T, page: PageOptions): AsyncIterable<Static<T>>
}

export interface PageOptions {
  readonly size: number
  readonly most: number
}

type Reading = Pick<CheckContext, 'http'>

export function createGitLabApi({ baseUrl, token }: GitLabAccess, { http }: Reading): GitLabApi {
  const root = `${baseUrl}/api/v4`
  const auth = token === undefined ? undefined : header('PRIVATE-TOKEN', token)
  return {
    get: (path, schema) => http.json(root + path, { schema, auth }),
    async find(path, schema, also = [404]) {
      const { value } = await http.json(root + path, { schema, auth, also })
      return value
    },
    async *pages(path, schema, { size, most }) {
      let page = 1
      const url = () => `${root}${path}${path.includes('?') ? '&' : '?'}per_page=${size}&page=${page}`
      const next = ({ headers }: { readonly headers: Headers }) => {
        // A short page is not the end: what these credentials may not see is left out of it. Only the header tells.
        const told = headers.get('x-next-page')
        if (told === '') return undefined
        page++
        if (told !== String(page)) throw unexpected()
        return url()
      }
      for await (const { value } of http.paginate(url(), { schema, auth, next, most })) {
        // More than was asked for would cost more than the limits of pages allow.
        if (Array.isArray(value) && value.length > size) throw unexpected()
        yield value
      }
    },
  }
}
