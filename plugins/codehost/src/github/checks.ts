/** Finds a commit's checks at GitHub: of the lists that have them, those that a claim needs. */
import { type CheckContext, DestinationError, type Instant, type Mark } from '@claimcheck/core/plugin'
import { type Check, type ChecksQuery, type FoundChecks, withoutBlame } from '../code-host.ts'
import { missingCommitMark } from '../forgetting.ts'
import { isBy } from '../reporters.ts'
import { latestOf } from '../times.ts'
import { type CheckRun, CheckRunsAnswer, type CheckSuite } from './answers.ts'
import type { GitHubAccess } from './api.ts'
import {
  type CheckList,
  entriesOf,
  isCutList,
  readCheckRuns,
  readCheckSuites,
  readStatuses,
  type ShownList,
} from './check-lists.ts'
import { checksOfRuns, checksOfStatuses, checksOfSuites, isSomeUnderWay, reportersOf } from './check-runs.ts'
import { comparableTo } from './comparable.ts'
import { readJobs, type WantedJobs } from './jobs.ts'
import { findNamedChecks } from './named-checks.ts'
import { type ClaimedRepository, claimedRepository, KEEPS_OBJECTS_MS } from './repository.ts'
import { readWorkflowRuns, type WorkflowRuns } from './workflow-runs.ts'

export async function findChecks(
  access: GitHubAccess,
  query: ChecksQuery,
  context: CheckContext,
): Promise<FoundChecks> {
  const claimed = await claimedRepository(access, query, context)
  const lists = openLists(claimed, query, context)
  // A branch cannot be called like a commit of 40 characters; like one of 64, which GitHub does not have, it can.
  const isName = query.sha.length !== 40 && !(await lists.hasCommit())
  const theirNow = context.now() - (claimed.repository.clockBehindMs ?? 0)
  const shown = isName
    ? undefined
    : await (query.checks ? findNamedChecks(lists, query.checks) : findAllChecks(lists, theirNow))
  if (shown) return { ...claimed.found, ...shown }
  return { ...claimed.found, checks: undefined, mark: await markOfUnknown(claimed, query, context) }
}

/** Finds all checks of a commit: what is hidden from these credentials, or beyond the end of a list, may have failed. */
async function findAllChecks(lists: CommitLists, theirNow: Instant): Promise<CommitChecks | undefined> {
  const runs = await lists.checkRuns()
  if (runs === undefined) return undefined
  const known = requireShown(runs)
  // No other list can make it green.
  if (isSomeUnderWay(known.entries)) return { checks: checksOfRuns(known.entries) }
  const [statuses, suites, workflows] = await Promise.all([lists.statuses(), lists.suites(), lists.workflows()])
  if (statuses === undefined || suites === undefined) return undefined
  const posted = requireShown(statuses)
  const begun = withoutOwnSuites(requireShown(suites), known, lists.reporters)
  const changedAt = latestOf([
    ...posted.entries.map(({ created_at }) => created_at),
    ...begun.entries.flatMap(({ created_at, updated_at }) => [created_at, updated_at]),
    ...workflows.all.map(({ updated_at }) => updated_at),
  ])
  const reported = checksOfRuns(known.entries, workflows, begun.entries)
  const checks = [
    ...(workflows.lacksPassed ? reported.map(withoutBlame) : reported),
    ...checksOfStatuses(posted.entries, { isNamed: false }),
    ...checksOfSuites(begun.entries, theirNow),
  ]
  const isCut = [known, posted, begun, workflows].some(({ isCut }) => isCut)
  if (isCut && !checks.some(({ outcome }) => outcome === 'failed')) throw new DestinationError('too_large')
  return { checks, changedAt, comparable: lists.comparable }
}

/**
 * Leaves out the suites of who posts our own reports: those in which nothing else was reported.
 * @param known the check runs of the commit, without our own
 */
