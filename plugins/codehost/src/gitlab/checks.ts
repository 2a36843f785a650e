/**
 * What GitLab's CI says of a commit. A check is a job, by the source of its pipeline. A status that somebody posted joins a pipeline
 * that there is and counts in its state, so that the state of a pipeline never stands for a job that ran.
 */
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { Check, ChecksQuery, FoundChecks, WantedCheck } from '../code-host.ts'
import { defined } from '../defined.ts'
import { GITLAB_JOBS, isNamed, isOfAccount } from '../reporters.ts'
import { type Reports, reportersBefore } from '../reporters-before.ts'
import { latestOf, notAfter } from '../times.ts'
import { missingCommitMark } from '../without-log.ts'
import { createGitLabApi, type GitLabAccess } from './api.ts'
import { EXTERNAL, openPipelines, outcomeOf, type Pipeline, type Pipelines, type Run, startedBy } from './pipelines.ts'
import { isOwnTime, readProject, requireCode } from './project.ts'
import { openRepository } from './repository.ts'

/** Whose jobs are read at most, and of how many older ones where these matter. */
const MOST_PIPELINES = 10

/** What a person or the time starts runs for one commit, and need not for the next. */
const OF_NO_COMMIT: ReadonlySet<string> = new Set(['schedule', 'web', 'chat'])

export async function findChecks(
  access: GitLabAccess,
  query: ChecksQuery,
  context: CheckContext,
): Promise<FoundChecks> {
  const { sha, checks: wanted } = query
  const api = createGitLabApi(access, context)
  const project = await readProject(api, query, context)
  const { found } = project
  // That something may fail is no pass of what a claim names.
  const source = openPipelines(api, project, { sha, countsAll: wanted !== undefined })
  const pipelines = await source.list()
  if (pipelines.length === 0) {
    if (await openRepository(api, project, context).knows(sha)) return { ...found, checks: [], canBeDeleted: true }
    requireCode(project)
    // Pipelines are deleted by their age, too, and commits that nothing names are pruned.
    return { ...found, checks: undefined, mark: missingCommitMark(query, context.now(), project.madeBy) }
  }
  // Owners can delete pipelines.
  if (wanted) return { ...found, checks: await namedChecks(source, pipelines, wanted), canBeDeleted: true }
  // Without a token GitLab shows no posted statuses.
  const seesPosted = access.token !== undefined
  const { checks, started } = await allChecks(source, pipelines, seesPosted)
  const times = [...pipelines, ...started].flatMap(({ updatedAt }) => updatedAt ?? [])
  const changedAt = times.every((time) => isOwnTime(time, project)) ? latestOf(times) : undefined
  return {
    ...found,
    checks,
    ...defined({ changedAt }),
    reportersBefore: () =>
      context.cache.share(`gitlab ${project.id} reporters before ${sha}`, () =>
        reportersBefore(sha, context.cache, {
          parents: (sha) => openRepository(api, project, context).parents(sha),
          reporters: (sha) => reportersOn(openPipelines(api, project, { sha, countsAll: false }), seesPosted),
        }),
      ),
  }
}

async function reportersOn(source: Pipelines, seesPosted: boolean): ReturnType<Reports['reporters']> {
  const pipelines = (await source.list()).filter((pipeline) => !OF_NO_COMMIT.has(pipeline.source))
  const own = pipelines.filter(isOwn)
  const jobs = own.length > 0 ? [GITLAB_JOBS] : []
  if (pipelines.length === 0) return []
  if (!seesPosted) return own.length < pipelines.length ? [...jobs, startedBy(EXTERNAL)] : jobs
  const runs = await source.runs(newest(own).slice(0, MOST_PIPELINES), 'jobs')
  return [...jobs, ...(await postedBeside(source, runs)).map(({ by }) => by[0]!)]
}

/** What is `external` has no jobs. */
function isOwn(pipeline: Pipeline): boolean {
  return pipeline.source !== EXTERNAL
}

