/** What GitHub's endpoints have in common: how they answer, what they take for a commit, and pages. */
import { failure } from './github-answers.ts'
import type { Call, Reply } from './kind.ts'

export function ok(body: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status: 200, body, headers }
}

export function no(status: number, message: string): Reply {
  return { status, body: failure(status, message) }
}

export const noCommit = (name: string) => no(422, `No commit found for SHA: ${name}`)

/** A branch, a tag, an id or the beginning of one, or `owner:branch` of a fork. An id may be any object's of the whole network. */
export async function resolved({ repository, state }: Call, name: string): Promise<string | undefined> {
  const [owner, theirBranch] = name.split(':')
  const fork = theirBranch && repository.pool.repositories.find(({ slug }) => slug.startsWith(`${owner}/`))
  if (fork) return fork.asOf().tip(theirBranch)
  const [, kind, short = ''] = /^(heads|tags)\/(.+)$/.exec(name) ?? []
  if (kind === undefined) return state.resolve(name)
  return kind === 'heads' ? state.tip(short) : state.tag(short)?.sha
}

export function paged(query: URLSearchParams, byDefault: number, most = 100) {
  const perPage = Math.min(Number(query.get('per_page') ?? byDefault), most)
  const page = Number(query.get('page') ?? 1)
  return {
    page,
    slice: <T>(items: readonly T[]) => items.slice((page - 1) * perPage, page * perPage),
    link(count: number, path: string): Readonly<Record<string, string>> {
      if (page * perPage >= count) return {}
      const to = (number: number, rel: string) => {
        const url = new URL(`${path}?${query}`)
        url.searchParams.set('page', String(number))
        return `<${url}>; rel="${rel}"`
      }
      return { link: `${to(page + 1, 'next')}, ${to(Math.ceil(count / perPage), 'last')}` }
    },
  }
}
