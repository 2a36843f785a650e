/** Reads the runs of workflows that GitHub has for a commit, and tells which of them count, and which a newer one has replaced. */

import type { Instant } from '@claimcheck/core/plugin'
import type { RefKind } from '../comparable.ts'
import { unexpectedAnswer } from '../rest.ts'
import { type ListedPull, PullsAnswer, type WorkflowRun, WorkflowRunsAnswer } from './answers.ts'
import type { ClaimedRepository } from './repository.ts'

/** The slug of the app of GitHub's workflows. */
export const ACTIONS_APP = 'github-actions'

const RUNS_PAGE = 50
/** Number of pages beyond which the list of a commit is read by event: whoever may write can start runs by the hundred. */
const MOST_PAGES = 6
/** The events for which GitHub starts runs of commits. */
const BY_COMMITS = ['push', 'pull_request', 'pull_request_target', 'merge_group', 'workflow_run', 'schedule']

export interface WorkflowRuns {
  /** All runs for the commit, newest first. */
  readonly all: readonly WorkflowRun[]
  /** The runs that no newer run has replaced. */
  readonly latest: readonly WorkflowRun[]
  /** Tells that there are more runs, which somebody started by hand: they can replace none, and can have failed. */
  readonly isCut: boolean
}

/** The file of a workflow, without the version that GitHub shows with one of another repository. */
export function fileOf({ path }: Pick<WorkflowRun, 'path'>): string {
  // The path ends where the file does: a file can be called `ci.yml@other.yml`, and is not `ci.yml`.
  return /^.*\.ya?ml(?=@|$)/i.exec(path)?.[0] ?? path
}

/** Reads the workflow runs of a commit. @throws DestinationError `forbidden` where they may not be read */
export async function readWorkflowRuns(claimed: ClaimedRepository, sha: string): Promise<WorkflowRuns> {
  const { api, repository } = claimed
  const path = `${repository.root}/actions/runs?head_sha=${sha}&per_page=${RUNS_PAGE}`
  const first = await api.start(path, WorkflowRunsAnswer, MOST_PAGES)
  const pages = first.isCut
    ? (await Promise.all(BY_COMMITS.map((event) => api.list(`${path}&event=${event}`, WorkflowRunsAnswer)))).flat()
    : []
  const runs = [...first.pages, ...pages].flatMap(({ workflow_runs }) => workflow_runs)
  if (runs.some((run) => run.head_sha !== sha || run.repository.id !== repository.id)) throw unexpectedAnswer()
  const all = [...new Map(runs.map((run) => [run.id, run])).values()].sort((one, other) => other.id - one.id)
  const isReplaced = (run: WorkflowRun) => all.some((other) => replaces(other, run))
  const red = all.filter((run) => isOfPull(run) && run.conclusion !== 'success' && isReplaced(run))
  const pulls = await readPullsFrom(claimed, new Set(red.flatMap(({ head_branch }) => head_branch ?? [])))
  const ofOthers = new Set(red.filter((run) => mayBeOfOtherBase(run, pulls.get(run.head_branch ?? ''))))
  const latest = all.filter((run) => (ofOthers.has(run) || !isReplaced(run)) && !isBesideThePoint(run, all))
  return { all, latest, isCut: first.isCut }
}

/** Tells a run that another one of its file and event speaks for: it was skipped, as after a label, or is of another commit. */
function isBesideThePoint(run: WorkflowRun, all: readonly WorkflowRun[]): boolean {
  const others = all.filter(
    (other) => other.id !== run.id && other.event === run.event && fileOf(other) === fileOf(run),
  )
  if (isOfAnotherCommit(run, all)) return others.some((other) => !isOfAnotherCommit(other, all))
  return (
    run.conclusion === 'skipped' && others.some((other) => other.conclusion !== 'skipped' && isOfOneRef(run, other))
  )
}

function isOfOneRef(one: WorkflowRun, other: WorkflowRun): boolean {
  return !isOfTheCommit(one) || refOf(one) === refOf(other)
}

