/** What Gitea and Forgejo write of a repository and what is in it, in their own JSON. */
import { createHash } from 'node:crypto'
import type { ForgeEvent } from './events.ts'
import type { Issue } from './issues.ts'
import { type ForgeRepository, NO_COMMIT, type Push } from './model.ts'
import type { PullRequest } from './pull-requests.ts'
import type { Release } from './releases.ts'
import type { RepositoryState } from './state.ts'

/** In what servers differ, to be changed while they are read. */
export interface GiteaWays {
  readonly flavour: 'gitea' | 'forgejo'
  /** Accounts that hide what they do from the activity feed. */
  readonly hidden: Set<string>
  /** Accounts that are gone. */
  readonly deleted: Set<string>
  /** Repositories whose pull requests may be called merged by hand. */
  readonly mergingByHand: Set<ForgeRepository>
  /** Repositories that were taken over from another place. */
  readonly migrated: Set<ForgeRepository>
  /** It tells whether a repository allows to merge by hand, as Gitea does since the middle of 2025. */
  tellsManualMerges: boolean
  /** It has a timeline of issues. */
  hasTimeline: boolean
  /** Releases have a time of publication of their own, as newer versions have. */
  publishesTimes: boolean
}

export interface Place {
  readonly api: string
  readonly ways: GiteaWays
}

/** The newest commits that an entry of the feed lists. */
const FEED_COMMITS = 5

