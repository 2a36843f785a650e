/**
 * Reads the jobs of workflow runs. Everything that runs in a workflow can post check runs under the name of GitHub's own app, and GitHub shows them among
 * those of some workflow: only a list of jobs has none of them.
 */

import { type CheckContext, Value } from '@claimcheck/core/plugin'
import { type Check, withoutBlame } from '../code-host.ts'
import { app, GITHUB_JOBS, workflow } from '../reporters.ts'
import { unexpectedAnswer } from '../rest.ts'
import { notAfter } from '../times.ts'
import { Job, JobsAnswer, type WorkflowRun } from './answers.ts'
import { requireReadable } from './check-lists.ts'
import { groupBy, outcomeOf } from './check-runs.ts'
import type { ClaimedRepository } from './repository.ts'
import { ACTIONS_APP, fileOf, isAkin, isByHand, isStoppedDuplicate, type WorkflowRuns } from './workflow-runs.ts'

const JOBS_PAGE = 50
/** Limit of the runs whose jobs one check reads: those of the others are for the next checks. */
const MOST_RUNS = 24
/** Limit of the characters of the jobs that are kept of a run. The cache limits the number of its entries, and not their size. */
const MOST_KEPT_LENGTH = 32 * 1024

/** A job, each attempt of which GitHub shows as a check run with the same id, too. */
export interface JobCheck extends Check {
  /** The ids of all attempts of the job. */
  readonly ids: readonly number[]
}

export interface WantedJobs {
  readonly names: ReadonlySet<string>
  isWanted(run: WorkflowRun): boolean
}

export interface FoundJobs {
  readonly checks: readonly JobCheck[]
  /** Runs that are wanted, and whose jobs the next check reads. */
  readonly unread: readonly WorkflowRun[]
}

/** Reads the jobs of these names in the wanted runs that count; where some have not passed, also those of runs that may have passed before. */
export async function readJobs(
  claimed: ClaimedRepository,
  { all, latest, chains }: WorkflowRuns,
  { names, isWanted }: WantedJobs,
  context: Pick<CheckContext, 'cache' | 'now'>,
): Promise<FoundJobs> {
  const theirNow = context.now() - (claimed.repository.clockBehindMs ?? 0)
  const reader = createJobReader(claimed, context)
  const wanted = latest.filter(isWanted)
  const unread = await reader.read(wanted)
  const jobsIn = (run: WorkflowRun) => {
    const entries = reader.known(run)
    const jobs = entries && requireReadable(entries, Job, names)
    if (jobs?.some(({ run_id, head_sha }) => run_id !== run.id || head_sha !== run.head_sha)) throw unexpectedAnswer()
    return jobs?.sort((one, other) => one.id - other.id)
  }
  const hasRed = (run: WorkflowRun) => jobsIn(run)?.some((job) => outcomeOf(job) !== 'passed') === true
  const red = wanted.filter(hasRed)
  await reader.read(all.filter((run) => !wanted.includes(run) && red.some((one) => isAkin(one, run))))
  const checks = wanted.flatMap((run) => {
    const akin = all.filter((other) => isAkin(run, other)).map((other) => ({ run: other, jobs: jobsIn(other) }))
    const jobs = checksOf(run, jobsIn(run) ?? [], akin, isStoppedDuplicate(run, all))
    const { of, awaitedUntil } = chains.originOf(run)
    if (of === 'this') return jobs
    if (theirNow >= awaitedUntil) return jobs.map(withoutBlame)
    return jobs.map((job): JobCheck => withoutBlame(job.outcome === 'passed' ? { ...job, outcome: 'pending' } : job))
  })
  return { checks, unread }
}

