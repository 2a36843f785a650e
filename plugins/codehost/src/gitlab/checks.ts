/**
 * Finds the checks that GitLab's CI ran for a commit. A check is a job, by the source of its pipeline. A status that somebody posted joins a pipeline
 * that there is and counts in its state, so that the state of a pipeline never stands for a job that ran.
 */
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import { type Check, type ChecksQuery, type FoundChecks, type WantedCheck, withoutBlame } from '../code-host.ts'
import { missingCommitMark } from '../forgetting.ts'
import { keepParts, sparingWhileWaiting } from '../lately.ts'
import { GITLAB_JOBS, isNamed, isOfAccount } from '../reporters.ts'
import type { RestAccess } from '../rest.ts'
import { latestOf, notAfter } from '../times.ts'
import { comparableTo } from './comparable.ts'
import { isOfFork, mergedResults, mergeRequestsOf } from './merged-results.ts'
import {
  EXTERNAL,
  openPipelines,
  outcomeOf,
  type PipelineList,
  type Pipelines,
  type Run,
  readPostedBeside,
  startedBy,
} from './pipelines.ts'
import { isOwnTime, openProject, requireCode } from './project.ts'
import { type CountedPipeline, countedPipelines, hasEndedWell, lastOf } from './series.ts'

/** The most pipelines whose jobs are read, and the most older ones where these matter. */
const MOST_PIPELINES = 10

export const findChecks = sparingWhileWaiting(readChecks)

async function readChecks(
  access: RestAccess,
  query: ChecksQuery,
  context: CheckContext,
  isWaiting: boolean,
): Promise<FoundChecks> {
  const { sha, checks: wanted } = query
  const project = await openProject(access, query, context, isWaiting)
  const { found, repository } = project
  // That something may fail is no pass of what a claim names.
  const countsAll = wanted !== undefined
  const opened = openPipelines(project, { sha, countsAll })
  const source = isWaiting
    ? keepPipelines(opened, `gitlab ${project.id} ${sha} ${countsAll}`, countsAll, context)
    : opened
  const { pipelines: listed, isCut } = await source.list()
  if (listed.length === 0 && !isCut && !(await repository.knows(sha))) {
    requireCode(project)
    // Pipelines are deleted by their age, too, and commits that nothing names are pruned.
    return { ...found, checks: undefined, mark: missingCommitMark(query, context.now(), project.madeBy) }
  }
  const pipelines = await countedPipelines(source, listed)
  let asked: ReturnType<typeof mergeRequestsOf> | undefined
  const mergeRequests = () => {
    asked ??= mergeRequestsOf(project, sha)
    return asked
  }
  const more = async () =>
    countedPipelines(source, await mergedResults(project, { sha, mergeRequests: await mergeRequests() }))
  // GitLab shows the pipelines of a merge request's fork with it, which are not this project's.
  if (listed.length === 0 && (await mergeRequests()).some(isOfFork)) throw new DestinationError('forbidden')
  // Checks in the part that a cut list leaves out may have passed before, so that nothing in it is blamed.
  const unblamed = (checks: readonly Check[]) => (isCut ? checks.map(withoutBlame) : checks)
  if (wanted) {
    const named = await findNamedChecks(source, { pipelines, isCut, more }, wanted)
    // Owners can delete pipelines.
    return { ...found, checks: unblamed(named), canBeDeleted: true }
  }
  // Without a token GitLab shows no posted statuses.
  const seesPosted = access.token !== undefined
  const { checks, runs, all } = await findAllChecks(source, { pipelines, isCut, more }, seesPosted)
  if (all.length === 0) return { ...found, checks: [], canBeDeleted: true }
  const times = all.flatMap(({ updatedAt }) => updatedAt ?? [])
  const changedAt = times.every((time) => isOwnTime(time, project)) ? latestOf(times) : undefined
  return {
    ...found,
    checks: unblamed(checks),
    changedAt,
    async comparable() {
      const claimed = { sha, runs, pipelines: all, mergeRequests: await mergeRequests() }
      return comparableTo({ project, seesPosted }, claimed, query, context)
    },
  }
}

/**
 * Keeps what a claim that waits need not read again. The list of pipelines tells whether any is pending, and a list of jobs whether a named one is.
 *
 * @param isNamed the claim names its checks
 */
