/** Reads the runs of workflows that GitHub has for a commit, and tells which of them count, and which a newer one has replaced. */
import type { RefKind } from '../comparable.ts'
import { unexpectedAnswer } from '../rest.ts'
import { type ListedPull, PullsAnswer, type WorkflowRun, WorkflowRunsAnswer } from './answers.ts'
import { type Chains, readChains } from './chains.ts'
import type { ClaimedRepository } from './repository.ts'

/** The slug of the app of GitHub's workflows. */
export const ACTIONS_APP = 'github-actions'

const RUNS_PAGE = 50
/** Number of pages beyond which the list of a commit is read by event and state: whoever may write, and a clock, can start runs by the hundred. */
const MOST_PAGES = 6
const MOST_PAGES_FILTERED = 2
/** The events for which GitHub starts runs of commits. */
const BY_COMMITS = [
  ...['push', 'pull_request', 'pull_request_target', 'merge_group', 'schedule', 'dynamic'],
  ...['workflow_run', 'deployment', 'deployment_status'],
]
/** The states of a run that has not passed, by the names of GitHub's filter. */
const NOT_PASSED = [
  ...['failure', 'startup_failure', 'cancelled', 'timed_out', 'action_required', 'stale'],
  ...['in_progress', 'queued', 'requested', 'waiting', 'pending'],
]

export interface WorkflowRuns {
  /** All runs for the commit, newest first. */
  readonly all: readonly WorkflowRun[]
  /** The runs that no newer run has replaced. */
  readonly latest: readonly WorkflowRun[]
  /** Tells which of what the ends of runs started is of another commit. */
  readonly chains: Chains
  /** Tells that there are more runs that can have failed. */
  readonly isCut: boolean
  /** Tells that there are more runs, which passed: of what failed, that it has passed before or since is not known. */
  readonly lacksPassed: boolean
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
  const filtered = (name: string, values: readonly string[]) =>
    Promise.all(
      (first.isCut ? values : []).map((value) =>
        api.start(`${path}&${name}=${value}`, WorkflowRunsAnswer, MOST_PAGES_FILTERED),
      ),
    )
  // Runs that these two lists leave out have passed, and may have replaced failed ones.
  const [ofEvents, notPassed] = await Promise.all([filtered('event', BY_COMMITS), filtered('status', NOT_PASSED)])
  const runs = [first, ...ofEvents, ...notPassed]
    .flatMap(({ pages }) => pages)
    .flatMap(({ workflow_runs }) => workflow_runs)
  if (runs.some((run) => run.head_sha !== sha || run.repository.id !== repository.id)) throw unexpectedAnswer()
  const all = [...new Map(runs.map((run) => [run.id, run])).values()].sort((one, other) => other.id - one.id)
  const chains = await readChains(claimed, sha, all)
  const isReplaced = (run: WorkflowRun) => all.some((other) => replaces(other, run))
  const red = all.filter((run) => isOfPull(run) && run.conclusion !== 'success' && isReplaced(run))
  const pulls = await readPullsFrom(claimed, new Set(red.flatMap(({ head_branch }) => head_branch ?? [])))
  const ofOthers = new Set(red.filter((run) => mayBeOfOtherBase(run, pulls.get(run.head_branch ?? ''))))
  const latest = all.filter((run) => (ofOthers.has(run) || !isReplaced(run)) && !isBesideThePoint(run, all, chains))
  return { all, latest, chains, isCut: notPassed.some(({ isCut }) => isCut), lacksPassed: first.isCut }
}

/** Tells a run that another one of its file and event speaks for: it was skipped, as after a label, or is of another commit. */
function isBesideThePoint(run: WorkflowRun, all: readonly WorkflowRun[], { originOf }: Chains): boolean {
  const isOfAnother = (one: WorkflowRun) => originOf(one).of === 'another'
  const others = all.filter(
    (other) => other.id !== run.id && other.event === run.event && fileOf(other) === fileOf(run),
  )
  if (isOfAnother(run)) return others.some((other) => !isOfAnother(other))
  return (
    run.conclusion === 'skipped' && others.some((other) => other.conclusion !== 'skipped' && isOfOneRef(run, other))
  )
}

function isOfOneRef(one: WorkflowRun, other: WorkflowRun): boolean {
  return !isOfTheCommit(one) || refOf(one) === refOf(other)
}

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
