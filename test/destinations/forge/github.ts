/** A GitHub stand-in: its REST API, read-only. */
import {
  activityAnswer,
  commitAnswer,
  rateLimitAnswer,
  refAnswer,
  repositoryAnswer,
  tagAnswer,
} from './github-answers.ts'
import { appAnswer } from './github-apps.ts'
import {
  checkRuns,
  checkSuites,
  combinedStatus,
  jobs,
  statuses,
  workflowRun,
  workflowRuns,
} from './github-check-routes.ts'
import { timelineQuery } from './github-graphql.ts'
import { no, noCommit, ok, paged, resolved } from './github-replies.ts'
import {
  assetAnswer,
  issueAnswer,
  pullRequestAnswer,
  pullRequestAsIssue,
  pullRequestInList,
  releaseAnswer,
  timelineAnswer,
} from './github-threads.ts'
import type { Call, CodeHostKind, Reply } from './kind.ts'
import type { Release } from './releases.ts'
import { type AnswerCheck, answerCheck } from './schema.ts'
import { StandIn, type StandInOptions } from './stand-in.ts'

const REPOSITORY = '/repos/{owner}/{repo}'
const RUNS = `${REPOSITORY}/actions/runs`
const LIMIT = 5000
const HOUR_MS = 3_600_000

const GITHUB: CodeHostKind = {
  name: 'GitHub',
  basePath: '',
  check: withWhatIsUnsaid(answerCheck('github/openapi-readonly.json')),
  sharesNumbers: true,
  pullRef: (number) => `refs/pull/${number}/head`,
  makesTestMerges: true,
  hasEtags: true,
  routes: [
    { template: REPOSITORY, answer: ({ api, repository }) => ok(repositoryAnswer(api, repository)) },
    { template: `${REPOSITORY}/git/ref/{ref}`, wide: ['ref'], needs: 'contents', answer: ref },
    { template: `${REPOSITORY}/compare/{basehead}`, wide: ['basehead'], needs: 'contents', answer: compare },
    { template: `${REPOSITORY}/tags`, needs: 'contents', answer: tags },
    { template: `${REPOSITORY}/activity`, needs: 'contents', answer: activity },
    {
      template: `${REPOSITORY}/commits/{commit_sha}/branches-where-head`,
      needs: 'contents',
      answer: branchesWhereHead,
    },
    { template: `${REPOSITORY}/commits/{commit_sha}/pulls`, needs: 'pull_requests', answer: pullsOfCommit },
    { template: `${REPOSITORY}/commits/{ref}/check-runs`, wide: ['ref'], needs: 'checks', answer: checkRuns },
    { template: `${REPOSITORY}/commits/{ref}/check-suites`, wide: ['ref'], needs: 'checks', answer: checkSuites },
    { template: `${REPOSITORY}/commits/{ref}/status`, wide: ['ref'], needs: 'statuses', answer: combinedStatus },
    { template: `${REPOSITORY}/commits/{ref}/statuses`, wide: ['ref'], needs: 'statuses', answer: statuses },
    { template: `${REPOSITORY}/commits/{ref}`, wide: ['ref'], needs: 'contents', answer: commit },
    { template: `${REPOSITORY}/commits`, needs: 'contents', answer: commits },
    {
      template: `${REPOSITORY}/pulls`,
      described: `${REPOSITORY}/commits/{commit_sha}/pulls`,
      needs: 'pull_requests',
      answer: pulls,
    },
    { template: `${REPOSITORY}/pulls/{pull_number}`, needs: 'pull_requests', answer: pull },
    { template: `${REPOSITORY}/issues`, needs: 'issues', answer: issues },
    { template: `${REPOSITORY}/issues/{issue_number}`, needs: 'issues', answer: issue },
    { template: `${REPOSITORY}/issues/{issue_number}/timeline`, needs: 'issues', answer: timeline },
    { template: `${REPOSITORY}/issues/{issue_number}/events`, needs: 'issues', answer: timeline },
    { template: `${REPOSITORY}/git/tags/{tag_sha}`, needs: 'contents', answer: tagObject },
    { template: `${REPOSITORY}/releases`, needs: 'contents', answer: releases },
    { template: `${REPOSITORY}/releases/{release_id}/assets`, needs: 'contents', answer: assets },
    { template: `${REPOSITORY}/releases/tags/{tag}`, wide: ['tag'], needs: 'contents', answer: release },
    { template: RUNS, needs: 'actions', answer: workflowRuns },
    { template: `${RUNS}/{run_id}`, needs: 'actions', answer: workflowRun },
    { template: `${RUNS}/{run_id}/jobs`, needs: 'actions', answer: jobs },
  ],
  answerFirst: appAnswer,
  graphql: { path: '/graphql', answer: timelineQuery },
  plainRoutes: [{ template: '/rate_limit', answer: ({ standIn }) => ok(rateLimitAnswer(rate(standIn))) }],
  find: ({ owner, repo }) => ({ slug: `${owner}/${repo}` }),
  rewrite: byNumber,
  moved: ({ id }, { api, path }) => {
    const location = `${api}/repositories/${id}${path.replace(/^\/repos\/[^/?]+\/[^/?]+/, '')}`
    const body = { message: 'Moved Permanently', url: location, documentation_url: 'https://docs.github.com/rest' }
    return { status: 301, body, headers: { location } }
  },
  notFound: () => no(404, 'Not Found'),
  badCredentials: () => no(401, 'Bad credentials'),
  // Without the right to its contents, GitHub says nothing of them; of the rest it says that the token lacks the right.
  forbidden: (needs) =>
    needs === 'contents' ? no(404, 'Not Found') : no(403, 'Resource not accessible by personal access token'),
  headers: (standIn, token) => {
    const { limit, remaining, used, reset } = rate(standIn)
    return {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-used': String(used),
      'x-ratelimit-reset': String(reset),
      'x-github-media-type': 'github.v3; format=json',
      ...(token?.scopes === undefined ? {} : { 'x-oauth-scopes': token.scopes }),
    }
  },
}