function keepPipelines(source: Pipelines, key: string, isNamed: boolean, context: CheckContext): Pipelines {
  const parts = keepParts(context, true)
  const isOpen = (runs: readonly Run[]) =>
    runs.length > MOST_KEPT_JOBS ||
    runs.some(({ outcome }) => outcome === 'failed' || (isNamed && outcome === 'pending'))
  const hasFailed = ({ pipelines }: PipelineList) => pipelines.some((one) => outcomeOf(one, false) === 'failed')
  return {
    ...source,
    list: (of) => (isNamed ? parts.short(`${key} pipelines ${of}`, () => source.list(of), hasFailed) : source.list(of)),
    isPlain: (one) => parts.long(`${key} plain ${one.id}`, () => source.isPlain(one)),
    async runs(pipelines, kind) {
      const runs: Run[] = []
      for (const one of pipelines) {
        const part = `${key} ${kind} ${one.id} ${one.status} ${one.updatedAt}`
        runs.push(...(await parts.short(part, () => source.runs([one], kind), isOpen)))
      }
      return runs
    },
  }
}

/** The most jobs of a pipeline that are kept. The cache limits the number of its entries, and not their size. */
const MOST_KEPT_JOBS = 100

/** The pipelines of the commit, and those of its merges with the targets of merge requests, which are asked for where they matter. */
interface CommitPipelines {
  readonly pipelines: readonly CountedPipeline[]
  /** Tells that there are more pipelines of the commit, all of which passed. */
  readonly isCut: boolean
  more(): Promise<readonly CountedPipeline[]>
}

/** Reads the pipelines that others started. */
async function startedPipelines(source: Pipelines): Promise<readonly CountedPipeline[]> {
  return countedPipelines(source, (await source.list('parent_pipeline')).pipelines)
}

/** Tells a pipeline of GitLab's own: an `external` one has no jobs. */
function isOwn(pipeline: Pick<CountedPipeline, 'source'>): boolean {
  return pipeline.source !== EXTERNAL
}

/**
 * Finds all that the newest pipelines show; where no job of theirs is red, also the pipelines that they started, and who posted statuses: what
 * somebody posted as red is named by itself, so that it is known when it has passed since, and not by the pipeline that it turned red.
 * @returns with `all` pipelines that were read
 */
async function findAllChecks(
  source: Pipelines,
  { pipelines, more }: CommitPipelines,
  seesPosted: boolean,
): Promise<{
  readonly checks: readonly Check[]
  readonly runs: readonly Run[]
  readonly all: readonly CountedPipeline[]
}> {
  const { jobs, states, runs: ownRuns } = await allIn(source, pipelines)
  const own = [...jobs, ...states]
  if (jobs.some(isRed)) return { checks: own, runs: ownRuns, all: pipelines }
  // The state may be red by our own report, which is not shown.
  if (!seesPosted && own.some(isRed)) return { checks: own.map(withoutBlame), runs: ownRuns, all: pipelines }
  const merged = await more()
  const started = pipelines.length > 0 ? await startedPipelines(source) : []
  const results = await allIn(source, merged)
  // Whether the pipeline that started it forgives its failure is not read: it spoils the commit, and is blamed on nobody.
  const others = await allIn(source, started)
  const read = [...jobs, ...results.jobs, ...results.states, ...[...others.jobs, ...others.states].map(withoutBlame)]
  const runs = [...ownRuns, ...results.runs, ...others.runs]
  const all = [...pipelines, ...merged, ...started]
  if (!seesPosted || pipelines.length === 0) return { checks: [...read, ...states], runs, all }
  const beside = await readPostedBeside(source, runs)
  const posted = postedChecks(beside.filter((run) => !source.isOwnReport(run)))
  const isRedByUs = states.some(isRed) && postedChecks(beside.filter(source.isOwnReport)).some(isRed)
  const hasRed = posted.some(isRed) || (isRedByUs && (await isElseGreen(source, pipelines, ownRuns)))
  const isTold = (state: Check) =>
    (beside.length > 0 && state.by.includes(startedBy(EXTERNAL))) || (hasRed && isRed(state))
  const untold = states.filter((state) => !isTold(state)).map((state) => (isRedByUs ? withoutBlame(state) : state))
  return { checks: [...read, ...untold, ...posted], runs, all }
}

/**
 * Tells whether nothing but a posted status can have turned pipelines red whose jobs are green: they have jobs, and those that start other pipelines
 * are green, too.
 */
async function isElseGreen(
  source: Pipelines,
  pipelines: readonly CountedPipeline[],
  jobs: readonly Run[],
): Promise<boolean> {
  const hasJobs = ({ id }: CountedPipeline) => jobs.some(({ pipeline }) => pipeline === id)
  if (!newest(pipelines.filter(isOwn)).every(hasJobs)) return false
  const { runs } = await readRuns(source, pipelines, 'bridges', () => () => false)
  return !latest(runs, pipelines).some(isRed)
}

