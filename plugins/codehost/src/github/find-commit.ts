/** Finds a commit at GitHub: on the claimed branch (and since when), on another, or nowhere that can be seen. */
import {
  type CheckContext,
  DestinationError,
  isDestinationError,
  isLongBefore,
  type Stay,
} from '@claimcheck/core/plugin'
import { isBranchName } from '../actions/fields.ts'
import { isLogDue } from '../actions/past.ts'
import { knownReachable } from '../ancestry.ts'
import {
  type CommitFinding,
  type CommitQuery,
  type FoundCommit,
  MOST_STAYS,
  NO_COMMIT,
  type Place,
} from '../code-host.ts'
import { ownerAndName } from '../connection-options.ts'
import { isMadeAfter, markOf, matchesPusher } from '../forgetting.ts'
import { createGitHubApi, type GitHubAccess } from './api.ts'
import {
  type CommitHistory,
  type Contains,
  commitHistory,
  type LogEntry,
  type LoggedStay,
  newestRun,
  type PushLog,
} from './push-log.ts'
import {
  AGE_MS,
  KEEPS_OBJECTS_MS,
  openRepository,
  type Repository,
  readRepository,
  type ShownRepository,
} from './repository.ts'

/** Limit of the comparisons that one check asks for to find a commit's place in the push log. */
const MAX_COMPARISONS = 16
/** Limit of the pages that are read of the log of a branch that has the commit, to find when it came. */
const MAX_LOG_PAGES_ON_BRANCH = 10

export async function findCommit(
  access: GitHubAccess,
  query: CommitQuery,
  context: CheckContext,
): Promise<FoundCommit> {
  const { repository: slug, branch } = query
  ownerAndName(slug)
  const api = createGitHubApi(access, context)
  const open = (shown: ShownRepository) => openRepository(api, context, shown)
  const { shown, head } = await context.cache.share(`github ${slug} branch ${branch}`, async () => {
    const shown = await readRepository(api, slug, context)
    return { shown, head: await open(shown).head(branch) }
  })
  const repository = open(shown)
  // Only the branch's own history tells that it has the commit: forks share objects, so GitHub also answers under the upstream's name for a commit
  // that was pushed to a fork alone.
  const onBranch = head !== undefined && (await repository.contains(query.sha, head)) === true
  const look = { repository, head, onBranch, query, context }
  const finding = onBranch ? await findOnBranch(look) : await findOffBranch(look)
  return { ...finding, ageMs: AGE_MS, repositoryId: String(repository.id), repositoryName: repository.name, head }
}

interface CommitLook {
  readonly repository: Repository
  /** The tip of the branch. */
  readonly head: string | undefined
  readonly onBranch: boolean
  readonly query: CommitQuery
  readonly context: CheckContext
}

async function findOnBranch(look: CommitLook): Promise<CommitFinding> {
  const place: Place = { at: 'branch' }
  // A commit that was seen in time came in time, whatever the log says.
  if (look.context.now() < look.query.inTimeUntil) return { place, ...(await describeArrival(look)) }
  return { place, ...(await searchLog(look)).told }
}

async function findOffBranch(look: CommitLook): Promise<CommitFinding> {
  const { repository, head, query, context } = look
  const { log, isListed, contains, history, isGapless, told } = await searchLog(look)
  // The log has the commit there now, and the answer about the branch is an older one.
  if (told.stays?.some(({ removed }) => removed === undefined)) return { place: { at: 'nowhere' }, ...told }

  const { place, isKnown } = await findElsewhere(repository, query)
  const endsAtHead = (log?.entries[0]?.after ?? NO_COMMIT) === (head ?? NO_COMMIT)
  if (isGapless && endsAtHead) {
    const wasNever = await wasNeverBefore(log!, history!, contains, query)
    return { place, ...told, mark: wasNever ? 'never_before' : undefined }
  }
  if (log?.end === 'cut' && endsAtHead && isLogDue(query)) {
    const lost = await lostSince(repository, isKnown === false ? NEVER : contains, query)
    if (lost) return { place, ...told, ...lost }
  }
  const mark = await markOf(query, {
    place,
    head,
    isKnown,
    keepsObjects: context.now() - query.claimedAt <= KEEPS_OBJECTS_MS,
    repositoryCreatedAt: repository.createdAt,
    isAncestor: (older, newer) => repository.contains(older, newer),
  })
  // A commit that a cut log leaves out, or one that may not be read, may have been there.
  return { place, ...told, mark: mark ?? (isListed ? 'may_have_been' : undefined) }
}

