/** What apps reported of a commit, as check runs, and what accounts posted about it, as statuses. */

import { Value } from '@claimcheck/core/plugin'
import { type Check, withoutBlame } from '../code-host.ts'
import { account, accountId, app, appId, GITHUB_JOBS, workflow } from '../reporters.ts'
import { unexpectedAnswer } from '../rest.ts'
import { notAfter } from '../times.ts'
import {
  CheckRun,
  CheckRunsAnswer,
  type CheckSuite,
  PostedStatus,
  StatusesAnswer,
  type WorkflowRun,
} from './answers.ts'
import type { Refused } from './api.ts'
import { outcomeOf } from './outcomes.ts'
import { readable } from './readable.ts'
import type { ClaimedRepository } from './repository.ts'
import { ACTIONS_APP, fileOf, isAkin, isByHand, isStoppedDuplicate, type WorkflowRuns } from './workflow-runs.ts'

/** `hidden`: not with these credentials. */
export type Seen<T> = Shown<T> | 'hidden'

export interface Shown<T> {
  readonly entries: readonly T[]
  /** There are older ones: whoever may write can post them by the thousand. */
  readonly isCut: boolean
}

const PAGE = 100

/** Earlier runs too, the newest first; undefined where the repository does not have the commit. @param names of the only ones that count */
export async function checkRunsOf(
  { api, repository }: ClaimedRepository,
  sha: string,
  names?: ReadonlySet<string>,
): Promise<Seen<CheckRun> | undefined> {
  const [only] = names?.size === 1 ? names : []
  const filter = only === undefined ? 'filter=all' : `filter=all&check_name=${encodeURIComponent(only)}`
  const path = `${repository.root}/commits/${sha}/check-runs?${filter}&per_page=${PAGE}`
  const start = await api.findStart(path, CheckRunsAnswer, UNREAD)
  if ('refused' in start) return unread(start)
  const runs = readable(
    start.pages.flatMap(({ check_runs }) => check_runs),
    CheckRun,
    names,
  )
  if (runs.some(({ head_sha }) => head_sha !== sha)) throw unexpectedAnswer()
  return { entries: [...new Map(runs.map((run) => [run.id, run])).values()], isCut: start.isCut }
}

/**
 * All that were ever posted, the newest first; undefined where the repository does not have the commit.
 * @param names the only ones that are wanted
 */
export async function statusesOf(
  { api, repository }: ClaimedRepository,
  sha: string,
  names?: ReadonlySet<string>,
): Promise<Seen<PostedStatus> | undefined> {
  const path = `${repository.root}/commits/${sha}/statuses?per_page=${PAGE}`
  const start = await api.findStart(path, StatusesAnswer, UNREAD)
  if ('refused' in start) return unread(start)
  const entries = readable(start.pages.flat(), PostedStatus, names, ({ context }) => context)
  return { entries, isCut: start.isCut }
}

/** Those that count, of another commit than the claimed one; undefined where the repository does not have it. @throws DestinationError `too_large` */
export async function latestCheckRunsOf(
  { api, repository }: ClaimedRepository,
  sha: string,
): Promise<readonly CheckRun[] | 'hidden' | undefined> {
  const path = `${repository.root}/commits/${sha}/check-runs?filter=latest&per_page=${PAGE}`
  const answer = await api.findList(path, CheckRunsAnswer, UNREAD)
  if ('refused' in answer) return unread(answer)
  return answer.flatMap(({ check_runs }) => check_runs).filter((run) => Value.Check(CheckRun, run))
}

/** Either the list is hidden, or there is no such commit. */
export const UNREAD = [403, 404, 409, 422] as const

export function unread({ refused }: Refused): 'hidden' | undefined {
  return refused === 409 || refused === 422 ? undefined : 'hidden'
}

export function isOfActions(run: CheckRun): boolean {
  return run.app?.slug === ACTIONS_APP
}

/** Who reported it: anything that runs in a workflow can report as the app of workflows. */
export function reportersOf({ app: by }: Pick<CheckRun, 'app'>): readonly string[] {
  return [...(by?.id === undefined ? [] : [appId(by.id)]), ...(by?.slug === undefined ? [] : [app(by.slug)])]
}

/**
 * The newest of these runs of one check has not ended, and none of them passed: so the check has not, whatever other lists say.
 * @param runs of one name and app
 */
