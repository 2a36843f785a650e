/** The runs of a repository's workflows, their jobs, and what runners have taken, in the JSON of Gitea and of Forgejo. */
import type { CheckRun, Suite } from './checks.ts'
import { type Place, repositoryAnswer, time, userAnswer } from './gitea-answers.ts'
import type { ForgeRepository } from './model.ts'
import type { RepositoryState } from './state.ts'

interface ShownRun {
  readonly suite: Suite
  readonly jobs: readonly CheckRun[]
}

const NEVER = '0001-01-01T00:00:00Z'

/** Newest first. What is posted into a suite is no job. */
function runsOf(repository: ForgeRepository, state: RepositoryState): ShownRun[] {
  const suites = repository.checks.suites(state.until).filter(({ isRunByHost }) => isRunByHost)
  const all = state.runs().filter(({ isPosted }) => !isPosted)
  return suites
    .map((suite) => ({ suite, jobs: lastAttempts(all.filter((run) => run.suite.id === suite.id)) }))
    .reverse()
}

function lastAttempts(runs: readonly CheckRun[]): CheckRun[] {
  return runs.filter((run) => !runs.some((other) => other.name === run.name && other.attempt > run.attempt))
}

const CONCLUSIONS: Readonly<Record<string, string>> = {
  ...{ success: 'success', neutral: 'success', failure: 'failure', timed_out: 'failure', action_required: 'failure' },
  ...{ cancelled: 'cancelled', skipped: 'skipped', stale: 'cancelled' },
}

function conclusionOf({ outcome }: CheckRun): string | undefined {
  return outcome && CONCLUSIONS[outcome]
}

function fileOf({ workflow = '.gitea/workflows/ci.yml' }: Suite): string {
  return workflow.split('/').at(-1)!
}

/** A run has ended with its last job. */
function endOf(jobs: readonly CheckRun[]): { readonly conclusion: string; readonly at: number } | undefined {
  const conclusions = jobs.map(conclusionOf)
  if (jobs.length === 0 || conclusions.includes(undefined)) return undefined
  const order = ['failure', 'cancelled', 'success', 'skipped']
  const conclusion = order.find((one) => conclusions.includes(one))!
  return { conclusion, at: Math.max(...jobs.map(({ updatedAt }) => updatedAt)) }
}

export function runAnswers(repository: ForgeRepository, state: RepositoryState, place: Place, sha: string | null) {
  const runs = runsOf(repository, state).filter(({ suite }) => sha === null || suite.sha === sha)
  return runs.map((run) => (place.ways.flavour === 'gitea' ? giteaRun : forgejoRun)(run, repository, place))
}

function giteaRun({ suite, jobs }: ShownRun, repository: ForgeRepository, place: Place) {
  const { id, sha, source, createdAt, branch = repository.defaultBranch } = suite
  const end = endOf(jobs)
  const attempts = jobs.map(({ attempt }) => attempt)
  return {
    ...{ id, display_title: 'Work', event: source, head_sha: sha, head_branch: branch, run_number: id },
    ...{ url: `${place.api}/repos/${repository.slug}/actions/runs/${id}`, run_attempt: Math.max(1, ...attempts) },
    ...{ html_url: pageOf(suite, repository, place), path: `${fileOf(suite)}@refs/heads/${branch}` },
    status: end ? 'completed' : 'in_progress',
    ...(end ? { conclusion: end.conclusion } : {}),
    ...{ started_at: time(createdAt), completed_at: end ? time(end.at) : NEVER },
    ...{ repository: repositoryAnswer(repository, place), actor: userAnswer(suite.by) },
  }
}

function forgejoRun({ suite, jobs }: ShownRun, repository: ForgeRepository, place: Place) {
  const { id, sha, source, createdAt, branch = repository.defaultBranch } = suite
  const end = endOf(jobs)
  return {
    ...{ id, title: 'Work', repository: repositoryAnswer(repository, place), workflow_id: fileOf(suite) },
    ...{ index_in_repo: id, trigger_user: userAnswer(suite.by), ScheduleID: 0, prettyref: branch, commit_sha: sha },
    ...{ is_ref_deleted: false, event: source, event_payload: '{}', trigger_event: source },
    ...{ status: end?.conclusion ?? 'running', started: time(createdAt), stopped: end ? time(end.at) : NEVER },
    ...{ created: time(createdAt), updated: time(end?.at ?? createdAt), html_url: pageOf(suite, repository, place) },
  }
}

function pageOf({ id }: Suite, { slug }: ForgeRepository, { api }: Place): string {
  return `${api.replace('/api/v1', '')}/${slug}/actions/runs/${id}`
}

/** Undefined for a run that there is not. */
export function jobAnswers(id: number, repository: ForgeRepository, state: RepositoryState, place: Place) {
  const found = runsOf(repository, state).find(({ suite }) => suite.id === id)
  return found?.jobs.map((job) => {
    const { id, name, updatedAt, createdAt, state, suite } = job
    const conclusion = conclusionOf(job)
    const isQueued = state === 'queued'
    if (place.ways.flavour === 'forgejo') {
      return { id, attempt: job.attempt, name, status: conclusion ?? (isQueued ? 'waiting' : 'running'), task_id: id }
    }
    const underWay = isQueued ? 'queued' : 'in_progress'
    return {
      ...{ id, run_id: suite.id, name, labels: [], head_sha: job.sha, run_attempt: job.attempt, steps: [] },
      status: conclusion === undefined ? underWay : 'completed',
      ...(conclusion === undefined ? {} : { conclusion }),
      ...{ created_at: time(createdAt), completed_at: conclusion === undefined ? NEVER : time(updatedAt) },
    }
  })
}

/** Newest first, of all commits. What waits for a runner is not among them. */
export function taskAnswers(repository: ForgeRepository, state: RepositoryState, place: Place) {
  const jobs = state.runs().filter((run) => run.suite.isRunByHost && !run.isPosted && run.state !== 'queued')
  return jobs.toReversed().map((job) => {
    const { id, name, sha, suite, createdAt, updatedAt } = job
    return {
      ...{ id, name, head_branch: suite.branch ?? repository.defaultBranch, head_sha: sha, run_number: suite.id },
      ...{
        event: suite.source,
        display_title: 'Work',
        status: conclusionOf(job) ?? 'running',
        workflow_id: fileOf(suite),
      },
      ...{ url: pageOf(suite, repository, place), created_at: time(createdAt), updated_at: time(updatedAt) },
      run_started_at: time(createdAt),
    }
  })
}
