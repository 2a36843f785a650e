/** GitLab's REST API as a table of routes over the model that all code hosts share, for the stand-in. */
import { Ajv } from 'ajv'
import {
  branchAnswer,
  commitAnswer,
  eventAnswers,
  issueAnswer,
  mergeRequestAnswer,
  noteAnswers,
  projectAnswer,
  releaseAnswer,
  settingsOf,
  stateEventAnswers,
  versionAnswers,
} from './gitlab-answers.ts'
import {
  bridgeAnswers,
  jobAnswers,
  pipelineAnswer,
  pipelinesOf,
  type ShownPipeline,
  statusAnswers,
} from './gitlab-pipelines.ts'
import type { Call, CodeHostKind, Reply, Right, Route, Token } from './kind.ts'
import type { PullRequest } from './pull-requests.ts'
import { type AnswerCheck, answerCheck } from './schema.ts'
import { may } from './stand-in.ts'

const DAY_MS = 24 * 60 * 60_000
/** The first role that sees confidential issues. */
const PLANNER = 15

const ok = (body: unknown): Reply => ({ status: 200, body })
const notFound = (what = 'Not found'): Reply => ({ status: 404, body: { message: `404 ${what}` } })

/** One page of a list. @param isHidden left out after the pages are cut */
function page<T>(
  { query, path }: Call,
  list: readonly T[],
  isHidden: (one: T) => boolean = () => false,
): Reply & { body: T[] } {
  const [size, at] = [Number(query.get('per_page') ?? 20), Number(query.get('page') ?? 1)]
  const next = list.length > size * at ? String(at + 1) : ''
  const link = next === '' ? {} : { link: `<https://gitlab.test${path}&page=${next}>; rel="next"` }
  const body = list.slice(size * (at - 1), size * at).filter((one) => !isHidden(one))
  return {
    status: 200,
    body,
    headers: { 'x-page': String(at), 'x-per-page': String(size), 'x-next-page': next, ...link },
  }
}

/** A token that is for no projects in particular is a member's of all that are public. */
function isMember({ token, repository }: Call): boolean {
  return token !== undefined && (token.repositories?.includes(repository) ?? !repository.isPrivate)
}
const sees = (call: Call, right: Right) => !call.repository.isPrivate || (isMember(call) && may(call.token!, right))
const seesConfidential = (call: Call) => isMember(call) && settingsOf(call.repository).role >= PLANNER

/** A name, or an id, which git takes for an id first. */
async function resolved({ state }: Call, ref: string): Promise<string | undefined> {
  const [, number] = /^refs\/merge-requests\/(\d+)\/head$/.exec(ref) ?? []
  if (number !== undefined) return state.keptHead(Number(number))
  return /^[0-9a-f]{40}$/.test(ref) ? state.commit(ref) : state.resolve(ref)
}

async function mergeBase(call: Call): Promise<Reply> {
  const refs = call.query.getAll('refs[]')
  const found = await Promise.all(refs.map((ref) => resolved(call, ref)))
  const unknown = refs.filter((_, index) => found[index] === undefined)
  if (unknown.length > 0)
    return { status: 400, body: { message: `400 Bad request - Could not find ref: ${unknown.join(', ')}` } }
  const base = await call.repository.pool.mergeBase(found[0]!, found[1]!)
  return base === undefined ? notFound('Merge Base Not Found') : ok(commitAnswer(call.repository, base))
}

function events(call: Call): Reply {
  const { repository, state, query } = call
  if (repository.answering.logStatus !== 200)
    return { status: repository.answering.logStatus, body: { message: 'no log' } }
  // A day, of which the end is meant.
  const after = query.get('after')
  const from = after === null ? 0 : Date.parse(after) + DAY_MS
  const shown = eventAnswers(repository, state.pushes()).filter(({ answer }) => Date.parse(answer.created_at) >= from)
  const { body, ...reply } = page(call, shown, ({ isHidden }) => isHidden)
  return { ...reply, body: body.map(({ answer }) => answer) }
}

function pipelineRoute(part: 'jobs' | 'bridges'): Route {
  return {
    template: `/projects/{id}/pipelines/{pipeline_id}/${part}`,
    needs: 'checks',
    answer(call) {
      const { repository, state, params, query } = call
      const all = pipelinesOf(repository, state)
      const pipeline = all.find(({ id }) => id === Number(params.pipeline_id))
      if (!pipeline) return notFound()
      return page<unknown>(
        call,
        part === 'jobs'
          ? jobAnswers(repository, pipeline, query.get('include_retried') === 'true')
          : bridgeAnswers(repository, pipeline, all),
      )
    },
  }
}

