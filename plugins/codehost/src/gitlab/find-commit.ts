/** Finds a commit at GitLab: on the claimed branch (and since when at the latest), on another, or nowhere that can be seen. */
import {
  type CheckContext,
  DestinationError,
  isDestinationError,
  isLongBefore,
  type Stay,
} from '@claimcheck/core/plugin'
import { isBranchName } from '../actions/fields.ts'
import {
  type CommitFinding,
  type CommitQuery,
  type FoundCommit,
  MOST_STAYS,
  NO_COMMIT,
  type Place,
} from '../code-host.ts'
import { isMadeAfter, markOf, matchesPusher } from '../forgetting.ts'
import type { RestAccess } from '../rest.ts'
import { openProject, type Project, requireCode } from './project.ts'
import {
  type BranchLog,
  branchLog,
  type History,
  historyOf,
  type LoggedStay,
  type PushLog,
  readPushLog,
} from './push-log.ts'

/** Limit of the comparisons that one check asks for to find a commit's place in the push log. */
const MAX_COMPARISONS = 16
const MAX_COMPARISONS_IN_TIME = 2
const MAX_LOG_PAGES = 3
/** Limit of the pages of the log where the log decides. */
const MAX_LOG_PAGES_DUE = 10
/** The time from a push until a background job writes it down. */
const WRITTEN_WITHIN_MS = 5 * 60_000
/** The time for which "Prune unreachable objects" of a project's settings leaves a commit. By itself, GitLab keeps a commit for two weeks. */
const KEEPS_OBJECTS_MS = 30 * 60_000

interface CommitLook {
  readonly project: Project
  /** The tip of the branch. */
  readonly head: string | undefined
  readonly onBranch: boolean
  readonly query: CommitQuery
  readonly context: CheckContext
}

export async function findCommit(access: RestAccess, query: CommitQuery, context: CheckContext): Promise<FoundCommit> {
  const project = await openProject(access, query, context)
  requireCode(project)
  const { repository } = project
  const head = await repository.head(query.branch)
  // Only the branch's own history tells that it has the commit: forks share objects.
  const onBranch = head !== undefined && (await repository.contains(query.sha, head)) === true
  const look = { project, head, onBranch, query, context }
  const finding = onBranch ? await findOnBranch(look) : await findOffBranch(look)
  return { ...project.found, ...finding, head }
}

async function findOnBranch(look: CommitLook): Promise<CommitFinding> {
  const { query, context } = look
  const isInTime = context.now() < query.inTimeUntil
  const log = await readLog(look, isInTime ? 1 : MAX_LOG_PAGES_DUE)
  if (!log) return { place: { at: 'branch' } }
  const has = tipsHolding(look, log, isInTime ? MAX_COMPARISONS_IN_TIME : MAX_COMPARISONS)
  const isEnough = ({ arrival }: LoggedStay) => isLongBefore({ notAfter: arrival.at }, look.project.found, query)
  const history = await historyOf(log, has, isEnough)
  const current = history.stays.find(({ removal }) => removal === undefined)
  // A commit that was seen in time came in time, whatever the log says, which then only adds facts.
  const stays = isInTime ? undefined : staysOf(history, isGapless(log, history, look))
  return { place: { at: 'branch' }, stays, ...(current && describeStay(current, look)) }
}

async function findOffBranch(look: CommitLook): Promise<CommitFinding> {
  const { project, query, context, head } = look
  const { place, isKnown } = await findElsewhere(look)
  const log = await readLog(look, query.sentAt >= query.inTimeUntil ? MAX_LOG_PAGES_DUE : MAX_LOG_PAGES)
  const history = log && (await historyOf(log, tipsHolding({ ...look, isKnown }, log, MAX_COMPARISONS), () => false))
  const hasAll = log !== undefined && history !== undefined && isGapless(log, history, look)
  const last = history?.stays[0]
  const told = history && { stays: staysOf(history, hasAll), ...(last && describeStay(last, look)) }
  const isRecent = ({ removal }: LoggedStay) => !removal || removal.at >= query.windowFrom
  if (hasAll) return { place, ...told, mark: history.stays.some(isRecent) ? undefined : 'never_before' }
  if (log !== undefined && wasUnmoved(log, look)) return { place, ...told, mark: 'never_before' }
  const mark = await markOf(query, {
    place,
    head,
    isKnown,
    keepsObjects: context.now() - query.claimedAt <= KEEPS_OBJECTS_MS,
    repositoryCreatedAt: project.madeBy,
    isAncestor: (older, newer) => project.repository.contains(older, newer),
  })
  return { place, ...told, mark }
}

