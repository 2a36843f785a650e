/** Reads GitLab's pipelines, their jobs, and the statuses that accounts posted, each as runs of the same form. */

import type { Check } from '../code-host.ts'
import { unlessCut } from '../forgetting.ts'
import { account, accountId, GITLAB_JOBS, isOwnReport, workflow } from '../reporters.ts'
import { unexpectedAnswer } from '../rest.ts'
import { logTime, notAfter } from '../times.ts'
import {
  type JobAnswer,
  JobsAnswer,
  type PipelineAnswer,
  PipelinesAnswer,
  type StatusAnswer,
  StatusesAnswer,
  VariablesAnswer,
} from './answers.ts'
import { collectAll } from './api.ts'
import { isOwnTime, type Project } from './project.ts'

export interface Pipeline {
  readonly id: number
  /** The commit that the pipeline ran for: the claimed one, or its merge with the target of a merge request. */
  readonly sha: string
  readonly ref: string
  /**
   * The event that started the pipeline: `push`, `merge_request_event`, `parent_pipeline`; `external` if somebody posted a status where there was
   * none.
   */
  readonly source: string
  readonly status: string
  readonly createdAt?: string
  readonly updatedAt?: string
}

export interface PipelineList {
  readonly pipelines: readonly Pipeline[]
  /** Tells that there are more pipelines, all of which passed. */
  readonly isCut: boolean
}

/** The source of a pipeline that somebody's status made. */
export const EXTERNAL = 'external'

/** The sources of what a person starts, with variables of their own. */
export const BY_HAND: ReadonlySet<string> = new Set(['web', 'api', 'trigger', 'chat', 'pipeline'])
/** The sources of what the host starts itself for what was pushed. */
export const BY_HOST: ReadonlySet<string> = new Set(['push', 'merge_request_event', 'external_pull_request_event'])

/** One attempt of a job, or one status that somebody posted. */
export interface Run extends Omit<Check, 'passedBefore' | 'isByHand'> {
  readonly id: number
  /** The id of the run's pipeline; 0 for a posted status. */
  readonly pipeline: number
  readonly ref: string
  /** The source of the run's pipeline; for a posted status, the account's id. */
  readonly source: string
  /** The id of the account that started the run. */
  readonly startedBy?: number
  /** Tells that the job ran for a tag. */
  readonly isOfTag?: boolean
  /** Tells that the job was stopped before it ended. */
  readonly isCanceled?: boolean
}

export type Pipelines = ReturnType<typeof openPipelines>

const PIPELINES = { size: 100, most: 3 }
/** Limits of lists of jobs, each of which takes some four kilobytes. */
const JOBS = { size: 50, most: 10 }
const STATUSES = { size: 100, most: 10 }
/** The states of a pipeline that has not passed. */
const NOT_PASSED = [
  ...['failed', 'canceled', 'canceling', 'manual', 'running', 'pending', 'created', 'preparing', 'scheduled'],
  ...['waiting_for_resource', 'waiting_for_callback'],
]

const USUAL_FILE = '.gitlab-ci.yml'
/** The sources of pipelines that run something else than the project's own file says. */
const OTHER_FILES: ReadonlySet<string> = new Set(['parent_pipeline', 'security_orchestration_policy'])

