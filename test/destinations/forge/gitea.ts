/** A stand-in for Gitea 1.25 and Forgejo 16: their routes over the neutral model. */
import {
  activityAnswers,
  branchAnswer,
  commitAnswer,
  type GiteaWays,
  issueAnswer,
  pullAsIssueAnswer,
  pullRequestAnswer,
  releaseAnswer,
  repositoryAnswer,
  statusAnswers,
  tagAnswer,
  timelineAnswers,
  userAnswer,
} from './gitea-answers.ts'
import { jobAnswers, runAnswers, taskAnswers } from './gitea-runs.ts'
import { type AnswerCheck, answerCheck } from './schema.ts'
import {
  type Call,
  type CodeHostKind,
  type PlainCall,
  type Reply,
  type Route,
  StandIn,
  type StandInOptions,
} from './stand-in.ts'

const DEFAULT_PAGE = 30
const LARGEST_PAGE = 50

const REQUIRED = {
  Repository: ['id', 'full_name', 'created_at', 'original_url'],
  Branch: ['name', 'commit'],
  Activity: ['repo_id', 'op_type', 'ref_name', 'content', 'created'],
  PullRequest: ['number', 'state', 'merged', 'base', 'head', 'created_at'],
  PRBranchInfo: ['ref', 'sha', 'repo_id'],
  Issue: ['number', 'state', 'repository'],
  CommitStatus: ['id', 'context', 'status', 'created_at', 'url'],
  Release: ['tag_name', 'draft', 'prerelease', 'created_at'],
  Tag: ['name', 'id', 'commit'],
}

const ok = (body: unknown): Reply => ({ status: 200, body })
const failure = (status: number, message: string): Reply => ({
  status,
  body: { message, url: 'https://example.com/api' },
})
const notFound = (): Reply => failure(404, "The target couldn't be found.")
const found = <T>(thing: T | undefined, answer: (thing: T) => unknown): Reply =>
  thing === undefined ? notFound() : ok(answer(thing))

/** One page of a list, as far as the host gives it out at a time. */
function page(list: readonly unknown[], { query }: Pick<Call, 'query'>): Reply {
  const size = Math.min(Number(query.get('limit') ?? DEFAULT_PAGE), LARGEST_PAGE)
  const begin = (Number(query.get('page') ?? 1) - 1) * size
  return { ...ok(list.slice(begin, begin + size)), headers: { 'x-total-count': String(list.length) } }
}

/** One page of a list that tells how much there is. */
function counted(name: string, list: readonly unknown[], call: Pick<Call, 'query'>): Reply {
  return ok({ [name]: page(list, call).body, total_count: list.length })
}

/** Some entries are taken out of a page once it is read: it can be empty before the end. The server's own list is then null. */
function shownOf({ body, ...reply }: Reply): Reply {
  const entries = (body as readonly { readonly type: string }[]).filter(({ type }) => type !== 'code')
  const headers = { 'x-total-count': String(entries.length) }
  return { ...reply, headers, body: entries.length > 0 ? entries : null }
}

function newWays(flavour: GiteaWays['flavour']): GiteaWays {
  const sets = { hidden: new Set<string>(), deleted: new Set<string>(), names: new Map<string, string>() }
  return { flavour, ...sets, mergingByHand: new Set(), migrated: new Set(), ...versionOf(flavour) }
}

/** What is told depends on the version: Forgejo, and Gitea before the middle of 2025, do not tell whether merges by hand are allowed. */
function versionOf(flavour: GiteaWays['flavour']) {
  const runs = { runs: 'jobs', ghost: 'null' } as const
  return { ...runs, tellsManualMerges: flavour === 'gitea', hasTimeline: true, publishesTimes: false }
}

