/** GitHub's endpoints about checks: of commits, of workflow runs, and statuses that were posted. */
import { type CheckRun, isLaterAttempt, type Suite } from './checks.ts'
import {
  appId,
  checkRunAnswer,
  checkSuiteAnswer,
  combinedStatusAnswer,
  jobAnswer,
  statusAnswer,
  workflowOf,
  workflowRunAnswer,
  workflowRunId,
} from './github-checks.ts'
import { no, noCommit, ok, paged, resolved } from './github-replies.ts'
import type { Call, Reply } from './kind.ts'

/** GitHub looks at the checks of so many suites. */
const MAX_SUITES = 1000

export async function checkRuns(call: Call): Promise<Reply> {
  const { api, repository, state, params, query } = call
  const sha = await resolved(call, params.ref!)
  if (sha === undefined) return noCommit(params.ref!)
  const [name, app, status] = ['check_name', 'app_id', 'status'].map((key) => query.get(key))
  const runs = state.runs(sha)
  const suites = [...new Set(runs.map(({ suite }) => suite.id))].slice(-MAX_SUITES)
  const latest = query.get('filter') === 'all' ? runs : runs.filter((run) => !runs.some((other) => isLater(other, run)))
  const found = latest
    .filter((run) => suites.includes(run.suite.id))
    .filter((run) => name === null || run.name === name)
    .filter((run) => app === null || String(appId(run.suite.app)) === app)
    .map((run) => checkRunAnswer(api, repository, run))
    .filter((run) => status === null || run.status === status)
    .toReversed()
  const { slice, link } = paged(query, 30)
  const body = { total_count: found.length, check_runs: slice(found) }
  return ok(body, link(found.length, `${api}/repositories/${repository.id}/commits/${sha}/check-runs`))
}

export async function checkSuites(call: Call): Promise<Reply> {
  const { api, repository, state, params, query } = call
  const sha = await resolved(call, params.ref!)
  if (sha === undefined) return noCommit(params.ref!)
  const app = query.get('app_id')
  const found = repository.checks
    .suites(state.until)
    .filter((suite) => suite.sha === sha && (app === null || String(appId(suite.app)) === app))
    .slice(-MAX_SUITES)
  const { slice, link } = paged(query, 30)
  const shown = slice(found).map((suite) => {
    const runs = runsOf(call, suite)
    const latest = runs.filter((run) => !runs.some((other) => isLater(other, run)))
    return checkSuiteAnswer(api, repository, { suite, runs: latest, commit: repository.pool.show(sha) })
  })
  const body = { total_count: found.length, check_suites: shown }
  return ok(body, link(found.length, `${api}/repositories/${repository.id}/commits/${sha}/check-suites`))
}

const isLater = (other: CheckRun, run: CheckRun) =>
  other.suite.id === run.suite.id && other.name === run.name && other.id > run.id

/** Two jobs of a workflow can have one name. */
const lastAttempts = (runs: readonly CheckRun[]) =>
  runs.filter((run) => !runs.some((other) => isLaterAttempt(other, run)))

export function workflowRuns(call: Call): Reply {
  const { state, query } = call
  const [suite, sha, branch, event, created, actor, status] = FILTERS.map((name) => query.get(name))
  const bySuite = new Map<number, CheckRun[]>()
  for (const run of state.runs()) bySuite.set(run.suite.id, [...(bySuite.get(run.suite.id) ?? []), run])
  const found = call.repository.checks
    .suites(state.until)
    .filter(({ id }) => suite == null || String(id) === suite)
    .filter((one) => (sha == null || one.sha === sha) && (event == null || one.source === event))
    .flatMap((one) => runOf(call, one, bySuite.get(one.id) ?? []) ?? [])
    .filter((run) => branch == null || run.head_branch === branch)
    .filter((run) => actor == null || run.actor.login === actor)
    .filter((run) => status == null || run.status === status || run.conclusion === status)
    .filter((run) => created == null || isWithin(created, Date.parse(run.created_at)))
    .toReversed()
    // What is filtered has so many at most.
    .slice(0, [...query.keys()].some((name) => FILTERS.includes(name)) ? 1000 : undefined)
  const { slice, link } = paged(query, 30)
  return ok(
    { total_count: found.length, workflow_runs: slice(found) },
    link(found.length, `${call.api}/repositories/${call.repository.id}/actions/runs`),
  )
}