/** Jobs are in the list of statuses, too. */
async function postedBeside(source: Pipelines, runs: readonly Pick<Run, 'id'>[]): Promise<readonly Run[]> {
  const jobs = new Set(runs.map(({ id }) => id))
  return (await source.posted()).filter(({ id }) => !jobs.has(id))
}

interface AllChecks {
  readonly checks: readonly Check[]
  readonly started: readonly Pipeline[]
}

/** All that the newest pipelines show; where that is green, also the pipelines that they started, and who posted statuses. */
async function allChecks(source: Pipelines, pipelines: readonly Pipeline[], seesPosted: boolean): Promise<AllChecks> {
  const own = await allIn(source, pipelines)
  if (own.checks.some(isRed)) return { checks: own.checks, started: [] }
  const started = await source.list('parent_pipeline')
  // Whether the pipeline that started it forgives its failure is not read: it spoils the commit, and is blamed on nobody.
  const others = await allIn(source, started)
  const checks = [...own.checks, ...others.checks.map(withoutBlame)]
  if (!seesPosted) return { checks, started }
  const posted = await postedBeside(source, [...own.runs, ...others.runs])
  const isTold = ({ by }: Check) => posted.length > 0 && by.includes(startedBy(EXTERNAL))
  return {
    checks: [...checks.filter((check) => !isTold(check)), ...latest(posted).map((run) => toCheck(run, posted, []))],
    started,
  }
}

async function allIn(
  source: Pipelines,
  pipelines: readonly Pipeline[],
): Promise<{ readonly checks: Check[]; readonly runs: readonly Run[] }> {
  const shown = newest(pipelines)
  // A pipeline that was started again counts in place of the older one: a job that it left out spoils the commit, and no more.
  const needs: Needs = (runs) => {
    const hasRed = latest(runs).some(isRed)
    return ({ status }) => hasRed || !ENDED_WELL.has(status)
  }
  const { runs, unread } = await readRuns(source, pipelines, 'jobs', needs)
  if (unread.length > 0 && !latest(runs).some(isRed)) throw new DestinationError('too_large')
  const checks = latest(runs).map((run) => {
    const check = toCheck(run, runs, unread)
    return shown.some(({ id }) => id === run.pipeline) ? check : withoutBlame(check)
  })
  const pipelineChecks = shown.flatMap((pipeline) => {
    const own = runs.filter((run) => run.pipeline === pipeline.id)
    const check = pipelineCheck(pipeline, pipelines)
    // Its jobs speak for it, unless it is red for another reason.
    const isTold = own.length === 0 ? check.outcome === 'skipped' : own.some(isRed) || !isRed(check)
    return isTold ? [] : [check]
  })
  return { checks: [...checks, ...pipelineChecks], runs }
}

const ENDED_WELL: ReadonlySet<string> = new Set(['success', 'skipped'])

function isRed({ outcome }: Pick<Check, 'outcome'>): boolean {
  return outcome === 'failed' || outcome === 'pending'
}

function withoutBlame(check: Check): Check {
  return isRed(check) ? { ...check, passedBefore: true } : check
}

/** Reads on only while a claimed check was not found, or has not passed. */
async function namedChecks(
  source: Pipelines,
  pipelines: readonly Pipeline[],
  wanted: readonly WantedCheck[],
): Promise<Check[]> {
  const checks: Check[] = []
  const jobs: Run[] = []
  const isFound = (all: readonly Pick<Check, 'name' | 'by'>[]) =>
    wanted.every((one) => all.some((check) => isNamed(check, one)))
  const hasFailed = (runs: readonly Run[]) =>
    latest(runs).some((run) => run.outcome !== 'passed' && wanted.some((one) => isNamed(run, one)))

  async function read(all: readonly Pipeline[], kind: 'jobs' | 'bridges'): Promise<void> {
    const needs: Needs = (runs) => {
      const isNeeded = !isFound([...checks, ...runs]) || hasFailed(runs)
      return () => isNeeded
    }
    const { runs, unread } = await readRuns(source, all, kind, needs)
    if (unread.length > 0 && !isFound([...checks, ...runs])) throw new DestinationError('too_large')
    checks.push(...latest(runs).map((run) => toCheck(run, runs, unread)))
    jobs.push(...runs)
  }

  await read(pipelines, 'jobs')
  if (!isFound(checks)) await read(await source.list('parent_pipeline'), 'jobs')
  if (!isFound(checks)) await read(pipelines, 'bridges')
  if (!isFound(checks) && wanted.some(isOfAccount)) {
    const posted = await postedBeside(source, jobs)
    checks.push(...latest(posted).map((run) => toCheck(run, posted, [])))
  }
  return checks
}

