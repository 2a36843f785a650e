/**
 * Finds the checks that a claim names, each by the list that nobody else can write into: jobs of workflows by the list of jobs, what apps report by
 * that of check runs, what accounts post by that of statuses. Everything that runs in a workflow can post check runs as the app of workflows,
 * over those of its jobs; so that a job passed, the list of jobs alone says. That it has not ended, its check run says for one request.
 */
import { DestinationError } from '@claimcheck/core/plugin'
import { type Check, type WantedCheck, withoutBlame } from '../code-host.ts'
import { GITHUB_JOBS, isBy, isNamed, isOfAccount, isSame, nameOf } from '../reporters.ts'
import type { CheckRun, WorkflowRun } from './answers.ts'
import { entriesOf, isCutList } from './check-lists.ts'
import {
  checksOfRuns,
  checksOfStatuses,
  isOfActions,
  isUnderWay,
  outcomeOf,
  reportersOf,
  withoutReplaced,
} from './check-runs.ts'
import type { CommitChecks, CommitLists } from './checks.ts'
import type { JobCheck } from './jobs.ts'
import { fileOf } from './workflow-runs.ts'

/**
 * Finds the named checks; undefined where the repository does not have the commit.
 * @throws DestinationError `forbidden` where what is hidden may show them
 */
export async function findNamedChecks(
  lists: CommitLists,
  wanted: readonly WantedCheck[],
): Promise<CommitChecks | undefined> {
  const asked = wanted.filter((one) => isJob(one) || isOfApp(one))
  const runs = asked.length > 0 ? await lists.checkRuns(namesOf(asked)) : NONE
  if (runs === undefined) return undefined
  // Endless posts under the name of a job hide no job: those have a list of their own.
  const areReadable = runs !== 'hidden' && !(runs.isCut && asked.every(isJob))
  const reported = await (areReadable ? findByRuns(lists, asked, runs.entries) : findByJobs(lists, asked))

  const posted = wanted.filter((one) => isOfAccount(one) && !isIn(reported.checks, one))
  const statuses = posted.length > 0 ? await lists.statuses(namesOf(posted)) : NONE
  if (statuses === undefined) return undefined
  const checks = [...reported.checks, ...checksOfStatuses(entriesOf(statuses), { isNamed: true })]
  // A red check stays red, whatever was left out. One that blames nobody leaves what was left out to be blamed.
  const isRed = (check: Check) => check.outcome === 'failed' && !check.passedBefore
  const hasRed = checks.some((check) => isRed(check) && wanted.some((one) => isNamed(check, one)))
  const isLeftOut = (one: WantedCheck) =>
    !isIn(checks, one) &&
    (reported.untold.includes(one) ||
      (isCutList(statuses) && isOfAccount(one)) ||
      (areReadable && runs.isCut && isOfApp(one)))
  if (wanted.some(isLeftOut) || (reported.isCut && !hasRed)) throw new DestinationError('too_large')

  // A list of jobs does not tell whether there is the commit, and neither does a hidden list.
  const isThere = checks.length > 0 || [runs, statuses].some((list) => list !== 'hidden' && list !== NONE)
  if (!isThere && !(await lists.hasCommit())) return undefined
  const isHidden = (one: WantedCheck) =>
    (runs === 'hidden' && isOfApp(one)) || (statuses === 'hidden' && isOfAccount(one))
  if (wanted.some((one) => isHidden(one) && !isIn(checks, one)))
    throw new DestinationError('forbidden', { status: 403 })
  return { ...reported, checks, canBeDeleted: asked.length > 0 }
}

const NONE = { entries: [], isCut: false } as const

type ReportedChecks = CommitChecks & {
  /** Tells that some that count are left for another check. */
  readonly isCut: boolean
  /** Checks whose run may be one that passed, and that was not read. */
  readonly untold: readonly WantedCheck[]
}