const FILTERS = ['check_suite_id', 'head_sha', 'branch', 'event', 'created', 'actor', 'status']

/** A range as GitHub's search has it: `<=2026-03-11T09:30:00Z`, `2026-03-01..2026-03-11`. */
function isWithin(range: string, time: number): boolean {
  const [from, to] = range.split('..') as [string, string?]
  if (to !== undefined) return (from === '*' || time >= Date.parse(from)) && (to === '*' || time <= Date.parse(to))
  const [, sign = '', date = ''] = /^([<>]=?)?(.*)$/.exec(range)!
  const bound = Date.parse(date)
  if (sign === '') return Math.abs(time - bound) < 1000
  const isEqual = sign.length === 2 && time === bound
  return isEqual || (sign.startsWith('<') ? time < bound : time > bound)
}

export function workflowRun(call: Call): Reply {
  const run = suiteOf(call)
  return run ? ok(runOf(call, run)) : no(404, 'Not Found')
}

/** What a workflow posts is no job. */
export function jobs(call: Call): Reply {
  const { api, repository, params, query } = call
  const suite = suiteOf(call)
  if (!suite) return no(404, 'Not Found')
  const runs = runsOf(call, suite).filter(({ isPosted }) => !isPosted)
  const path = workflowOf(suite, runs)!
  const found = query.get('filter') === 'all' ? runs : lastAttempts(runs)
  const { slice, link } = paged(query, 30)
  const shown = slice(found).map((run) => jobAnswer(api, repository, run, path))
  const url = `${api}/repositories/${repository.id}/actions/runs/${params.run_id}/jobs`
  return ok({ total_count: found.length, jobs: shown }, link(found.length, url))
}

function suiteOf(call: Call): Suite | undefined {
  const { repository, state, params } = call
  return repository.checks
    .suites(state.until)
    .find((one) => String(workflowRunId(one)) === params.run_id && runOf(call, one) !== undefined)
}

function runOf(call: Call, suite: Suite, ofSuite: readonly CheckRun[] = runsOf(call, suite)) {
  const { api, repository, state } = call
  const runs = ofSuite.filter(({ isPosted }) => !isPosted)
  const path = workflowOf(suite, runs)
  if (path === undefined) return undefined
  const latest = lastAttempts(runs)
  const branch = suite.branch ?? branchOf(state, suite, repository.defaultBranch)
  const commit = repository.pool.show(suite.sha)
  return workflowRunAnswer(api, repository, { suite, path, runs: latest, commit, branch })
}

function runsOf({ state }: Call, { id, sha }: Suite): readonly CheckRun[] {
  return state.runs(sha).filter(({ suite }) => suite.id === id)
}

/** From which it was started, where the life does not say. */
function branchOf(state: Call['state'], { sha }: Suite, defaultBranch: string): string {
  const tips = state.branchesWithTip(sha)
  return tips.includes(defaultBranch) ? defaultBranch : (tips[0] ?? defaultBranch)
}

export async function combinedStatus(call: Call): Promise<Reply> {
  const { api, repository, state, params, query } = call
  const sha = await resolved(call, params.ref!)
  if (sha === undefined) return noCommit(params.ref!)
  const all = state.statuses(sha)
  const newest = all.filter(({ context, id }) => !all.some((other) => other.context === context && other.id > id))
  const { slice, link } = paged(query, 30)
  const body = combinedStatusAnswer(api, repository, { sha, statuses: newest, shown: slice(newest.toReversed()) })
  return ok(body, link(newest.length, `${api}/repositories/${repository.id}/commits/${sha}/status`))
}

/** All that were posted, newest first, with who posted them. */
export async function statuses(call: Call): Promise<Reply> {
  const { api, repository, state, params, query } = call
  const sha = await resolved(call, params.ref!)
  if (sha === undefined) return noCommit(params.ref!)
  const all = state.statuses(sha).toReversed()
  const { slice, link } = paged(query, 30)
  const shown = slice(all).map((status) => statusAnswer(api, repository, status))
  return ok(shown, link(all.length, `${api}/repositories/${repository.id}/commits/${sha}/statuses`))
}
