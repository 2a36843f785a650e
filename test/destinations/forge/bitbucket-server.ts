/** A Bitbucket Data Center stand-in: its REST API, read-only. */
import {
  activityAnswers,
  branchAnswer,
  buildAnswer,
  commitAnswer,
  failure,
  pullRequestAnswer,
  refAnswer,
  repositoryAnswer,
} from './bitbucket-server-answers.ts'
import type { Call, CodeHostKind, PlainCall, Reply } from './kind.ts'
import { StandIn, type StandInOptions } from './stand-in.ts'
import type { RepositoryState } from './state.ts'

const REPOSITORY = '/api/latest/projects/{project}/repos/{slug}'
const COMMIT = `${REPOSITORY}/commits/{commit}`

/** @param hasMergeBase newer servers do */
function kind({ hasMergeBase }: { readonly hasMergeBase: boolean }): CodeHostKind {
  return {
    name: 'Bitbucket Data Center',
    basePath: '/rest',
    // The compiler has checked the answers.
    check: () => undefined,
    sharesNumbers: false,
    routes: [
      { template: REPOSITORY, answer: ({ repository }) => ok(repositoryAnswer(repository)) },
      { template: `${REPOSITORY}/branches`, answer: branches },
      { template: `${REPOSITORY}/commits`, answer: commits },
      { template: COMMIT, answer: commit },
      ...(hasMergeBase ? [{ template: `${COMMIT}/merge-base`, answer: mergeBase }] : []),
      { template: `${COMMIT}/builds`, answer: build },
      { template: `${REPOSITORY}/pull-requests`, answer: pullRequests },
      { template: `${REPOSITORY}/pull-requests/{number}`, answer: pullRequest },
      { template: `${REPOSITORY}/pull-requests/{number}/activities`, answer: activities },
      { template: '/branch-utils/latest/projects/{project}/repos/{slug}/branches/info/{commit}', answer: branchesWith },
    ],
    plainRoutes: [
      { template: '/api/latest/repos', answer: repositories },
      { template: '/build-status/latest/commits/{commit}', answer: builds },
    ],
    find: ({ project, slug }) => ({ slug: `${project}/${slug}` }),
    moved: ({ slug }, { api, path }) => {
      const [project, name] = slug.split('/')
      const location = path.replace(/\/projects\/[^/]+\/repos\/[^/?]+/, `/projects/${project}/repos/${name}`)
      return { status: 301, headers: { location: api + location } }
    },
    notFound: () => no(404, 'repository.NoSuchRepositoryException', 'There is no such repository.'),
    badCredentials: () => no(401, 'auth.IncorrectPasswordAuthenticationException', 'Authentication failed.'),
  }
}

export function startBitbucketServer({
  hasMergeBase = true,
  ...options
}: StandInOptions & { readonly hasMergeBase?: boolean } = {}): Promise<StandIn> {
  return StandIn.start(kind({ hasMergeBase }), options)
}

function ok(body: unknown): Reply {
  return { status: 200, body }
}

function no(status: number, exceptionName: string, message: string): Reply {
  return { status, body: failure(exceptionName, message) }
}

function noCommit(): Reply {
  return no(404, 'commit.NoSuchCommitException', 'There is no such commit.')
}

/** The filter finds a text anywhere in the name, in any case, and can put the name itself first. */
function branches({ repository, state, query }: Call): Reply {
  const text = (query.get('filterText') ?? '').toLowerCase()
  const found = state.branches().filter(({ name }) => name.toLowerCase().includes(text))
  const rank = (name: string) => (query.get('boostMatches') === 'true' && name.toLowerCase() === text ? 0 : 1)
  const sorted = found.toSorted((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name))
  return paged(
    query,
    sorted.map(({ name, sha }) => branchAnswer(repository, name, sha)),
  )
}

async function commit({ repository, state, params }: Call): Promise<Reply> {
  const sha = await state.commit(params.commit!)
  return sha === undefined ? noCommit() : ok(commitAnswer(repository, sha))
}

/** From a commit or any ref on, without what another has. */
async function commits({ repository, state, query }: Call): Promise<Reply> {
  const { pool } = repository
  const [until, since] = await Promise.all(['until', 'since'].map((name) => resolved(state, query.get(name) ?? '')))
  if (until === undefined || (query.has('since') && since === undefined)) return noCommit()
  const found = since === undefined ? [...(await pool.history(until))] : (await pool.between(since, until)).toReversed()
  return paged(
    query,
    found.map((sha) => commitAnswer(repository, sha)),
  )
}

async function resolved(state: RepositoryState, name: string): Promise<string | undefined> {
  const [, number] = /^refs\/pull-requests\/(\d+)\/from$/.exec(name) ?? []
  return number === undefined ? state.resolve(name) : state.keptHead(Number(number))
}

async function mergeBase({ repository, state, params, query }: Call): Promise<Reply> {
  const [one, other] = [params.commit!, query.get('otherCommitId') ?? ''].map((id) => (state.has(id) ? id : undefined))
  if (one === undefined || other === undefined) return noCommit()
  const base = await repository.pool.mergeBase(one, other)
  return base === undefined ? { status: 204 } : ok(commitAnswer(repository, base))
}

async function branchesWith({ state, params, query }: Call): Promise<Reply> {
  return paged(query, (await state.branchesContaining(params.commit!)).map(refAnswer))
}

function build({ state, params, query }: Call): Reply {
  const all = state.statuses(params.commit).map(buildAnswer)
  const found = all.findLast(({ key }) => key === query.get('key'))
  return found ? ok(found) : no(404, 'build.status.NoSuchBuildStatusException', 'There is no such build status.')
}

/** Of all repositories that have the commit. */
function builds({ standIn, params, query }: PlainCall): Reply {
  const all = standIn.repositories.flatMap((repository) => repository.asOf().statuses(params.commit))
  const byKey = new Map(all.map((status) => [buildAnswer(status).key, buildAnswer(status)]))
  return paged(query, [...byKey.values()].slice(-100).toReversed())
}

function pullRequests({ repository, state, query }: Call): Reply {
  const wanted = query.get('state') ?? 'OPEN'
  const all = state.pullRequests().map((one) => pullRequestAnswer(repository, one))
  return paged(query, all.filter((one) => wanted === 'ALL' || one.state === wanted).toReversed())
}

function pullRequest({ repository, state, params }: Call): Reply {
  const found = state.pullRequest(Number(params.number))
  if (found) return ok(pullRequestAnswer(repository, found))
  return no(404, 'pull.NoSuchPullRequestException', 'There is no such pull request.')
}

function activities({ repository, state, params, query }: Call): Reply {
  const found = state.pullRequest(Number(params.number))
  if (!found) return no(404, 'pull.NoSuchPullRequestException', 'There is no such pull request.')
  return paged(query, activityAnswers(repository.pullRequests.events(found.number, state.until)))
}

/** A token with a scope `REPO_WRITE` may write to what it shows. */
function repositories({ token, query }: PlainCall): Reply {
  const wanted = query.get('permission')
  const shown = wanted === 'REPO_READ' || token?.scopes === wanted ? (token?.repositories ?? []) : []
  return paged(query, shown.map(repositoryAnswer))
}

function paged(query: URLSearchParams, all: readonly unknown[]): Reply {
  const limit = Math.min(Number(query.get('limit') ?? 25), 1000)
  const start = Number(query.get('start') ?? 0)
  const values = all.slice(start, start + limit)
  const isLastPage = start + limit >= all.length
  return ok({ size: values.length, limit, isLastPage, values, start, nextPageStart: isLastPage ? null : start + limit })
}