export function isUnderWay(runs: readonly CheckRun[]): boolean {
  const [newest] = [...runs].sort((one, other) => other.id - one.id)
  return newest !== undefined && outcomeOf(newest) === 'pending' && !runs.some((run) => outcomeOf(run) === 'passed')
}

export function isSomeUnderWay(runs: readonly CheckRun[]): boolean {
  return [...groupedBy(runs, nameAndApp).values()].some(isUnderWay)
}

/** Those that no newer run of their workflow has replaced. What is red is not replaced by what was skipped. */
export function withoutReplaced(runs: readonly CheckRun[], { all, latest }: WorkflowRuns): CheckRun[] {
  const workflowOf = bySuite(all)
  const ofActions = runs.flatMap((run) => {
    const workflow = workflowOf(run)
    return workflow ? [{ run, workflow, isReplaced: !latest.includes(workflow) }] : []
  })
  const skipped = ofActions.filter(({ run, isReplaced }) => !isReplaced && outcomeOf(run) === 'skipped')
  const isSkippedSince = ({ run, workflow }: (typeof ofActions)[number]) =>
    skipped.some(
      (since) => since.run.name === run.name && since.workflow.id > workflow.id && isAkin(workflow, since.workflow),
    )
  const replaced = ofActions.filter(
    (one) => one.isReplaced && !(outcomeOf(one.run) === 'failed' && isSkippedSince(one)),
  )
  const gone = new Set(replaced.map(({ run }) => run))
  return runs.filter((run) => !gone.has(run))
}

/** Finds the workflow run to which a check run belongs, undefined for what another app reported. */
function bySuite(all: readonly WorkflowRun[]): (run: CheckRun) => WorkflowRun | undefined {
  const workflows = new Map(all.map((run) => [run.check_suite_id, run]))
  return (run) => (isOfActions(run) && run.check_suite !== null ? workflows.get(run.check_suite.id) : undefined)
}

/**
 * The latest run of each check. Where the workflow runs are known, those that were replaced do not count, and those do that are not green
 * though their check runs are, or that have none: a workflow that waits, could not start, or has jobs that show only when others end.
 */
export function checksOfRuns(
  runs: readonly CheckRun[],
  workflows?: WorkflowRuns,
  suites: readonly CheckSuite[] = [],
): Check[] {
  const changed = new Map(suites.map(({ id, updated_at }) => [id, updated_at]))
  const workflowOf = bySuite(workflows?.all ?? [])
  const latest = new Map<string, CheckRun>()
  const counting = workflows ? withoutReplaced(runs, workflows) : [...runs]
  for (const run of counting.sort((one, other) => one.id - other.id)) {
    latest.set(JSON.stringify([run.name, run.app?.slug, run.check_suite?.id]), run)
  }
  const passed = groupedBy(
    runs.filter((run) => outcomeOf(run) === 'passed'),
    nameAndApp,
  )
  const checks = [...latest.values()].map((run) => {
    const ofWorkflow = workflowOf(run)
    const passing = (passed.get(nameAndApp(run)) ?? []).filter((other) => {
      const otherWorkflow = workflowOf(other)
      const isOther = ofWorkflow && otherWorkflow && ofWorkflow !== otherWorkflow && !isAkin(ofWorkflow, otherWorkflow)
      return other.id !== run.id && !isOther
    })
    const isOvertaken = passing.some(({ id }) => id > run.id)
    const check = checkOf(run, passing.length > 0, ofWorkflow, isOvertaken)
    const isStopped = ofWorkflow !== undefined && isStoppedDuplicate(ofWorkflow, workflows!.all)
    if (isStopped && run.conclusion === 'cancelled') return withoutBlame(check)
    const changedAt = ofWorkflow ? undefined : run.check_suite && changed.get(run.check_suite.id)
    return changedAt ? { ...check, changedAt: notAfter(changedAt) } : check
  })
  const shown = new Set(runs.map(workflowOf))
  const isRed = (run: CheckRun | WorkflowRun) => !GREEN.has(outcomeOf(run))
  const shownRed = new Set([...latest.values()].filter(isRed).map(workflowOf))
  const silent = workflows?.latest.filter((run) => !shown.has(run) || (isRed(run) && !shownRed.has(run))) ?? []
  return [...checks, ...silent.map((run) => checkOfWorkflow(run, workflows!.all))]
}

