/**
 * Reads the runs of Gitea Actions and Forgejo Actions for a commit, and their jobs. Nobody can post a run, where a status without a creator may be of
 * an account that is gone.
 */

import { type CheckCache, DestinationError } from '@claimcheck/core/plugin'
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
  readonly isEnded: boolean
  /** Tells whether all jobs of the run were skipped, as after a label. */
  readonly isSkipped: boolean
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
  /** The jobs of the newest runs. */
  readonly jobs: readonly Job[]
  /** Tells that some of the runs' jobs may be missing: of those that no runner has taken, or that are further back than is read. */
  readonly isPartial: boolean
}

/** Reads the runs of a commit. `unlisted`: this version of the host lists none. `hidden`: it does not list them for these credentials. */
export async function readRuns(
  repository: Repository,
  sha: string,
  cache: CheckCache,
  parts: KeptParts,
): Promise<Runs | 'unlisted' | 'hidden'> {
  const hasFailed = (all: Awaited<ReturnType<typeof readShownRuns>>) =>
    typeof all !== 'string' && all.some(({ outcome }) => outcome === 'failed')
  const list = `gitea ${repository.id} list ${sha}`
  const shown = await parts.short(list, () => readShownRuns(repository, sha), hasFailed)
  if (typeof shown === 'string') return (await readTasks(repository, sha)) ?? shown
  const runs = newest(shown)
  if (runs.length > MOST_RUNS) throw new DestinationError('too_large')
  const jobs: Job[] = []
  for (const { run, state } of runs) {
    const found = await readJobs(repository, run, state, cache)
    // Forgejo lists the jobs of a run since version 16.
    if (!found) return (await readTasks(repository, sha)) ?? 'unlisted'
    jobs.push(...found)
  }
  return { runs: runs.map(({ run }) => run), jobs, isPartial: false }
}

/** Events of pull requests that have no status of their own: a push to one, a label. */
const PULL_REQUEST = /^pull_request_(?:sync|assign|label|review_request|milestone)$/

/** The event of what a person starts, with inputs of their own. */
export const BY_HAND = 'workflow_dispatch'

/** The event of a run, as names of statuses have it. */
function eventOf(event: string): string {
  return PULL_REQUEST.test(event) ? 'pull_request' : event
}

interface ShownRun {
  readonly run: Run
  readonly outcome: Check['outcome']
  /** The state of the run, which changes with each attempt, and when the run ends. */
  readonly state: string
}

async function readShownRuns(
  repository: Repository,
  sha: string,
): Promise<readonly ShownRun[] | 'unlisted' | 'hidden'> {
  let status = 0
  const list = await collectPages<RunAnswer>(async (page) => {
    const path = `/actions/runs?head_sha=${sha}&page=${page}&limit=${PAGE}`
    const answer = await repository.find(path, RunsAnswer, [401, 403, 404, 405])
    status = answer.status
    return answer.value && { entries: answer.value.workflow_runs, total: answer.value.total_count }
  })
  if (!list) return status === 404 || status === 405 ? 'unlisted' : 'hidden'
  if (list.isCut) throw new DestinationError('too_large')
  return list.entries.filter((run) => isOf(run, repository, sha)).map(toRun)
}

interface ListPage<T> {
  readonly entries: readonly T[] | null | undefined
  readonly total: number | undefined
}

/** Reads the pages of a list until one brings nothing new, or all are there; undefined where one is refused. `isCut` tells that there may be more. */
async function collectPages<T extends { readonly id: number }>(
  read: (page: number) => Promise<ListPage<T> | undefined>,
): Promise<{ readonly entries: readonly T[]; readonly isCut: boolean } | undefined> {
  const byId = new Map<number, T>()
  for (let page = 1; page <= MOST_PAGES; page++) {
    const found = await read(page)
    if (!found) return undefined
    const before = byId.size
    for (const entry of found.entries ?? []) byId.set(entry.id, entry)
    const isWhole = byId.size === before || byId.size >= (found.total ?? Number.POSITIVE_INFINITY)
    if (isWhole) return { entries: [...byId.values()], isCut: false }
  }
  return { entries: [...byId.values()], isCut: true }
}

/** Tells whether a run is of the commit: the server may not know the filter. */
function isOf({ head_sha, commit_sha, repository }: RunAnswer, { id }: Repository, sha: string): boolean {
  return (head_sha ?? commit_sha) === sha && (!repository || repository.id === id)
}

