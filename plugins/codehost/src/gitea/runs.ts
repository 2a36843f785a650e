/**
 * Reads the runs of Gitea Actions and Forgejo Actions for a commit, and their jobs. Nobody can post a run, where a status without a creator may be of
 * an account that is gone.
 */

import { type CheckCache, DestinationError, parseUrl } from '@claimcheck/core/plugin'
import type { Check } from '../code-host.ts'
import type { KeptParts } from '../lately.ts'
import { unexpectedAnswer } from '../rest.ts'
import { type JobAnswer, JobsAnswer, type RunAnswer, RunsAnswer, type TaskAnswer, TasksAnswer } from './answers.ts'
import type { Repository } from './repository.ts'

/** Size of a page of runs, with which Forgejo sends the payload of each run's event. */
const PAGE = 30
const MOST_PAGES = 4
/** Limit of the runs whose jobs one check reads. */
const MOST_RUNS = 25

export interface Run {
  readonly id: number
  /** The file of the workflow, without its folder: `ci.yml`. */
  readonly file: string
  /** The event as in the name of a status: `push`, `pull_request`. */
  readonly event: string
  readonly ref: string
  /** The outcome of the run: `skipped` if all its jobs were, as after a label. */
  readonly outcome: Check['outcome']
  /** The state of the run, which changes with each attempt, and when the run ends; undefined where the host lists no runs. */
  readonly state?: string
  /** The number of the account that started the run, where the host tells it. */
  readonly actor?: number
  /** The path of the run's page, to which the statuses of its jobs lead. */
  readonly page?: string
}

export interface Job {
  readonly name: string
  readonly run: Run
  readonly outcome: Check['outcome']
}

export interface Runs {
  /** The newest run of each file, event and ref. */
  readonly runs: readonly Run[]
  /** The jobs of the newest runs. Where the host lists none, those that runners have lately taken. */
  readonly jobs: readonly Job[]
}

/** Reads the runs of a commit. `unlisted`: this version of the host lists none. `hidden`: it does not list them for these credentials. */
export async function readRuns(
  repository: Repository,
  sha: string,
  cache: CheckCache,
  parts: KeptParts,
): Promise<Runs | 'unlisted' | 'hidden'> {
  const list = `gitea ${repository.id} list ${sha}`
  const shown = await parts.short(
    list,
    () => readShownRuns(repository, sha),
    (all) => typeof all !== 'string' && all.some(({ outcome }) => outcome === 'failed'),
  )
  if (typeof shown === 'string') return (await readTasks(repository, sha)) ?? shown
  const runs = newest(shown)
  if (runs.length > MOST_RUNS) throw new DestinationError('too_large')
  const jobs: Job[] = []
  for (const run of runs) {
    const found = await readJobs(repository, run, cache)
    // Forgejo lists the jobs of a run since version 16.
    if (!found) return (await readTasks(repository, sha)) ?? 'unlisted'
    jobs.push(...found)
  }
  return { runs, jobs }
}

/** Events of pull requests that have no status of their own: a push to one, a label. */
const PULL_REQUEST = /^pull_request_(?:sync|assign|label|review_request|milestone)$/

/** The event of what a person starts, with inputs of their own. */
export const BY_HAND = 'workflow_dispatch'

/** The event of a run, as names of statuses have it. */
function eventOf(event: string): string {
  return PULL_REQUEST.test(event) ? 'pull_request' : event
}

async function readShownRuns(repository: Repository, sha: string): Promise<readonly Run[] | 'unlisted' | 'hidden'> {
  let status = 0
  const list = await readPages<RunAnswer>(async (page) => {
    const path = `/actions/runs?head_sha=${sha}&${page}`
    const answer = await repository.find(path, RunsAnswer, [401, 403, 404, 405])
    status = answer.status
    return answer.value
  })
  if (!list) return status === 404 || status === 405 ? 'unlisted' : 'hidden'
  // The server may not know the filter.
  const isOfCommit = ({ head_sha, commit_sha, repository: of }: RunAnswer) =>
    (head_sha ?? commit_sha) === sha && (!of || of.id === repository.id)
  return list.filter(isOfCommit).map(toRun)
}

interface ListPage<T> {
  readonly total_count?: number
  readonly workflow_runs?: readonly T[] | null
}

/**
 * Reads the pages of a list until one brings nothing new, or all are there; undefined where one is refused.
 * @param mayBeCut true for a list whose first pages will do
 * @throws DestinationError `too_large`
 */
async function readPages<T extends { readonly id: number }>(
  read: (page: string) => Promise<ListPage<T> | undefined>,
  mayBeCut = false,
): Promise<readonly T[] | undefined> {
  const byId = new Map<number, T>()
  for (let page = 1; page <= MOST_PAGES; page++) {
    const found = await read(`page=${page}&limit=${PAGE}`)
    if (!found) return undefined
    const { workflow_runs, total_count = Number.POSITIVE_INFINITY } = found
    const before = byId.size
    for (const entry of workflow_runs ?? []) byId.set(entry.id, entry)
    if (byId.size === before || byId.size >= total_count) return [...byId.values()]
  }
  if (!mayBeCut) throw new DestinationError('too_large')
  return [...byId.values()]
}