/** To nobody without a token. */
function stateEventsRoute(of: 'issues' | 'merge_requests', parameter: string): Route {
  return {
    template: `/projects/{id}/${of}/${parameter}/resource_state_events`,
    needs: of === 'issues' ? 'issues' : 'pull_requests',
    answer(call) {
      const { repository, state, params, token } = call
      if (!token) return { status: 401, body: { message: '401 Unauthorized' } }
      const number = Number(params[parameter.slice(1, -1)])
      const found = of === 'issues' ? state.issue(number) : state.pullRequest(number)
      if (!found) return notFound()
      const [kind, log] =
        of === 'issues' ? (['Issue', repository.issues] as const) : (['MergeRequest', repository.pullRequests] as const)
      return page(call, stateEventAnswers(kind, found.id, log.events(number, state.until)))
    },
  }
}

const routes: readonly Route[] = [
  {
    template: '/projects/{id}',
    answer: (call) =>
      ok(projectAnswer(call.repository, { isMember: isMember(call), sees: (what) => sees(call, what) })),
  },
  {
    template: '/projects/{id}/repository/branches/{branch}',
    needs: 'contents',
    answer({ repository, state, params }) {
      const tip = state.tip(params.branch!)
      return tip === undefined ? notFound('Branch Not Found') : ok(branchAnswer(repository, params.branch!, tip))
    },
  },
  {
    template: '/projects/{id}/repository/tags',
    needs: 'contents',
    // The last first, of which no replica of the database tells.
    answer(call) {
      const { repository } = call
      const all = repository.asOf(repository.now()).tags().toReversed()
      return page(
        call,
        all.map(({ name, object: target, sha }) => ({
          ...{ name, target, message: '', protected: false, commit: commitAnswer(repository, sha) },
        })),
      )
    },
  },
  {
    template: '/projects/{id}/repository/tags/{tag_name}',
    needs: 'contents',
    answer({ repository, params }) {
      // No replica of the database tells it.
      const tag = repository.asOf(repository.now()).tag(params.tag_name!)
      if (!tag) return notFound('Tag Not Found')
      const { object: target, sha } = tag
      return ok({ name: params.tag_name, target, message: '', protected: false, commit: commitAnswer(repository, sha) })
    },
  },
  { template: '/projects/{id}/repository/merge_base', needs: 'contents', answer: mergeBase },
  {
    template: '/projects/{id}/repository/commits/{sha}',
    needs: 'contents',
    async answer(call) {
      const sha = await resolved(call, call.params.sha!)
      if (sha === undefined) return notFound('Commit Not Found')
      const { id: project_id } = call.repository
      return ok({ ...commitAnswer(call.repository, sha), status: null, last_pipeline: null, project_id })
    },
  },
  {
    template: '/projects/{id}/repository/commits/{sha}/refs',
    needs: 'contents',
    async answer(call) {
      const sha = await resolved(call, call.params.sha!)
      if (sha === undefined) return notFound('Commit Not Found')
      const names = await call.state.branchesContaining(sha)
      return page(
        call,
        names.map((name) => ({ type: 'branch', name })),
      )
    },
  },
  {
    template: '/projects/{id}/repository/commits/{sha}/statuses',
    needs: 'checks',
    // To nobody without a token, of public projects, too.
    answer: (call) =>
      call.token
        ? page(
            call,
            statusAnswers(pipelinesOf(call.repository, call.state).filter(({ sha }) => sha === call.params.sha)),
          )
        : { status: 401, body: { message: '401 Unauthorized' } },
  },
  { template: '/projects/{id}/events', answer: events },
  {
    template: '/projects/{id}/merge_requests',
    needs: 'pull_requests',
    answer(call) {
      const { repository, state, query } = call
      if (settingsOf(repository).off.has('merge_requests')) return { status: 403, body: { message: '403 Forbidden' } }
      const wanted = query.get('state')
      const isWanted = ({ state }: PullRequest) =>
        wanted === null || wanted === 'all' || state.replace('open', 'opened') === wanted
      const newest = state.pullRequests().filter(isWanted).toReversed()
      return page(
        call,
        newest.map((one) => mergeRequestAnswer(repository, one)),
      )
    },
  },
  {
    template: '/projects/{id}/merge_requests/{merge_request_iid}',
    needs: 'pull_requests',
    answer({ repository, state, params }) {
      const found = state.pullRequest(Number(params.merge_request_iid))
      if (!found || settingsOf(repository).off.has('merge_requests')) return notFound()
      const refs = { base_sha: found.baseSha, head_sha: found.headSha, start_sha: found.baseSha }
      return ok({ ...mergeRequestAnswer(repository, found), diff_refs: refs })
    },
  },
  {
    template: '/projects/{id}/issues',
    needs: 'issues',
    answer(call) {
      const { repository, state } = call
      const { off, confidential } = settingsOf(repository)
      const isShown = ({ number }: { readonly number: number }) => !confidential.has(number) || seesConfidential(call)
      // Turned off, it is empty.
      const shown = off.has('issues') ? [] : state.issues().filter(isShown)
      const answers = shown.map((issue) => issueAnswer(repository, issue))
      return page(
        call,
        answers.sort((one, other) => Date.parse(other.created_at) - Date.parse(one.created_at) || other.iid - one.iid),
      )
    },
  },
  {
    template: '/projects/{id}/issues/{issue_iid}',
    needs: 'issues',
    answer(call) {
      const { repository, state, params } = call
      const issue = state.issue(Number(params.issue_iid))
      const { off, confidential } = settingsOf(repository)
      const isHidden = off.has('issues') || (confidential.has(Number(params.issue_iid)) && !seesConfidential(call))
      return !issue || issue.isDeleted || isHidden ? notFound() : ok(issueAnswer(repository, issue))
    },
  },
  {
    template: '/projects/{id}/merge_requests/{merge_request_iid}/notes',
    needs: 'pull_requests',
    answer(call) {
      const { repository, state, params } = call
      const found = state.pullRequest(Number(params.merge_request_iid))
      if (!found) return notFound()
      return page(call, noteAnswers(repository.pullRequests.events(found.number, state.until)).toReversed())
    },
  },
  stateEventsRoute('issues', '{issue_iid}'),
  stateEventsRoute('merge_requests', '{merge_request_iid}'),
  {
    template: '/projects/{id}/merge_requests/{merge_request_iid}/versions',
    needs: 'pull_requests',
    answer(call) {
      const { repository, state, params, token } = call
      if (!token) return { status: 401, body: { message: '401 Unauthorized' } }
      const found = state.pullRequest(Number(params.merge_request_iid))
      if (!found) return notFound()
      return page(call, versionAnswers(found, repository.pullRequests.events(found.number, state.until)))
    },
  },
  {
    template: '/projects/{id}/releases/{tag_name}',
    needs: 'contents',
    answer({ repository, state, params, standIn }) {
      const release = state.releaseOf(params.tag_name!)
      return release ? ok(releaseAnswer(repository, release, standIn.now())) : notFound()
    },
  },
  {
    template: '/projects/{id}/pipelines',
    needs: 'checks',
    answer(call) {
      const { repository, state, query } = call
      const isIn = (name: 'sha' | 'ref' | 'source', one: ShownPipeline) =>
        query.get(name) === null || one[name] === query.get(name)
      const before = Date.parse(query.get('updated_before') ?? '9999-12-31T00:00:00Z')
      const shown = pipelinesOf(repository, state)
        .filter((one) => isIn('sha', one) && isIn('ref', one) && isIn('source', one))
        .filter((one) => query.has('source') || one.source !== 'parent_pipeline')
        .map((one) => pipelineAnswer(repository, one))
        .filter((one) => !query.has('status') || one.status === query.get('status'))
        .filter((one) => Date.parse(one.updated_at) < before)
      return page(call, shown)
    },
  },
  pipelineRoute('jobs'),
  pipelineRoute('bridges'),
  {
    template: '/projects/{id}/pipelines/{pipeline_id}/variables',
    needs: 'checks',
    answer({ repository, params }) {
      const { variables, showsVariables } = settingsOf(repository)
      if (!showsVariables) return { status: 403, body: { message: '403 Forbidden' } }
      const keys = variables.get(Number(params.pipeline_id)) ?? []
      return ok(keys.map((key) => ({ key, value: 'x', variable_type: 'env_var' })))
    },
  },
  {
    template: '/projects/{id}/repository/commits/{sha}/merge_requests',
    needs: 'pull_requests',
    answer(call) {
      const { repository, state, params } = call
      const isOf = ({ headSha, landed }: PullRequest) => headSha === params.sha || landed === params.sha
      return page(
        call,
        state
          .pullRequests()
          .filter(isOf)
          .map((one) => mergeRequestAnswer(repository, one)),
      )
    },
  },
  {
    template: '/projects/{id}/merge_requests/{merge_request_iid}/pipelines',
    needs: 'pull_requests',
    answer(call) {
      const { repository, state, params } = call
      const found = state.pullRequest(Number(params.merge_request_iid))
      if (!found) return notFound()
      const isOf = ({ ref, sha }: ShownPipeline) =>
        sha === found.headSha || ref.startsWith(`refs/merge-requests/${found.number}/`)
      return page(
        call,
        pipelinesOf(repository, state)
          .filter(isOf)
          .map((one) => pipelineAnswer(repository, one)),
      )
    },
  },
]

