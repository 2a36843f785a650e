/** Makes the checks of a commit from what apps reported of it, as check runs, and what accounts posted about it, as statuses. */
import { DestinationError, type Instant } from '@claimcheck/core/plugin'
import { type Check, withoutBlame } from '../code-host.ts'
import { account, accountId, app, appId, GITHUB_JOBS, workflow } from '../reporters.ts'
import { notAfter } from '../times.ts'
import type { CheckRun, CheckSuite, PostedStatus, WorkflowRun } from './answers.ts'
import { ACTIONS_APP, fileOf, isAkin, isByHand, isStoppedDuplicate, type WorkflowRuns } from './workflow-runs.ts'

/** GitHub's words for the end of a check run, a job or a workflow run. */
const OUTCOMES: Readonly<Record<string, Check['outcome']>> = {
  success: 'passed',
  failure: 'failed',
  startup_failure: 'failed',
  timed_out: 'failed',
  cancelled: 'failed',
  // `action_required`: the run waits for somebody.
  action_required: 'pending',
  // `stale`: the run's app has not ended it in two weeks.
  stale: 'pending',
  neutral: 'skipped',
  skipped: 'skipped',
}

/** The outcome of a run. @throws DestinationError `unexpected_response` for an end that is none of GitHub's known words */
export function outcomeOf({ status, conclusion }: Pick<WorkflowRun, 'status' | 'conclusion'>): Check['outcome'] {
  if (status !== 'completed') return 'pending'
  const outcome = conclusion !== null && Object.hasOwn(OUTCOMES, conclusion) ? OUTCOMES[conclusion] : undefined
  if (outcome === undefined) throw new DestinationError('unexpected_response')
  return outcome
}

export function isOfActions(run: CheckRun): boolean {
  return run.app?.slug === ACTIONS_APP
}

/** Tells the check run of a job from what a job posted with its token: of that, GitHub shows a page of another kind. */
export function isJob(run: CheckRun): boolean {
  return isOfActions(run) && (run.details_url?.endsWith(`/job/${run.id}`) ?? false)
}

/** The identifiers of the app that reported a run: anything that runs in a workflow can report as the app of workflows. */
export function reportersOf({ app: by }: Pick<CheckRun, 'app'>): readonly string[] {
  return [...(by?.id === undefined ? [] : [appId(by.id)]), ...(by?.slug === undefined ? [] : [app(by.slug)])]
}

/**
 * Tells whether the newest of these runs has not ended, and none of them passed: so the check has not, whatever other lists say.
 *
 * @param runs the runs of one name and app
 */
export function isUnderWay(runs: readonly CheckRun[]): boolean {
  const [newest] = [...runs].sort((one, other) => other.id - one.id)
  return newest !== undefined && outcomeOf(newest) === 'pending' && !runs.some((run) => outcomeOf(run) === 'passed')
}

export function isSomeUnderWay(runs: readonly CheckRun[]): boolean {
  return [...groupBy(runs, nameAndApp).values()].some(isUnderWay)
}

