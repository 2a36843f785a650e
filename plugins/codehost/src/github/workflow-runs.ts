/** Reads the runs of workflows that GitHub has for a commit, and tells which of them count, and which a newer one has replaced. */

import type { RefKind } from '../comparable.ts'
import { unexpectedAnswer } from '../rest.ts'
import { type ListedPull, PullsAnswer, type WorkflowRun, WorkflowRunsAnswer } from './answers.ts'
import type { ClaimedRepository } from './repository.ts'

/** The app of GitHub's workflows. */
export const ACTIONS_APP = 'github-actions'

const RUNS_PAGE = 50
/** The number of pages beyond which the list of a commit is read by event: whoever may write can start runs by the hundred. */
const MOST_PAGES = 6
/** The events for which GitHub starts runs of commits. */
const BY_COMMITS = ['push', 'pull_request', 'pull_request_target', 'merge_group', 'workflow_run', 'schedule']

export interface WorkflowRuns {
  /** Newest first. */
  readonly all: readonly WorkflowRun[]
  /** The runs that no newer run has replaced. */
  readonly latest: readonly WorkflowRun[]
  /** There are more, which somebody started by hand: they can replace none, and can have failed. */
  readonly isCut: boolean
}

/** The file of a workflow, without the version that GitHub shows with one of another repository. */
export function fileOf({ path }: Pick<WorkflowRun, 'path'>): string {
  // A file can be called `ci.yml@other.yml`, and is not `ci.yml`.
  return /^.*\.ya?ml(?=@|$)/i.exec(path)?.[0] ?? path
}

/** @throws DestinationError `forbidden` where workflow runs may not be read */
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
  const ofOthers = new Set(red.filter((run) => isOfOtherBase(run, pulls)))
  return { all, latest: all.filter((run) => ofOthers.has(run) || !isReplaced(run)), isCut: first.isCut }
}

/** Reads the pull requests from branches of the repository; none where they may not be read. */
async function readPullsFrom(
  { api, repository: { root, name } }: ClaimedRepository,
  branches: ReadonlySet<string>,
): Promise<readonly ListedPull[]> {
  const [owner = ''] = name.split('/')
  const lists = await Promise.all(
    [...branches].slice(0, MOST_BRANCHES).map((branch) => {
      const query = new URLSearchParams({ state: 'all', head: `${owner}:${branch}`, per_page: String(PULLS_PAGE) })
      return api.find(`${root}/pulls?${query}`, PullsAnswer, [403, 404])
    }),
  )
  return lists.flatMap((list) => ('refused' in list ? [] : list.value))
}

const MOST_BRANCHES = 5
const PULLS_PAGE = 100

/**
 * Tells whether a run was for another pull request, into another base. A run tells the open pull requests of its commit, and not the one that it was for. One that began before its pull request was for another, and
 * into another base, whose workflow may be another.
 */
function isOfOtherBase({ pull_requests: told, created_at }: WorkflowRun, pulls: readonly ListedPull[]): boolean {
  const own = pulls.find(({ number }) => number === told?.[0]?.number)
  if (!created_at || !own?.created_at || isUntil(own.created_at, created_at)) return false
  const wasOpen = (pull: ListedPull) =>
    pull.created_at !== undefined &&
    isUntil(pull.created_at, created_at) &&
    (!pull.closed_at || isUntil(created_at, pull.closed_at))
  return pulls.some((pull) => wasOpen(pull) && pull.base.ref !== own.base.ref)
}

function isUntil(one: string, other: string): boolean {
  return Date.parse(one) <= Date.parse(other)
}

const BY_HAND: ReadonlySet<string> = new Set(['workflow_dispatch', 'repository_dispatch'])

/** Tells whether somebody started a run, with inputs of their own. */
export function isByHand({ event }: Pick<WorkflowRun, 'event'>): boolean {
  return BY_HAND.has(event)
}

/** Tells whether a run replaces an older one, of the very same file. A run whose jobs were all skipped, as after a label, replaces none. */
function replaces(newer: WorkflowRun, older: WorkflowRun): boolean {
  if (newer.id <= older.id || newer.conclusion === 'skipped' || isByHand(newer) || isByHand(older)) return false
  const ref = refOf(newer)
  return ref !== undefined && ref === refOf(older) && newer.event === older.event && fileOf(newer) === fileOf(older)
}

/** Tells a run that was stopped, with another one of its file for the commit, as groups of runs stop duplicates. */
export function isStoppedDuplicate(run: WorkflowRun, all: readonly WorkflowRun[]): boolean {
  const isTwin = (other: WorkflowRun) => other.id !== run.id && !isByHand(other) && fileOf(other) === fileOf(run)
  return run.conclusion === 'cancelled' && all.some(isTwin)
}

/** Tells whether a pass of the one may be what somebody saw of the other: it would have replaced it, or was replaced. */
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