export function startGitHub(options?: StandInOptions): Promise<StandIn> {
  return StandIn.start(GITHUB, options)
}

/** Entries of lists that the description at hand leaves out, as it has them alone. */
const ENTRIES: Readonly<Record<string, { readonly as: string; readonly in?: string }>> = {
  [`${REPOSITORY}/issues`]: { as: `${REPOSITORY}/issues/{issue_number}` },
  [`${REPOSITORY}/releases`]: { as: `${REPOSITORY}/releases/tags/{tag}` },
  [RUNS]: { as: `${RUNS}/{run_id}`, in: 'workflow_runs' },
}

/** The description does not say that a deleted fork is no repository; and the one at hand lacks some lists. */
function withWhatIsUnsaid(check: AnswerCheck): AnswerCheck {
  const filled = (pull: unknown) => {
    const { head, base } = (pull ?? {}) as { head?: { repo: unknown }; base?: { repo: unknown } }
    return head?.repo === null ? { ...(pull as object), head: { ...head, repo: base?.repo } } : pull
  }
  return (template, status, body) => {
    const entries = status === 200 ? ENTRIES[template] : undefined
    const listed = entries?.in === undefined ? body : (body as Readonly<Record<string, unknown>>)[entries.in]
    const problems = entries ? (listed as unknown[]).map((entry) => check(entries.as, 200, entry)) : []
    const whole = check(template, status, Array.isArray(body) ? body.map(filled) : filled(body))
    return [whole, ...problems].find((problem) => problem !== undefined)
  }
}

/** Every repository has a second address, which keeps when it is renamed. */
function byNumber(path: string, standIn: StandIn): string {
  const [, id, rest = ''] = /^\/repositories\/(\d+)(\/.*)?$/.exec(path) ?? []
  const found = id === undefined ? undefined : standIn.find({ id: Number(id) })
  return found ? `/repos/${found.repository.slug}${rest}` : path
}

/** Of the hour that is running, by the host's clock. */
const hours = new WeakMap<StandIn, { readonly endsAt: number; readonly before: number }>()

