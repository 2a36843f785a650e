/** The checks of a repository in the JSON of GitLab's REST API: pipelines, their jobs, and statuses that accounts posted. */
import type { CheckRun, PostedStatus, Suite } from './checks.ts'
import { commitAnswer, settingsOf, time, userAnswer } from './gitlab-answers.ts'
import type { ForgeRepository } from './model.ts'
import type { RepositoryState } from './state.ts'

/** One that the host runs, or one for statuses that were posted where there was none. */
export interface ShownPipeline {
  readonly id: number
  readonly sha: string
  readonly ref: string
  readonly source: string
  readonly by: string
  readonly createdAt: number
  readonly runs: readonly CheckRun[]
  readonly posted: readonly PostedStatus[]
}

/** What is started by one push is one pipeline, though the model has a suite for each run. */
const TOGETHER_MS = 1000

/** Newest first. Runs of apps are statuses that these post. */
export function pipelinesOf(repository: ForgeRepository, { until, runs, statuses }: RepositoryState): ShownPipeline[] {
  const suites = repository.checks.suites(until).filter(({ isRunByHost }) => isRunByHost)
  const first = new Map(suites.map((suite) => [suite, suites.find((other) => isTogether(other, suite))!]))
  const byFirst = new Map<Suite | undefined, CheckRun[]>()
  for (const run of runs()) byFirst.set(first.get(run.suite), [...(byFirst.get(first.get(run.suite)) ?? []), run])
  const own = suites
    .filter((suite) => first.get(suite) === suite)
    .map((suite) => ({
      ...{ id: suite.id, sha: suite.sha, ref: suite.branch ?? repository.defaultBranch, source: sourceOf(suite) },
      ...{ by: suite.by, createdAt: suite.createdAt, posted: [] as PostedStatus[] },
      runs: byFirst.get(suite) ?? [],
    }))
  const external: (typeof own)[number][] = []
  for (const status of [...statuses(), ...appStatuses(runs())]) {
    const { sha, id, by, createdAt } = status
    const known = [...own, ...external].findLast((one) => one.sha === sha && one.source !== 'parent_pipeline')
    if (known) known.posted.push(status)
    else {
      const ref = repository.defaultBranch
      external.push({ id, sha, ref, source: 'external', by, createdAt, runs: [], posted: [status] })
    }
  }
  return [...own, ...external].sort((one, other) => other.id - one.id)
}

function isTogether(one: Suite, other: Suite): boolean {
  const isAlike = one.sha === other.sha && one.source === other.source && one.branch === other.branch
  return isAlike && one.parent === other.parent && Math.abs(one.createdAt - other.createdAt) < TOGETHER_MS
}

function sourceOf({ parent, source }: Suite): string {
  return parent === undefined ? source : 'parent_pipeline'
}

function appStatuses(runs: readonly CheckRun[]): PostedStatus[] {
  return runs
    .filter(({ suite }) => !suite.isRunByHost)
    .map((run) => {
      const { id, sha, name: context, suite, createdAt, updatedAt } = run
      const state = ({ success: 'success', failed: 'failure' } as const)[jobStatus(run) as 'success' | 'failed']
      return { id, sha, context, state: state ?? 'pending', by: suite.app, createdAt, updatedAt }
    })
}

const ENDED = {
  ...{ success: 'success', failure: 'failed', neutral: 'skipped', skipped: 'skipped', cancelled: 'canceled' },
  ...{ timed_out: 'failed', action_required: 'manual', stale: 'canceled' },
} as const

function jobStatus({ state, outcome, isManual }: CheckRun): string {
  if (state === 'ended') return ENDED[outcome!]
  if (state === 'running') return 'running'
  return isManual ? 'manual' : 'pending'
}

const POSTED = { pending: 'pending', success: 'success', failure: 'failed', error: 'failed' } as const

function statusOf(repository: ForgeRepository, pipeline: ShownPipeline): string {
  if (settingsOf(repository).badFiles.has(pipeline.id)) return 'failed'
  const jobs = lastAttempts(pipeline.runs).map((run) => ({ status: jobStatus(run), mayFail: run.mayFail }))
  const posted = lastPosted(pipeline.posted).map(({ state }) => ({ status: POSTED[state] as string, mayFail: false }))
  const isForgiven = ({ status, mayFail }: (typeof jobs)[number]) =>
    mayFail && ['failed', 'canceled', 'manual'].includes(status)
  const counted = [...jobs, ...posted].filter((one) => !isForgiven(one)).map(({ status }) => status)
  for (const status of ['running', 'pending', 'failed', 'canceled', 'manual'])
    if (counted.includes(status)) return status
  return counted.every((status) => status === 'skipped') ? 'skipped' : 'success'
}