/** Leaves out the runs that a newer run of their workflow has replaced. What is red is not replaced by what was skipped. */
export function withoutReplaced(runs: readonly CheckRun[], { all, latest }: WorkflowRuns): CheckRun[] {
  const workflowOf = lookupBySuite(all)
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

/** Looks up the workflow run to which a check run belongs; undefined for what another app reported. */
function lookupBySuite(all: readonly WorkflowRun[]): (run: CheckRun) => WorkflowRun | undefined {
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
  const workflowOf = lookupBySuite(workflows?.all ?? [])
  const latest = new Map<string, CheckRun>()
  const counting = workflows ? withoutReplaced(runs, workflows) : [...runs]
  for (const run of counting.sort((one, other) => one.id - other.id)) {
    latest.set(JSON.stringify([run.name, run.app?.slug, run.check_suite?.id]), run)
  }
  const passed = groupBy(
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
    return ofWorkflow ? check : { ...check, changedAt: notAfter(run.check_suite && changed.get(run.check_suite.id)) }
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
  const isRunByHost = isJob(run)
  return {
    name: run.name,
    // The workflow is for claims that name no checks: what a claim names by its workflow is looked for among the jobs alone.
    by: [...reportersOf(run), ...(ofWorkflow ? [workflow(fileOf(ofWorkflow))] : [])],
    // A green workflow as a whole is what nobody can post.
    isRunByHost: isRunByHost && ofWorkflow?.conclusion === 'success',
    isByHand: ofWorkflow !== undefined && isByHand(ofWorkflow),
    outcome: outcomeOf(run),
    // An app can change how its run ended; a job is run again as another one.
    passedBefore: passedBefore || isRunByHost ? passedBefore : undefined,
    ...(isRunByHost && ofWorkflow && !isOvertaken && timesOf(ofWorkflow)),
  }
}

function checkOfWorkflow(run: WorkflowRun, all: readonly WorkflowRun[]): Check {
  const passing = all.filter((other) => other.conclusion === 'success' && isAkin(run, other))
  const passedBefore = passing.length > 0
  const check: Check = {
    name: fileOf(run),
    by: [GITHUB_JOBS, workflow(fileOf(run)), app(ACTIONS_APP)],
    isRunByHost: true,
    isByHand: isByHand(run),
    outcome: outcomeOf(run),
    // The run does not tell how its earlier attempts ended.
    passedBefore: passedBefore || run.run_attempt === 1 ? passedBefore : undefined,
    ...(!passing.some(({ id }) => id > run.id) && timesOf(run)),
  }
  return isStoppedDuplicate(run, all) ? withoutBlame(check) : check
}

function timesOf({ status, created_at, updated_at }: WorkflowRun): Pick<Check, 'begunAt' | 'changedAt'> {
  return {
    begunAt: notAfter(created_at),
    changedAt: status === 'completed' ? notAfter(updated_at) : undefined,
  }
}

/** The checks of apps that may still begin. A workflow that has not begun shows among the runs of workflows. @param now by GitHub's clock */
export function checksOfSuites(suites: readonly CheckSuite[], now: Instant): Check[] {
  const waiting = suites.filter(({ status, created_at, latest_check_runs_count = 0, app }) => {
    const mayBegin = created_at === null || now - Date.parse(created_at) < BEGINS_WITHIN_MS
    return status !== 'completed' && latest_check_runs_count === 0 && app?.slug !== ACTIONS_APP && mayBegin
  })
  return waiting.map((suite) => ({
    name: suite.app?.slug ?? 'app',
    by: reportersOf(suite),
    isRunByHost: false,
    outcome: 'pending',
    passedBefore: false,
  }))
}

/** The time after which an app counts as one that never begins: the suites of some stay queued. Milliseconds. */
const BEGINS_WITHIN_MS = 10 * 60_000

/**
 * The checks that accounts posted. A status replaces the one before it of the same context, whoever posted that. What one account posted as
 * passed has not, when another one posted since that it has not. What one posted as failed stays so; of a claim that names none it is blamed on
 * nobody where GitHub shows another account's pass in its place.
 */
export function checksOfStatuses(
  statuses: readonly PostedStatus[],
  { isNamed }: { readonly isNamed: boolean },
): Check[] {
  const newestFirst = [...statuses].sort((one, other) => other.id - one.id)
  return [...groupBy(newestFirst, ({ context }) => context).values()].flatMap((posted) => {
    const [current] = posted as [PostedStatus]
    const checks = [...groupBy(posted, ({ creator }) => creator?.id).values()].map((own) =>
      checkOfStatuses(own, current),
    )
    return isNamed || STATES[current.state] !== 'passed' ? checks : checks.map(withoutBlame)
  })
}

/** The identifiers of the account that posted a status. */
export function postersOf({ creator }: Pick<PostedStatus, 'creator'>): readonly string[] {
  return creator ? [accountId(creator.id), account(creator.login)] : []
}

/** Makes the check of one context and account. @param own the account's statuses, the newest first @param current the newest status of the context */
function checkOfStatuses(own: readonly PostedStatus[], current: PostedStatus): Check {
  const [{ context, state, creator, created_at }] = own as [PostedStatus]
  const outcome = STATES[state]
  const isPostedOver = outcome === 'passed' && STATES[current.state] !== 'passed'
  const check = {
    name: context,
    by: postersOf({ creator }),
    isRunByHost: false,
    outcome: isPostedOver ? STATES[current.state] : outcome,
    passedBefore: own.some((one) => STATES[one.state] === 'passed'),
    endedAt: notAfter(created_at),
  }
  if (isPostedOver) return check
  // A red status does not change by what others posted since.
  const changedAt = notAfter(outcome === 'passed' ? current.created_at : created_at)
  return { ...check, begunAt: notAfter(own.at(-1)!.created_at), changedAt }
}

const STATES = { pending: 'pending', success: 'passed', failure: 'failed', error: 'failed' } as const

export function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}