interface ReadRuns {
  readonly runs: readonly Run[]
  /** Older pipelines that would be needed. */
  readonly unread: readonly Pipeline[]
}

/** Whether an older pipeline matters, by what the newest ones have run. */
type Needs = (runs: readonly Run[]) => (older: Pipeline) => boolean

async function readRuns(
  source: Pipelines,
  all: readonly Pipeline[],
  kind: 'jobs' | 'bridges',
  needs: Needs,
): Promise<ReadRuns> {
  const own = all.filter(isOwn)
  const shown = newest(own)
  if (shown.length > MOST_PIPELINES) throw new DestinationError('too_large')
  const runs = await source.runs(shown, kind)
  const isNeeded = needs(runs)
  const older = own.filter((pipeline) => !shown.includes(pipeline) && isNeeded(pipeline))
  const earlier = await source.runs(older.slice(0, MOST_PIPELINES), kind)
  return { runs: [...runs, ...earlier], unread: older.slice(MOST_PIPELINES) }
}

/** Of each ref and source the newest. One of another source replaces none: whoever may write can start some with variables of their own. */
function newest(pipelines: readonly Pipeline[]): Pipeline[] {
  return lastOf(pipelines, ({ ref, source }) => [ref, source])
}

/** A retried job has the same name, and a higher id. */
function latest(runs: readonly Run[]): Run[] {
  return lastOf(runs, ({ ref, source, name }) => [ref, source, name])
}

/** Of those with the same key the one with the highest id. */
function lastOf<T extends { readonly id: number }>(all: readonly T[], keyOf: (one: T) => readonly string[]): T[] {
  const byKey = new Map<string, T>()
  for (const one of all) {
    const key = JSON.stringify(keyOf(one))
    const other = byKey.get(key)
    if (!other || other.id < one.id) byKey.set(key, one)
  }
  return [...byKey.values()]
}

interface Origin {
  readonly ref: string
  readonly source: string
}

/** Both say something of the same work: on one branch, or of one kind. */
function isAkin(one: Origin, other: Origin): boolean {
  return one.ref === other.ref || one.source === other.source
}

/** @param unread what is not read may have passed */
function toCheck(run: Run, runs: readonly Run[], unread: readonly Pipeline[]): Check {
  const { name, by, isRunByHost, outcome, endedAt } = run
  const hasPassed = (other: Run) =>
    other.id !== run.id && other.name === name && isAkin(run, other) && other.outcome === 'passed'
  const passedBefore = runs.some(hasPassed) || unread.some((one) => isAkin(run, one))
  return { name, by, isRunByHost, outcome, passedBefore, ...(endedAt ? { endedAt } : {}) }
}

/** The state of all in it, with what others posted and where it had no job at all. */
function pipelineCheck(pipeline: Pipeline, all: readonly Pipeline[]): Check {
  const { id, source, status, updatedAt } = pipeline
  return {
    name: 'pipeline',
    by: source === EXTERNAL ? [startedBy(source)] : [GITLAB_JOBS, startedBy(source)],
    isRunByHost: false,
    outcome: outcomeOf({ status }, false),
    passedBefore: all.some((other) => other.id !== id && isAkin(pipeline, other) && other.status === 'success'),
    ...(updatedAt ? { endedAt: notAfter(updatedAt) } : {}),
  }
}