const described = answerCheck('gitlab/openapi-extract.json')
/** As the entity of commit statuses has it in GitLab's source; the extract does not. */
const statuses = new Ajv({ allErrors: true }).compile({
  type: 'array',
  items: {
    type: 'object',
    required: ['id', 'sha', 'ref', 'status', 'name', 'allow_failure', 'pipeline_id', 'author', 'created_at'],
    properties: { id: { type: 'integer' }, pipeline_id: { type: 'integer' }, author: { type: ['object', 'null'] } },
  },
})

/** What the extract leaves out, held against what it has of the same entity. */
const ALIKE: Readonly<Record<string, (status: number, body: unknown) => string | undefined>> = {
  // Who may not read the code is not told its default branch; the extract knows no such answer.
  '/projects/{id}': (status, body) =>
    described('/api/v4/projects/{id}', status, { default_branch: null, ...(body as object) }),
  '/projects/{id}/issues': (status, body) =>
    (body as unknown[]).map((one) => check('/projects/{id}/issues/{issue_iid}', status, one)).find(Boolean),
  '/projects/{id}/repository/tags/{tag_name}': (status, body) =>
    check('/projects/{id}/repository/merge_base', status, (body as { commit: unknown }).commit),
  '/projects/{id}/repository/commits/{sha}/merge_requests': (status, body) =>
    check('/projects/{id}/merge_requests', status, body),
  '/projects/{id}/merge_requests/{merge_request_iid}/pipelines': (status, body) =>
    check('/projects/{id}/pipelines', status, body),
  '/projects/{id}/pipelines/{pipeline_id}/bridges': (status, body) =>
    check('/projects/{id}/pipelines/{pipeline_id}/jobs', status, body),
  '/projects/{id}/merge_requests/{merge_request_iid}/notes': () => undefined,
  '/projects/{id}/repository/commits/{sha}/statuses': (_, body) =>
    statuses(body) ? undefined : `statuses: ${JSON.stringify(statuses.errors)}`,
}

