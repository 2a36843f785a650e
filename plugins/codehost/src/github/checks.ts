/** Finds a commit's checks at GitHub: of the lists that have them, those that a claim needs. */
import { type CheckContext, DestinationError, type Instant, type Mark } from '@claimcheck/core/plugin'
import { type ChecksQuery, type FoundChecks, withoutBlame } from '../code-host.ts'
import type { RestAccess } from '../rest.ts'
import { latestOf } from '../times.ts'
import { missingCommitMark } from '../without-log.ts'
import { CheckRunsAnswer } from './answers.ts'
import type { CheckList, ShownList } from './check-lists.ts'
import { checksOfRuns, checksOfStatuses, checksOfSuites, isSomeUnderWay } from './check-runs.ts'
import { type CommitChecks, type CommitLists, openLists } from './commit-lists.ts'
import { findNamedChecks } from './named-checks.ts'
import { type ClaimedRepository, claimedRepository, KEEPS_OBJECTS_MS } from './repository.ts'

export async function findChecks(access: RestAccess, query: ChecksQuery, context: CheckContext): Promise<FoundChecks> {
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
  const [posted, begun] = [requireShown(statuses), requireShown(suites)]
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
