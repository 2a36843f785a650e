/** The endpoints of a repository that the GitHub stand-in has, each computed from its commits and refs. */
import { activityAnswer, commitAnswer, failure, refAnswer, repositoryAnswer } from './github-answers.ts'
import type { GitHubRepository } from './github-repository.ts'

export interface Answer {
  /** The path in GitHub's description that it must fit. */
  readonly template: string
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export const REPOSITORY_TEMPLATE = '/repos/{owner}/{repo}'

/** `undefined` for a path that there is not. */
export function answerFor(
  repository: GitHubRepository,
  path: readonly string[],
  query: URLSearchParams,
  api: string,
): Answer | undefined {
  const [first = '', second = ''] = path
  const rest = (from: number) => decodeURIComponent(path.slice(from).join('/'))
  if (path.length === 0) return { template: REPOSITORY_TEMPLATE, status: 200, body: repositoryAnswer(api, repository) }
  if (first === 'git' && second === 'ref') return ref(repository, rest(2), api)
  if (first === 'compare') return compare(repository, rest(1), query, api)
  if (first === 'activity') return activity(repository, query, api)
  if (first === 'commits' && path.at(-1) === 'branches-where-head') return branchesWhereHead(repository, second, api)
  if (first === 'commits') return commit(repository, rest(1), api)
  return undefined
}

function ref(repository: GitHubRepository, name: string, api: string): Answer {
  const template = '/repos/{owner}/{repo}/git/ref/{ref}'
  if (repository.isEmpty()) return { template, status: 409, body: failure(409, 'Git Repository is empty.') }
  const object = repository.object(name)
  if (!object) return { template, status: 404, body: failure(404, 'Not Found') }
  return { template, status: 200, body: refAnswer(api, repository.slug, `refs/${name}`, object) }
}

function compare(repository: GitHubRepository, basehead: string, query: URLSearchParams, api: string): Answer {
  const template = '/repos/{owner}/{repo}/compare/{basehead}'
  const [baseName = '', headName = ''] = basehead.split('...')
  const [base, head] = [repository.resolve(baseName), repository.resolve(headName)]
  if (!base || !head) return { template, status: 404, body: failure(404, 'Not Found') }
  const mergeBase = repository.network.mergeBase(base, head)
  if (!mergeBase) {
    const message = `No common ancestor between ${baseName} and ${headName}.`
    return { template, status: 404, body: failure(404, message) }
  }

  const commits = repository.network.between(base, head)
  const [aheadBy, behindBy] = [commits.length, repository.network.between(head, base).length]
  const perPage = Number(query.get('per_page') ?? 250)
  const page = Number(query.get('page') ?? 1)
  const url = `${api}/repos/${repository.slug}/compare/${base}...${head}`
  const body = {
    url,
    html_url: url,
    permalink_url: url,
    diff_url: `${url}.diff`,
    patch_url: `${url}.patch`,
    base_commit: commitAnswer(api, repository.slug, repository.network.show(base)),
    merge_base_commit: commitAnswer(api, repository.slug, repository.network.show(mergeBase)),
    status: statusOf(aheadBy, behindBy),
    ahead_by: aheadBy,
    behind_by: behindBy,
    total_commits: aheadBy,
    commits: commits
      .slice((page - 1) * perPage, page * perPage)
      .map((shown) => commitAnswer(api, repository.slug, shown)),
    ...(page === 1 ? { files: [] } : {}),
  }
  return { template, status: 200, body }
}

function statusOf(aheadBy: number, behindBy: number): 'identical' | 'ahead' | 'behind' | 'diverged' {
  if (aheadBy === 0 && behindBy === 0) return 'identical'
  if (behindBy === 0) return 'ahead'
  return aheadBy === 0 ? 'behind' : 'diverged'
}

/** Newest first, paged by a cursor in the `Link` header. */
function activity(repository: GitHubRepository, query: URLSearchParams, api: string): Answer {
  const template = '/repos/{owner}/{repo}/activity'
  const { logStatus } = repository.answering
  if (logStatus !== 200) return { template, status: logStatus, body: failure(logStatus, 'Not Found') }
  const wanted = query.get('ref')
  const perPage = Number(query.get('per_page') ?? 30)
  const newestFirst = repository.listed().filter(({ ref }) => wanted === null || ref === wanted)
  const after = query.get('after')
  const start = after === null ? 0 : newestFirst.findIndex(({ id }) => `cursor-${id}` === after) + 1
  const page = newestFirst.slice(start, start + perPage)
  const hasMore = start + perPage < newestFirst.length
  const next = new URL(`${api}/repositories/${repository.id}/activity?${query}`)
  next.searchParams.set('after', `cursor-${page.at(-1)?.id}`)
  const body = page.map((entry) => activityAnswer(api, entry))
  return { template, status: 200, body, ...(hasMore ? { headers: { link: `<${next}>; rel="next"` } } : {}) }
}

function branchesWhereHead(repository: GitHubRepository, sha: string, api: string): Answer {
  const template = '/repos/{owner}/{repo}/commits/{commit_sha}/branches-where-head'
  if (repository.isEmpty()) return { template, status: 409, body: failure(409, 'Git Repository is empty.') }
  if (repository.resolve(sha) === undefined) return noCommit(template, sha)
  const branches = repository.branches().filter((branch) => branch.sha === sha)
  const body = branches.map(({ name }) => ({
    name,
    commit: { sha, url: `${api}/repos/${repository.slug}/commits/${sha}` },
    protected: false,
  }))
  return { template, status: 200, body }
}

function commit(repository: GitHubRepository, name: string, api: string): Answer {
  const template = '/repos/{owner}/{repo}/commits/{ref}'
  if (repository.isEmpty()) return { template, status: 409, body: failure(409, 'Git Repository is empty.') }
  const sha = repository.resolve(name)
  if (sha === undefined) return noCommit(template, name)
  return { template, status: 200, body: commitAnswer(api, repository.slug, repository.network.show(sha)) }
}

function noCommit(template: string, name: string): Answer {
  return { template, status: 422, body: failure(422, `No commit found for SHA: ${name}`) }
}