async function allIn(
  source: Pipelines,
  pipelines: readonly CountedPipeline[],
): Promise<{ readonly jobs: readonly Check[]; readonly states: readonly Check[]; readonly runs: readonly Run[] }> {
  // A pipeline that was started again counts in place of the older one: a job that it left out spoils the commit, and no more.
  const needs: Needs = (runs) => {
    const hasRed = runs.some(isRed)
    return (pipeline) => hasRed || !hasEndedWell(pipeline)
  }
  const { runs, unread } = await readRuns(source, pipelines, 'jobs', needs)
  const last = latest(runs, pipelines)
  if (unread.length > 0 && !last.some(isRed)) throw new DestinationError('too_large')
  const jobs = last.map((run) => {
    const check = toCheck(run, { runs, unread, pipelines })
    return pipelines.find(({ id }) => id === run.pipeline)?.isOutdated ? withoutBlame(check) : check
  })
  const states = newest(pipelines).flatMap((pipeline) => {
    const own = runs.filter((run) => run.pipeline === pipeline.id)
    const check = pipelineCheck(pipeline, pipelines, own)
    // Its jobs speak for it, unless it is red for another reason.
    const isTold = own.length === 0 ? check.outcome === 'skipped' : own.some(isRed) || !isRed(check)
    return isTold ? [] : [check]
  })
  return { jobs, states, runs }
}

function isRed({ outcome }: Pick<Check, 'outcome'>): boolean {
  return outcome === 'failed' || outcome === 'pending'
}

/** Finds the claimed checks. It reads on only while one was not found, or has not passed. */
async function findNamedChecks(
  source: Pipelines,
  { pipelines, isCut, more }: CommitPipelines,
  wanted: readonly WantedCheck[],
): Promise<Check[]> {
  const checks: Check[] = []
  const jobs: Run[] = []
  const isFound = (all: readonly Pick<Check, 'name' | 'by'>[]) =>
    wanted.every((one) => all.some((check) => isNamed(check, one)))

  async function read(all: readonly CountedPipeline[], kind: 'jobs' | 'bridges'): Promise<void> {
    const needs: Needs = (runs) => {
      const hasFailed = runs.some((run) => run.outcome !== 'passed' && wanted.some((one) => isNamed(run, one)))
      const isNeeded = !isFound([...checks, ...runs]) || hasFailed
      return () => isNeeded
    }
    const { runs, unread } = await readRuns(source, all, kind, needs)
    const found = latest(runs, all).map((run) => toCheck(run, { runs, unread, pipelines: all }))
    const isGreen = (one: WantedCheck) => found.every((run) => !isNamed(run, one) || run.outcome === 'passed')
    // What is not read may count, and be red.
    const isUntold = unread.some((one) => newest(all).includes(one))
    const isUnsure = !isFound([...checks, ...runs]) || (isUntold && wanted.every(isGreen))
    if (unread.length > 0 && isUnsure) throw new DestinationError('too_large')
    checks.push(...found)
    jobs.push(...runs)
  }

  await read(pipelines, 'jobs')
  if (!isFound(checks) && pipelines.length > 0) {
    await read(await startedPipelines(source), 'jobs')
  }
  if (!isFound(checks)) await read(pipelines, 'bridges')
  if (!isFound(checks)) await read(await more(), 'jobs')
  if (!isFound(checks) && pipelines.length > 0 && wanted.some(isOfAccount)) {
    checks.push(...postedChecks(await readPostedBeside(source, jobs)))
  }
  if (isCut && !isFound(checks)) throw new DestinationError('too_large')
  return checks
}

interface ReadRuns {
  readonly runs: readonly Run[]
  /** Older pipelines that would be needed. */
  readonly unread: readonly CountedPipeline[]
}

/** Tells whether an older pipeline matters, by the last attempts of what the newest ones have run. */
type Needs = (runs: readonly Run[]) => (older: CountedPipeline) => boolean

async function readRuns(
  source: Pipelines,
  all: readonly CountedPipeline[],
  kind: 'jobs' | 'bridges',
  needs: Needs,
): Promise<ReadRuns> {
  const own = all.filter(isOwn)
  const counted = newest(own)
  const shown = counted.filter(({ isOutdated }) => !isOutdated)
  if (shown.length > MOST_PIPELINES) throw new DestinationError('too_large')
  const runs = await source.runs(shown, kind)
  const isNeeded = needs(latest(runs, all))
  const older = own.filter((one) => !shown.includes(one) && (counted.includes(one) || isNeeded(one)))
  const earlier = await source.runs(older.slice(0, MOST_PIPELINES), kind)
  return { runs: [...runs, ...earlier], unread: older.slice(MOST_PIPELINES) }
}

