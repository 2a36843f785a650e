/**
 * What GitLab's CI says of a commit. A check is a job, by the source of its pipeline. A status that somebody posted joins a pipeline
 * that there is and counts in its state, so that the state of a pipeline never stands for a job that ran.
 */
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { Check, ChecksQuery, FoundChecks } from '../code-host.ts'
import { notAfter } from '../times.ts'
import { createGitLabApi, type GitLabAccess } from './api.ts'
import { openPipelines, outcomeOf, type Pipeline, type Pipelines, type Run } from './pipelines.ts'
import { readProject } from './project.ts'
import { openRepository } from './repository.ts'

/** Whose jobs are read at most; and of older ones, where a check has not passed. */
const MOST_PIPELINES = 10

type Wanted = NonNullable<ChecksQuery['wanted']>

export async function findChecks(
  access: GitLabAccess,
  query: ChecksQuery,
  context: CheckContext,
): Promise<FoundChecks> {
  const { sha, wanted } = query
  const api = createGitLabApi(access, context)
  const project = await readProject(api, query, context)
  const { found } = project
  // That something may fail is no pass of what a claim names.
  const source = openPipelines(api, project, { sha, countsAll: wanted !== undefined })
  const pipelines = await source.list()
  if (pipelines.length === 0) {
    if (await openRepository(api, project, context).knows(sha)) return { ...found, checks: [] }
    const isYoung = project.madeBy > query.claimedAt
    return { ...found, checks: undefined, mark: isYoung ? 'may_have_been' : 'never_before' }
  }
  const checks = wanted ? await namedChecks(source, pipelines, wanted) : await allChecks(source, pipelines)
  return { ...found, checks }
}

/** The jobs of the newest pipelines, and the pipelines themselves; where all is green, also of those that they started. */
async function allChecks(source: Pipelines, pipelines: readonly Pipeline[]): Promise<Check[]> {
  const own = await withPipelines(source, pipelines)
  if (own.some(isRed)) return own
  const started = await withPipelines(source, await source.list('parent_pipeline'))
  // Whether the pipeline that started it forgives its failure is not read: it spoils the commit, and is blamed on nobody.
  return [...own, ...started.map((check) => (isRed(check) ? { ...check, passedBefore: true } : check))]
}

async function withPipelines(source: Pipelines, pipelines: readonly Pipeline[]): Promise<Check[]> {
  const { checks } = await checksIn(source, pipelines, 'jobs', isRed)
  return [...checks, ...newest(pipelines).map((pipeline) => pipelineCheck(pipeline, pipelines))]
}

function isRed({ outcome }: Pick<Check, 'outcome'>): boolean {
  return outcome === 'failed' || outcome === 'pending'
}

/** Reads on only while a claimed check was not found. */
async function namedChecks(source: Pipelines, pipelines: readonly Pipeline[], wanted: Wanted): Promise<Check[]> {
  const checks: Check[] = []
  const jobs = new Set<number>()
  const isOpen = () => !wanted.every((one) => checks.some((check) => isNamed(check, one)))
  const hasNotPassed = (run: Run) => run.outcome !== 'passed' && wanted.some((one) => isNamed(run, one))

  async function read(all: readonly Pipeline[], kind: 'jobs' | 'bridges'): Promise<void> {
    const found = await checksIn(source, all, kind, hasNotPassed)
    checks.push(...found.checks)
    for (const { id } of found.runs) jobs.add(id)
  }

  await read(pipelines, 'jobs')
  if (isOpen()) await read(await source.list('parent_pipeline'), 'jobs')
  if (isOpen()) await read(pipelines, 'bridges')
  if (isOpen()) {
    const posted = (await source.posted()).filter(({ id }) => !jobs.has(id))
    checks.push(...latest(posted).map((run) => toCheck(run, hasPassed(run, posted))))
  }
  return checks
}

function isNamed({ name, by }: Pick<Check, 'name' | 'by'>, wanted: Wanted[number]): boolean {
  return name === wanted.name && by.some((one) => one.toLowerCase() === wanted.by.toLowerCase())
}

/** @param matters it has not passed, and counts: then older pipelines are read to see whether it had */
async function checksIn(
  source: Pipelines,
  all: readonly Pipeline[],
  kind: 'jobs' | 'bridges',
  matters: (run: Run) => boolean,
): Promise<{ readonly checks: Check[]; readonly runs: readonly Run[] }> {
  // What is `external` has no jobs.
  const own = all.filter((pipeline) => pipeline.source !== 'external')
  const shown = newest(own)
  if (shown.length > MOST_PIPELINES) throw new DestinationError('too_large')
  const runs = [...(await source.runs(shown, kind))]
  const current = latest(runs)
  const older = current.some(matters) ? own.filter((pipeline) => !shown.includes(pipeline)) : []
  runs.push(...(await source.runs(older.slice(0, MOST_PIPELINES), kind)))
  // What is not read may have passed.
  const unread = older.slice(MOST_PIPELINES)
  const checks = current.map((run) => toCheck(run, hasPassed(run, runs) || unread.some((one) => isAkin(run, one))))
  return { checks, runs }
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

function hasPassed(run: Run, runs: readonly Run[]): boolean {
  return runs.some(
    (other) => other.id !== run.id && other.name === run.name && isAkin(run, other) && other.outcome === 'passed',
  )
}

function toCheck({ name, by, isRunByHost, outcome, endedAt }: Run, passedBefore: boolean): Check {
  return { name, by, isRunByHost, outcome, passedBefore, ...(endedAt ? { endedAt } : {}) }
}

/** The state of all in it, with what others posted: it can only spoil a commit that is green otherwise. */
function pipelineCheck(pipeline: Pipeline, all: readonly Pipeline[]): Check {
  const { id, source, status, updatedAt } = pipeline
  return {
    name: 'pipeline',
    by: [source],
    isRunByHost: false,
    outcome: outcomeOf({ status }, false),
    passedBefore: all.some((other) => other.id !== id && isAkin(pipeline, other) && other.status === 'success'),
    ...(updatedAt ? { endedAt: notAfter(updatedAt) } : {}),
  }
}
