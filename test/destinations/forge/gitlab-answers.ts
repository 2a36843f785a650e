/** A repository's state in the JSON of GitLab's REST API. */
import { AUTHOR } from '../objects.ts'
import type { ForgeEvent } from './events.ts'
import type { Issue } from './issues.ts'
import { type ForgeRepository, NO_COMMIT, type Push } from './model.ts'
import type { PullRequest } from './pull-requests.ts'
import type { Release } from './releases.ts'

/** What only GitLab has, to be changed by tests. */
export interface GitLabSettings {
  /** Turned off in the project's settings. */
  readonly off: Set<'issues' | 'merge_requests' | 'jobs'>
  /** By number: shown from Planner up. */
  readonly confidential: Set<number>
  /** Pushes whose events are left out of the page that they are on. */
  readonly hiddenPushes: Set<number>
  /** Pipelines that ended before they had a job, by a mistake in their file. */
  readonly badFiles: Set<number>
  /** The role of members: 10 Guest, 20 Reporter. */
  role: number
  configPath: string | null
  /** Of pipelines that were started with some. They are shown where `showsVariables` is set: to maintainers. */
  readonly variables: Map<number, readonly string[]>
  showsVariables: boolean
  /** Protected branches. */
  readonly protected: Set<string>
  /** It was made by an import, and its merge requests came with it. */
  isImported: boolean
}

const SETTINGS = new WeakMap<ForgeRepository, GitLabSettings>()
/** More branches than this in one push are one event. */
const MOST_EVENTS = 3

export function settingsOf(repository: ForgeRepository): GitLabSettings {
  const known = SETTINGS.get(repository) ?? {
    ...{ off: new Set(), confidential: new Set(), hiddenPushes: new Set(), badFiles: new Set() },
    ...{
      role: 20,
      configPath: null,
      isImported: false,
      variables: new Map(),
      showsVariables: false,
      protected: new Set(),
    },
  }
  SETTINGS.set(repository, known)
  return known
}

export const time = (at: number) => new Date(at).toISOString()

export function userAnswer(username: string) {
  const id = [...username].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_003, 7)
  return { id, username, name: username, state: 'active', avatar_url: null, web_url: `https://gitlab.test/${username}` }
}

/** The dates in it are its author's. */
export function commitAnswer({ pool }: ForgeRepository, sha: string) {
  const { parents, message, date } = pool.show(sha)
  const title = message.split('\n')[0]!
  const { name, email } = AUTHOR
  return {
    ...{ id: sha, short_id: sha.slice(0, 8), created_at: date.toISOString(), parent_ids: [...parents], title, message },
    ...{ author_name: name, author_email: email, authored_date: date.toISOString() },
    ...{ committer_name: name, committer_email: email, committed_date: date.toISOString() },
  }
}

/** @param sees whether the one who asks may read it */
export function projectAnswer(
  repository: ForgeRepository,
  { isMember, sees }: { readonly isMember: boolean; sees(what: 'contents' | 'issues' | 'pull_requests'): boolean },
) {
  const { id, slug, createdAt, defaultBranch, isPrivate } = repository
  const { off, role, configPath } = settingsOf(repository)
  const [namespace, path] = [slug.slice(0, slug.lastIndexOf('/')), slug.slice(slug.lastIndexOf('/') + 1)]
  const web = `https://gitlab.test/${slug}`
  const code = sees('contents') ? { default_branch: defaultBranch, ci_config_path: configPath } : {}
  return {
    ...{ id, description: null, name: path, name_with_namespace: slug.replaceAll('/', ' / '), path },
    ...{ path_with_namespace: slug, created_at: time(createdAt), last_activity_at: time(createdAt), ...code },
    visibility: isPrivate ? 'private' : 'public',
    ...{ ssh_url_to_repo: `git@gitlab.test:${slug}.git`, http_url_to_repo: `${web}.git`, web_url: web },
    namespace: { id: 7, name: namespace, path: namespace, kind: 'group', full_path: namespace },
    issues_enabled: !off.has('issues') && sees('issues'),
    merge_requests_enabled: !off.has('merge_requests') && sees('pull_requests'),
    permissions: { project_access: isMember ? { access_level: role } : null, group_access: null },
  }
}