function lastAttempts(runs: readonly CheckRun[]): CheckRun[] {
  return runs.filter((run) => !runs.some((other) => other.name === run.name && other.attempt > run.attempt))
}

function lastPosted(posted: readonly PostedStatus[]): PostedStatus[] {
  return posted.filter((one) => !posted.some((other) => other.context === one.context && other.id > one.id))
}

export function pipelineAnswer(repository: ForgeRepository, pipeline: ShownPipeline) {
  const { id, sha, ref, source, createdAt, runs, posted } = pipeline
  const updatedAt = Math.max(createdAt, ...[...runs, ...posted].map((one) => one.updatedAt))
  return {
    ...{ id, iid: id, project_id: repository.id, sha, ref, status: statusOf(repository, pipeline), source },
    ...{ created_at: time(createdAt), updated_at: time(updatedAt) },
    web_url: `https://gitlab.test/${repository.slug}/-/pipelines/${id}`,
  }
}

/** Newest first. */
export function jobAnswers(repository: ForgeRepository, pipeline: ShownPipeline, withRetried: boolean) {
  const runs = withRetried ? pipeline.runs : lastAttempts(pipeline.runs)
  return runs.toReversed().map((run) => jobAnswer(repository, pipeline, run))
}

function jobAnswer(repository: ForgeRepository, pipeline: ShownPipeline, run: CheckRun) {
  const { id, name, createdAt, startedAt, updatedAt, state, mayFail } = run
  return {
    ...{ id, status: jobStatus(run), stage: 'test', name, ref: pipeline.ref, tag: isTag(repository, pipeline) },
    allow_failure: mayFail,
    ...{ created_at: time(createdAt), started_at: startedAt === undefined ? null : time(startedAt) },
    // By GitLab's clock, when the runner told it.
    ...{ finished_at: state === 'ended' ? time(updatedAt) : null, duration: null, user: userAnswer(pipeline.by) },
    ...{ commit: commitAnswer(repository, pipeline.sha), pipeline: pipelineAnswer(repository, pipeline) },
    web_url: `https://gitlab.test/${repository.slug}/-/jobs/${id}`,
  }
}

function isTag(repository: ForgeRepository, { ref }: ShownPipeline): boolean {
  return repository.asOf().tag(ref) !== undefined
}

/** The jobs that started other pipelines, which had no more to do. */
export function bridgeAnswers(repository: ForgeRepository, pipeline: ShownPipeline, all: readonly ShownPipeline[]) {
  const suites = repository.checks.suites(Number.POSITIVE_INFINITY).filter(({ parent }) => parent === pipeline.id)
  return suites.map(({ id, createdAt, by }) => ({
    ...{ id: id + 1_000_000, status: 'success', stage: 'test', name: 'start-child', ref: pipeline.ref, tag: false },
    ...{ allow_failure: false, created_at: time(createdAt), started_at: time(createdAt), finished_at: time(createdAt) },
    ...{ duration: 0, user: userAnswer(by), commit: commitAnswer(repository, pipeline.sha) },
    ...{
      pipeline: pipelineAnswer(repository, pipeline),
      web_url: `https://gitlab.test/${repository.slug}/-/jobs/${id}`,
    },
    downstream_pipeline: pipelineAnswer(repository, all.find((one) => one.id === id)!),
  }))
}

/** Jobs and posted ones alike, oldest first. */
export function statusAnswers(pipelines: readonly ShownPipeline[]) {
  const answer = (
    pipeline: ShownPipeline,
    one: { id: number; name: string; status: string; by: string; mayFail: boolean; at: number },
  ) => ({
    ...{ id: one.id, sha: pipeline.sha, ref: pipeline.ref, status: one.status, name: one.name, target_url: null },
    ...{ description: null, created_at: time(one.at), started_at: null, finished_at: null, allow_failure: one.mayFail },
    ...{ coverage: null, pipeline_id: pipeline.id, author: userAnswer(one.by) },
  })
  return pipelines
    .flatMap((pipeline) => [
      ...pipeline.runs.map((run) =>
        answer(pipeline, {
          id: run.id,
          name: run.name,
          status: jobStatus(run),
          by: pipeline.by,
          mayFail: run.mayFail,
          at: run.createdAt,
        }),
      ),
      ...pipeline.posted.map(({ id, context, state, by, createdAt }) =>
        answer(pipeline, { id, name: context, status: POSTED[state], by, mayFail: false, at: createdAt }),
      ),
    ])
    .sort((one, other) => one.id - other.id)
}
