/** GitHub's answers about check runs, workflow runs and commit statuses, field by field. */
import type { CheckRun, PostedStatus, Suite } from './checks.ts'
import { iso, isoOrNull, page, repositoryAnswer, user } from './github-answers.ts'
import type { ForgeRepository } from './model.ts'
import type { ForgeCommit } from './pool.ts'

const ACTIONS = 'github-actions'

/** The number that GitHub gives the app: that of its own is 15368. */
export function appId(slug: string): number {
  return slug === ACTIONS ? 15_368 : [...slug].reduce((id, letter) => (id * 31 + letter.charCodeAt(0)) % 1_000_000, 7)
}

/** Of the workflow run that has this check suite. */
export function workflowRunId({ id }: Suite): number {
  return id + 2_000_000
}

/** The file of the workflow: where none is given, what GitHub ran is of one that is called as its first run. */
export function workflowOf(suite: Suite, runs: readonly CheckRun[]): string | undefined {
  if (suite.workflow !== undefined || !suite.isRunByHost || suite.app !== ACTIONS) return suite.workflow
  const first = runs.find((run) => run.suite.id === suite.id)
  return `.github/workflows/${first?.name.replace(/[^a-z0-9]+/gi, '-') ?? 'ci'}.yml`
}

const STATE = { queued: 'queued', running: 'in_progress', ended: 'completed' } as const

/** Whatever says that it is GitHub Actions is; any other app writes its own check runs. */
export function checkRunAnswer(api: string, repository: ForgeRepository, run: CheckRun) {
  const { id, name, sha, suite, state, outcome, startedAt, endedAt } = run
  const url = `${api}/repos/${repository.slug}/check-runs/${id}`
  const job = page(`${repository.slug}/actions/runs/${workflowRunId(suite)}/job/${id}`)
  return {
    id,
    node_id: `CR_${id}`,
    head_sha: sha,
    external_id: '',
    url,
    html_url: page(`${repository.slug}/runs/${id}`),
    // What a workflow posts has a page of its own, like what another app reports.
    details_url: suite.isRunByHost && !run.isPosted ? job : `https://ci.example/${id}`,
    status: STATE[state],
    conclusion: outcome ?? null,
    started_at: isoOrNull(startedAt),
    completed_at: isoOrNull(endedAt),
    output: { title: null, summary: null, text: null, annotations_count: 0, annotations_url: `${url}/annotations` },
    name,
    check_suite: { id: suite.id },
    app: appAnswer(api, suite.app),
    pull_requests: [],
  }
}

function appAnswer(api: string, slug: string) {
  return {
    id: appId(slug),
    slug,
    node_id: `A_${slug}`,
    client_id: `Iv1.${slug}`,
    owner: user(api, slug === ACTIONS ? 'github' : slug),
    name: slug,
    description: '',
    external_url: 'https://ci.example/',
    html_url: page(`apps/${slug}`),
    created_at: iso(0),
    updated_at: iso(0),
    permissions: { checks: 'write', metadata: 'read' },
    events: [],
  }
}

/** @param runs of the suite, the latest of each name */
export function checkSuiteAnswer(
  api: string,
  repository: ForgeRepository,
  { suite, runs, commit }: { suite: Suite; runs: readonly CheckRun[]; commit: ForgeCommit },
) {
  const { id, sha, branch, app, createdAt } = suite
  const url = `${api}/repos/${repository.slug}/check-suites/${id}`
  const isEnded = runs.length > 0 && runs.every(({ state }) => state === 'ended')
  const begun = runs.some(({ state }) => state !== 'queued') ? 'in_progress' : 'queued'
  const bad = runs.find(({ outcome }) => !['success', 'neutral', 'skipped'].includes(outcome ?? ''))
  return {
    id,
    node_id: `CS_${id}`,
    head_branch: branch ?? null,
    head_sha: sha,
    status: isEnded ? 'completed' : begun,
    conclusion: isEnded ? (bad?.outcome ?? 'success') : null,
    url,
    before: null,
    after: sha,
    pull_requests: [],
    app: appAnswer(api, app),
    repository: repositoryAnswer(api, repository),
    created_at: iso(createdAt),
    updated_at: iso(Math.max(createdAt, ...runs.map(({ updatedAt }) => updatedAt))),
    head_commit: headCommit(commit),
    latest_check_runs_count: runs.length,
    check_runs_url: `${url}/check-runs`,
  }
}