function newest(pipelines: readonly CountedPipeline[]): CountedPipeline[] {
  return lastOf(pipelines, ({ series }) => [series])
}

/** The last attempt of each job: a retried one has the same name, and a higher id. */
function latest(runs: readonly Run[], pipelines: readonly CountedPipeline[]): Run[] {
  const series = new Map(pipelines.map(({ id, series }) => [id, series]))
  return lastOf(runs, ({ pipeline, name }) => [series.get(pipeline) ?? '', name])
}

/** @param unread may have passed */
function toCheck(
  run: Run,
  { runs, pipelines, unread }: ReadRuns & { readonly pipelines: readonly CountedPipeline[] },
): Check {
  const { name, by, isRunByHost, outcome, endedAt, changedAt, begunAt } = run
  const own = pipelines.find(({ id }) => id === run.pipeline)!
  const passes = runs.filter((other) => other.id !== run.id && other.name === name && other.outcome === 'passed')
  const isAkin = ({ ref, source }: Pick<Run, 'ref' | 'source'>) => ref === own.ref || source === own.source
  const check: Check = {
    ...{ name, by, isRunByHost, outcome, passedBefore: passes.some(isAkin) || unread.some(isAkin) },
    isByHand: own.isByHand,
    ...{ endedAt, changedAt, begunAt },
  }
  // It passed on another branch, or on this one when something else started it.
  const seriesOf = (run: Run) => pipelines.find(({ id }) => id === run.pipeline)?.series
  const hasPassedElsewhere = passes.some((other) => isAkin(other) && seriesOf(other) !== own.series)
  const isDuplicate = run.isCanceled === true && isStoppedDuplicate(own, pipelines, runs)
  const wouldBeReplaced = own.isOutdated && newest(pipelines).includes(own)
  return wouldBeReplaced || hasPassedElsewhere || isDuplicate ? withoutBlame(check) : check
}

/** Tells a pipeline that was stopped before anything in it failed, while the commit has another one. */
function isStoppedDuplicate(
  { id }: Pick<CountedPipeline, 'id'>,
  pipelines: readonly CountedPipeline[],
  runs: readonly Run[],
): boolean {
  const hasFailed = runs.some((run) => run.pipeline === id && run.outcome === 'failed' && !run.isCanceled)
  return !hasFailed && pipelines.some((other) => other.id !== id && isOwn(other))
}

/** The state of a pipeline as a check: of all in it, with what others posted and where it had no job at all. */
function pipelineCheck(pipeline: CountedPipeline, all: readonly CountedPipeline[], runs: readonly Run[]): Check {
  const { id, ref, source, status, createdAt, updatedAt, isOutdated } = pipeline
  const isAkin = (other: CountedPipeline) => other.ref === ref || other.source === source
  const isDuplicate = status === 'canceled' && isStoppedDuplicate(pipeline, all, runs)
  const check: Check = {
    name: 'pipeline',
    by: source === EXTERNAL ? [startedBy(source)] : [GITLAB_JOBS, startedBy(source)],
    isRunByHost: false,
    outcome: outcomeOf({ status }, false),
    passedBefore: all.some((other) => other.id !== id && isAkin(other) && other.status === 'success'),
    endedAt: notAfter(updatedAt),
    begunAt: notAfter(createdAt),
  }
  return isOutdated || isDuplicate ? withoutBlame(check) : check
}

/** The posted checks. What one account posted as passed has not, when something else was posted since under its name; that blames nobody. */
function postedChecks(posted: readonly Run[]): Check[] {
  const newestOf = new Map(lastOf(posted, ({ name }) => [name]).map((run) => [run.name, run]))
  return lastOf(posted, ({ ref, source, name }) => [ref, source, name]).map((run) => {
    const { name, by, isRunByHost, outcome } = run
    const others = posted.filter((other) => other.id !== run.id && other.name === name)
    const passedBefore = others.some(
      ({ ref, source, outcome }) => outcome === 'passed' && (ref === run.ref || source === run.source),
    )
    const own = others.filter(({ ref, source }) => ref === run.ref && source === run.source)
    const { begunAt } = [run, ...own].reduce((first, other) => (other.id < first.id ? other : first))
    const { outcome: last, source } = newestOf.get(name)!
    const isOverruled = outcome === 'passed' && source !== run.source && isRed({ outcome: last })
    const check = { name, by, isRunByHost, outcome, passedBefore, begunAt }
    return isOverruled ? withoutBlame({ ...check, outcome: last }) : check
  })
}
