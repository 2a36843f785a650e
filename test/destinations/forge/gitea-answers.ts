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
  /** What workflows are called in their files: `ci.yml` may be `CI`. */
  readonly names: Map<string, string>
  /** What it lists of its runs: jobs too, in older versions what runners have taken alone, or nothing. */
  runs: 'jobs' | 'tasks' | 'none'
  /** What stands for an account that is gone: nobody, or an account of the host. */
  ghost: 'null' | 'ghost'
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
  return {
    id: accountId(login),
    login,
    full_name: '',
    email: `${login.replace(/[^A-Za-z0-9.-]/g, '-')}@noreply.example.com`,
    visibility: 'public',
  }
}

/** Null for one that is gone, as for the host's own. */
function creatorAnswer(login: string | undefined, { ways }: Place) {
  if (login === undefined || !ways.deleted.has(login)) return login === undefined ? null : userAnswer(login)
  return ways.ghost === 'null' ? null : { ...userAnswer('Ghost'), id: -1 }
}

export function repositoryAnswer(repository: ForgeRepository, { api, ways }: Place) {
  const { id, slug, isPrivate, createdAt, defaultBranch } = repository
  const [owner = '', name = ''] = slug.split('/')
  const permissions = { admin: false, push: false, pull: true }
  return {
    ...{ id, owner: userAnswer(owner), name, full_name: slug, private: isPrivate, default_branch: defaultBranch },
    ...{ url: `${api}/repos/${slug}`, created_at: time(createdAt), empty: repository.asOf().isEmpty, permissions },
    original_url: ways.migrated.has(repository) ? `https://elsewhere.example.com/${slug}` : '',
    ...(ways.tellsManualMerges
      ? { allow_manual_merge: ways.mergingByHand.has(repository), autodetect_manual_merge: false }
      : {}),
    object_format_name: 'sha1',
    ...(ways.flavour === 'gitea' ? { has_code: true } : {}),
  }
}

export function branchAnswer(name: string, sha: string, repository: ForgeRepository) {
  const { message, date } = repository.pool.show(sha)
  return { name, commit: { id: sha, message, timestamp: time(date.getTime()) }, protected: false }
}

export function commitAnswer(sha: string, repository: ForgeRepository, { api }: Place) {
  const { message, parents, tree, date } = repository.pool.show(sha)
  const url = (id: string) => `${api}/repos/${repository.slug}/git/commits/${id}`
  return {
    ...{ sha, url: url(sha), created: time(date.getTime()), author: null, committer: null },
    commit: { message, tree: { sha: tree } },
    parents: parents.map((id) => ({ sha: id, url: url(id) })),
  }
}

/** Of one push, newest first: a branch that is created has an entry of its own for that. */
export async function activityAnswers(push: Push, repository: ForgeRepository, place: Place) {
  const { before, after, at, by, ref } = push
  if (place.ways.hidden.has(by) || !ref.startsWith('refs/heads/')) return []
  const { pool, slug } = repository
  const entry = {
    ...{ id: push.id, act_user_id: accountId(by), act_user: userAnswer(by), repo_id: repository.id, ref_name: ref },
    ...{
      repo: repositoryAnswer(repository, place),
      is_private: repository.isPrivate,
      created: time(at),
      comment: null,
    },
  }
  if (after === NO_COMMIT) return [{ ...entry, op_type: 'delete_branch', content: '' }]
  const brought =
    before === NO_COMMIT ? [...(await pool.history(after))] : (await pool.between(before, after)).toReversed()
  const oldest = before === NO_COMMIT ? pool.show(brought.at(-1)!).parents[0] : before
  const listed = (sha: string) => ({ Sha1: sha, Message: pool.show(sha).message, Timestamp: time(at) })
  const content = JSON.stringify({
    Commits: brought.slice(0, FEED_COMMITS).map(listed),
    HeadCommit: listed(after),
    CompareURL: oldest === undefined ? '' : `${slug}/compare/${oldest}...${after}`,
    Len: brought.length,
  })
  const pushed = { ...entry, op_type: 'commit_repo', content }
  return before === NO_COMMIT ? [pushed, { ...entry, op_type: 'commit_repo', content: '' }] : [pushed]
}