function rate(standIn: StandIn) {
  const { requests } = standIn
  const known = hours.get(standIn)
  const isOver = known === undefined || standIn.now() >= known.endsAt
  const hour = isOver ? { endsAt: standIn.now() + HOUR_MS, before: requests.length - 1 } : known
  hours.set(standIn, hour)
  const used = Math.min(requests.length - hour.before, LIMIT)
  return { limit: LIMIT, used, remaining: LIMIT - used, reset: Math.ceil(hour.endsAt / 1000) }
}

const isEmpty = () => no(409, 'Git Repository is empty.')

function ref({ api, repository, state, params }: Call): Reply {
  if (state.isEmpty) return isEmpty()
  const [, number] = /^pull\/(\d+)\/head$/.exec(params.ref!) ?? []
  const head = number === undefined ? undefined : state.keptHead(Number(number))
  const object = head === undefined ? state.object(params.ref!) : { type: 'commit', sha: head }
  return object ? ok(refAnswer(api, repository.slug, `refs/${params.ref}`, object)) : no(404, 'Not Found')
}

/** By name, the last first. */
function tags({ api, repository, state, query }: Call): Reply {
  const root = `${api}/repos/${repository.slug}`
  const all = state.tags().toSorted((one, other) => (one.name < other.name ? 1 : -1))
  const { slice, link } = paged(query, 30)
  const shown = slice(all).map(({ name, sha }) => ({
    ...{ name, node_id: `REF_${name}`, commit: { sha, url: `${root}/commits/${sha}` } },
    ...{ zipball_url: `${root}/zipball/refs/tags/${name}`, tarball_url: `${root}/tarball/refs/tags/${name}` },
  }))
  return ok(shown, link(all.length, `${api}/repositories/${repository.id}/tags`))
}

async function compare(call: Call): Promise<Reply> {
  const { api, repository, query, params } = call
  const { pool, slug } = repository
  const [baseName = '', headName = ''] = params.basehead!.split('...')
  const [base, head] = await Promise.all([resolved(call, baseName), resolved(call, headName)])
  if (!base || !head) return no(404, 'Not Found')
  const mergeBase = await pool.mergeBase(base, head)
  if (!mergeBase) return no(404, `No common ancestor between ${baseName} and ${headName}.`)

  const [ahead, behind] = await Promise.all([pool.between(base, head), pool.between(head, base)])
  const { page, slice } = paged(query, 250, 250)
  const url = `${api}/repos/${slug}/compare/${base}...${head}`
  const shown = (sha: string) => commitAnswer(api, slug, pool.show(sha))
  return ok({
    url,
    html_url: url,
    permalink_url: url,
    diff_url: `${url}.diff`,
    patch_url: `${url}.patch`,
    base_commit: shown(base),
    merge_base_commit: shown(mergeBase),
    status: statusOf(ahead.length, behind.length),
    ahead_by: ahead.length,
    behind_by: behind.length,
    total_commits: ahead.length,
    commits: slice(ahead).map(shown),
    ...(page === 1 ? { files: [] } : {}),
  })
}

function statusOf(aheadBy: number, behindBy: number): 'identical' | 'ahead' | 'behind' | 'diverged' {
  if (aheadBy === 0 && behindBy === 0) return 'identical'
  if (behindBy === 0) return 'ahead'
  return aheadBy === 0 ? 'behind' : 'diverged'
}

/** Newest first, paged by a cursor in the `Link` header. */
function activity({ api, repository, query }: Call): Reply {
  const { logStatus } = repository.answering
  if (logStatus !== 200) return no(logStatus, 'Not Found')
  const wanted = query.get('ref')
  const type = query.get('activity_type')
  const perPage = Number(query.get('per_page') ?? 30)
  const newestFirst = repository
    .listed()
    .filter(({ ref }) => ref.startsWith('refs/heads/') && (wanted === null || ref === wanted))
    .filter((push) => type === null || activityAnswer(api, push).activity_type === type)
  const after = query.get('after')
  const start = after === null ? 0 : newestFirst.findIndex(({ id }) => `cursor-${id}` === after) + 1
  const page = newestFirst.slice(start, start + perPage)
  const hasMore = start + perPage < newestFirst.length
  const next = new URL(`${api}/repositories/${repository.id}/activity?${query}`)
  next.searchParams.set('after', `cursor-${page.at(-1)?.id}`)
  return ok(
    page.map((entry) => activityAnswer(api, entry)),
    hasMore ? { link: `<${next}>; rel="next"` } : {},
  )
}