/** Searches the push log for the commit. */
async function searchLog(look: CommitLook) {
  const { repository, query } = look
  const read = await readLog(look)
  const log = read === 'forbidden' ? undefined : read
  const contains = comparisons(look)
  const history = log && (await commitHistory(query.sha, log, contains, (known) => isEnough(known, query)))
  const isGapless =
    history !== undefined && history.since <= query.windowFrom && !isMadeAfter(query, repository.createdAt)
  const told: Partial<CommitFinding> = history ? describeHistory(history, isGapless, look) : {}
  return { log, isListed: read !== undefined, contains, history, isGapless, told }
}

/**
 * Tells of a commit that was seen in time since when it is there, and who pushed it. One request more, three at most. No verdict depends on it, so a
 * log that cannot be read adds nothing.
 */
async function describeArrival({ repository, head, query, context }: CommitLook): Promise<Partial<CommitFinding>> {
  const log = await context.cache
    .share(`github ${repository.id} log ${query.branch}`, () => repository.newestPushes(query.branch))
    .catch((error: unknown) => {
      if (!isDestinationError(error)) throw error
      return undefined
    })
  const run = log === undefined || log === 'forbidden' ? [] : newestRun(log)
  // A log that lags does not list yet what put the commit where it is.
  if (run[0]?.after !== head) return {}
  const arrival = await arrivalAtHead(repository, run, query)
  if (arrival === undefined) return {}
  if (arrival === 'earlier') return { preexisting: true }
  const { at, actor } = arrival
  return {
    pushedAt: at.notBefore,
    preexisting: isLongBefore(at, repository, query) || undefined,
    pusherMatches: matchesPusher(actor, query),
  }
}

/**
 * Finds the push that brought the commit to where it is; `earlier` for one before the tolerance on the other side of the claim; undefined if two
 * comparisons do not tell.
 */
async function arrivalAtHead(
  repository: Repository,
  run: readonly LogEntry[],
  query: CommitQuery,
): Promise<LogEntry | 'earlier' | undefined> {
  const { sha } = query
  const has = async (tip: string) => tip !== NO_COMMIT && (await repository.contains(sha, tip))
  const start = run.at(-1)!
  const asTip = run.findLast(({ after }) => after === sha)
  if (asTip) {
    // A branch that was forced back to the commit had it before.
    const isExact = asTip !== start || start.fastForward || (await has(start.before)) === false
    return isExact ? asTip : undefined
  }

  const old = run.find(({ at }) => isLongBefore(at, repository, query))
  const recent = old ? run.slice(0, run.indexOf(old)) : run
  const before = await has(old?.after ?? start.before)
  if (before !== false) return before && old ? 'earlier' : undefined
  const [newest] = recent
  if (!newest || recent.length === 1) return newest
  return (await has(newest.before)) === false ? newest : undefined
}

async function readLog({
  repository,
  onBranch,
  query: { branch, windowFrom, inTimeUntil },
  context: { logger },
}: CommitLook): Promise<PushLog | 'forbidden' | undefined> {
  try {
    const log = await repository.pushLog(branch, windowFrom)
    if (!onBranch || log === undefined || log === 'forbidden' || log.end !== 'cut') return log
    // The older entries decide whether the commit came in time.
    const isTold = log.entries.some(({ at }) => at.notAfter <= inTimeUntil)
    return isTold ? log : await repository.pushLog(branch, inTimeUntil, MAX_LOG_PAGES_ON_BRANCH)
  } catch (error) {
    // A commit that is there has been seen, log or no log. Absence is not reported while the log may yet show that the commit was there.
    if (!onBranch || !isDestinationError(error)) throw error
    logger.warn({ err: error }, 'push log could not be read')
    return undefined
  }
}

/** Asks GitHub for a limited number of comparisons. What earlier checks found out costs none: a log of many tips is searched by and by. */
function comparisons({ repository, head, onBranch, query: { sha }, context: { cache } }: CommitLook): Contains {
  let left = MAX_COMPARISONS
  return async (tip) => {
    if (tip === head) return onBranch
    const known = knownReachable(sha, tip, cache)
    if (known !== undefined) return known
    if (left-- <= 0) return undefined
    return repository.contains(sha, tip)
  }
}

const NEVER: Contains = async () => false

/**
 * Looks for the commit in what left the branch, where the log is too long to be read. A commit that is not on the branch, and was on it since the
 * window began, was on a tip that was forced away or deleted. Undefined where that is not known of each such tip, and none had it.
 */