function headCommit(commit: ForgeCommit) {
  const person = { name: 'Agent', email: 'agent@example.com' }
  return {
    id: commit.sha,
    tree_id: commit.tree,
    message: commit.message,
    timestamp: iso(commit.date.getTime()),
    author: person,
    committer: person,
  }
}

/** @param runs of its suite, the latest of each name */
export function workflowRunAnswer(
  api: string,
  repository: ForgeRepository,
  given: { suite: Suite; path: string; runs: readonly CheckRun[]; commit: ForgeCommit; branch: string },
) {
  const { suite, path, runs, commit, branch } = given
  const id = workflowRunId(suite)
  const url = `${api}/repos/${repository.slug}/actions/runs/${id}`
  const minimal = repositoryAnswer(api, repository)
  const isEnded = runs.length > 0 && runs.every(({ state }) => state === 'ended')
  return {
    id,
    node_id: `WFR_${id}`,
    name: path,
    path,
    check_suite_id: suite.id,
    check_suite_node_id: `CS_${suite.id}`,
    head_branch: branch,
    head_sha: suite.sha,
    run_number: 1,
    run_attempt: Math.max(1, ...runs.map(({ attempt }) => attempt)),
    event: suite.source,
    status: isEnded ? 'completed' : 'in_progress',
    conclusion: isEnded ? conclusionOf(runs) : null,
    workflow_id: 1,
    url,
    html_url: page(`${repository.slug}/actions/runs/${id}`),
    pull_requests: suite.pull === undefined ? [] : pullsOf(api, repository, suite.pull, suite.sha),
    created_at: iso(suite.createdAt),
    updated_at: iso(Math.max(suite.createdAt, ...runs.map(({ updatedAt }) => updatedAt))),
    run_started_at: iso(suite.createdAt),
    actor: user(api, suite.by),
    triggering_actor: user(api, suite.by),
    jobs_url: `${url}/jobs`,
    logs_url: `${url}/logs`,
    check_suite_url: `${api}/repos/${repository.slug}/check-suites/${suite.id}`,
    artifacts_url: `${url}/artifacts`,
    cancel_url: `${url}/cancel`,
    rerun_url: `${url}/rerun`,
    workflow_url: `${api}/repos/${repository.slug}/actions/workflows/1`,
    display_title: commit.message,
    head_commit: headCommit(commit),
    repository: minimal,
    head_repository: suite.fromRepository === undefined ? minimal : { ...minimal, id: suite.fromRepository },
  }
}

/** The open ones of the branch, whichever it ran for; one of which nothing is told stands for itself. */
function pullsOf(api: string, repository: ForgeRepository, number: number, sha: string) {
  const all = repository.pullRequests.all(Number.POSITIVE_INFINITY)
  const own = all.find((pull) => pull.number === number)
  const open = all.filter(({ state, head, headSha }) => state === 'open' && head === own?.head && headSha === sha)
  return (own ? open.map((pull) => pull.number) : [number]).map((one) => pullOf(api, repository, one, sha))
}

function pullOf(api: string, repository: ForgeRepository, number: number, sha: string) {
  const { id, slug, defaultBranch } = repository
  const repo = { id, url: `${api}/repos/${slug}`, name: slug.split('/')[1]! }
  const pull = repository.pullRequests.get(number, Number.POSITIVE_INFINITY)
  return {
    id: pull?.id ?? number,
    number,
    url: `${api}/repos/${slug}/pulls/${number}`,
    head: { ref: pull?.head ?? 'topic', sha, repo },
    base: { ref: pull?.base ?? defaultBranch, sha: pull?.baseSha ?? sha, repo },
  }
}