async function branchesWhereHead({ api, repository, state, params }: Call): Promise<Reply> {
  const sha = params.commit_sha!
  if (state.isEmpty) return isEmpty()
  if ((await state.commit(sha)) === undefined) return noCommit(sha)
  const commit = { sha, url: `${api}/repos/${repository.slug}/commits/${sha}` }
  return ok(state.branchesWithTip(sha).map((name) => ({ name, commit, protected: false })))
}

async function commit(call: Call): Promise<Reply> {
  const { api, repository, state, params } = call
  if (state.isEmpty) return isEmpty()
  const sha = await resolved(call, params.ref!)
  if (sha === undefined) return noCommit(params.ref!)
  return ok(commitAnswer(api, repository.slug, repository.pool.show(sha), authorOf(repository, sha)))
}

const authorOf = ({ pushes }: Call['repository'], sha: string) => pushes.find(({ after }) => after === sha)?.by

/** Of a branch, from its tip back; until a time, by the dates that their authors gave them. */
async function commits({ api, repository, state, query }: Call): Promise<Reply> {
  if (state.isEmpty) return isEmpty()
  const tip = await state.resolve(query.get('sha') ?? repository.defaultBranch)
  if (tip === undefined) return no(404, 'Not Found')
  const until = Date.parse(query.get('until') ?? '') || Number.POSITIVE_INFINITY
  const all = [...(await repository.pool.history(tip))].map((sha) => repository.pool.show(sha))
  const found = all.filter(({ date }) => date.getTime() <= until)
  const { slice, link } = paged(query, 30)
  const shown = slice(found).map((one) => commitAnswer(api, repository.slug, one, authorOf(repository, one.sha)))
  return ok(shown, link(found.length, `${api}/repositories/${repository.id}/commits`))
}

/** Those that brought it onto the default branch, or have it while they are open. */
async function pullsOfCommit({ api, repository, state, params }: Call): Promise<Reply> {
  const { pool } = repository
  const sha = await state.commit(params.commit_sha!)
  if (sha === undefined) return noCommit(params.commit_sha!)
  const having = await Promise.all(
    state.pullRequests().map(async (pull) => {
      const isHere = pull.landed === sha || (await pool.between(pull.baseSha, pull.headSha)).includes(sha)
      return isHere ? [pull] : []
    }),
  )
  return ok(having.flat().map((pull) => pullRequestInList(api, repository, pull)))
}

function pulls({ api, repository, state, query }: Call): Reply {
  const [wanted = 'open', base, head] = ['state', 'base', 'head'].map((name) => query.get(name) ?? undefined)
  const found = state
    .pullRequests()
    .filter((pull) => wanted === 'all' || (pull.state === 'open') === (wanted === 'open'))
    .filter((pull) => base === undefined || pull.base === base)
    .filter((pull) => head === undefined || `${pull.from.slug.split('/')[0]}:${pull.head}` === head)
    .toReversed()
  const isUpdated = query.get('sort') === 'updated'
  if (isUpdated) found.sort((one, other) => other.updatedAt - one.updatedAt)
  const { slice, link } = paged(query, 30)
  const shown = slice(found).map((pull) => pullRequestInList(api, repository, pull))
  return ok(shown, link(found.length, `${api}/repositories/${repository.id}/pulls`))
}

function pull({ api, repository, state, params }: Call): Reply {
  const found = state.pullRequest(Number(params.pull_number))
  return found ? ok(pullRequestAnswer(api, repository, found)) : no(404, 'Not Found')
}

