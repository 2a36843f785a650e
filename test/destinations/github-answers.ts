/** GitHub's answers, field by field, for the stand-in. */

/** What the stand-in knows of a repository that its answers show. */
export interface ShownRepository {
  readonly id: number
  readonly slug: string
  readonly isPrivate: boolean
  readonly isFork: boolean
  readonly defaultBranch: string
  readonly createdAt: Date
}

export interface ShownCommit {
  readonly sha: string
  readonly tree: string
  readonly parents: readonly string[]
  readonly message: string
  readonly author: ShownSignature
  readonly committer: ShownSignature
}

export interface ShownSignature {
  readonly name: string
  readonly email: string
  readonly date: string
}

export interface Activity {
  readonly id: number
  readonly before: string
  readonly after: string
  readonly ref: string
  readonly at: Date
  /** Who pushed. */
  readonly actor: string
  readonly type: 'push' | 'force_push' | 'branch_creation' | 'branch_deletion' | 'pr_merge'
}

export function failure(status: number, message: string) {
  return { message, documentation_url: 'https://docs.github.com/rest', status: String(status) }
}

export function repositoryAnswer(
  api: string,
  { id, slug, isPrivate, isFork, defaultBranch, createdAt }: ShownRepository,
) {
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
    fork: isFork,
    url,
    html_url: `https://github.example/${slug}`,
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

export function commitAnswer(api: string, slug: string, commit: ShownCommit) {
  const { sha, tree, parents, message, author, committer } = commit
  const root = `${api}/repos/${slug}`
  const url = `${root}/commits/${sha}`
  const html_url = `https://github.example/${slug}/commit/${sha}`
  return {
    url,
    sha,
    node_id: `C_${sha}`,
    html_url,
    comments_url: `${url}/comments`,
    commit: {
      url: `${root}/git/commits/${sha}`,
      author,
      committer,
      message,
      comment_count: 0,
      tree: { sha: tree, url: `${root}/git/trees/${tree}` },
      verification: { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null },
    },
    author: user(api, 'agent'),
    committer: user(api, 'agent'),
    parents: parents.map((parent) => ({ sha: parent, url: `${root}/commits/${parent}`, html_url })),
  }
}

export function activityAnswer(api: string, { id, before, after, ref, at, type, actor }: Activity) {
  return {
    id,
    node_id: `PSH_${id}`,
    before,
    after,
    ref,
    timestamp: iso(at),
    activity_type: type,
    actor: user(api, actor),
  }
}

export function rateLimitAnswer(limit: { limit: number; remaining: number; used: number; reset: number }) {
  return { resources: { core: limit, search: limit }, rate: limit }
}

function user(api: string, login: string) {
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
    html_url: `https://github.example/${inPath}`,
    type: 'User',
    site_admin: false,
  }
}

/** In whole seconds, as GitHub gives its times. */
function iso(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z')
}