/** Opens the pipelines of a commit. @param countsAll true if failures count also where the pipeline forgives them */
export function openPipelines(
  project: Project,
  { sha, countsAll }: { readonly sha: string; readonly countsAll: boolean },
) {
  const { api, path, answer } = project
  const file = answer.ci_config_path || USUAL_FILE

  const ownTime = (time: string | null | undefined) => (time && isOwnTime(time, project) ? time : undefined)

  function toRun(job: JobAnswer, { id, ref, source, createdAt }: Pipeline): Run {
    if (job.pipeline.id !== id) throw unexpectedAnswer()
    const by = [GITLAB_JOBS, ...(OTHER_FILES.has(source) ? [] : [workflow(file)]), startedBy(source)]
    const end = ownTime(job.finished_at)
    const endedAt = end ? logTime(end) : undefined
    return {
      ...{ id: job.id, pipeline: id, name: job.name, ref, source, by, isRunByHost: true },
      outcome: outcomeOf(job, countsAll),
      endedAt,
      // A job does not change after its end: when it is run again, that is another job.
      changedAt: endedAt,
      begunAt: notAfter(ownTime(createdAt)),
      startedBy: job.user?.id,
      isOfTag: job.tag,
      isCanceled: job.status === 'canceled',
    }
  }

  function toPosted(status: StatusAnswer): Run[] {
    const { id, name, author } = status
    if (status.sha !== sha) throw unexpectedAnswer()
    if (author === null) return []
    const source = String(author.id)
    const by = [accountId(author.id), account(author.username)]
    const outcome = outcomeOf(status, countsAll)
    const begunAt = notAfter(ownTime(status.created_at))
    return [{ id, pipeline: 0, name, ref: status.ref ?? '', source, by, isRunByHost: false, outcome, begunAt }]
  }

  const listed = (filter = '') =>
    collectAll(api.pages(`${path}/pipelines?sha=${sha}&order_by=id&sort=desc${filter}`, PipelinesAnswer, PIPELINES))

  /** Reads what counts of a list that has no end: what the host started for the commit, and what has not passed. */
  async function listFiltered(): Promise<PipelineAnswer[]> {
    const filters = [
      ...[...BY_HOST, EXTERNAL].map((source) => `&source=${source}`),
      ...NOT_PASSED.map((status) => `&status=${status}`),
    ]
    return (await Promise.all(filters.map(listed))).flat()
  }

  return {
    /**
     * Lists pipelines, newest first. Of a list that is too long it leaves out what passed and a clock or a person started.
     * @param source limits the list to pipelines that others started, which no other list has
     */
    async list(source?: 'parent_pipeline'): Promise<PipelineList> {
      const whole = await unlessCut(() => listed(source && `&source=${source}`), source ? [] : ['too_large'])
      const isCut = whole === 'cut'
      const found = isCut ? await listFiltered() : whole
      if (found.some((one) => one.sha !== sha)) throw unexpectedAnswer()
      const byId = new Map(found.map((one) => [one.id, toPipeline(one)]))
      const pipelines = [...byId.values()].filter((one) => source === undefined || one.source === source)
      return { pipelines: pipelines.sort((one, other) => other.id - one.id), isCut }
    },
    /** Reads every attempt of the jobs. `bridges` are the jobs that start other pipelines. */
    async runs(pipelines: readonly Pipeline[], kind: 'jobs' | 'bridges'): Promise<readonly Run[]> {
      const runs: Run[] = []
      for (const pipeline of pipelines) {
        const list = `${path}/pipelines/${pipeline.id}/${kind}?include_retried=true`
        const jobs = await collectAll(api.pages(list, JobsAnswer, JOBS))
        runs.push(...jobs.map((job) => toRun(job, pipeline)))
      }
      return runs
    },
    /** Tells whether a pipeline was started without variables of its own. A pipeline whose variables are hidden may have had any. */
    async isPlain({ id }: Pick<Pipeline, 'id'>): Promise<boolean> {
      const { value } = await api.find(`${path}/pipelines/${id}/variables`, VariablesAnswer, [401, 403, 404])
      return value?.length === 0
    },
    isOwnReport: (run: Run) => isOwnReport(run, project.reporters),
    /** Reads the posted statuses. Jobs are in this list, too, as if the account that started them had posted them. */
    async posted(): Promise<readonly Run[]> {
      const list = `${path}/repository/commits/${sha}/statuses?all=true`
      return (await collectAll(api.pages(list, StatusesAnswer, STATUSES))).flatMap(toPosted)
    },
  }
}

/** Reads the statuses that accounts posted, without the jobs, which are in the list of statuses, too. */
export async function readPostedBeside(
  source: Pick<Pipelines, 'posted'>,
  runs: readonly Pick<Run, 'id'>[],
): Promise<readonly Run[]> {
  const jobs = new Set(runs.map(({ id }) => id))
  return (await source.posted()).filter(({ id }) => !jobs.has(id))
}

/** The outcome of a job or a status. A job that may fail, or waits for somebody to start it, does not count where the pipeline forgives it. */
export function outcomeOf(
  { status, allow_failure = false }: { readonly status: string; readonly allow_failure?: boolean },
  countsAll: boolean,
): Check['outcome'] {
  const isForgiven = allow_failure && !countsAll
  if (status === 'success') return 'passed'
  if (status === 'skipped') return 'skipped'
  if (status === 'failed' || status === 'canceled') return isForgiven ? 'skipped' : 'failed'
  return status === 'manual' && isForgiven ? 'skipped' : 'pending'
}

/** The identifier that stands for the source of a pipeline. */
export function startedBy(source: string): string {
  return `pipeline:${source}`
}

export function toPipeline({ id, sha, ref, source, status, created_at, updated_at }: PipelineAnswer): Pipeline {
  const times = { createdAt: created_at || undefined, updatedAt: updated_at || undefined }
  return { id, sha, ref: ref ?? '', source: source ?? 'unknown', status, ...times }
}