/** In whole seconds. */
export function time(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** The same for the same name. */
export function accountId(login: string): number {
  return createHash('sha256').update(login).digest().readUInt16BE() + 1
}

export function userAnswer(login: string) {
  return { id: accountId(login), login }
}

/** Null for one that is gone, as for the host's own. */
function creatorAnswer(login: string | undefined, { ways }: Place) {
  return login === undefined || ways.deleted.has(login) ? null : userAnswer(login)
}

export function repositoryAnswer(repository: ForgeRepository, { ways }: Place) {
  const { id, slug, isPrivate, createdAt } = repository
  return {
    ...{ id, full_name: slug, private: isPrivate, created_at: time(createdAt) },
    original_url: ways.migrated.has(repository) ? `https://elsewhere.example.com/${slug}` : '',
    ...(ways.tellsManualMerges ? { allow_manual_merge: ways.mergingByHand.has(repository) } : {}),
  }
}

export function branchAnswer(name: string, sha: string) {
  return { name, commit: { id: sha } }
}

export function commitAnswer(sha: string, { pool }: ForgeRepository) {
  const { parents, tree } = pool.show(sha)
  return { sha, commit: { tree: { sha: tree } }, parents: parents.map((id) => ({ sha: id })) }
}

/** Of one push, newest first: a branch that is created has an entry of its own for that. */
export async function activityAnswers(push: Push, repository: ForgeRepository, place: Place) {
  const { before, after, at, by, ref } = push
  if (place.ways.hidden.has(by) || !ref.startsWith('refs/heads/')) return []
  const { pool, slug } = repository
  const entry = {
    ...{ id: push.id, act_user: userAnswer(by), repo_id: repository.id, ref_name: ref, created: time(at) },
  }
  if (after === NO_COMMIT) return [{ ...entry, op_type: 'delete_branch', content: '' }]
  const brought =
    before === NO_COMMIT ? [...(await pool.history(after))] : (await pool.between(before, after)).toReversed()
  const oldest = before === NO_COMMIT ? pool.show(brought.at(-1)!).parents[0] : before
  const listed = (sha: string) => ({ Sha1: sha })
  const content = JSON.stringify({
    Commits: brought.slice(0, FEED_COMMITS).map(listed),
    HeadCommit: listed(after),
    CompareURL: oldest === undefined ? '' : `${slug}/compare/${oldest}...${after}`,
  })
  const pushed = { ...entry, op_type: 'commit_repo', content }
  return before === NO_COMMIT ? [pushed, { ...entry, op_type: 'commit_repo', content: '' }] : [pushed]
}

export function pullRequestAnswer(pull: PullRequest, repository: ForgeRepository, state: RepositoryState) {
  const { number, base, landed, mergedHow, closedAt } = pull
  const isMerged = pull.state === 'merged'
  // A merge by hand has the date that the commit's author wrote.
  const mergedAt = mergedHow === 'manually' ? repository.pool.show(landed!).date.getTime() : pull.mergedAt
  return {
    ...{ number, state: isMerged ? 'closed' : pull.state, draft: pull.isDraft, created_at: time(pull.openedAt) },
    base: { ref: base, sha: state.tip(base) ?? '', repo_id: repository.id },
    head: headAnswer(pull, repository),
    ...{ merged: isMerged, merged_at: isMerged ? time(mergedAt!) : null, merge_commit_sha: isMerged ? landed! : null },
    closed_at: closedAt === undefined ? null : time(closedAt),
  }
}

/** The tip of its branch, whatever came to that since; where the branch is gone, what the branch's repository keeps under its number. */
function headAnswer({ number, head, from, headSha }: PullRequest, repository: ForgeRepository) {
  const kept = `refs/pull/${number}/head`
  if (from.deletedAt !== undefined) return { label: '', ref: kept, sha: headSha, repo_id: -1 }
  const theirs = from.asOf()
  const side = { label: head, repo_id: from.id }
  const tip = theirs.tip(head)
  if (tip !== undefined) return { ...side, ref: head, sha: tip }
  const own = from === repository ? headSha : theirs.pullRequest(number)?.headSha
  return { ...side, ref: kept, sha: own ?? headSha }
}

const TIMELINE: Readonly<Partial<Record<ForgeEvent['kind'], string>>> = {
  ...{ closed: 'close', reopened: 'reopen', merged: 'merge_pull', base_changed: 'change_target_branch' },
  ...{
    head_moved: 'pull_push',
    head_forced: 'pull_push',
    commented: 'comment',
    labeled: 'label',
    line_reviewed: 'code',
  },
}

/** By the times that they have, oldest first. A merge by hand is one like any other here. */
export function timelineAnswers(events: readonly ForgeEvent[]) {
  const inOrder = [...events].sort((one, other) => one.shownAt - other.shownAt)
  return inOrder.flatMap(({ id, kind, shownAt, refs: [old_ref, new_ref] = ['', ''] }) => {
    const type = TIMELINE[kind]
    if (type === undefined) return []
    return [{ id, type, created_at: time(shownAt), updated_at: time(shownAt), old_ref, new_ref }]
  })
}

export function issueAnswer({ number, state }: Issue, { id }: ForgeRepository) {
  return { number, state, pull_request: null, repository: { id } }
}

/** A pull request is an issue, too. */
export function pullAsIssueAnswer({ number, state, isDraft }: PullRequest, { id }: ForgeRepository) {
  const pull_request = { merged: state === 'merged', draft: isDraft }
  return { number, state: state === 'open' ? 'open' : 'closed', pull_request, repository: { id } }
}

interface Posting {
  readonly context: string
  readonly status: string
  readonly description: string
  readonly target_url: string
  readonly by?: string
  readonly at: number
}

/** What accounts posted, and what the host's own runner did: as that goes on, it posts a status for each step. Oldest first. */
export function statusAnswers(sha: string, repository: ForgeRepository, state: RepositoryState, place: Place) {
  const posted = state.statuses(sha).map(
    ({ context, state: status, by, createdAt: at }): Posting => ({
      ...{ context, status, description: '', target_url: '', by, at },
    }),
  )
  const run = state.runs(sha).flatMap((run): Posting[] => {
    const { name, outcome, suite, createdAt, updatedAt } = run
    const { workflow = '.gitea/workflows/ci.yml', source, isRunByHost, app } = suite
    const context = isRunByHost ? `${workflow.split('/').at(-1)} / ${name} (${source})` : name
    const target_url = `/${repository.slug}/actions/runs/${suite.id}/jobs/0`
    const common = { context, target_url, ...(isRunByHost ? {} : { by: app }) }
    const pending = { ...common, status: 'pending', description: 'Waiting to run', at: createdAt }
    return outcome === undefined ? [pending] : [pending, { ...common, ...ended(outcome, place), at: updatedAt }]
  })
  const postings = [...posted, ...run].sort((one, other) => one.at - other.at)
  return postings.map(({ context, status, description, target_url, by, at }, index) => ({
    ...{ id: index + 1, context, status, description, target_url, created_at: time(at), updated_at: time(at) },
    url: `${place.api}/repos/${repository.slug}/statuses/${sha}`,
    creator: creatorAnswer(by, place),
  }))
}

function ended(outcome: string, { ways }: Place) {
  const isPassed = outcome === 'success' || outcome === 'neutral'
  if (isPassed) return { status: 'success', description: 'Successful in 12s' }
  if (outcome !== 'skipped') return { status: 'failure', description: 'Failing after 12s' }
  // Forgejo calls it a success, as Gitea did before.
  return ways.flavour === 'gitea'
    ? { status: 'skipped', description: 'Skipped' }
    : { status: 'success', description: 'Has been skipped' }
}

export function releaseAnswer(release: Release, { ways }: Place) {
  const { id, tag, isDraft, isPrerelease, createdAt, releasedAt, publishedAt, assets } = release
  // Of a tag that was pushed before, it is the date that the tag's author wrote.
  const created_at = time(releasedAt ?? createdAt)
  return {
    ...{ id, tag_name: tag, draft: isDraft, prerelease: isPrerelease, created_at },
    published_at: ways.publishesTimes ? time(publishedAt ?? createdAt) : created_at,
    assets: assets.map(({ id, name }) => ({ id, name })),
  }
}

export function tagAnswer(name: string, { object, sha }: { readonly object: string; readonly sha: string }) {
  return { name, id: object, commit: { sha } }
}