function giteaKind(ways: GiteaWays): CodeHostKind {
  const place = ({ api }: PlainCall) => ({ api, ways })
  const ofRepository = (path: string, route: Omit<Route, 'template'>): Route => ({
    ...route,
    template: `/repos/{owner}/{repo}${path}`,
    ...(route.described ? { described: `/repos/{owner}/{repo}${route.described}` } : {}),
  })

  return {
    name: 'Gitea',
    basePath: '/api/v1',
    check: checkOf(ways),
    sharesNumbers: true,
    pullRef: (number) => `refs/pull/${number}/head`,
    find: ({ owner, repo }) => ({ slug: `${owner}/${repo}` }),
    moved: ({ slug }, { api, path }) => ({
      status: 307,
      headers: { location: new URL(api).pathname + path.replace(/^\/repos\/[^/]+\/[^/?]+/, `/repos/${slug}`) },
    }),
    notFound,
    badCredentials: () => failure(401, 'user does not exist'),
    // Code is refused aloud, everything else is not there.
    forbidden: (needs) => (needs === 'contents' ? failure(403, 'user should have a permission to read') : notFound()),
    plainRoutes: [
      {
        template: '/version',
        answer: () => ok({ version: ways.flavour === 'gitea' ? '1.25.3' : '16.0.1+gitea-1.22.0' }),
      },
      { template: '/user', answer: ({ token }) => account(token, ways) },
    ],
    routes: [
      ofRepository('', { answer: (call) => ok(repositoryAnswer(call.repository, place(call))) }),
      ofRepository('/branches', {
        needs: 'contents',
        answer: (call) =>
          page(
            call.state.branches().map(({ name, sha }) => branchAnswer(name, sha, call.repository)),
            call,
          ),
      }),
      ofRepository('/branches/{branch}', {
        wide: ['branch'],
        needs: 'contents',
        answer: ({ state, params, repository }) =>
          found(state.tip(params.branch!), (tip) => branchAnswer(params.branch!, tip, repository)),
      }),
      ofRepository('/git/commits/{sha}', {
        needs: 'contents',
        answer: async (call) =>
          found(await call.state.commit(call.params.sha!), (sha) => commitAnswer(sha, call.repository, place(call))),
      }),
      ofRepository('/commits', {
        needs: 'contents',
        async answer(call) {
          const { state, repository, query } = call
          const tip = await state.resolve(query.get('sha') ?? repository.defaultBranch)
          if (tip === undefined) return notFound()
          const history = [...(await repository.pool.history(tip))]
          return page(
            history.map((sha) => commitAnswer(sha, repository, place(call))),
            call,
          )
        },
      }),
      ofRepository('/statuses/{sha}', {
        described: '/commits/{ref}/statuses',
        needs: 'contents',
        answer: (call) =>
          page(statusAnswers(call.params.sha!, call.repository, call.state, place(call)).toReversed(), call),
      }),
      ofRepository('/actions/runs', {
        needs: 'actions',
        answer(call) {
          const all = runAnswers(call.repository, call.state, place(call), call.query.get('head_sha'))
          return ways.runs === 'none' || (ways.runs === 'tasks' && ways.flavour === 'gitea')
            ? notFound()
            : counted('workflow_runs', all, call)
        },
      }),
      ofRepository('/actions/runs/{run}/jobs', {
        needs: 'actions',
        answer(call) {
          const jobs = jobAnswers(Number(call.params.run), call.repository, call.state, place(call))
          if (!jobs || ways.runs !== 'jobs') return notFound()
          return ways.flavour === 'gitea' ? counted('jobs', jobs, call) : ok(jobs)
        },
      }),
      ofRepository('/actions/tasks', {
        needs: 'actions',
        answer: (call) =>
          ways.runs === 'none'
            ? notFound()
            : counted('workflow_runs', taskAnswers(call.repository, call.state, place(call)), call),
      }),
      ofRepository('/activities/feeds', {
        async answer(call) {
          const { logStatus } = call.repository.answering
          if (logStatus !== 200) return failure(logStatus, 'no feed')
          const entries = call.state.pushes().map((push) => activityAnswers(push, call.repository, place(call)))
          return page((await Promise.all(entries)).flat(), call)
        },
      }),
      ofRepository('/pulls', {
        needs: 'pull_requests',
        answer: (call) =>
          page(
            call.state
              .pullRequests()
              .filter(
                ({ state }) =>
                  (state === 'open' ? 'open' : 'closed') === (call.query.get('state') ?? 'open') ||
                  call.query.get('state') === 'all',
              )
              .toReversed()
              .map((pull) => pullRequestAnswer(pull, call.repository, call.state, place(call))),
            call,
          ),
      }),
      ofRepository('/pulls/{index}', {
        needs: 'pull_requests',
        answer: (call) =>
          found(call.state.pullRequest(Number(call.params.index)), (pull) =>
            pullRequestAnswer(pull, call.repository, call.state, place(call)),
          ),
      }),
      ofRepository('/issues', {
        needs: 'issues',
        answer: (call) =>
          page(
            call.state
              .issues()
              .toReversed()
              .map((issue) => issueAnswer(issue, call.repository, place(call))),
            call,
          ),
      }),
      ofRepository('/issues/{index}', {
        needs: 'issues',
        answer(call) {
          const number = Number(call.params.index)
          const pull = call.state.pullRequest(number)
          if (pull) return ok(pullAsIssueAnswer(pull, call.repository, place(call)))
          const issue = call.state.issue(number)
          return found(issue?.isDeleted ? undefined : issue, (one) => issueAnswer(one, call.repository, place(call)))
        },
      }),
      ofRepository('/issues/{index}/timeline', {
        needs: 'issues',
        answer(call) {
          const { state, repository, params, query } = call
          const number = Number(params.index)
          const log = state.pullRequest(number) ? repository.pullRequests : state.issue(number) && repository.issues
          if (!log || !ways.hasTimeline) return notFound()
          const since = Date.parse(query.get('since') ?? '1970-01-01T00:00:00Z')
          const all = timelineAnswers(log.events(number, state.until), repository, place(call))
          return shownOf(
            page(
              all.filter(({ updated_at }) => Date.parse(updated_at) >= since),
              call,
            ),
          )
        },
      }),
      ofRepository('/releases', {
        needs: 'contents',
        answer: (call) =>
          page(
            call.state
              .releases()
              .filter(({ isDraft }) => !isDraft)
              .map((one) => releaseAnswer(one, call.repository, place(call))),
            call,
          ),
      }),
      ofRepository('/releases/tags/{tag}', {
        needs: 'contents',
        answer(call) {
          // In any case of its letters.
          const tag = call.params.tag!.toLowerCase()
          const release = call.state.releases().findLast((one) => one.tag.toLowerCase() === tag)
          return found(release, (one) => releaseAnswer(one, call.repository, place(call)))
        },
      }),
      ofRepository('/tags/{tag}', {
        wide: ['tag'],
        needs: 'contents',
        answer: ({ state, params }) => found(state.tag(params.tag!), (tag) => tagAnswer(params.tag!, tag)),
      }),
    ],
  }
}