export function pullRequestAnswer(
  pull: PullRequest,
  repository: ForgeRepository,
  state: RepositoryState,
  place: Place,
) {
  const { id, number, title, by, base, landed, mergedHow, mergedBy } = pull
  const isMerged = pull.state === 'merged'
  // A merge by hand has the date that the commit's author wrote.
  const mergedAt = mergedHow === 'manually' ? repository.pool.show(landed!).date.getTime() : pull.mergedAt
  const tip = state.tip(base)
  return {
    ...{ id, number, title, user: userAnswer(by), state: isMerged ? 'closed' : pull.state, draft: pull.isDraft },
    base: { label: base, ref: base, sha: tip ?? '', repo_id: repository.id, repo: repositoryAnswer(repository, place) },
    head: headAnswer(pull, repository, place),
    ...{ merge_base: pull.baseSha, merged: isMerged, merged_at: isMerged ? time(mergedAt!) : null },
    merge_commit_sha: isMerged ? landed! : null,
    merged_by: isMerged ? userAnswer(mergedBy!) : null,
    ...{ created_at: time(pull.openedAt), updated_at: time(pull.updatedAt) },
    closed_at: pull.closedAt === undefined ? null : time(pull.closedAt),
    url: `${place.api.replace('/api/v1', '')}/${repository.slug}/pulls/${number}`,
    ...(place.ways.flavour === 'forgejo' ? { flow: 0 } : {}),
  }
}

/** The tip of its branch, whatever came to that since; where the branch is gone, what the branch's repository keeps under its number. */
function headAnswer({ number, head, from, headSha }: PullRequest, repository: ForgeRepository, place: Place) {
  const kept = `refs/pull/${number}/head`
  if (from.deletedAt !== undefined) return { label: '', ref: kept, sha: headSha, repo_id: -1, repo: null }
  const theirs = from.asOf()
  const side = { label: head, repo_id: from.id, repo: repositoryAnswer(from, place) }
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
export function timelineAnswers(events: readonly ForgeEvent[], repository: ForgeRepository, { api }: Place) {
  const inOrder = [...events].sort((one, other) => one.shownAt - other.shownAt)
  return inOrder.flatMap(({ id, kind, by, shownAt, number, sha, refs }) => {
    const type = TIMELINE[kind]
    if (type === undefined) return []
    const url = `${api}/repos/${repository.slug}/issues/${number}`
    const body =
      type === 'pull_push' ? JSON.stringify({ is_force_push: kind === 'head_forced', commit_ids: [sha] }) : ''
    const times = { created_at: time(shownAt), updated_at: time(shownAt) }
    const [old_ref = '', new_ref = ''] = refs ?? []
    return [{ id, type, issue_url: url, user: userAnswer(by), body, ...times, old_ref, new_ref }]
  })
}

export function issueAnswer(issue: Issue, repository: ForgeRepository, place: Place) {
  const { id, number, title, by, state, openedAt, updatedAt, closedAt } = issue
  return {
    ...{ id, number, title, state, user: userAnswer(by), created_at: time(openedAt), updated_at: time(updatedAt) },
    ...{ closed_at: closedAt === undefined ? null : time(closedAt), pull_request: null },
    ...repositoryMeta(repository, place, number),
  }
}

/** A pull request is an issue, too. */
export function pullAsIssueAnswer(pull: PullRequest, repository: ForgeRepository, place: Place) {
  const { id, number, title, by, state, openedAt, updatedAt, closedAt } = pull
  return {
    ...{ id, number, title, state: state === 'open' ? 'open' : 'closed', user: userAnswer(by) },
    ...{ created_at: time(openedAt), updated_at: time(updatedAt) },
    closed_at: closedAt === undefined ? null : time(closedAt),
    pull_request: { merged: state === 'merged', merged_at: null, draft: pull.isDraft },
    ...repositoryMeta(repository, place, number),
  }
}

function repositoryMeta({ id, slug }: ForgeRepository, { api }: Place, number: number) {
  const [owner = '', name = ''] = slug.split('/')
  return { url: `${api}/repos/${slug}/issues/${number}`, repository: { id, name, owner, full_name: slug } }
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
    const file = workflow.split('/').at(-1)!
    const context = isRunByHost ? `${place.ways.names.get(file) ?? file} / ${name} (${source})` : name
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

export function releaseAnswer(release: Release, repository: ForgeRepository, { api, ways }: Place) {
  const { id, tag, target, name, by, isDraft, isPrerelease, createdAt, releasedAt, publishedAt, assets } = release
  // Of a tag that was pushed before, it is the date that the tag's author wrote.
  const created_at = time(releasedAt ?? createdAt)
  return {
    ...{ id, tag_name: tag, target_commitish: target, name, draft: isDraft, prerelease: isPrerelease, created_at },
    ...{ published_at: ways.publishesTimes ? time(publishedAt ?? createdAt) : created_at, author: userAnswer(by) },
    assets: assets.map((asset) => ({ id: asset.id, name: asset.name, size: asset.size, created_at: time(asset.at) })),
    url: `${api}/repos/${repository.slug}/releases/${id}`,
    ...(ways.flavour === 'forgejo' ? { hide_archive_links: false } : {}),
  }
}

export function tagAnswer(name: string, { object, sha }: { readonly object: string; readonly sha: string }) {
  return { name, id: object, message: '', commit: { sha } }
}