function withoutOwnSuites(
  { entries, isCut }: ShownList<CheckSuite>,
  known: ShownList<CheckRun>,
  reporters: readonly string[] = [],
): ShownList<CheckSuite> {
  const isOwn = (suite: CheckSuite) =>
    reporters.some((by) => isBy({ by: reportersOf(suite) }, { by })) &&
    !known.isCut &&
    !known.entries.some((run) => run.check_suite?.id === suite.id)
  return { entries: entries.filter((suite) => !isOwn(suite)), isCut }
}

function requireShown<T>(list: CheckList<T>): ShownList<T> {
  if (list === 'hidden') throw new DestinationError('forbidden', { status: 403 })
  return list
}

/** The mark of a commit that the repository does not have. @throws DestinationError `forbidden` where its checks may not be read */
async function markOfUnknown(
  { api, repository }: ClaimedRepository,
  query: ChecksQuery,
  { now }: CheckContext,
): Promise<Mark> {
  const branch = encodeURIComponent(`heads/${repository.defaultBranch}`)
  // An empty repository has no branch, and says so to who may read it.
  await api.find(`${repository.root}/commits/${branch}/check-runs?per_page=1`, CheckRunsAnswer, [409, 422])
  return missingCommitMark(query, now(), repository.createdAt, KEEPS_OBJECTS_MS)
}

/** The checks of a commit that the repository has. */
export type CommitChecks = Pick<FoundChecks, 'canBeDeleted' | 'isGrowing' | 'changedAt' | 'comparable'> & {
  readonly checks: readonly Check[]
}

export type CommitLists = ReturnType<typeof openLists>

/** Limit of the names that are read by a list of each: more of them are cheaper to read as the whole list. */
const MOST_NAMES = 2
/** Limit of the names that are read by a list of each where the whole list has no end. */
const MOST_NAMES_IN_NOISE = 16

/** Opens the lists of one commit. Each is read once for all claims that wait for it. */
function openLists(claimed: ClaimedRepository, { sha, windowFrom }: ChecksQuery, context: CheckContext) {
  const shared = <T>(what: string, read: () => Promise<T>) =>
    context.cache.share(`github ${claimed.repository.id} ${what} ${sha}`, read)
  let read: Promise<WorkflowRuns> | undefined

  /** Reads the workflow runs, once in a check. */
  function workflows(): Promise<WorkflowRuns> {
    read ??= shared('workflows', () => readWorkflowRuns(claimed, sha))
    return read
  }

  function checkRunsOfName(name: string) {
    return shared(`checks ${JSON.stringify([name])}`, () => readCheckRuns(claimed, sha, new Set([name])))
  }

  /** Reads check runs. @param names the names of the only ones that are wanted */
  async function checkRuns(names?: ReadonlySet<string>): ReturnType<typeof readCheckRuns> {
    if (names === undefined) return shared('checks', () => readCheckRuns(claimed, sha))
    if (names.size > MOST_NAMES) {
      const what = `checks ${JSON.stringify([...names].sort())}`
      const all = await shared(what, () => readCheckRuns(claimed, sha, names))
      if (!isCutList(all) || names.size > MOST_NAMES_IN_NOISE) return all
    }
    const lists = await Promise.all([...names].map(checkRunsOfName))
    if (lists.includes(undefined)) return undefined
    if (lists.includes('hidden')) return 'hidden'
    return { entries: lists.flatMap(entriesOf), isCut: lists.some(isCutList) }
  }

  return {
    reporters: claimed.access.reporters,
    checkRuns,
    /** Reads statuses. @param names the contexts of the only ones that are wanted */
    statuses: (names?: ReadonlySet<string>) =>
      shared(`statuses ${names ? JSON.stringify([...names].sort()) : ''}`, () => readStatuses(claimed, sha, names)),
    suites: () => shared('suites', () => readCheckSuites(claimed, sha)),
    workflows,
    jobs: async (wanted: WantedJobs) => readJobs(claimed, await workflows(), wanted, context),
    hasCommit: () => claimed.repository.isKnown(sha),
    comparable: async () => comparableTo(claimed, { sha, windowFrom, runs: await workflows() }, context),
  }
}