async function lostSince(
  repository: Repository,
  contains: Contains,
  query: CommitQuery,
): Promise<Pick<CommitFinding, 'stays' | 'mark'> | undefined> {
  const removals = isMadeAfter(query, repository.createdAt)
    ? undefined
    : await repository.removals(query.branch, query.windowFrom)
  if (removals === undefined) return undefined
  const stays: Stay[] = []
  let isKnown = true
  for (const { before, after, at } of removals) {
    const had = await contains(before)
    if (had === undefined) isKnown = false
    if (had) {
      stays.push({ appeared: { notAfter: at.notAfter }, removed: at, removedWhole: after === NO_COMMIT })
    }
  }
  if (stays.length > 0) return { stays: stays.slice(0, MOST_STAYS), mark: 'may_have_been' }
  return isKnown ? { mark: 'never_before' } : undefined
}

/** Tells whether the search can end: the commit came in time, or everything that counts is known. */
function isEnough({ stays, since }: CommitHistory, query: CommitQuery): boolean {
  return (
    since <= query.windowFrom ||
    // A stay that ended before the claim counts only within a gapless log, so the search goes on behind it.
    stays.some(
      ({ arrival, removal }) =>
        arrival.entry.at.notAfter <= query.inTimeUntil && (!removal || removal.at.notBefore >= query.claimedAt),
    )
  )
}

/** Tells whether a stay may be the claimed one: a commit that was forced away before the claim is not, one that went with its whole branch may be. */
function mayBeClaimed({ arrival, removal }: LoggedStay, { claimedAt, windowFrom }: CommitQuery): boolean {
  if (!removal || removal.at.notBefore >= claimedAt) return true
  return removal.after === NO_COMMIT && !arrival.earlier && arrival.entry.at.notBefore >= windowFrom
}

/** Makes the stays of a history. @param isGapless true if no stay before the oldest known one was overlooked */
function describeHistory(
  { stays, openAtStart }: CommitHistory,
  isGapless: boolean,
  { repository, query }: CommitLook,
): Partial<CommitFinding> {
  if (!isGapless && stays.length === 0) return {}
  // A cut list does not tell which stay was the first.
  const isComplete = isGapless && stays.length <= MOST_STAYS
  const reported = stays.map(({ arrival, removal }, index): Stay => {
    const isOldest = index === stays.length - 1
    const isExact = isComplete && !arrival.earlier && !(isOldest && openAtStart)
    const { at } = arrival.entry
    return {
      appeared: isExact ? at : { notAfter: at.notAfter },
      removed: removal?.at,
      removedWhole: removal && removal.after === NO_COMMIT,
    }
  })
  const first = stays.findLast((stay) => mayBeClaimed(stay, query))
  return { stays: reported.slice(0, MOST_STAYS), ...(first && describeStay(first, repository, query)) }
}

function describeStay(
  { arrival, removal }: LoggedStay,
  repository: Repository,
  query: CommitQuery,
): Partial<CommitFinding> {
  const { entry, earlier } = arrival
  return {
    pushedAt: earlier ? undefined : entry.at.notBefore,
    removedAt: removal?.at.notBefore,
    preexisting: isLongBefore(entry.at, repository, query) || undefined,
    pusherMatches: earlier ? undefined : matchesPusher(entry.actor, query),
  }
}

/** Tells whether a gapless log has no stay that counts or that ended lately, and the state before its oldest entry has none either. */
async function wasNeverBefore(
  { entries }: PushLog,
  { stays }: CommitHistory,
  contains: Contains,
  { windowFrom }: CommitQuery,
): Promise<boolean> {
  if (stays.some(({ removal }) => !removal || removal.at.notAfter >= windowFrom)) return false
  const oldest = entries.at(-1)
  if (!oldest || oldest.fastForward || oldest.before === NO_COMMIT) return true
  return (await contains(oldest.before)) === false
}

/** Finds another branch that has the commit: as its tip, or the default branch. @throws DestinationError when that cannot be read */
async function findElsewhere(
  repository: Repository,
  { sha, branch }: CommitQuery,
): Promise<{ readonly place: Place; readonly isKnown: boolean | undefined }> {
  const { names, isKnown } = await repository.branchesWithTip(sha)
  // The commit was pushed to the claimed branch while we were reading: the next read will show it.
  if (names.includes(branch)) throw new DestinationError('unavailable')
  const [tip] = names
  if (tip !== undefined) return { place: { at: 'another_branch', name: tip }, isKnown }

  const { defaultBranch } = repository
  if (defaultBranch !== branch && isBranchName(defaultBranch)) {
    const head = await repository.head(defaultBranch)
    if (head !== undefined && (await repository.contains(sha, head))) {
      return { place: { at: 'another_branch', name: defaultBranch }, isKnown }
    }
  }
  return { place: { at: 'nowhere' }, isKnown }
}
