/** GitHub's answers about pull requests, issues, what happened to them, and releases, field by field. */
import type { ForgeEvent } from './events.ts'
import { iso, isoOrNull, page, repositoryAnswer, user } from './github-answers.ts'
import type { Issue } from './issues.ts'
import type { ForgeRepository } from './model.ts'
import type { PullRequest } from './pull-requests.ts'
import type { Asset, Release } from './releases.ts'

/** As lists have them. */
export function pullRequestInList(api: string, repository: ForgeRepository, pull: PullRequest) {
  const { number, headSha, baseSha, head, base, from, state } = pull
  const url = `${api}/repos/${repository.slug}/pulls/${number}`
  const html_url = page(`${repository.slug}/pull/${number}`)
  const issue = `${api}/repos/${repository.slug}/issues/${number}`
  const links = {
    self: url,
    html: html_url,
    issue,
    comments: `${issue}/comments`,
    review_comments: `${url}/comments`,
    review_comment: `${url}/comments{/number}`,
    commits: `${url}/commits`,
    statuses: `${api}/repos/${repository.slug}/statuses/${headSha}`,
  }
  return {
    url,
    id: pull.id,
    node_id: `PR_${pull.id}`,
    html_url,
    diff_url: `${html_url}.diff`,
    patch_url: `${html_url}.patch`,
    issue_url: issue,
    commits_url: links.commits,
    review_comments_url: links.review_comments,
    review_comment_url: links.review_comment,
    comments_url: links.comments,
    statuses_url: links.statuses,
    number,
    state: state === 'open' ? 'open' : 'closed',
    locked: false,
    title: pull.title,
    user: user(api, pull.by),
    body: null,
    labels: [],
    milestone: null,
    assignee: null,
    created_at: iso(pull.openedAt),
    updated_at: iso(pull.updatedAt),
    closed_at: isoOrNull(pull.closedAt),
    merged_at: isoOrNull(pull.mergedAt),
    // Before it is merged, a merge that no branch has.
    merge_commit_sha: pull.landed ?? pull.testMerge ?? null,
    head: {
      ...side(api, from, head, headSha),
      repo: from.deletedAt === undefined ? repositoryAnswer(api, from) : null,
    },
    base: { ...side(api, repository, base, baseSha), repo: repositoryAnswer(api, repository) },
    _links: Object.fromEntries(Object.entries(links).map(([name, href]) => [name, { href }])),
    author_association: 'CONTRIBUTOR',
    auto_merge: null,
    draft: pull.isDraft,
  }
}

export function pullRequestAnswer(api: string, repository: ForgeRepository, pull: PullRequest) {
  const isOpen = pull.state === 'open'
  return {
    ...pullRequestInList(api, repository, pull),
    merged: pull.state === 'merged',
    mergeable: isOpen ? true : null,
    mergeable_state: isOpen ? 'clean' : 'unknown',
    merged_by: pull.mergedBy === undefined ? null : user(api, pull.mergedBy),
    maintainer_can_modify: false,
    ...{ comments: 0, review_comments: 0, commits: 1, additions: 0, deletions: 0, changed_files: 0 },
  }
}

function side(api: string, { slug }: ForgeRepository, ref: string, sha: string) {
  const owner = slug.split('/')[0]!
  return { label: `${owner}:${ref}`, ref, sha, user: user(api, owner) }
}

export function issueAnswer(api: string, repository: ForgeRepository, issue: Issue, wasReopened: boolean) {
  const { state, reason, closedBy } = issue
  // GitHub keeps that it was opened again as the reason of its state.
  const open = wasReopened ? 'reopened' : null
  return {
    ...thread(api, repository, { ...issue, isPull: false }),
    state,
    state_reason: state === 'open' ? open : (reason ?? null),
    closed_by: closedBy === undefined ? null : user(api, closedBy),
  }
}

/** GitHub answers for pull requests as for issues. */
export function pullRequestAsIssue(api: string, repository: ForgeRepository, pull: PullRequest) {
  const { state, closedBy, number, mergedAt, isDraft } = pull
  const html_url = page(`${repository.slug}/pull/${number}`)
  return {
    ...thread(api, repository, { ...pull, isPull: true }),
    state: state === 'open' ? 'open' : 'closed',
    state_reason: null,
    closed_by: closedBy === undefined ? null : user(api, closedBy),
    draft: isDraft,
    pull_request: {
      url: `${api}/repos/${repository.slug}/pulls/${number}`,
      html_url,
      diff_url: `${html_url}.diff`,
      patch_url: `${html_url}.patch`,
      merged_at: isoOrNull(mergedAt),
    },
  }
}