async function findByRuns(
  lists: CommitLists,
  asked: readonly WantedCheck[],
  runs: readonly CheckRun[],
): Promise<ReportedChecks> {
  const ofActions = runs.filter(isOfActions)
  const runsOf = ({ name }: WantedCheck) => ofActions.filter((run) => run.name === name)
  // A job that is claimed as the app's counts as well as what else the app reported.
  const jobs = asked.filter((one) => isJob(one) || runsOf(one).some((run) => isBy({ by: reportersOf(run) }, one)))
  const waiting = jobs.filter((one) => {
    const own = runsOf(one)
    return isUnderWay(own) && (isAnyWorkflow(one) || own.every((run) => outcomeOf(run) === 'pending'))
  })
  const begun = jobs.filter((one) => !waiting.includes(one) && runsOf(one).length > 0)
  const absent = jobs.filter((one) => runsOf(one).length === 0)
  const suites = (one: WantedCheck) => new Set(runsOf(one).map(({ check_suite }) => check_suite?.id))
  const isOfSuite = (one: WantedCheck, id: number | undefined) => id === undefined || suites(one).has(id)
  const { checks: ended, isCut, untold } = await findJobs(lists, begun, isOfSuite)
  const workflows = jobs.length > waiting.length ? await lists.workflows() : undefined

  const known = new Set(ended.flatMap(({ ids }) => ids))
  const isWaiting = (run: CheckRun) => isOfActions(run) && waiting.some(({ name }) => name === run.name)
  const others = runs.filter((run) => !known.has(run.id) && !isWaiting(run))
  const counting = workflows ? withoutReplaced(others, workflows) : others
  // An app can change how its run ended, and its suite tells when it last did.
  const isRed = counting.some((run) => outcomeOf(run) !== 'passed' && !isOfActions(run))
  return {
    checks: [
      ...waiting.map(({ name, by }): Check => ({ ...WAITING, name, by: [by] })),
      // The app's number stands with the runs of the app alone.
      ...ended.map((job) => ({ ...job, by: [...job.by, ...numberOf(ofActions, job.ids)] })),
      ...checksOfRuns(counting, undefined, isRed ? entriesOf(await lists.suites()) : []),
    ],
    ...{ isCut, untold },
    isGrowing: absent.length > 0 && workflows!.latest.some(({ status }) => status !== 'completed'),
  }
}

const WAITING = { isRunByHost: false, outcome: 'pending', passedBefore: false } as const

function numberOf(runs: readonly CheckRun[], ids: readonly number[]): readonly string[] {
  const run = runs.find(({ id }) => ids.includes(id))
  return run ? reportersOf(run).filter((one) => nameOf(one, 'app-id') !== undefined) : []
}

/** Finds jobs with a token that cannot read check runs: fine-grained tokens can read jobs. */
async function findByJobs(lists: CommitLists, asked: readonly WantedCheck[]): Promise<ReportedChecks> {
  const jobs = asked.filter(isJob)
  const { checks, isCut, untold } = await findJobs(lists, jobs, () => true)
  const isMissing = jobs.some((one) => !isIn(checks, one))
  const isGrowing = isMissing && (await lists.workflows()).latest.some(({ status }) => status !== 'completed')
  return { checks, isCut, untold, isGrowing }
}

async function findJobs(
  lists: CommitLists,
  wanted: readonly WantedCheck[],
  hasIt: (one: WantedCheck, suite: number | undefined) => boolean,
): Promise<Pick<ReportedChecks, 'isCut' | 'untold'> & { readonly checks: readonly JobCheck[] }> {
  if (wanted.length === 0) return { checks: [], isCut: false, untold: [] }
  const isOfFile = (one: WantedCheck, run: WorkflowRun) =>
    isAnyWorkflow(one) || nameOf(one.by, 'workflow') === fileOf(run)
  const isWanted = (run: WorkflowRun) => wanted.some((one) => isOfFile(one, run) && hasIt(one, run.check_suite_id))
  const { checks, unread } = await lists.jobs({ names: namesOf(wanted), isWanted })
  const { isCut, lacksPassed } = await lists.workflows()
  return {
    checks: lacksPassed ? checks.map(withoutBlame) : checks,
    isCut: unread.length > 0 || isCut,
    untold: lacksPassed ? wanted : [],
  }
}

/** Tells whether a job is claimed: by the host's own word, or by the file of a workflow. */
function isJob({ by }: WantedCheck): boolean {
  return isSame(by, GITHUB_JOBS) || nameOf(by, 'workflow') !== undefined
}

/** Tells whether a job is claimed without naming its workflow. */
function isAnyWorkflow({ by }: Pick<WantedCheck, 'by'>): boolean {
  return isSame(by, GITHUB_JOBS) || isOfApp({ by })
}

function isOfApp({ by }: Pick<WantedCheck, 'by'>): boolean {
  return nameOf(by, 'app') !== undefined || nameOf(by, 'app-id') !== undefined
}

function isIn(checks: readonly Check[], wanted: WantedCheck): boolean {
  return checks.some((check) => isNamed(check, wanted))
}

function namesOf(wanted: readonly WantedCheck[]): ReadonlySet<string> {
  return new Set(wanted.map(({ name }) => name))
}
