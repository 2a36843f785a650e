/** A repository's state in the JSON of GitLab's REST API. */
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
  /** It was made by an import, and its merge requests came with it. */
  isImported: boolean
}

const SETTINGS = new WeakMap<ForgeRepository, GitLabSettings>()
/** More branches than this in one push are one event. */
const MOST_EVENTS = 3

export function settingsOf(repository: ForgeRepository): GitLabSettings {
  const known = SETTINGS.get(repository) ?? {
    ...{ off: new Set(), confidential: new Set(), hiddenPushes: new Set(), badFiles: new Set() },
    ...{ role: 20, configPath: null, isImported: false },
  }
  SETTINGS.set(repository, known)
  return known
}

export const time = (at: number) => new Date(at).toISOString()

export function userAnswer(username: string) {
  return { id: [...username].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_003, 7), username }
}

export function commitAnswer({ pool }: ForgeRepository, sha: string) {
  return { id: sha, parent_ids: [...pool.show(sha).parents] }
}

/** @param sees whether the one who asks may read it */
export function projectAnswer(
  repository: ForgeRepository,
  { isMember, sees }: { readonly isMember: boolean; sees(what: 'contents' | 'issues' | 'pull_requests'): boolean },
) {
  const { id, slug, createdAt, defaultBranch } = repository
  const { off, role, configPath } = settingsOf(repository)
  const code = sees('contents') ? { default_branch: defaultBranch, ci_config_path: configPath } : {}
  return {
    ...{ id, path_with_namespace: slug, created_at: time(createdAt), ...code },
    issues_enabled: !off.has('issues') && sees('issues'),
    merge_requests_enabled: !off.has('merge_requests') && sees('pull_requests'),
    permissions: { project_access: isMember ? { access_level: role } : null, group_access: null },
  }
}

export function branchAnswer(repository: ForgeRepository, name: string, sha: string) {
  return { name, commit: commitAnswer(repository, sha) }
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
      answer: eventAnswer(push, push.at + logLagMs, isBulk(group) ? group.length : undefined),
    })),
  )
}

function actionOf({ before, after }: Push): 'created' | 'removed' | 'pushed' {
  if (before === NO_COMMIT) return 'created'
  return after === NO_COMMIT ? 'removed' : 'pushed'
}

const kindOf = ({ ref }: Push) => (ref.startsWith('refs/tags/') ? 'tag' : 'branch')

function eventAnswer(push: Push, at: number, refs: number | undefined) {
  const { id, ref, before, after, by } = push
  const orNull = (sha: string) => (sha === NO_COMMIT || refs !== undefined ? null : sha)
  return {
    ...{ id, created_at: time(at), author_username: by },
    push_data: {
      commit_count: refs !== undefined || before === after || actionOf(push) === 'removed' ? 0 : 1,
      ...{ action: actionOf(push), ref_type: kindOf(push), commit_from: orNull(before), commit_to: orNull(after) },
      ref: refs === undefined ? ref.replace(/^refs\/(?:heads|tags)\//, '') : null,
    },
  }
}

export function mergeRequestAnswer(repository: ForgeRepository, pullRequest: PullRequest) {
  const { number, state, isMerging, isDraft, base, openedAt, mergedAt, headSha, landed, mergedHow } = pullRequest
  // What was rebased is the merge request's own newest commit at GitLab.
  const sha = mergedHow === 'rebase' ? landed! : headSha
  const byHand = mergedHow === 'manually' && landed !== sha ? landed : undefined
  return {
    ...{ iid: number, project_id: repository.id, target_project_id: repository.id, draft: isDraft },
    state: isMerging ? 'locked' : state.replace('open', 'opened'),
    ...{ created_at: time(openedAt), merged_at: state === 'merged' ? time(mergedAt!) : null },
    ...{ target_branch: base, sha, merge_commit_sha: pullRequest.mergeCommit ?? byHand ?? null },
    squash_commit_sha: pullRequest.squashCommit ?? null,
    ...(settingsOf(repository).isImported ? { imported: true } : {}),
  }
}

/** Of changes of state. Owners may choose their times. */
export function stateEventAnswers(events: readonly ForgeEvent[]) {
  const changes = events.filter(({ kind }) => ['closed', 'reopened', 'merged'].includes(kind))
  return changes.map(({ id, kind, shownAt }) => ({ id, state: kind, created_at: time(shownAt) }))
}

/** Newest first: a push and a change of the target make one. */
export function versionAnswers(pullRequest: PullRequest, events: readonly ForgeEvent[]) {
  const made = events.filter(({ kind }) => ['opened', 'head_moved', 'head_forced', 'base_changed'].includes(kind))
  let head = pullRequest.openedHead
  return made
    .map((event) => {
      head = event.sha ?? head
      return { id: event.id, head_commit_sha: head, created_at: time(event.at) }
    })
    .reverse()
}

export function issueAnswer(repository: ForgeRepository, issue: Issue) {
  const { number, state, openedAt, movedTo, reason } = issue
  const isClosed = state === 'closed' || movedTo !== undefined
  const duplicate = reason === 'duplicate' ? 'https://gitlab.test/api/v4/projects/1/issues/1' : null
  return {
    ...{ iid: number, project_id: repository.id, state: isClosed ? 'closed' : 'opened', created_at: time(openedAt) },
    ...{ confidential: settingsOf(repository).confidential.has(number), _links: { closed_as_duplicate_of: duplicate } },
    moved_to_id: movedTo ? (movedTo.repository.issues.get(movedTo.number, Number.POSITIVE_INFINITY)?.id ?? null) : null,
  }
}

/** @param now by the host's clock */
export function releaseAnswer(release: Release, now: number) {
  const { tag, publishedAt, releasedAt = publishedAt!, assets } = release
  return {
    ...{ tag_name: tag, created_at: time(publishedAt!), released_at: time(releasedAt) },
    ...{ upcoming_release: releasedAt > now, assets: { links: assets.map(({ id, name }) => ({ id, name })) } },
  }
}