/** Newest first, pull requests among them. */
function issues({ api, repository, state, query }: Call): Reply {
  const wanted = query.get('state') ?? 'open'
  const found = [
    ...state.pullRequests().map((pull) => pullRequestAsIssue(api, repository, pull)),
    ...state.issues().map((issue) => issueAnswer(api, repository, issue, false)),
  ]
    .filter((issue) => wanted === 'all' || issue.state === wanted)
    .sort((one, other) => other.number - one.number)
  const { slice, link } = paged(query, 30)
  return ok(slice(found), link(found.length, `${api}/repositories/${repository.id}/issues`))
}

function issue(call: Call): Reply {
  const { api, repository, state, params } = call
  const number = Number(params.issue_number)
  const pull = state.pullRequest(number)
  if (pull) return ok(pullRequestAsIssue(api, repository, pull))
  const found = state.issue(number)
  if (!found) return no(404, 'Not Found')
  const gone = goneElsewhere(call, '')
  if (gone) return gone
  const wasReopened = repository.issues.events(number, state.until).some(({ kind }) => kind === 'reopened')
  return ok(issueAnswer(api, repository, found, wasReopened))
}

/** Of an issue that was moved or deleted. */
function goneElsewhere({ api, state, params, token }: Call, rest: string): Reply | undefined {
  const found = state.issue(Number(params.issue_number))
  if (found?.isDeleted) return no(410, 'This issue was deleted')
  if (!found?.movedTo) return undefined
  const { repository, number } = found.movedTo
  if (repository.isPrivate && !token?.repositories?.includes(repository)) return no(404, 'Not Found')
  const location = `${api}/repositories/${repository.id}/issues/${number}${rest}`
  const body = { message: 'Moved Permanently', url: location, documentation_url: 'https://docs.github.com/rest' }
  return { status: 301, body, headers: { location } }
}

function timeline(call: Call): Reply {
  const { api, repository, state, params, query } = call
  const number = Number(params.issue_number)
  const isPull = state.pullRequest(number) !== undefined
  if (!isPull && !state.issue(number)) return no(404, 'Not Found')
  const what = call.path.includes('/timeline') ? 'timeline' : 'events'
  const gone = goneElsewhere(call, `/${what}`)
  if (gone) return gone
  const events = (isPull ? repository.pullRequests : repository.issues).events(number, state.until)
  const { slice, link } = paged(query, 30)
  const all = timelineAnswer(api, repository, events)
  return ok(slice(all), link(all.length, `${api}/repositories/${repository.id}/issues/${number}/${what}`))
}

async function release(call: Call): Promise<Reply> {
  const found = call.state.releaseOf(call.params.tag!)
  return found ? ok(await releaseOf(call, found)) : no(404, 'Not Found')
}

async function releaseOf({ api, repository, state }: Call, release: Release) {
  const sha = state.tag(release.tag)?.sha ?? (await state.resolve(release.target))
  const date = sha === undefined ? release.createdAt : repository.pool.show(sha).date.getTime()
  return releaseAnswer(api, repository, release, date)
}

/** Published ones: drafts are shown to who may write. */
async function releases(call: Call): Promise<Reply> {
  const { api, repository, state, query } = call
  const found = state.releases().filter(({ isDraft }) => !isDraft)
  const { slice, link } = paged(query, 30)
  const shown = await Promise.all(slice(found.toReversed()).map((one) => releaseOf(call, one)))
  return ok(shown, link(found.length, `${api}/repositories/${repository.id}/releases`))
}

function assets({ api, repository, state, params, query }: Call): Reply {
  const found = state.release(Number(params.release_id))
  if (!found) return no(404, 'Not Found')
  const { slice, link } = paged(query, 30)
  const shown = slice(found.assets).map((asset) => assetAnswer(api, repository, found.tag, asset))
  return ok(shown, link(found.assets.length, `${api}/repositories/${repository.id}/releases/${found.id}/assets`))
}

function tagObject({ api, repository, state, params }: Call): Reply {
  const found = state.tags().find(({ object, sha }) => object === params.tag_sha && object !== sha)
  return found ? ok(tagAnswer(api, repository.slug, found)) : no(404, 'Not Found')
}