function toRun(answer: RunAnswer): ShownRun {
  const { id, status, conclusion, html_url, prettyref, head_branch } = answer
  // Gitea has the file with the ref: `ci.yml@refs/heads/main`.
  const [, path = '', ref] = /^(.*?\.ya?ml)@(.*)$/i.exec(answer.path ?? '') ?? [undefined, answer.path]
  const file = (answer.workflow_id ?? path).split('/').at(-1)!
  const outcome = outcomeOf(answer)
  return {
    outcome,
    run: {
      ...{ id, file, event: eventOf(answer.trigger_event || answer.event), ref: ref ?? prettyref ?? head_branch ?? '' },
      isEnded: outcome !== 'pending',
      isSkipped: outcome === 'skipped',
      page: html_url ? pathOf(html_url) : undefined,
      actor: (answer.actor ?? answer.trigger_user)?.id,
    },
    state: JSON.stringify([
      answer.run_attempt,
      status,
      conclusion,
      answer.completed_at,
      answer.stopped,
      answer.updated,
    ]),
  }
}

/** The path of an address, or of a path with a query. */
export function pathOf(link: string): string | undefined {
  return URL.canParse(link, 'https://host.invalid') ? new URL(link, 'https://host.invalid').pathname : undefined
}

/**
 * Takes the newest of each kind. A run is replaced by a newer one of the same file, event and ref, and not by one that was skipped. One that a person started has an event of
 * its own.
 */
function newest<T extends { readonly run: Run }>(all: readonly T[]): readonly T[] {
  const latest = new Map<string, T>()
  for (const one of [...all].sort((a, b) => a.run.id - b.run.id)) {
    const { file, event, ref, isSkipped } = one.run
    const key = JSON.stringify([file, event, ref])
    if (!isSkipped || !latest.has(key)) latest.set(key, one)
  }
  return [...latest.values()]
}

/** Reads the jobs of a run; undefined where this version does not list them. */
async function readJobs(
  { find, id }: Repository,
  run: Run,
  state: string,
  cache: CheckCache,
): Promise<readonly Job[] | undefined> {
  const key = `gitea ${id} jobs ${run.id} ${state}`
  const known = run.isEnded ? cache.get(key) : undefined
  if (Array.isArray(known)) return known as Job[]
  const list = await collectPages<JobAnswer>(async (page) => {
    const { value } = await find(`/actions/runs/${run.id}/jobs?page=${page}&limit=${PAGE}`, JobsAnswer, [404, 405])
    // Forgejo lists all jobs of a run at once.
    if (Array.isArray(value)) return { entries: value, total: value.length }
    return value && { entries: value.jobs, total: value.total_count }
  })
  if (!list) return undefined
  if (list.isCut) throw new DestinationError('too_large')
  if (list.entries.some(({ run_id }) => run_id !== undefined && run_id !== run.id)) throw unexpectedAnswer()
  const jobs = list.entries.map((job): Job => ({ name: job.name, run, outcome: outcomeOf(job) }))
  if (run.isEnded && !jobs.some(({ outcome }) => outcome === 'pending')) cache.set(key, jobs)
  return jobs
}

/** Reads the jobs that runners have taken of all commits, the newest first; undefined where this version does not list them. */
async function readTasks({ find }: Repository, sha: string): Promise<Runs | undefined> {
  const list = await collectPages<TaskAnswer>(async (page) => {
    const { value } = await find(`/actions/tasks?page=${page}&limit=${PAGE}`, TasksAnswer, [401, 403, 404, 405])
    return value && { entries: value.workflow_runs, total: value.total_count }
  })
  if (!list) return undefined
  const tasks = list.entries.filter(({ head_sha }) => head_sha === sha).sort((one, other) => one.id - other.id)
  // A job that is run again is another task of the same name.
  const latest = new Map(tasks.map((task) => [JSON.stringify([task.run_number, task.name]), task]))
  const jobs = [...latest.values()].map((task): Job => {
    const { run_number: id, workflow_id: file, event, head_branch: ref = '', url } = task
    const page = url ? pathOf(url) : undefined
    const run = { id, file, event: eventOf(event), ref, isEnded: false, isSkipped: false, page }
    return { name: task.name, run, outcome: outcomeOf(task) }
  })
  const runs = newest(jobs).map(({ run }) => run)
  const isNewest = ({ run }: Job) => runs.some(({ id }) => id === run.id)
  return { runs, jobs: jobs.filter(isNewest), isPartial: true }
}

const OUTCOMES: ReadonlyMap<string, Check['outcome']> = new Map([
  ['success', 'passed'],
  ['failure', 'failed'],
  ['cancelled', 'failed'],
  ['skipped', 'skipped'],
  ...['queued', 'pending', 'waiting', 'blocked', 'running', 'in_progress', 'cancelling'].map(
    (status) => [status, 'pending'] as const,
  ),
])

/** The outcome of a run or a job. @throws DestinationError `unexpected_response` for a state that this version of the host does not have */
function outcomeOf({ status, conclusion }: { readonly status: string; readonly conclusion?: string | null }) {
  const outcome = OUTCOMES.get(conclusion || status)
  if (outcome === undefined) throw unexpectedAnswer()
  return outcome
}