/** A job of a workflow run; its id is that of its check run. */
export function jobAnswer(api: string, repository: ForgeRepository, run: CheckRun, path: string) {
  const { id, name, sha, suite, state, outcome, startedAt, createdAt, endedAt, attempt } = run
  const runId = workflowRunId(suite)
  const root = `${api}/repos/${repository.slug}`
  return {
    id,
    run_id: runId,
    run_url: `${root}/actions/runs/${runId}`,
    run_attempt: attempt,
    node_id: `J_${id}`,
    head_sha: sha,
    head_branch: suite.branch ?? null,
    url: `${root}/actions/jobs/${id}`,
    html_url: page(`${repository.slug}/actions/runs/${runId}/job/${id}`),
    status: STATE[state],
    conclusion: outcome ?? null,
    created_at: iso(createdAt),
    started_at: iso(startedAt ?? createdAt),
    completed_at: isoOrNull(endedAt),
    name,
    steps: [],
    check_run_url: `${root}/check-runs/${id}`,
    labels: ['ubuntu-latest'],
    runner_id: 1,
    runner_name: 'runner',
    runner_group_id: 1,
    runner_group_name: 'Default',
    workflow_name: path,
  }
}

function conclusionOf(runs: readonly CheckRun[]): 'success' | 'failure' | 'cancelled' | 'skipped' {
  const counting = runs.filter(({ mayFail }) => !mayFail).map(({ outcome }) => outcome ?? '')
  if (counting.some((outcome) => !['success', 'skipped', 'neutral', 'cancelled'].includes(outcome))) return 'failure'
  if (counting.includes('cancelled')) return 'cancelled'
  return counting.length > 0 && counting.every((outcome) => outcome === 'skipped') ? 'skipped' : 'success'
}

/** @param statuses the newest of each context */
export function combinedStatusAnswer(
  api: string,
  repository: ForgeRepository,
  { sha, statuses, shown }: { sha: string; statuses: readonly PostedStatus[]; shown: readonly PostedStatus[] },
) {
  const root = `${api}/repos/${repository.slug}`
  return {
    state: combined(statuses),
    statuses: shown.map(({ id, context, state, by, createdAt, updatedAt }) => ({
      url: `${root}/statuses/${sha}`,
      avatar_url: user(api, by).avatar_url,
      id,
      node_id: `SC_${id}`,
      state,
      description: null,
      target_url: null,
      context,
      created_at: iso(createdAt),
      updated_at: iso(updatedAt),
    })),
    sha,
    total_count: statuses.length,
    repository: repositoryAnswer(api, repository),
    commit_url: `${root}/commits/${sha}`,
    url: `${root}/commits/${sha}/status`,
  }
}

/** As an entry of the list of all statuses, which names who posted it. */
export function statusAnswer(api: string, { slug }: ForgeRepository, status: PostedStatus) {
  const { id, sha, context, state, by, createdAt, updatedAt } = status
  return {
    url: `${api}/repos/${slug}/statuses/${sha}`,
    avatar_url: user(api, by).avatar_url,
    id,
    node_id: `SC_${id}`,
    state,
    description: null,
    target_url: null,
    context,
    created_at: iso(createdAt),
    updated_at: iso(updatedAt),
    creator: user(api, by),
  }
}

/** Pending where there is none. */
function combined(statuses: readonly PostedStatus[]): 'success' | 'pending' | 'failure' {
  if (statuses.some(({ state }) => state === 'failure' || state === 'error')) return 'failure'
  if (statuses.length === 0 || statuses.some(({ state }) => state === 'pending')) return 'pending'
  return 'success'
}
