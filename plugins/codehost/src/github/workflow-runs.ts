/**
 * What GitHub ran itself for a commit, by its workflows. Everything that runs in a workflow can post check runs under the name of
 * GitHub's own app, and GitHub shows them among those of some workflow: only a list of jobs has none of them.
 */
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { Check } from '../code-host.ts'
import { unexpected } from '../http-failure.ts'
import { app, GITHUB_JOBS, workflow } from '../reporters.ts'
import { logTime } from '../times.ts'
import { Job, JobsAnswer, type WorkflowRun, WorkflowRunsAnswer } from './answers.ts'
import { outcomeOf } from './outcomes.ts'
import { readable } from './readable.ts'
import type { ClaimedRepository } from './repository.ts'

/** The app of GitHub's workflows. */
export const ACTIONS_APP = 'github-actions'

const RUNS_PAGE = 50
const JOBS_PAGE = 50
/** Whose jobs one check reads. */
const MOST_RUNS = 10

export interface WorkflowRuns {
  /** Newest first. */
  readonly all: readonly WorkflowRun[]
  /** Those that no newer run of the same workflow, started by the same kind of event, has replaced. */
  readonly latest: readonly WorkflowRun[]
}

/** The file of a workflow, without the version that GitHub shows with one of another repository. */
export function fileOf({ path }: Pick<WorkflowRun, 'path'>): string {
  // A file can be called `ci.yml@other.yml`, and is not `ci.yml`.
  return /^.*\.ya?ml(?=@|$)/i.exec(path)?.[0] ?? path
}

/** @throws DestinationError `forbidden` where workflow runs may not be read */
export async function workflowRunsOf({ api, repository }: ClaimedRepository, sha: string): Promise<WorkflowRuns> {
  const path = `${repository.root}/actions/runs?head_sha=${sha}&per_page=${RUNS_PAGE}`
  const runs = (await api.list(path, WorkflowRunsAnswer)).flatMap(({ workflow_runs }) => workflow_runs)
  if (runs.some((run) => run.head_sha !== sha || run.repository.id !== repository.id)) throw unexpected()
  const all = [...new Map(runs.map((run) => [run.id, run])).values()].sort((one, other) => other.id - one.id)
  const kinds = new Set<string>()
  const latest = all.filter((run) => {
    const kind = kindOf(run)
    const isFirst = !kinds.has(kind)
    kinds.add(kind)
    return isFirst
  })
  return { all, latest }
}

/** Of two with the same, the newer one counts. Two files can differ in case alone. */
export function kindOf(run: WorkflowRun): string {
  return `${run.event} ${fileOf(run)} ${pullOf(run)}`
}

/**
 * A pull request runs the workflow as its merge with the base has it. So a second one from the same commit, into a base with another workflow,
 * does not replace what the first one ran. Where GitHub does not name the one, as for those of forks, each run counts.
 */
function pullOf({ event, id, pull_requests: pulls }: WorkflowRun): string {
  if (!event.startsWith('pull_request')) return ''
  return pulls?.length === 1 ? `#${pulls[0]!.number}` : `run ${id}`
}

/** One job is what GitHub shows as a check run with the same id. */
export interface JobCheck extends Check {
  /** Of all its attempts. */
  readonly ids: readonly number[]
}

/**
 * The jobs of these names in the latest runs that are wanted.
 * @throws DestinationError `too_large` where these are too many runs
 */
export async function jobsOf(
  claimed: ClaimedRepository,
  { all, latest }: WorkflowRuns,
  { names, isWanted }: { readonly names: ReadonlySet<string>; isWanted(run: WorkflowRun): boolean },
  { cache }: Pick<CheckContext, 'cache'>,
): Promise<JobCheck[]> {
  const wanted = latest.filter(isWanted)
  if (wanted.length > MOST_RUNS) throw new DestinationError('too_large')
  const checks = await Promise.all(
    wanted.map(async (run) => {
      const key = `github ${claimed.repository.id} jobs ${run.id}`
      const entries = await cache.share(key, () => readJobs(claimed, run))
      const jobs = readable(entries, Job, names)
      if (jobs.some(({ run_id, head_sha }) => run_id !== run.id || head_sha !== run.head_sha)) throw unexpected()
      return checksOf(
        run,
        jobs.sort((one, other) => one.id - other.id),
        all,
      )
    }),
  )
  return checks.flat()
}

/** Of all attempts. */
async function readJobs({ api, repository }: ClaimedRepository, run: WorkflowRun): Promise<readonly unknown[]> {
  const path = `${repository.root}/actions/runs/${run.id}/jobs?filter=all&per_page=${JOBS_PAGE}`
  return (await api.list(path, JobsAnswer)).flatMap(({ jobs }) => jobs)
}

/** @param jobs oldest first */
function checksOf(run: WorkflowRun, jobs: readonly Job[], all: readonly WorkflowRun[]): JobCheck[] {
  const others = all.filter((other) => other.id !== run.id && fileOf(other) === fileOf(run))
  const lastAttempts = new Map<string, number>()
  for (const job of jobs) lastAttempts.set(job.name, Math.max(attemptOf(job), lastAttempts.get(job.name) ?? 0))
  // Two jobs of one workflow can have the same name: each counts.
  const latest = jobs.filter((job) => attemptOf(job) === lastAttempts.get(job.name))
  const passedNames = new Set(jobs.filter((job) => outcomeOf(job) === 'passed').map(({ name }) => name))
  const hasPassedElsewhere = others.some(({ conclusion }) => conclusion === 'success')
  return latest.map((job): JobCheck => {
    const passedBefore = passedNames.has(job.name) || hasPassedElsewhere
    return {
      name: job.name,
      ids: jobs.filter(({ name }) => name === job.name).map(({ id }) => id),
      by: [GITHUB_JOBS, workflow(fileOf(run)), app(ACTIONS_APP)],
      isRunByHost: true,
      outcome: outcomeOf(job),
      // Whether a job of theirs passed, other runs that failed do not tell.
      ...(passedBefore || others.length === 0 ? { passedBefore } : {}),
      // A job's own times are those of the machine that ran it. The run was read first: it may not have been run again yet.
      ...(run.status === 'completed' && attemptOf(job) <= attemptOf(run)
        ? { endedAt: { notAfter: logTime(run.updated_at).notAfter } }
        : {}),
    }
  })
}

function attemptOf({ run_attempt = 1 }: Pick<Job, 'run_attempt'>): number {
  return run_attempt
}
