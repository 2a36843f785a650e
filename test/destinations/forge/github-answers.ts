/** GitHub's answers about a repository, its commits, refs and pushes, field by field. */
import { AUTHOR } from '../objects.ts'
import type { ForgeRepository, Push, PushKind } from './model.ts'
import type { ForgeCommit } from './pool.ts'

export function failure(status: number, message: string) {
  return { message, documentation_url: 'https://docs.github.com/rest', status: String(status) }
}

export function repositoryAnswer(api: string, repository: ForgeRepository) {
  const { id, slug, isPrivate, upstream, defaultBranch, createdAt } = repository
  const url = `${api}/repos/${slug}`
  const [owner, name] = slug.split('/') as [string, string]
  const counts = ['forks', 'open_issues', 'watchers', 'stargazers', 'subscribers', 'network']
  const urls = Object.fromEntries(REPOSITORY_URLS.map((path) => [`${path.replace('/', '_')}_url`, `${url}/${path}`]))
  return {
    ...urls,
    ...Object.fromEntries(counts.map((count) => [`${count}_count`, 0])),
    id,
    node_id: `R_${id}`,
    name,
    full_name: slug,
    owner: user(api, owner),
    private: isPrivate,
    visibility: isPrivate ? 'private' : 'public',
    description: null,
    fork: upstream !== undefined,
    url,
    html_url: page(slug),
    clone_url: `https://github.example/${slug}.git`,
    git_url: `git://github.example/${slug}.git`,
    ssh_url: `git@github.example:${slug}.git`,
    svn_url: `https://github.example/${slug}`,
    mirror_url: null,
    homepage: null,
    language: null,
    license: null,
    default_branch: defaultBranch,
    forks: 0,
    open_issues: 0,
    watchers: 0,
    size: 0,
    has_issues: true,
    has_projects: true,
    has_wiki: true,
    has_pages: false,
    has_downloads: true,
    has_discussions: false,
    archived: false,
    disabled: false,
    pushed_at: iso(createdAt),
    created_at: iso(createdAt),
    updated_at: iso(createdAt),
  }
}

const REPOSITORY_URLS = [
  ...['archive', 'assignees', 'blobs', 'branches', 'collaborators', 'comments', 'commits', 'compare', 'contents'],
  ...['contributors', 'deployments', 'downloads', 'events', 'forks', 'git/commits', 'git/refs', 'git/tags', 'hooks'],
  ...['issue/comment', 'issue/events', 'issues', 'keys', 'labels', 'languages', 'merges', 'milestones'],
  ...[
    'notifications',
    'pulls',
    'releases',
    'stargazers',
    'statuses',
    'subscribers',
    'subscription',
    'tags',
    'teams',
    'trees',
  ],
]

export function refAnswer(api: string, slug: string, ref: string, object: { type: string; sha: string }) {
  const kind = object.type === 'commit' ? 'commits' : 'tags'
  return {
    ref,
    node_id: 'REF_1',
    url: `${api}/repos/${slug}/git/${encodeURI(ref)}`,
    object: { ...object, url: `${api}/repos/${slug}/git/${kind}/${object.sha}` },
  }
}

/** Of an annotated tag. */
export function tagAnswer(api: string, slug: string, tag: { name: string; object: string; sha: string }) {
  const root = `${api}/repos/${slug}/git`
  return {
    node_id: 'TAG_1',
    tag: tag.name,
    sha: tag.object,
    url: `${root}/tags/${tag.object}`,
    message: tag.name,
    tagger: { ...AUTHOR, date: iso(0) },
    object: { type: 'commit', sha: tag.sha, url: `${root}/commits/${tag.sha}` },
  }
}

/** @param by whose account has the address of who wrote it */
export function commitAnswer(api: string, slug: string, commit: ForgeCommit, by = 'agent') {
  const { sha, tree, parents, message, date } = commit
  const signature = { ...AUTHOR, date: iso(date.getTime()) }
  const root = `${api}/repos/${slug}`
  const url = `${root}/commits/${sha}`
  const html_url = page(`${slug}/commit/${sha}`)
  return {
    url,
    sha,
    node_id: `C_${sha}`,
    html_url,
    comments_url: `${url}/comments`,
    commit: {
      url: `${root}/git/commits/${sha}`,
      author: signature,
      committer: signature,
      message,
      comment_count: 0,
      tree: { sha: tree, url: `${root}/git/trees/${tree}` },
      verification: { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null },
    },
    author: user(api, by),
    committer: user(api, by),
    parents: parents.map((parent) => ({ sha: parent, url: `${root}/commits/${parent}`, html_url })),
  }
}

const ACTIVITY: Readonly<Record<PushKind, string>> = {
  create: 'branch_creation',
  push: 'push',
  merge: 'pr_merge',
  force: 'force_push',
  delete: 'branch_deletion',
}

export function activityAnswer(api: string, { id, before, after, ref, at, kind, by }: Push) {
  return {
    id,
    node_id: `PSH_${id}`,
    before,
    after,
    ref,
    timestamp: iso(at),
    activity_type: ACTIVITY[kind],
    actor: user(api, by),
  }
}

export function rateLimitAnswer(limit: { limit: number; remaining: number; used: number; reset: number }) {
  return { resources: { core: limit, search: limit }, rate: limit }
}

export function user(api: string, login: string) {
  // The login of an app has brackets.
  const inPath = encodeURIComponent(login)
  const url = `${api}/users/${inPath}`
  const paths = ['followers', 'following', 'gists', 'starred', 'subscriptions', 'repos', 'events', 'received_events']
  return {
    ...Object.fromEntries(paths.map((path) => [`${path}_url`, `${url}/${path}`])),
    organizations_url: `${url}/orgs`,
    login,
    id: [...login].reduce((id, character) => (id * 31 + character.charCodeAt(0)) % 1_000_000, 7),
    node_id: `U_${login}`,
    avatar_url: `https://avatars.example/${inPath}`,
    gravatar_id: '',
    url,
    html_url: page(inPath),
    type: 'User',
    site_admin: false,
  }
}

/** Of what people look at. */
export function page(path: string): string {
  return `https://github.example/${path}`
}

/** In whole seconds, as GitHub gives its times. */
export function iso(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')
}

export function isoOrNull(at: number | undefined): string | null {
  return at === undefined ? null : iso(at)
}
