/**
 * Finds a commit at Gitea or Forgejo. The API tells the tip of the branch; whether an older commit is on it, git tells, by the branch's
 * own history. The API's answers about single commits are not asked: it answers for commits that no branch has.
 */
import { type CheckContext, isDestinationError, isLongBefore, type Mark } from '@claimcheck/core/plugin'
import type { CommitQuery, FoundCommit } from '../code-host.ts'
import { isMadeAfter, matchesPusher } from '../forgetting.ts'
import type { Repositories } from '../git/repositories.ts'
import { findCommit as findInGit, openGitRepository } from '../git/repository.ts'
import type { RestAccess } from '../rest.ts'
import type { Activity } from './answers.ts'
import { brings, currentRun, type Push, pushesTo, readActivities } from './push-log.ts'
import { type Repository, readShared, readTip } from './repository.ts'

/** The most pages of the feed that are read to find the branch's state at the end of the tolerance. */
const MAX_PAGES = 3
/** Limit of the tips that are searched for the commit. */
const MAX_SEARCHES = 8

interface CommitLook {
  readonly repository: Repository
  readonly query: CommitQuery
  readonly context: CheckContext
  readonly repositories: Repositories
}

export async function findCommit(
  access: RestAccess,
  query: CommitQuery,
  context: CheckContext,
  repositories: Repositories,
): Promise<FoundCommit> {
  const { repository: slug, sha, branch } = query
  const part = { slug, part: `branch ${branch}` }
  const { repository, value: tip } = await readShared(access, part, context, (shown) => readTip(shown, branch))
  const look = { repository, query, context, repositories }
  const seen: FoundCommit =
    tip === sha
      ? { place: { at: 'branch' }, head: sha }
      : await findInGit(repository.git, { ...query, repository: repository.name }, context, repositories)
  const { place, head } = seen
  if (place.at === 'branch') return { ...seen, ...(await describeArrival(head!, look)), ...repository.found }
  return { ...seen, mark: await markOfForgotten(seen, look), ...repository.found }
}

/** Tells by the feed when a commit came onto the branch. No verdict depends on it, so a feed that cannot be read adds nothing. */
async function describeArrival(head: string, look: CommitLook): Promise<Partial<FoundCommit>> {
  const { query, context } = look
  try {
    // A commit that was seen in time came in time, whatever the feed says.
    return context.now() < query.inTimeUntil ? await findOrigin(head, look) : await findStay(head, look)
  } catch (error) {
    if (!isDestinationError(error)) throw error
    context.logger.warn({ err: error }, 'activity feed could not be read')
    return {}
  }
}

/** Finds since when the branch has the commit, and by whom, by the newest page of the feed. */
async function findOrigin(head: string, look: CommitLook): Promise<Partial<FoundCommit>> {
  const push = currentRun(await pushesTo(look.query.branch, await readNewestActivities(look)), head).find((one) =>
    brings(one, look.query.sha),
  )
  return push ? describePush(push, look) : {}
}

function describePush({ at, actor }: Push, { repository, query }: CommitLook): Partial<FoundCommit> {
  return {
    pushedAt: Math.floor(at.notAfter / 1000) * 1000,
    preexisting: isLongBefore(at, repository.found, query) || undefined,
    pusherMatches: matchesPusher(actor, query),
  }
}

/**
 * Finds the stay that goes on, where the feed shows that it began in time: from an entry within the tolerance until now, each tip of the branch
 * has the commit. An entry alone would not do: a commit can be forced away by an account that the feed hides, and be pushed again late.
 */
async function findStay(head: string, look: CommitLook): Promise<Partial<FoundCommit>> {
  const { query } = look
  const entry = await findFirstInTime(await readRunBackTo(query.inTimeUntil, head, look), head, look)
  if (!entry) return {}
  return { stays: [{ appeared: entry.at }], ...(brings(entry, query.sha) && describePush(entry, look)) }
}

async function readRunBackTo(time: number, head: string, look: CommitLook): Promise<readonly Push[]> {
  const { repository, query } = look
  const activities: Activity[] = []
  for (let page = 1; page <= MAX_PAGES; page++) {
    const read = page === 1 ? await readNewestActivities(look) : await readActivities(repository, page)
    activities.push(...read)
    const run = currentRun(await pushesTo(query.branch, activities), head)
    if (read.length === 0 || run.some(({ at }) => at.notAfter <= time)) return run
  }
  return []
}

async function findFirstInTime(run: readonly Push[], head: string, look: CommitLook): Promise<Push | undefined> {
  const { sha, inTimeUntil } = look.query
  let left = MAX_SEARCHES
  for (const push of run) {
    const isKnown = push.after === head || brings(push, sha)
    if (!isKnown && (left-- === 0 || !(await hasCommit(push.after!, look)))) return undefined
    if (push.at.notAfter <= inTimeUntil) return push
  }
  return undefined
}

/** Tells whether a tip has the commit, by the branch's own history, if the tip is in it still. The API would take another branch that is named like the commit's id. */
async function hasCommit(tip: string, { repository, query, context, repositories }: CommitLook): Promise<boolean> {
  const { withBranch, isIn } = openGitRepository(repository.git, repository.name, context, repositories)
  return withBranch(query.branch, async (read) => (await isIn(tip, read)) && (await isIn(query.sha, read, tip)))
}

function readNewestActivities({ repository, context }: CommitLook): Promise<readonly Activity[]> {
  return context.cache.share(`gitea ${repository.id} activities`, () => readActivities(repository, 1))
}

/** Marks a commit by more than git tells: a repository that is younger than the claim, or a push in the feed. */
async function markOfForgotten({ mark }: FoundCommit, look: CommitLook): Promise<Mark | undefined> {
  if (mark === 'may_have_been') return mark
  const mayHaveBeen = isMadeAfter(look.query, look.repository.createdAt) || (await wasPushed(look))
  return mayHaveBeen ? 'may_have_been' : mark
}

/** Tells whether the feed has a push of the commit. A feed that these credentials may not read says nothing. A feed that fails leaves it open. */
async function wasPushed(look: CommitLook): Promise<boolean> {
  const { branch, sha } = look.query
  try {
    return (await pushesTo(branch, await readNewestActivities(look))).some((push) => brings(push, sha))
  } catch (error) {
    if (isDestinationError(error) && error.code === 'forbidden') return false
    throw error
  }
}
