/** What apps reported of a commit, as check runs, and what accounts posted about it, as statuses. */
import { DestinationError } from '@claimcheck/core/plugin'
import type { Check } from '../code-host.ts'
import { type CheckRun, CheckRunsAnswer, type PostedStatus, StatusesAnswer, type WorkflowRun } from './answers.ts'
import type { Refusal } from './api.ts'
import { outcomeOf } from './outcomes.ts'
import type { ClaimedRepository } from './repository.ts'
import { ACTIONS_APP, fileOf, kindOf, type WorkflowRuns } from './workflow-runs.ts'

/** `hidden`: not with these credentials. */
export type Seen<T> = readonly T[] | 'hidden'

const PAGE = 100

/** Earlier runs too; undefined where the repository does not have the commit. */
export async function checkRunsOf(
  { api, repository }: ClaimedRepository,
  sha: string,
): Promise<Seen<CheckRun> | undefined> {
  const path = `${repository.root}/commits/${sha}/check-runs?filter=all&per_page=${PAGE}`
  const read = await api.list(path, CheckRunsAnswer, { refusals: UNREAD })
  if ('refused' in read) return unread(read.refused)
  const runs = read.pages.flatMap(({ check_runs }) => check_runs)
  if (runs.some(({ head_sha }) => head_sha !== sha)) throw new DestinationError('unexpected_response', { status: 200 })
  return [...new Map(runs.map((run) => [run.id, run])).values()]
}

/** All that were ever posted; undefined where the repository does not have the commit. */
export async function statusesOf(
  { api, repository }: ClaimedRepository,
  sha: string,
): Promise<Seen<PostedStatus> | undefined> {
  const path = `${repository.root}/commits/${sha}/statuses?per_page=${PAGE}`
  const read = await api.list(path, StatusesAnswer, { refusals: UNREAD })
  return 'refused' in read ? unread(read.refused) : read.pages.flat()
}

/** Either the list is hidden, or there is no such commit. */
const UNREAD = [403, 404, 409, 422] as const

function unread(refused: Refusal): 'hidden' | undefined {
  return refused === 409 || refused === 422 ? undefined : 'hidden'
}

/**
 * The latest run of each check. Where the workflow runs are known, those that were replaced do not count, and those do that are not green
 * though their check runs are, or that have none: a workflow that waits, could not start, or has jobs that show only when others end.
 */
export function checksOfRuns(runs: readonly CheckRun[], workflows?: WorkflowRuns): Check[] {
  const bySuite = new Map(workflows?.all.map((run) => [run.check_suite_id, run]))
  const workflowOf = ({ app, check_suite }: CheckRun) =>
    app?.slug === ACTIONS_APP && check_suite !== null ? bySuite.get(check_suite.id) : undefined
  const counting = new Set(workflows?.latest)
  const isReplaced = (run: CheckRun) => {
    const workflow = workflowOf(run)
    return workflow !== undefined && !counting.has(workflow)
  }
  const latest = new Map<string, CheckRun>()
  for (const run of runs.filter((run) => !isReplaced(run)).sort((one, other) => one.id - other.id)) {
    const workflow = workflowOf(run)
    const group = workflow ? kindOf(workflow) : run.check_suite?.id
    latest.set(JSON.stringify([run.name, run.app?.slug, group]), run)
  }
  const passed = groupedBy(
    runs.filter((run) => outcomeOf(run) === 'passed'),
    nameAndApp,
  )
  const checks = [...latest.values()].map((run) => {
    const passedBefore = passed.get(nameAndApp(run))?.some(({ id }) => id !== run.id) ?? false
    return checkOf(run, passedBefore, workflowOf(run))
  })
  const shown = new Set(runs.map(workflowOf))
  const isRed = (run: CheckRun | WorkflowRun) => !GREEN.has(outcomeOf(run))
  const shownRed = new Set([...latest.values()].filter(isRed).map(workflowOf))
  const silent = workflows?.latest.filter((run) => !shown.has(run) || (isRed(run) && !shownRed.has(run))) ?? []
  return [...checks, ...silent.map(checkOfWorkflow)]
}

const GREEN: ReadonlySet<Check['outcome']> = new Set(['passed', 'skipped'])

function nameAndApp({ name, app }: CheckRun): string {
  return JSON.stringify([name, app?.slug])
}

function checkOf(run: CheckRun, passedBefore: boolean, workflow: WorkflowRun | undefined): Check {
  const slug = run.app?.slug
  const isJob = slug === ACTIONS_APP && (run.details_url?.endsWith(`/job/${run.id}`) ?? false)
  return {
    name: run.name,
    by: slug === undefined ? [] : [slug],
    // The workflow as a whole is what nobody can post.
    isRunByHost: isJob && workflow?.conclusion === 'success',
    outcome: outcomeOf(run),
    // An app can change how its run ended; a job is run again as another one.
    ...(passedBefore || isJob ? { passedBefore } : {}),
  }
}

function checkOfWorkflow(run: WorkflowRun): Check {
  return { name: fileOf(run), by: [ACTIONS_APP, fileOf(run)], isRunByHost: true, outcome: outcomeOf(run) }
}

/**
 * A status replaces the one before it of the same context, whoever posted that. What one account posted as passed has not, when another one
 * posted since that it has not.
 */
export function checksOfStatuses(statuses: readonly PostedStatus[]): Check[] {
  const newestFirst = [...statuses].sort((one, other) => other.id - one.id)
  return [...groupedBy(newestFirst, ({ context }) => context)].flatMap(([name, posted]) => {
    const current = posted[0]!.state
    const hasPassed = posted.some(({ state }) => state === 'success')
    return [...groupedBy(posted, ({ creator }) => creator?.id)].map(([, own]): Check => {
      const [{ state, creator }] = own as [PostedStatus]
      return {
        name,
        by: creator ? [creator.login, String(creator.id)] : [],
        isRunByHost: false,
        outcome: STATES[state === 'success' ? current : state],
        passedBefore: hasPassed,
      }
    })
  })
}

const STATES = { pending: 'pending', success: 'passed', failure: 'failed', error: 'failed' } as const

function groupedBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}