export function branchAnswer(repository: ForgeRepository, name: string, sha: string) {
  return {
    ...{
      name,
      merged: false,
      protected: settingsOf(repository).protected.has(name),
      default: name === repository.defaultBranch,
    },
    ...{ developers_can_push: false, developers_can_merge: false, can_push: false },
    ...{ web_url: `https://gitlab.test/${repository.slug}/-/tree/${name}`, commit: commitAnswer(repository, sha) },
  }
}

/** Newest first, as far as they are written down. Of many refs that one push moved alike there is one event. */
export function eventAnswers(repository: ForgeRepository, pushes: readonly Push[]) {
  const { logLagMs } = repository.answering
  const { hiddenPushes } = settingsOf(repository)
  const groups = new Map<string, Push[]>()
  for (const push of pushes) {
    const key = `${push.batch} ${actionOf(push)} ${kindOf(push)}`
    groups.set(key, [...(groups.get(key) ?? []), push])
  }
  const isBulk = (group: readonly Push[]) => group.length > MOST_EVENTS
  return [...groups.values()].flatMap((group) =>
    (isBulk(group) ? group.slice(0, 1) : group).map((push) => ({
      isHidden: hiddenPushes.has(push.id),
      answer: eventAnswer(repository, push, push.at + logLagMs, isBulk(group) ? group.length : undefined),
    })),
  )
}

function actionOf({ before, after }: Push): 'created' | 'removed' | 'pushed' {
  if (before === NO_COMMIT) return 'created'
  return after === NO_COMMIT ? 'removed' : 'pushed'
}

const kindOf = ({ ref }: Push) => (ref.startsWith('refs/tags/') ? 'tag' : 'branch')

