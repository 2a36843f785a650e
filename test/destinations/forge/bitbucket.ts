/** A Bitbucket Cloud stand-in: its REST API, read-only. */
import {
  activityEntries,
  branchAnswer,
  commitAnswer,
  failure,
  pipelineAnswer,
  pullRequestAnswer,
  repositoryAnswer,
  statusAnswer,
  statusOfRun,
} from './bitbucket-answers.ts'
import type { Call, CodeHostKind, Reply, Right, Token } from './kind.ts'
import { type AnswerCheck, answerCheck } from './schema.ts'
import { StandIn, type StandInOptions } from './stand-in.ts'

const REPOSITORY = '/repositories/{workspace}/{repo_slug}'

const BITBUCKET: CodeHostKind = {
  name: 'Bitbucket Cloud',
  basePath: '/2.0',
  // The lists of branches, commits, pull requests and pipelines are not in the description that is at hand.
  check: withoutNulls(
    answerCheck('bitbucket/openapi-extract.json', {
      required: {
        repository: ['uuid', 'full_name'],
        branch: ['name'],
        base_commit: ['hash'],
        pullrequest: ['id', 'state', 'created_on', 'source', 'destination'],
        paginated_commitstatuses: ['values'],
        commitstatus: ['key', 'state', 'created_on', 'updated_on'],
      },
    }),
  ),
  sharesNumbers: false,
  routes: [
    { template: REPOSITORY, answer: ({ api, repository }) => ok(repositoryAnswer(api, repository)) },
    { template: `${REPOSITORY}/refs/branches`, needs: 'contents', answer: branches },
    { template: `${REPOSITORY}/refs/branches/{name}`, wide: ['name'], needs: 'contents', answer: branch },
    { template: `${REPOSITORY}/merge-base/{revspec}`, wide: ['revspec'], needs: 'contents', answer: mergeBase },
    { template: `${REPOSITORY}/commits/{revision}`, needs: 'contents', answer: commits },
    { template: `${REPOSITORY}/commit/{commit}`, needs: 'contents', answer: commit },
    { template: `${REPOSITORY}/commit/{commit}/statuses`, needs: 'contents', answer: statuses },
    { template: `${REPOSITORY}/pullrequests`, needs: 'pull_requests', answer: pullRequests },
    { template: `${REPOSITORY}/pullrequests/{pull_request_id}`, needs: 'pull_requests', answer: pullRequest },
    { template: `${REPOSITORY}/pullrequests/{pull_request_id}/activity`, needs: 'pull_requests', answer: activity },
    { template: `${REPOSITORY}/pipelines`, needs: 'actions', answer: pipelines },
  ],
  plainRoutes: [
    {
      template: '/user',
      answer: ({ token }) => {
        if (token === undefined) return no(401, 'Access token is required.')
        if (token.account === undefined) return lacking()
        return ok({ type: 'user', display_name: token.account, uuid: '{00000000-0000-4000-8000-000000000001}' })
      },
    },
  ],
  find: ({ workspace, repo_slug }) => {
    const uuid = /^\{(.+)\}$/.exec(repo_slug ?? '')?.[1]
    return uuid === undefined ? { slug: `${workspace}/${repo_slug}` } : { uuid }
  },
  moved: ({ slug }, { api, path }) => {
    const location = `${api}/repositories/${slug}${path.replace(/^\/repositories\/[^/?]+\/[^/?]+/, '')}`
    return { status: 301, headers: { location } }
  },
  notFound: () => no(404, 'You may not have access to this repository or it no longer exists in this workspace.'),
  badCredentials: () => no(401, 'Token is invalid, expired, or not supported for this endpoint.'),
  forbidden: lacking,
  headers: (_, token): Readonly<Record<string, string>> => (token ? { 'x-oauth-scopes': scopesOf(token) } : {}),
}

const SCOPES: Readonly<Partial<Record<Right, string>>> = {
  contents: 'repository',
  pull_requests: 'pullrequest',
  actions: 'pipeline',
}

function scopesOf({ scopes, rights = ['contents', 'pull_requests', 'actions'] }: Token): string {
  return scopes ?? rights.flatMap((right) => SCOPES[right] ?? []).join(', ')
}

export function startBitbucket(options?: StandInOptions): Promise<StandIn> {
  return StandIn.start(BITBUCKET, options)
}

/** The description does not say that there is no commit of a merge that was not made, and no repository of a fork that was deleted. */
function withoutNulls(check: AnswerCheck): AnswerCheck {
  return (template, status, body) => {
    if (!template.endsWith('/{pull_request_id}') || status !== 200) return check(template, status, body)
    const { merge_commit, source, ...rest } = body as ReturnType<typeof pullRequestAnswer>
    const { repository, ...end } = source
    return check(template, status, {
      ...rest,
      source: repository === null ? end : source,
      ...(merge_commit === null ? {} : { merge_commit }),
    })
  }
}