/** Reads the log of the branch; undefined where it cannot be read. */
async function readLog(
  { project, head, onBranch, query, context }: CommitLook,
  most: number,
): Promise<BranchLog | undefined> {
  const { windowFrom, branch } = query
  const day = Math.floor(windowFrom / 3_600_000)
  try {
    const log = await context.cache.share(
      `gitlab ${project.id} pushes ${day} ${most}`,
      (): Promise<PushLog> => readPushLog(project, { reachingBackTo: day * 3_600_000, most }),
    )
    return branchLog(log, branch, head)
  } catch (error) {
    if (!isDestinationError(error)) throw error
    // A commit that is there has been seen, log or no log. Absence is not reported while the log may yet show that the commit was there.
    if (!onBranch && error.code !== 'forbidden') throw error
    context.logger.warn({ err: error }, 'push log could not be read')
    return undefined
  }
}

/** Creates the question which tips in the log have the commit. @param most limit of the comparisons that it may ask for */
function tipsHolding(
  {
    project: { repository },
    head,
    onBranch,
    query: { sha },
    isKnown = true,
  }: CommitLook & { readonly isKnown?: boolean },
  { moves }: BranchLog,
  most: number,
): (tip: string) => Promise<boolean | undefined> {
  let left = most
  const without = new Set(
    moves.filter(({ after, isForward }) => after === sha && isForward).map(({ before }) => before),
  )
  return async (tip) => {
    if (tip === sha) return true
    if (tip === head) return onBranch
    if (without.has(tip)) return false
    if (left-- <= 0) return undefined
    // A commit that GitLab does not know is in no history that it knows.
    if (!isKnown) return (await repository.knows(tip)) ? false : undefined
    return repository.contains(sha, tip)
  }
}

/**
 * Tells whether the branch, which does not have the commit or does not exist, is what it was since the window began: a push, and its removal, would
 * have been written down by now.
 */
function wasUnmoved({ unmovedSince }: BranchLog, { project, query, context }: CommitLook): boolean {
  const isWritten = project.answer.mirror !== true && context.now() >= query.inTimeUntil + WRITTEN_WITHIN_MS
  return isWritten && unmovedSince <= query.windowFrom && !isMadeAfter(query, project.madeBy)
}

/** Tells whether the log has all moves of the branch that count, and whether it is known of each tip if it had the commit. */
function isGapless({ since }: BranchLog, { isWhole }: History, { project, query }: CommitLook): boolean {
  return isWhole && since <= query.windowFrom && !isMadeAfter(query, project.madeBy)
}

function staysOf({ stays }: History, isGapless: boolean): readonly Stay[] | undefined {
  if (!isGapless && stays.length === 0) return undefined
  return stays.slice(0, MOST_STAYS).map(({ arrival, removal }) => ({
    appeared: { notAfter: arrival.at },
    removed: removal && { notAfter: removal.at },
    removedWhole: removal && removal.after === NO_COMMIT,
  }))
}

/** Describes a stay. Its `pushedAt` is the time when the log wrote it down. */
function describeStay(
  { arrival, isExact, removal }: LoggedStay,
  { project, query }: CommitLook,
): Partial<CommitFinding> {
  const { at, by } = arrival
  return {
    pushedAt: isExact ? at : undefined,
    removedAt: removal?.at,
    preexisting: isLongBefore({ notAfter: at }, project.found, query) || undefined,
    pusherMatches: matchesPusher(isExact ? by : undefined, query),
  }
}

/** Finds another branch that has the commit, the default branch before others. @throws DestinationError when that cannot be read */
async function findElsewhere({
  project,
  query: { sha, branch },
}: CommitLook): Promise<{ readonly place: Place; readonly isKnown: boolean }> {
  const names = await project.repository.branchesWith(sha)
  if (names === undefined) return { place: { at: 'nowhere' }, isKnown: false }
  // The commit was pushed to the claimed branch while we were reading: the next read will show it.
  if (names.includes(branch)) throw new DestinationError('unavailable')
  const { default_branch } = project.answer
  const name = names.find((one) => one === default_branch) ?? names.find(isBranchName)
  return { place: name === undefined ? { at: 'nowhere' } : { at: 'another_branch', name }, isKnown: true }
}