function toRun(answer: RunAnswer): Run {
  const { id, status, conclusion, run_attempt, completed_at, stopped, updated } = answer
  // Gitea has the file with the ref: `ci.yml@refs/heads/main`.
  const [, path = '', ref] = /^(.*?\.ya?ml)@(.*)$/i.exec(answer.path ?? '') ?? [undefined, answer.path]
  return {
    id,
    file: (answer.workflow_id ?? path).split('/').at(-1)!,
    event: eventOf(answer.trigger_event || answer.event),
    ref: ref ?? answer.prettyref ?? answer.head_branch ?? '',
    outcome: outcomeOf(answer),
    state: JSON.stringify([run_attempt, status, conclusion, completed_at, stopped, updated]),
    page: pathOf(answer.html_url),
    actor: (answer.actor ?? answer.trigger_user)?.id,
  }
}

/** The path of an address, or of a path with a query. */
export function pathOf(link: string | undefined): string | undefined {
  return link ? parseUrl(link, 'https://host.invalid')?.pathname : undefined
}

/**
 * Takes the newest of each kind. A run is replaced by a newer one of the same file, event and ref, and not by one that was skipped. One that a person started has an event of
 * its own.
 */
function newest(all: readonly Run[]): readonly Run[] {
  const latest = new Map<string, Run>()
  for (const run of all.toSorted((one, other) => one.id - other.id)) {
    const key = JSON.stringify([run.file, run.event, run.ref])
    if (run.outcome !== 'skipped' || !latest.has(key)) latest.set(key, run)
  }
  return [...latest.values()]
}

/** Reads the jobs of a run; undefined where this version does not list them. */
async function readJobs({ find, id }: Repository, run: Run, cache: CheckCache): Promise<readonly Job[] | undefined> {
  const key = `gitea ${id} jobs ${run.id} ${run.state}`
  const isEnded = run.outcome !== 'pending'
  const known = isEnded ? cache.get(key) : undefined
  if (Array.isArray(known)) return known as Job[]
  const list = await readPages<JobAnswer>(async (page) => {
    const { value } = await find(`/actions/runs/${run.id}/jobs?${page}`, JobsAnswer, [404, 405])
    // Forgejo lists all jobs of a run at once.
    if (Array.isArray(value)) return { workflow_runs: value, total_count: value.length }
    return value && { ...value, workflow_runs: value.jobs }
  })
  if (!list) return undefined
  if (list.some(({ run_id }) => run_id !== undefined && run_id !== run.id)) throw unexpectedAnswer()
  const jobs = list.map((job): Job => ({ name: job.name, run, outcome: outcomeOf(job) }))
  if (isEnded && !jobs.some(({ outcome }) => outcome === 'pending')) cache.set(key, jobs)
  return jobs
}

/** Reads the jobs that runners have taken of all commits, the newest first; undefined where this version does not list them. */
async function readTasks({ find }: Repository, sha: string): Promise<Runs | undefined> {
  const list = await readPages<TaskAnswer>(
    async (page) => (await find(`/actions/tasks?${page}`, TasksAnswer, [401, 403, 404, 405])).value,
    true,
  )
  if (!list) return undefined
  const tasks = list.filter(({ head_sha }) => head_sha === sha).sort((one, other) => one.id - other.id)
  // A job that is run again is another task of the same name.
  const latest = new Map(tasks.map((task) => [JSON.stringify([task.run_number, task.name]), task]))
  const jobs = [...latest.values()].map((task): Job => {
    const { name, run_number: id, workflow_id: file, head_branch: ref = '', url } = task
    const run: Run = { id, file, event: eventOf(task.event), ref, outcome: 'pending', page: pathOf(url) }
    return { name, run, outcome: outcomeOf(task) }
  })
  const runs = newest(jobs.map(({ run }) => run))
  return { runs, jobs: jobs.filter(({ run }) => runs.some(({ id }) => id === run.id)) }
}

/** The states of runs and jobs, by their outcome. */
const STATES: readonly (readonly [outcome: Check['outcome'], ...states: string[]])[] = [
  ['passed', 'success'],
  ['failed', 'failure', 'cancelled'],
  ['skipped', 'skipped'],
  ['pending', 'queued', 'pending', 'waiting', 'blocked', 'running', 'in_progress', 'cancelling'],
]

/** The outcome of a run or a job. @throws DestinationError `unexpected_response` for a state that this version of the host does not have */
function outcomeOf({ status, conclusion }: { readonly status: string; readonly conclusion?: string | null }) {
  const [outcome] = STATES.find(([, ...states]) => states.includes(conclusion || status)) ?? []
  if (outcome === undefined) throw unexpectedAnswer()
  return outcome
}
