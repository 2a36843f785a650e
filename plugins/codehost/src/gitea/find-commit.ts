/**
 * Where Gitea or Forgejo has a commit. The API tells the tip of the branch; whether an older commit is on it, git tells, by the branch's
 * own history. The API's answers about single commits are not asked: it answers for commits that no branch has.
 */
import { type CheckContext, isDestinationError, isLongBefore, type Stay } from '@claimcheck/core/plugin'
import type { CommitQuery, FoundCommit } from '../code-host.ts'
import { isMadeAfter, matchesPusher } from '../forgetting.ts'
import { findCommit as findInGit } from '../git/find-commit.ts'
import type { Repositories } from '../git/repositories.ts'
import { openGitRepository } from '../git/repository.ts'
import type { Activity } from './answers.ts'
import { brings, currentRun, type Push, pushesTo, readActivities } from './push-log.ts'
import { type GiteaAccess, type Repository, readShared, readTip } from './repository.ts'

/** Of the feed, when the branch's state at the end of the tolerance is looked for. */
const MAX_PAGES = 3
/** How many tips are searched for the commit. */
const MAX_SEARCHES = 8

interface Look {
  readonly repository: Repository
  readonly query: CommitQuery
  readonly context: CheckContext
  readonly repositories: Repositories
}

export async function findCommit(
  access: GiteaAccess,
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
  const told = place.at === 'branch' ? await describe(head!, look) : await forgotten(seen, look)
  return { ...seen, ...told, ...repository.found }
}

/** What the feed adds to a commit that is on the branch. Nothing hangs on it, so a feed that cannot be read adds nothing. */
async function describe(head: string, look: Look): Promise<Partial<FoundCommit>> {
  const { query, context } = look
  try {
    // Seen in time, it came in time, whatever the feed says.
    return context.now() < query.inTimeUntil ? await origin(head, look) : await stayUntilNow(head, look)
  } catch (error) {
    if (!isDestinationError(error)) throw error
    context.logger.warn({ err: error }, 'activity feed could not be read')
    return {}
  }
}

/** Since when, and by whom, by the newest page of the feed. */
async function origin(head: string, look: Look): Promise<Partial<FoundCommit>> {
  const push = currentRun(await pushesTo(look.query.branch, await newestActivities(look)), head).find((one) =>
    brings(one, look.query.sha),
  )
  return push ? describePush(push, look) : {}
}

function describePush({ at, actor }: Push, { repository, query }: Look): Partial<FoundCommit> {
  return {
    pushedAt: Math.floor(at.notAfter / 1000) * 1000,
    ...(isLongBefore(at, repository.found, query) ? { preexisting: true } : {}),
    pusherMatches: matchesPusher(actor, query),
  }
}

/**
 * The stay that goes on, where the feed shows that it began in time: from an entry within the tolerance until now, each tip of the branch
 * has the commit. An entry alone would not do: a commit can be forced away by an account that the feed hides, and be pushed again late.
 */
async function stayUntilNow(head: string, look: Look): Promise<Partial<FoundCommit>> {
  const { query } = look
  const entry = await firstInTime(await runBackTo(query.inTimeUntil, head, look), head, look)
  if (!entry) return {}
  const stays: readonly Stay[] = [{ appeared: entry.at }]
  return { stays, ...(brings(entry, query.sha) ? describePush(entry, look) : {}) }
}

async function runBackTo(time: number, head: string, look: Look): Promise<readonly Push[]> {
  const { repository, query } = look
  const activities: Activity[] = []
  for (let page = 1; page <= MAX_PAGES; page++) {
    const read = page === 1 ? await newestActivities(look) : await readActivities(repository, page)
    activities.push(...read)
    const run = currentRun(await pushesTo(query.branch, activities), head)
    if (read.length === 0 || run.some(({ at }) => at.notAfter <= time)) return run
  }
  return []
}

async function firstInTime(run: readonly Push[], head: string, look: Look): Promise<Push | undefined> {
  const { sha, inTimeUntil } = look.query
  let left = MAX_SEARCHES
  for (const push of run) {
    const isKnown = push.after === head || brings(push, sha)
    if (!isKnown && (left-- === 0 || !(await hasCommit(push.after!, look)))) return undefined
    if (push.at.notAfter <= inTimeUntil) return push
  }
  return undefined
}

/** By the branch's own history, for a tip that is in it still. The API would take another branch that is named like the commit's id. */
async function hasCommit(tip: string, { repository, query, context, repositories }: Look): Promise<boolean> {
  const { withBranch, isIn } = openGitRepository(repository.git, repository.name, context, repositories)
  return withBranch(query.branch, async (read) => (await isIn(tip, read)) && (await isIn(query.sha, read, tip)))
}

function newestActivities({ repository, context }: Look): Promise<readonly Activity[]> {
  return context.cache.share(`gitea ${repository.id} activities`, () => readActivities(repository, 1))
}

/** The mark, where there is more than git tells: a repository that is younger than the claim, or a push in the feed. */
async function forgotten(seen: FoundCommit, look: Look): Promise<Pick<FoundCommit, 'mark'>> {
  const { repository, query } = look
  if (seen.mark === 'may_have_been') return {}
  const mayHaveBeen = isMadeAfter(query, repository.createdAt) || (await wasPushed(look))
  return mayHaveBeen ? { mark: 'may_have_been' } : {}
}

/** A feed that these credentials may not read says nothing. Of one that fails, nobody knows yet what it says. */
async function wasPushed(look: Look): Promise<boolean> {
  const { branch, sha } = look.query
  try {
    return (await pushesTo(branch, await newestActivities(look))).some((push) => brings(push, sha))
  } catch (error) {
    if (isDestinationError(error) && error.code === 'forbidden') return false
    throw error
  }
}