/** Reads the jobs of all attempts. What has ended changes by another attempt alone, so that it is read once. */
function createJobReader({ api, repository }: ClaimedRepository, { cache }: Pick<CheckContext, 'cache'>) {
  const jobs = new Map<number, readonly unknown[]>()
  let left = MOST_RUNS

  function keyOf({ id, status, run_attempt, updated_at }: WorkflowRun): string | undefined {
    if (status !== 'completed' || run_attempt === undefined) return undefined
    return `github ${repository.id} jobs ${id} ${run_attempt} ${updated_at}`
  }

  async function readOne(run: WorkflowRun): Promise<void> {
    const found = await cache.share(`github ${repository.id} jobs ${run.id}`, async () => {
      const path = `${repository.root}/actions/runs/${run.id}/jobs?filter=all&per_page=${JOBS_PAGE}`
      return (await api.list(path, JobsAnswer)).flatMap(({ jobs }) => jobs.map(shortenJob))
    })
    jobs.set(run.id, found)
    const key = keyOf(run)
    if (key !== undefined && JSON.stringify(found).length <= MOST_KEPT_LENGTH) cache.set(key, found)
  }

  return {
    known: (run: WorkflowRun) => jobs.get(run.id),
    /** Reads the jobs of runs. @returns the runs that are left for another check */
    async read(runs: readonly WorkflowRun[]): Promise<readonly WorkflowRun[]> {
      const missing = runs.filter((run) => {
        const key = keyOf(run)
        const kept = key === undefined ? undefined : cache.get(key)
        if (Array.isArray(kept)) jobs.set(run.id, kept)
        return !jobs.has(run.id)
      })
      const now = missing.slice(0, left)
      left -= now.length
      await Promise.all(now.map(readOne))
      return missing.slice(now.length)
    },
  }
}

/** Takes the members of a job that are kept: of an entry of another form, its name alone. */
function shortenJob(entry: { readonly name?: unknown }): unknown {
  if (!Value.Check(Job, entry)) return { name: entry.name }
  const { id, run_id, run_attempt, head_sha, name, status, conclusion } = entry
  return { id, run_id, head_sha, name, status, conclusion, run_attempt }
}

/**
 * Makes the checks of a run's jobs.
 * @param jobs the run's jobs, oldest first
 * @param akin runs that count as the same, with their jobs as far as these were read
 */
function checksOf(
  run: WorkflowRun,
  jobs: readonly Job[],
  akin: readonly { readonly run: WorkflowRun; readonly jobs: readonly Job[] | undefined }[],
  isDuplicate: boolean,
): JobCheck[] {
  const latest = lastAttemptsOf(run, jobs)
  const hasPassed = (name: string, all: readonly Job[]) =>
    all.some((job) => job.name === name && outcomeOf(job) === 'passed')
  return latest.map((job): JobCheck => {
    const passing = akin.filter((one) => one.run.conclusion === 'success' || hasPassed(job.name, one.jobs ?? []))
    const passedBefore = hasPassed(job.name, jobs) || passing.length > 0
    const isKnown = akin.every((one) => one.jobs !== undefined)
    // The job would have been replaced by the runs that passed since.
    const isOvertaken = passing.some((one) => one.run.id > run.id)
    const isUnchanged = run.status === 'completed' && attemptOf(job) <= attemptOf(run)
    const endedAt = isUnchanged ? notAfter(run.updated_at) : undefined
    const check: JobCheck = {
      name: job.name,
      ids: jobs.filter(({ name }) => name === job.name).map(({ id }) => id),
      by: [GITHUB_JOBS, workflow(fileOf(run)), app(ACTIONS_APP)],
      isRunByHost: true,
      isByHand: isByHand(run),
      outcome: outcomeOf(job),
      // Other runs that failed do not tell whether a job of theirs passed.
      passedBefore: passedBefore || isKnown ? passedBefore : undefined,
      // A job's own times are those of the machine that ran it. The run was read first: it may not have been run again yet.
      endedAt,
      changedAt: isOvertaken ? undefined : endedAt,
      begunAt: isOvertaken ? undefined : notAfter(run.created_at),
    }
    // One of its name ran again, and perhaps in its place.
    const isOfEarlier = jobs.some((other) => other.name === job.name && attemptOf(other) > attemptOf(job))
    return isOfEarlier || (isDuplicate && job.conclusion === 'cancelled') ? withoutBlame(check) : check
  })
}

/**
 * The last attempts of jobs. Two jobs of one workflow can have the same name: each counts. Where one of them alone ran again, the other one's
 * failure stands, as the run itself tells.
 */
function lastAttemptsOf({ conclusion }: WorkflowRun, jobs: readonly Job[]): readonly Job[] {
  return [...groupBy(jobs, ({ name }) => name).values()].flatMap((own) => {
    const attempts = [...groupBy(own, attemptOf).entries()].sort(([one], [other]) => other - one)
    const [[, last], ...earlier] = attempts as [[number, Job[]], ...[number, Job[]][]]
    if (conclusion === 'success') return last
    const others = earlier.filter(([, all]) => all.length > last.length).flatMap(([, all]) => all)
    return [...last, ...others.filter((job) => outcomeOf(job) === 'failed')]
  })
}

function attemptOf({ run_attempt = 1 }: Pick<Job, 'run_attempt'>): number {
  return run_attempt
}
