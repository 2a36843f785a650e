/** What GitHub shows of a commit's checks: of the lists that have them, those that a claim needs. */
import { type CheckContext, DestinationError, type Instant, type LogTime, type Mark } from '@claimcheck/core/plugin'
import type { Check, ChecksQuery, FoundChecks } from '../code-host.ts'
import { defined } from '../defined.ts'
import { latestOf } from '../times.ts'
import { missingCommitMark } from '../without-log.ts'
import { CheckRunsAnswer } from './answers.ts'
import type { GitHubAccess } from './api.ts'
import {
  checkRunsOf,
  checksOfRuns,
  checksOfStatuses,
  isSomeUnderWay,
  type Seen,
  type Shown as SeenList,
  statusesOf,
} from './check-runs.ts'
import { checkSuitesOf, checksOfSuites } from './check-suites.ts'
import { comparableTo } from './comparable.ts'
import { jobsOf, type WantedJobs } from './jobs.ts'
import { namedChecks } from './named-checks.ts'
import { type ClaimedRepository, claimedRepository, KEEPS_OBJECTS_MS } from './repository.ts'
import { type WorkflowRuns, workflowRunsOf } from './workflow-runs.ts'

export type Lists = ReturnType<typeof listsOf>

/** What is found of a commit that there is. */
export type Shown = Pick<FoundChecks, 'canBeDeleted' | 'isGrowing' | 'changedAt' | 'comparable'> & {
  readonly checks: readonly Check[]
}

/** More of them are cheaper to read as the whole list. */
const MOST_NAMES = 2
/** Each is read alone where the whole list has no end. */
const MOST_NAMES_IN_NOISE = 16

export async function findChecks(
  access: GitHubAccess,
  query: ChecksQuery,
  context: CheckContext,
): Promise<FoundChecks> {
  const claimed = await claimedRepository(access, query, context)
  const lists = listsOf(claimed, query, context)
  // A branch cannot be called like a commit of 40 characters; like one of 64, which GitHub does not have, it can.
  const isName = query.sha.length !== 40 && !(await lists.hasCommit())
  const theirNow = context.now() - (claimed.repository.clockBehindMs ?? 0)
  const shown = isName
    ? undefined
    : await (query.checks ? namedChecks(lists, query.checks) : allChecks(lists, theirNow))
  if (shown) return { ...claimed.found, ...shown }
  return { ...claimed.found, checks: undefined, mark: await markOfUnknown(claimed, query, context) }
}

/** Of one commit. Each is read once for all claims that wait for it. */
function listsOf(claimed: ClaimedRepository, { sha, windowFrom }: ChecksQuery, context: CheckContext) {
  const shared = <T>(what: string, read: () => Promise<T>) =>
    context.cache.share(`github ${claimed.repository.id} ${what} ${sha}`, read)
  let read: Promise<WorkflowRuns> | undefined

  /** Once in a check. */
  function workflows(): Promise<WorkflowRuns> {
    read ??= shared('workflows', () => workflowRunsOf(claimed, sha))
    return read
  }

  function checkRunsOfName(name: string) {
    return shared(`checks ${JSON.stringify([name])}`, () => checkRunsOf(claimed, sha, new Set([name])))
  }

  /** @param names of the only ones that are wanted */
  async function checkRuns(names?: ReadonlySet<string>): ReturnType<typeof checkRunsOf> {
    if (names === undefined) return shared('checks', () => checkRunsOf(claimed, sha))
    if (names.size > MOST_NAMES) {
      const what = `checks ${JSON.stringify([...names].sort())}`
      const all = await shared(what, () => checkRunsOf(claimed, sha, names))
      const isWhole = all === undefined || all === 'hidden' || !all.isCut
      if (isWhole || names.size > MOST_NAMES_IN_NOISE) return all
    }
    const lists = await Promise.all([...names].map(checkRunsOfName))
    if (lists.includes(undefined)) return undefined
    if (lists.includes('hidden')) return 'hidden'
    const found = lists.filter((list) => typeof list === 'object')
    return { entries: found.flatMap(({ entries }) => entries), isCut: found.some(({ isCut }) => isCut) }
  }

  return {
    checkRuns,
    /** @param names as of check runs */
    statuses: (names?: ReadonlySet<string>) =>
      shared(`statuses ${names ? JSON.stringify([...names].sort()) : ''}`, () => statusesOf(claimed, sha, names)),
    suites: () => shared('suites', () => checkSuitesOf(claimed, sha)),
    workflows,
    jobs: async (wanted: WantedJobs) => jobsOf(claimed, await workflows(), wanted, context),
    hasCommit: () => claimed.repository.isKnown(sha),
    comparable: async () => comparableTo(claimed, { sha, windowFrom, runs: await workflows() }, context),
  }
}

/** What is hidden from these credentials, or beyond the end of a list, may have failed. */
async function allChecks(lists: Lists, theirNow: Instant): Promise<Shown | undefined> {
  const runs = await lists.checkRuns()
  if (runs === undefined) return undefined
  const known = visible(runs)
  // No other list can make it green.
  if (isSomeUnderWay(known.entries)) return { checks: checksOfRuns(known.entries) }
  const [statuses, suites, workflows] = await Promise.all([lists.statuses(), lists.suites(), lists.workflows()])
  if (statuses === undefined || suites === undefined) return undefined
  const [posted, begun] = [visible(statuses), visible(suites)]
  const times = [
    ...posted.entries.map(({ created_at }) => created_at),
    ...begun.entries.flatMap(({ created_at, updated_at }) => [created_at, updated_at]),
    ...workflows.all.map(({ updated_at }) => updated_at),
  ]
  const changedAt: LogTime | undefined = latestOf(times)
  const checks = [
    ...checksOfRuns(known.entries, workflows, begun.entries),
    ...checksOfStatuses(posted.entries),
    ...checksOfSuites(begun.entries, theirNow),
  ]
  const isCut = [known, posted, begun, workflows].some(({ isCut }) => isCut)
  if (isCut && !checks.some(({ outcome }) => outcome === 'failed')) throw new DestinationError('too_large')
  return { checks, ...defined({ changedAt }), comparable: lists.comparable }
}

function visible<T>(seen: Seen<T>): SeenList<T> {
  if (seen === 'hidden') throw new DestinationError('forbidden', { status: 403 })
  return seen
}

/** The repository does not have the commit. @throws DestinationError `forbidden` where its checks may not be read */
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