const GREEN: ReadonlySet<Check['outcome']> = new Set(['passed', 'skipped'])

function nameAndApp({ name, app: by }: CheckRun): string {
  return JSON.stringify([name, by?.slug])
}

function checkOf(
  run: CheckRun,
  passedBefore: boolean,
  ofWorkflow: WorkflowRun | undefined,
  isOvertaken: boolean,
): Check {
  const isJob = isOfActions(run) && (run.details_url?.endsWith(`/job/${run.id}`) ?? false)
  return {
    name: run.name,
    // For claims that name none: what a claim names by its workflow is looked for among the jobs alone.
    by: [...reportersOf(run), ...(ofWorkflow ? [workflow(fileOf(ofWorkflow))] : [])],
    // The workflow as a whole is what nobody can post.
    isRunByHost: isJob && ofWorkflow?.conclusion === 'success',
    isByHand: ofWorkflow !== undefined && isByHand(ofWorkflow),
    outcome: outcomeOf(run),
    // An app can change how its run ended; a job is run again as another one.
    ...(passedBefore || isJob ? { passedBefore } : {}),
    ...(isJob && ofWorkflow && !isOvertaken ? timesOf(ofWorkflow) : {}),
  }
}

function checkOfWorkflow(run: WorkflowRun, all: readonly WorkflowRun[]): Check {
  const by = [GITHUB_JOBS, workflow(fileOf(run)), app(ACTIONS_APP)]
  const passing = all.filter((other) => other.conclusion === 'success' && isAkin(run, other))
  const passedBefore = passing.length > 0
  const check: Check = {
    name: fileOf(run),
    by,
    isRunByHost: true,
    isByHand: isByHand(run),
    outcome: outcomeOf(run),
    // How its earlier attempts ended, the run does not tell.
    ...(passedBefore || run.run_attempt === 1 ? { passedBefore } : {}),
    ...(passing.some(({ id }) => id > run.id) ? {} : timesOf(run)),
  }
  return isStoppedDuplicate(run, all) ? withoutBlame(check) : check
}

function timesOf({ status, created_at, updated_at }: WorkflowRun): Pick<Check, 'begunAt' | 'changedAt'> {
  return {
    ...(created_at === undefined ? {} : { begunAt: notAfter(created_at) }),
    ...(status === 'completed' ? { changedAt: notAfter(updated_at) } : {}),
  }
}

/**
 * A status replaces the one before it of the same context, whoever posted that. What one account posted as passed has not, when another one
 * posted since that it has not.
 */
export function checksOfStatuses(statuses: readonly PostedStatus[]): Check[] {
  const newestFirst = [...statuses].sort((one, other) => other.id - one.id)
  return [...groupedBy(newestFirst, ({ context }) => context)].flatMap(([name, posted]) => {
    const [{ state: current, created_at: lastAt }] = posted as [PostedStatus]
    return [...groupedBy(posted, ({ creator }) => creator?.id)].map(([, own]): Check => {
      const [{ state, creator, created_at }] = own as [PostedStatus]
      const begunAt = own.at(-1)!.created_at
      const isPostedOver = STATES[state] === 'passed' && STATES[current] !== 'passed'
      return {
        name,
        by: creator ? [accountId(creator.id), account(creator.login)] : [],
        isRunByHost: false,
        outcome: STATES[isPostedOver ? current : state],
        passedBefore: own.some(({ state }) => STATES[state] === 'passed'),
        ...(created_at === undefined ? {} : { endedAt: notAfter(created_at) }),
        // What others posted since changes nothing of its own red.
        ...(isPostedOver ? {} : { ...times(begunAt, STATES[state] === 'passed' ? lastAt : created_at) }),
      }
    })
  })
}

function times(begunAt: string | undefined, changedAt: string | undefined): Pick<Check, 'begunAt' | 'changedAt'> {
  return {
    ...(begunAt === undefined ? {} : { begunAt: notAfter(begunAt) }),
    ...(changedAt === undefined ? {} : { changedAt: notAfter(changedAt) }),
  }
}

const STATES = { pending: 'pending', success: 'passed', failure: 'failed', error: 'failed' } as const

export function groupedBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}