interface Thread extends Pick<Issue, 'id' | 'number' | 'title' | 'by' | 'openedAt' | 'updatedAt'> {
  readonly closedAt?: number
  readonly isPull: boolean
}

function thread(api: string, { slug }: ForgeRepository, { id, number, title, by, isPull, ...times }: Thread) {
  const root = `${api}/repos/${slug}`
  const url = `${root}/issues/${number}`
  return {
    // The issue's id of a pull request is not the pull request's.
    id: isPull ? id + 1_000_000 : id,
    node_id: `I_${id}`,
    url,
    repository_url: root,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: page(`${slug}/${isPull ? 'pull' : 'issues'}/${number}`),
    number,
    title,
    user: user(api, by),
    ...{ labels: [], assignee: null, assignees: [], milestone: null, locked: false, comments: 0, body: null },
    author_association: 'CONTRIBUTOR',
    created_at: iso(times.openedAt),
    updated_at: iso(times.updatedAt),
    closed_at: isoOrNull(times.closedAt),
  }
}

const EVENTS: Readonly<Partial<Record<ForgeEvent['kind'], string>>> = {
  head_forced: 'head_ref_force_pushed',
  base_changed: 'base_ref_changed',
  closed: 'closed',
  reopened: 'reopened',
  merged: 'merged',
  transferred: 'transferred',
  labeled: 'labeled',
}

/** What the timeline lists of what happened; `merged` is followed by `closed`. */
export function timelineAnswer(api: string, { slug }: ForgeRepository, events: readonly ForgeEvent[]) {
  return events.flatMap((event) => {
    const { kind, id, by, at, sha, reason } = event
    const name = EVENTS[kind]
    if (name === undefined) return []
    const shown = {
      id,
      node_id: `E_${id}`,
      url: `${api}/repos/${slug}/issues/events/${id}`,
      actor: user(api, by),
      event: name,
      commit_id: kind === 'merged' ? (sha ?? null) : null,
      commit_url: kind === 'merged' && sha ? `${api}/repos/${slug}/commits/${sha}` : null,
      created_at: iso(at),
      performed_via_github_app: null,
      ...(kind === 'labeled' ? { label: { name: 'triage', color: 'ededed' } } : {}),
      ...(kind === 'closed' ? { state_reason: reason === 'completed' ? null : (reason ?? null) } : {}),
    }
    const closed = {
      ...shown,
      id: id + 1_000_000,
      event: 'closed',
      commit_id: null,
      commit_url: null,
      state_reason: null,
    }
    return kind === 'merged' ? [shown, closed] : [shown]
  })
}

/** @param createdAt of the commit, as GitHub has it */
export function releaseAnswer(api: string, { slug }: ForgeRepository, release: Release, createdAt: number) {
  const { id, tag, target, name, by, isDraft, isPrerelease, publishedAt, assets } = release
  const url = `${api}/repos/${slug}/releases/${id}`
  return {
    url,
    assets_url: `${url}/assets`,
    upload_url: `${url}/assets{?name,label}`,
    html_url: page(`${slug}/releases/tag/${encodeURIComponent(tag)}`),
    tarball_url: `${api}/repos/${slug}/tarball/${encodeURIComponent(tag)}`,
    zipball_url: `${api}/repos/${slug}/zipball/${encodeURIComponent(tag)}`,
    id,
    node_id: `RE_${id}`,
    tag_name: tag,
    target_commitish: target,
    name,
    body: null,
    draft: isDraft,
    prerelease: isPrerelease,
    created_at: iso(createdAt),
    published_at: isoOrNull(publishedAt),
    author: user(api, by),
    assets: assets.map((asset) => assetAnswer(api, { slug }, tag, asset)),
  }
}

export function assetAnswer(api: string, { slug }: Pick<ForgeRepository, 'slug'>, tag: string, asset: Asset) {
  const { id, name, size, at, by } = asset
  return {
    url: `${api}/repos/${slug}/releases/assets/${id}`,
    browser_download_url: page(`${slug}/releases/download/${encodeURIComponent(tag)}/${encodeURIComponent(name)}`),
    id,
    node_id: `RA_${id}`,
    name,
    label: null,
    state: 'uploaded',
    content_type: 'application/octet-stream',
    size,
    digest: null,
    download_count: 0,
    created_at: iso(at),
    updated_at: iso(at),
    uploader: user(api, by),
  }
}