const check: AnswerCheck = (template, status, body) => {
  const alike = status === 200 ? ALIKE[template] : undefined
  return alike ? alike(status, body) : described(`/api/v4${template}`, status, body)
}

export const gitlabKind: CodeHostKind = {
  name: 'GitLab',
  basePath: '/api/v4',
  check,
  routes,
  plainRoutes: [
    {
      template: '/personal_access_tokens/self',
      answer: ({ token }) => (token ? ok(tokenAnswer(token)) : gitlabKind.badCredentials()),
    },
    {
      template: '/version',
      answer: ({ token }) => (token ? ok({ version: '18.5.0', revision: 'abc' }) : gitlabKind.badCredentials()),
    },
    { template: '/projects', answer: () => ok([]) },
  ],
  sharesNumbers: false,
  pullRef: (number) => `refs/merge-requests/${number}/head`,
  find: ({ id }) => (/^[0-9]+$/.test(id!) ? { id: Number(id) } : { slug: id! }),
  moved: ({ id }, { api, path }) => ({
    status: 301,
    headers: { location: `${api}${path.replace(/^\/projects\/[^/?]+/, `/projects/${id}`)}` },
    body: { message: 'This resource has been moved permanently' },
  }),
  tokenIn: ({ headers }) => headers['private-token'] as string | undefined,
  notFound: () => notFound('Project Not Found'),
  badCredentials: () => ({ status: 401, body: { message: '401 Unauthorized' } }),
  forbidden: () => ({ status: 403, body: { message: '403 Forbidden' } }),
  headers: () => ({ 'ratelimit-limit': '2000', 'ratelimit-remaining': '1999' }),
}

function tokenAnswer({ scopes = 'read_api', account = 'reader' }: Token) {
  return {
    ...{ id: 1, name: account, revoked: false, created_at: '2026-01-01T00:00:00.000Z', scopes: scopes.split(', ') },
    ...{ user_id: 5, active: true, expires_at: '2027-01-01' },
  }
}