function eventAnswer({ id: project_id }: ForgeRepository, push: Push, at: number, refs: number | undefined) {
  const { id, ref, before, after, by } = push
  const author = userAnswer(by)
  const orNull = (sha: string) => (sha === NO_COMMIT || refs !== undefined ? null : sha)
  return {
    ...{ id, project_id, action_name: 'pushed to', target_id: null, target_iid: null, target_type: null },
    ...{ author_id: author.id, target_title: null, created_at: time(at), author, author_username: by },
    push_data: {
      commit_count: refs !== undefined || before === after || actionOf(push) === 'removed' ? 0 : 1,
      ...{ action: actionOf(push), ref_type: kindOf(push), commit_from: orNull(before), commit_to: orNull(after) },
      ref: refs === undefined ? ref.replace(/^refs\/(?:heads|tags)\//, '') : null,
      ...{ commit_title: null, ref_count: refs ?? null },
    },
  }
}

export function mergeRequestAnswer(repository: ForgeRepository, pullRequest: PullRequest) {
  const { id, number, title, state, isMerging, isDraft, base, head, from, by } = pullRequest
  const { openedAt, updatedAt, closedAt, mergedAt, headSha, landed, mergedHow, closedBy } = pullRequest
  const isMerged = state === 'merged'
  // What was rebased is the merge request's own newest commit at GitLab.
  const sha = mergedHow === 'rebase' ? landed! : headSha
  const byHand = mergedHow === 'manually' && landed !== sha ? landed : undefined
  const full = `${repository.slug}!${number}`
  return {
    ...{ id, iid: number, project_id: repository.id, title, description: null, draft: isDraft },
    state: isMerging ? 'locked' : state.replace('open', 'opened'),
    ...{ created_at: time(openedAt), updated_at: time(updatedAt) },
    merged_at: isMerged ? time(mergedAt!) : null,
    closed_by: state === 'closed' && closedBy ? userAnswer(closedBy) : null,
    closed_at: state === 'closed' ? time(closedAt!) : null,
    ...{ target_branch: base, source_branch: head, author: userAnswer(by), assignees: [], labels: [], milestone: null },
    source_project_id: from.deletedAt === undefined ? from.id : null,
    ...{ target_project_id: repository.id, merge_status: 'can_be_merged', sha },
    merge_commit_sha: pullRequest.mergeCommit ?? byHand ?? null,
    squash_commit_sha: pullRequest.squashCommit ?? null,
    references: { short: `!${number}`, relative: `!${number}`, full },
    ...{ web_url: `https://gitlab.test/${full.replace('!', '/-/merge_requests/')}`, squash: false },
    ...(settingsOf(repository).isImported ? { imported: true, imported_from: 'gitlab_project' } : {}),
  }
}

/** Of changes of state. Owners may choose their times. */
export function stateEventAnswers(kind: 'Issue' | 'MergeRequest', id: number, events: readonly ForgeEvent[]) {
  const states: Readonly<Partial<Record<ForgeEvent['kind'], string>>> = {
    ...{ closed: 'closed', reopened: 'reopened', merged: 'merged' },
  }
  return events.flatMap((event) => {
    const state = states[event.kind]
    if (state === undefined) return []
    const of = { resource_type: kind, resource_id: id, state }
    return [{ id: event.id, user: userAnswer(event.by), created_at: time(event.shownAt), ...of }]
  })
}

/** Comments, and what the system notes: oldest first. */
export function noteAnswers(events: readonly ForgeEvent[]) {
  return events.flatMap(({ id, kind, by, at, refs: [from, to] = ['', ''] }) => {
    const note = { id, author: userAnswer(by), created_at: time(at), updated_at: time(at) }
    if (kind === 'commented') return [{ ...note, body: 'Looks good', system: false }]
    if (kind !== 'base_changed') return []
    return [{ ...note, body: `changed target branch from \`${from}\` to \`${to}\``, system: true }]
  })
}

/** Newest first: a push and a change of the target make one, the latter while it is open. */
export function versionAnswers(pullRequest: PullRequest, events: readonly ForgeEvent[]) {
  const { id: merge_request_id, baseSha } = pullRequest
  let isOpen = true
  const made = events.filter(({ kind }) => {
    if (kind === 'closed' || kind === 'merged') isOpen = false
    if (kind === 'reopened') isOpen = true
    return ['opened', 'head_moved', 'head_forced'].includes(kind) || (kind === 'base_changed' && isOpen)
  })
  let head = pullRequest.openedHead
  return made
    .map((event) => {
      head = event.sha ?? head
      const shas = { head_commit_sha: head, base_commit_sha: baseSha, start_commit_sha: baseSha }
      return { id: event.id, ...shas, created_at: time(event.at), merge_request_id, state: 'collected', real_size: '1' }
    })
    .reverse()
}

export function issueAnswer(repository: ForgeRepository, issue: Issue) {
  const { id, number, title, state, by, openedAt, updatedAt, closedAt, closedBy, movedTo, reason } = issue
  const isClosed = state === 'closed' || movedTo !== undefined
  return {
    ...{ id, iid: number, project_id: repository.id, title, description: null, state: isClosed ? 'closed' : 'opened' },
    ...{
      created_at: time(openedAt),
      updated_at: time(updatedAt),
      closed_at: isClosed ? time(closedAt ?? updatedAt) : null,
    },
    closed_by: isClosed ? userAnswer(closedBy ?? by) : null,
    ...{
      labels: [],
      milestone: null,
      assignees: [],
      author: userAnswer(by),
      user_notes_count: 0,
      upvotes: 0,
      downvotes: 0,
    },
    ...{ due_date: null, confidential: settingsOf(repository).confidential.has(number) },
    web_url: `https://gitlab.test/${repository.slug}/-/issues/${number}`,
    time_stats: { time_estimate: 0, total_time_spent: 0, human_time_estimate: null, human_total_time_spent: null },
    task_completion_status: { count: 0, completed_count: 0 },
    _links: {
      closed_as_duplicate_of: reason === 'duplicate' ? 'https://gitlab.test/api/v4/projects/1/issues/1' : null,
    },
    references: { short: `#${number}`, relative: `#${number}`, full: `${repository.slug}#${number}` },
    moved_to_id: movedTo ? (movedTo.repository.issues.get(movedTo.number, Number.POSITIVE_INFINITY)?.id ?? null) : null,
  }
}

/** @param now by the host's clock */
export function releaseAnswer(repository: ForgeRepository, release: Release, now: number) {
  const { tag, name, by, publishedAt, releasedAt = publishedAt!, assets } = release
  const object = repository.refs.get(`refs/tags/${tag}`, publishedAt!)
  return {
    ...{ tag_name: tag, name, description: null, author: userAnswer(by) },
    ...{ created_at: time(publishedAt!), released_at: time(releasedAt), upcoming_release: releasedAt > now },
    // Of when it was made, wherever the tag leads now.
    commit: object === undefined ? null : commitAnswer(repository, repository.pool.peel(object)),
    assets: {
      count: assets.length,
      links: assets.map(({ id, name, file = name }) => ({
        ...{ id, name, url: `https://files.test/uploads/${id}/${encodeURIComponent(file)}` },
        ...{ direct_asset_url: `https://files.test/-/releases/${tag}/downloads/${id}`, link_type: 'other' },
      })),
    },
  }
}