/** The time by which GitHub may date the end of a run later than what it starts. */
const END_MS = 10_000

/**
 * Tells whether what the end of a run started (`workflow_run`) came before all runs of this commit had ended, and not as one of them ended: then it
 * is of the commit before, or of a pull request. GitHub lists all of them with the newest commit of the default branch.
 */
export function isOfAnotherCommit(run: WorkflowRun, all: readonly WorkflowRun[]): boolean {
  const isAtEnd = (end: Instant) => Math.abs(Date.parse(run.created_at!) - end) <= END_MS
  return mayBeOfAnotherCommit(run, all) && !before(all).map(endOf).some(isAtEnd)
}

/** Tells whether what the end of a run started came before all runs of this commit had ended, so that the run may have been of another one. */
export function mayBeOfAnotherCommit({ event, created_at }: WorkflowRun, all: readonly WorkflowRun[]): boolean {
  if (event !== CHAINED || !created_at) return false
  return before(all).some((run) => Date.parse(created_at) < endOf(run) - END_MS)
}

/** The runs of the commit that may have started a chained one, as far as their first end is told. */
function before(all: readonly WorkflowRun[]): readonly WorkflowRun[] {
  return all.filter((run) => BEFORE_CHAINED.has(run.event) && !isRunAgain(run))
}

/** Tells a run whose first end is not told any more. */
function isRunAgain({ run_attempt = 1 }: WorkflowRun): boolean {
  return run_attempt > 1
}

function endOf({ status, updated_at }: WorkflowRun): Instant {
  return status === 'completed' ? Date.parse(updated_at) : Number.POSITIVE_INFINITY
}

const CHAINED = 'workflow_run'
const BEFORE_CHAINED: ReadonlySet<string> = new Set(['push', 'merge_group'])

/**
 * Tells a run that may be of another commit, while one of this commit may still come. A run that waits for somebody to approve it is not awaited.
 *
 * @param theirNow by GitHub's clock
 */
export function isTooEarly(run: WorkflowRun, all: readonly WorkflowRun[], theirNow: Instant): boolean {
  const ends = all.filter(({ event, status }) => BEFORE_CHAINED.has(event) && status !== 'waiting').map(endOf)
  return mayBeOfAnotherCommit(run, all) && theirNow - Math.max(...ends) < CHAINED_WITHIN_MS
}

/** The time after the end of a run by which GitHub has begun what it starts. Milliseconds. */
const CHAINED_WITHIN_MS = 60_000