function ok(body: unknown): Reply {
  return { status: 200, body }
}

function no(status: number, message: string): Reply {
  return { status, body: failure(message) }
}

function lacking(): Reply {
  return no(403, 'Your credentials lack one or more required privilege scopes.')
}

function branch(call: Call): Reply {
  const name = call.params.name!
  const tip = call.state.tip(name)
  return tip === undefined ? no(404, `No branch with name ${name}`) : ok(branchAnswer(call, name, tip))
}

function branches(call: Call): Reply {
  const [, sha] = /^target\.hash="([0-9a-f]+)"$/.exec(call.query.get('q') ?? '') ?? []
  const all = call.state.branches().filter((one) => sha === undefined || one.sha === sha)
  return paged(
    call,
    all.map((one) => branchAnswer(call, one.name, one.sha)),
  )
}

async function commit(call: Call): Promise<Reply> {
  const sha = await call.state.resolve(call.params.commit!)
  return sha === undefined ? no(404, 'Commit not found') : ok(commitAnswer(call, sha))
}

async function mergeBase(call: Call): Promise<Reply> {
  const [one, other] = await Promise.all(call.params.revspec!.split('..').map(call.state.resolve))
  const base = one && other && (await call.repository.pool.mergeBase(one, other))
  return base ? ok(commitAnswer(call, base)) : no(404, 'Commit not found')
}

async function commits(call: Call): Promise<Reply> {
  const { state, repository, params, query } = call
  const sha = await state.resolve(params.revision!)
  if (sha === undefined) return no(404, 'Commit not found')
  const without = query.get('exclude')
  const excluded = without === null ? undefined : await state.resolve(without)
  if (without !== null && excluded === undefined) return no(404, 'Commit not found')
  const all =
    excluded === undefined
      ? [...(await repository.pool.history(sha))]
      : (await repository.pool.between(excluded, sha)).toReversed()
  return paged(
    call,
    all.map((one) => commitAnswer(call, one)),
  )
}

async function statuses(call: Call): Promise<Reply> {
  const { state, params } = call
  const sha = await state.commit(params.commit!)
  if (sha === undefined) return no(404, 'Commit not found')
  const runs = state.runs(sha).filter(({ suite }) => suite.isRunByHost)
  // One replaces what had its key, and the time of the first stays.
  const byKey = new Map<string, ReturnType<typeof statusAnswer>>()
  for (const posted of state.statuses(sha)) {
    const status = statusAnswer(call, posted)
    const { created_on } = byKey.get(status.key) ?? status
    byKey.set(status.key, { ...status, created_on })
  }
  return paged(call, [...byKey.values(), ...runs.map((run) => statusOfRun(call, run))])
}

function pipelines(call: Call): Reply {
  const { state, query } = call
  const runs = state.runs(query.get('target.commit.hash') ?? undefined).filter(({ suite }) => suite.isRunByHost)
  // Its pages have no links.
  const { next: _, ...page } = pageOf(
    call,
    runs.toReversed().map((run) => pipelineAnswer(call, run)),
  )
  return ok(page)
}

function pullRequests(call: Call): Reply {
  const { state, query } = call
  const states = query.getAll('state')
  const answers = state.pullRequests().map((one) => pullRequestAnswer(call, one))
  const chosen = answers.filter((one) => (states.length === 0 ? one.state === 'OPEN' : states.includes(one.state)))
  return paged(call, query.get('sort') === '-id' ? chosen.toReversed() : chosen)
}

function pullRequest(call: Call): Reply {
  const found = call.state.pullRequest(Number(call.params.pull_request_id))
  return found ? ok(pullRequestAnswer(call, found)) : no(404, 'No such pull request')
}

function activity(call: Call): Reply {
  const { state, repository, params } = call
  const found = state.pullRequest(Number(params.pull_request_id))
  if (!found) return no(404, 'No such pull request')
  const events = repository.pullRequests.events(found.number, state.until)
  return paged(call, activityEntries(call, found, events))
}

function paged(call: Call, values: readonly unknown[]): Reply {
  return ok(pageOf(call, values))
}

function pageOf({ api, path, query }: Call, all: readonly unknown[]) {
  const pagelen = Math.min(Number(query.get('pagelen') ?? 10), 100)
  const page = Number(query.get('page') ?? 1)
  const values = all.slice((page - 1) * pagelen, page * pagelen)
  const next = new URL(api + path)
  next.searchParams.set('page', String(page + 1))
  return { values, pagelen, page, size: all.length, ...(page * pagelen < all.length ? { next: next.href } : {}) }
}
