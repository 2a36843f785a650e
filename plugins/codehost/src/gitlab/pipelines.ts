/** Reads GitLab's pipelines, their jobs, and the statuses that accounts posted, each as runs of the same form. */

import type { Check } from '../code-host.ts'
import { account, accountId, GITLAB_JOBS, workflow } from '../reporters.ts'
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
import { allOf, type GitLabApi } from './api.ts'
import { isOwnTime, type Project } from './project.ts'

export interface Pipeline {
  readonly id: number
  /** Of the claimed commit, or of its merge with the target of a merge request. */
  readonly sha: string
  readonly ref: string
  /** What started it: `push`, `merge_request_event`, `parent_pipeline`; `external`: somebody posted a status where there was none. */
  readonly source: string
  readonly status: string
  readonly createdAt?: string
  readonly updatedAt?: string
}

/** Of a pipeline that somebody's status made. */
export const EXTERNAL = 'external'

/** What a person starts, with variables of their own. */
export const BY_HAND: ReadonlySet<string> = new Set(['web', 'api', 'trigger', 'chat', 'pipeline'])
/** What the host starts itself for what was pushed. */
export const BY_HOST: ReadonlySet<string> = new Set(['push', 'merge_request_event', 'external_pull_request_event'])

/** One attempt of a job, or one status that somebody posted. */
export interface Run extends Omit<Check, 'passedBefore'> {
  readonly id: number
  /** Of a posted one 0. */
  readonly pipeline: number
  readonly ref: string
  /** Of a posted one the account's id. */
  readonly source: string
  /** The id of the account that started it. */
  readonly startedBy?: number
  /** It ran for a tag. */
  readonly isOfTag?: boolean
  /** Stopped before it ended. */
  readonly isCanceled?: boolean
}

export type Pipelines = ReturnType<typeof openPipelines>

const PIPELINES = { size: 100, most: 3 }
/** A job takes some four kilobytes. */
const JOBS = { size: 50, most: 10 }
const STATUSES = { size: 100, most: 3 }

const USUAL_FILE = '.gitlab-ci.yml'
/** What they run is not what the project's own file says. */
const OTHER_FILES: ReadonlySet<string> = new Set(['parent_pipeline', 'security_orchestration_policy'])

/** @param countsAll failures count also where the pipeline forgives them */
export function openPipelines(
  api: GitLabApi,
  project: Project,
  { sha, countsAll }: { readonly sha: string; readonly countsAll: boolean },
) {
  const { path, answer } = project
  const file = answer.ci_config_path || USUAL_FILE

  function toRun(job: JobAnswer, { id, ref, source, createdAt }: Pipeline): Run {
    if (job.pipeline.id !== id) throw unexpectedAnswer()
    const by = [GITLAB_JOBS, ...(OTHER_FILES.has(source) ? [] : [workflow(file)]), startedBy(source)]
    const end = job.finished_at && isOwnTime(job.finished_at, project) ? logTime(job.finished_at) : undefined
    return {
      ...{ id: job.id, pipeline: id, name: job.name, ref, source, by, isRunByHost: true },
      outcome: outcomeOf(job, countsAll),
      // A job that is run again is another one.
      ...(end ? { endedAt: end, changedAt: end } : {}),
      ...(createdAt && isOwnTime(createdAt, project) ? { begunAt: notAfter(createdAt) } : {}),
      ...(BY_HAND.has(source) ? { isByHand: true } : {}),
      ...(job.user ? { startedBy: job.user.id } : {}),
      ...(job.tag ? { isOfTag: true } : {}),
      ...(job.status === 'canceled' ? { isCanceled: true } : {}),
    }
  }

  function toPosted(status: StatusAnswer): Run[] {
    const { id, name, author } = status
    if (status.sha !== sha) throw unexpectedAnswer()
    if (author === null) return []
    const source = String(author.id)
    const by = [accountId(author.id), account(author.username)]
    const outcome = outcomeOf(status, countsAll)
    return [{ id, pipeline: 0, name, ref: status.ref ?? '', source, by, isRunByHost: false, outcome }]
  }

  return {
    /** Newest first. @param source those that other pipelines started are in the list of `parent_pipeline` alone */
    async list(source?: 'parent_pipeline'): Promise<readonly Pipeline[]> {
      const query = `sha=${sha}&order_by=id&sort=desc${source === undefined ? '' : `&source=${source}`}`
      const found = await allOf(api.pages(`${path}/pipelines?${query}`, PipelinesAnswer, PIPELINES))
      if (found.some((one) => one.sha !== sha)) throw unexpectedAnswer()
      const pipelines = found.map(toPipeline).filter((one) => source === undefined || one.source === source)
      return pipelines.sort((one, other) => other.id - one.id)
    },
    /** Every attempt. `bridges` are the jobs that start other pipelines. */
    async runs(pipelines: readonly Pipeline[], kind: 'jobs' | 'bridges'): Promise<readonly Run[]> {
      const runs: Run[] = []
      for (const pipeline of pipelines) {
        const list = `${path}/pipelines/${pipeline.id}/${kind}?include_retried=true`
        const jobs = await allOf(api.pages(list, JobsAnswer, JOBS))
        runs.push(...jobs.map((job) => toRun(job, pipeline)))
      }
      return runs
    },
    /** It was started without variables of its own. Whose are hidden may have had any. */
    async isPlain({ id }: Pick<Pipeline, 'id'>): Promise<boolean> {
      const { value } = await api.find(`${path}/pipelines/${id}/variables`, VariablesAnswer, [401, 403, 404])
      return value?.length === 0
    },
    /** Jobs are in this list, too, as if the account that started them had posted them. */
    async posted(): Promise<readonly Run[]> {
      const list = `${path}/repository/commits/${sha}/statuses?all=true`
      return (await allOf(api.pages(list, StatusesAnswer, STATUSES))).flatMap(toPosted)
    },
  }
}

/** What accounts posted. Jobs are in the list of statuses, too. */
export async function postedBeside(
  source: Pick<Pipelines, 'posted'>,
  runs: readonly Pick<Run, 'id'>[],
): Promise<readonly Run[]> {
  const jobs = new Set(runs.map(({ id }) => id))
  return (await source.posted()).filter(({ id }) => !jobs.has(id))
}

/** What may fail, or waits for somebody to start it, does not count where the pipeline forgives it. */
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

/** What started a pipeline. */
export function startedBy(source: string): string {
  return `pipeline:${source}`
}

export function toPipeline({ id, sha, ref, source, status, created_at, updated_at }: PipelineAnswer): Pipeline {
  const times = { ...(created_at ? { createdAt: created_at } : {}), ...(updated_at ? { updatedAt: updated_at } : {}) }
  return { id, sha, ref: ref ?? '', source: source ?? 'unknown', status, ...times }
}