/** Reads all pull requests from branches of the repository. It has no entry for a branch from which there may be others. */
async function readPullsFrom(
  { api, repository: { root, name } }: ClaimedRepository,
  branches: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly ListedPull[]>> {
  const [owner = ''] = name.split('/')
  const lists = await Promise.all(
    [...branches].slice(0, MOST_BRANCHES).map(async (branch) => {
      const query = new URLSearchParams({ state: 'all', head: `${owner}:${branch}`, per_page: String(PULLS_PAGE) })
      const list = await api.find(`${root}/pulls?${query}`, PullsAnswer, [403, 404])
      const isWhole = !('refused' in list) && list.value.length < PULLS_PAGE
      return isWhole ? [[branch, list.value] as const] : []
    }),
  )
  return new Map(lists.flat())
}

const MOST_BRANCHES = 5
const PULLS_PAGE = 100

/** The time from a pull request's closing within which a run for it may still be made. Milliseconds. */
const MADE_WITHIN_MS = 60_000

/**
 * Tells whether a run may have been for another pull request, into another base, whose workflow may be another. A run tells the open pull requests
 * of its commit, and not the one that it was for.
 *
 * @param pulls all from its branch; undefined where there may be others
 */
function mayBeOfOtherBase(
  { pull_requests: told, created_at }: WorkflowRun,
  pulls: readonly ListedPull[] | undefined,
): boolean {
  const own = pulls?.find(({ number }) => number === told?.[0]?.number)
  if (!pulls || !own) return true
  if (!created_at) return false
  const madeAt = Date.parse(created_at)
  const mayBeIts = (pull: ListedPull) =>
    Date.parse(pull.created_at ?? '') <= madeAt &&
    (!pull.closed_at || madeAt <= Date.parse(pull.closed_at) + MADE_WITHIN_MS)
  return pulls.some((pull) => pull.base.ref !== own.base.ref && mayBeIts(pull))
}

const BY_HAND: ReadonlySet<string> = new Set(['workflow_dispatch', 'repository_dispatch'])

/** Tells whether somebody started a run by hand, with inputs of their own. */
export function isByHand({ event }: Pick<WorkflowRun, 'event'>): boolean {
  return BY_HAND.has(event)
}

/**
 * The events, beside those of pull requests, of which a newer run is another try of the same. Runs of other events are listed with this commit and
 * may be of something else: of the end of a run for a pull request, of a second deployment, of a comment.
 */
const OF_THE_COMMIT: ReadonlySet<string> = new Set(['push', 'merge_group', 'schedule', 'dynamic', 'release', 'create'])

function isOfTheCommit(run: WorkflowRun): boolean {
  return isOfPull(run) || OF_THE_COMMIT.has(run.event)
}

/** Tells whether a run replaces an older one of the very same file. A run whose jobs were all skipped, as after a label, replaces none. */
function replaces(newer: WorkflowRun, older: WorkflowRun): boolean {
  if (newer.id <= older.id || newer.conclusion === 'skipped') return false
  if (!isOfTheCommit(newer)) return false
  const ref = refOf(newer)
  return ref !== undefined && ref === refOf(older) && newer.event === older.event && fileOf(newer) === fileOf(older)
}

/** Tells whether a run was stopped while another one of its file ran for the commit, as groups of runs stop duplicates. */
export function isStoppedDuplicate(run: WorkflowRun, all: readonly WorkflowRun[]): boolean {
  const isTwin = (other: WorkflowRun) => other.id !== run.id && !isByHand(other) && fileOf(other) === fileOf(run)
  return run.conclusion === 'cancelled' && all.some(isTwin)
}

/** Tells whether a pass of one run may be what somebody saw of the other: it would have replaced it, or was replaced. */
export function isAkin(one: WorkflowRun, other: WorkflowRun): boolean {
  if (one.id === other.id || fileOf(one) !== fileOf(other)) return false
  if (isByHand(one) || isByHand(other)) {
    const [here, there] = [one.head_branch, other.head_branch]
    return !here || !there || here === there
  }
  const [here, there] = [refOf(one), refOf(other)]
  return one.event === other.event && (here === undefined || there === undefined || here === there)
}

/**
 * The ref from which a run was started; undefined where GitHub does not tell. A pull request runs the workflow as its merge with the base has it: a second
 * one from the same commit, into a base with another workflow, does not replace what the first one ran. Those of forks have no number here.
 */
function refOf(run: WorkflowRun): string | undefined {
  const { pull_requests: pulls, head_branch, head_repository, repository } = run
  if (isOfPull(run)) return pulls?.length === 1 ? `#${pulls[0]!.number}` : undefined
  const from = head_repository === undefined ? repository.id : head_repository?.id
  return head_branch && from !== undefined ? `${from} ${head_branch}` : undefined
}

export function isOfPull({ event }: Pick<WorkflowRun, 'event'>): boolean {
  return event.startsWith('pull_request')
}

/** The kind of ref from which a run was started; undefined for a branch or a tag that is not told. */
export function refKindOf(run: WorkflowRun, defaultBranch: string): RefKind | undefined {
  if (isOfPull(run)) return 'pull_request'
  const isElsewhere = run.head_repository && run.head_repository.id !== run.repository.id
  if (!run.head_branch) return undefined
  return run.head_branch === defaultBranch && !isElsewhere ? 'default' : 'branch'
}