/** It tells what a token may do as it refuses. */
function account(token: PlainCall['token'], { flavour }: GiteaWays): Reply {
  if (!token) return failure(401, 'token is required')
  const { scopes = 'read:issue,read:repository', account = 'reader' } = token
  if (/\b(?:all|read:user|write:user)\b/.test(scopes)) return ok(userAnswer(account))
  const refusal = 'token does not have at least one of required scope(s)'
  const told = flavour === 'gitea' ? `, required=[read:user], token scope=${scopes}` : ': [read:user]'
  return failure(403, refusal + told)
}

const description = (isClosed: boolean) => answerCheck('gitea/openapi-extract.json', { isClosed, required: REQUIRED })
const DESCRIBED: Readonly<Record<GiteaWays['flavour'], AnswerCheck>> = {
  gitea: description(true),
  forgejo: description(false),
}

/**
 * The description is Gitea's. It knows no null: the host writes null for what it leaves out. Forgejo has members of its own. The list of
 * issues is not in the extract, what it lists is.
 */
function checkOf({ flavour }: GiteaWays): CodeHostKind['check'] {
  const check = DESCRIBED[flavour]
  const issues = '/repos/{owner}/{repo}/issues'
  return (template, status, body) => {
    const told = withoutNulls(body ?? [])
    if (template !== issues || status !== 200) return check(template, status, told)
    return (told as unknown[]).map((one) => check(`${issues}/{index}`, status, one)).find(Boolean)
  }
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  const told = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(told.map(([name, member]) => [name, withoutNulls(member)]))
}

const WAYS = new WeakMap<StandIn, GiteaWays>()

export async function startGitea(
  options: StandInOptions = {},
  flavour: GiteaWays['flavour'] = 'gitea',
): Promise<StandIn> {
  const ways = newWays(flavour)
  const standIn = await StandIn.start(giteaKind(ways), options)
  WAYS.set(standIn, ways)
  return standIn
}

/** How a server answers, to be changed. */
export function waysOf(standIn: StandIn): GiteaWays {
  return WAYS.get(standIn)!
}
