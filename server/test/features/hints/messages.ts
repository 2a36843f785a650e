/** Messages of destinations in their published forms, shortened to what says of what they are. */
interface Message {
  readonly provider: string
  readonly title: string
  readonly what: string
  readonly message: object
  /** The targets in lower case. */
  readonly targets: readonly string[]
  readonly params?: Readonly<Record<string, readonly string[]>>
  readonly isSkipped?: boolean
}

const SHA = 'bcbb5ec396a2c0f828686f14fac9b80b780504f2'
const PACKAGE = {
  name: 'hello/web',
  namespace: 'Codertocat',
  ecosystem: 'CONTAINER',
  package_type: 'CONTAINER',
  package_version: { container_metadata: { tag: { name: 'v1', digest: `sha256:${'a'.repeat(64)}` } } },
}
const EVENT = {
  id: '320678d8-ca14-430f-8bb6-4ca139cd83f7',
  timestamp: '2016-03-09T14:44:26.402973972-08:00',
  action: 'push',
  target: {
    mediaType: 'application/vnd.docker.distribution.manifest.v2+json',
    digest: 'sha256:fea8895f450959fa676bcc1df0611ea93823a735a01205fd8622846041d0c7cf',
    repository: 'hello-world',
    tag: 'latest',
  },
  request: { host: '192.168.100.227:5000', method: 'PUT', useragent: 'curl/7.38.0' },
}

const inGitHub = (title: string, provider: string, full_name: string): Message[] => {
  const of = { provider, title, targets: [full_name.toLowerCase()] }
  const repository = { id: 186853002, name: full_name.split('/')[1], full_name }
  return [
    { ...of, what: 'a push', message: { ref: 'refs/heads/main', before: SHA, after: SHA, repository } },
    {
      ...of,
      what: 'a pull request',
      message: { action: 'closed', number: 2, pull_request: { number: 2, merged: true }, repository },
      params: { number: ['2'] },
    },
    {
      ...of,
      what: 'a status',
      message: { id: 6805126730, sha: SHA, state: 'success', context: 'default', repository },
      params: { sha: [SHA] },
    },
    {
      ...of,
      what: 'a status that is not the last',
      message: { id: 6805126730, sha: SHA, state: 'pending', context: 'default', repository },
      isSkipped: true,
    },
    {
      ...of,
      what: 'a workflow run',
      message: {
        action: 'completed',
        workflow_run: { head_sha: SHA, status: 'completed', conclusion: 'success' },
        repository,
      },
      params: { sha: [SHA] },
    },
    {
      ...of,
      what: 'a workflow run that begins',
      message: { action: 'requested', workflow_run: { head_sha: SHA, status: 'queued', conclusion: null }, repository },
      isSkipped: true,
    },
    {
      ...of,
      what: 'an issue',
      message: { action: 'closed', issue: { number: 1, state: 'closed' }, repository },
      params: { number: ['1'] },
    },
    {
      ...of,
      what: 'a release',
      message: { action: 'published', release: { tag_name: '0.0.1', draft: false }, repository },
      params: { tag: ['0.0.1'] },
    },
  ]
}

const gitlab = { provider: 'gitlab', title: 'GitLab', targets: ['gitlab-org/gitlab-test'] }
const project = { id: 1, name: 'Gitlab Test', path_with_namespace: 'Gitlab-Org/gitlab-test', default_branch: 'master' }
const bitbucket = { provider: 'bitbucket', title: 'Bitbucket', targets: ['team_name/repo_name'] }
const repository = { type: 'repository', name: 'repo_name', full_name: 'team_name/repo_name' }
const server = { provider: 'bitbucket-server', title: 'Bitbucket Data Center', targets: ['project_1/repo_1'] }
const ofServer = { slug: 'repo_1', id: 84, project: { key: 'PROJECT_1', id: 84 } }
const ghcr = { provider: 'oci', title: 'GitHub, for GHCR' }
const distribution = { provider: 'oci', title: 'A registry of the CNCF Distribution' }

export const MESSAGES: readonly Message[] = [
  ...inGitHub('GitHub', 'github', 'Codertocat/Hello-World'),
  {
    ...{ provider: 'github', title: 'GitHub', targets: ['codertocat/hello-world'] },
    what: 'a check suite',
    message: {
      action: 'completed',
      check_suite: { head_sha: SHA, status: 'completed', conclusion: 'success' },
      repository: { full_name: 'Codertocat/Hello-World' },
    },
    params: { sha: [SHA] },
  },
  ...inGitHub('Gitea', 'gitea', 'gitea/webhooks'),
  ...inGitHub('Forgejo', 'gitea', 'forgejo/Webhooks'),
  { ...gitlab, what: 'a push', message: { object_kind: 'push', ref: 'refs/heads/master', checkout_sha: SHA, project } },
  {
    ...gitlab,
    what: 'a pipeline',
    message: {
      object_kind: 'pipeline',
      object_attributes: { id: 31, iid: 3, ref: 'master', tag: false, sha: SHA, status: 'success' },
      project,
    },
    params: { sha: [SHA], number: ['3'] },
  },
  {
    ...gitlab,
    what: 'a pipeline that runs',
    message: {
      object_kind: 'pipeline',
      object_attributes: { id: 31, iid: 3, ref: 'master', tag: false, sha: SHA, status: 'running' },
      project,
    },
    isSkipped: true,
  },
  {
    ...gitlab,
    what: 'a merge request',
    message: { object_kind: 'merge_request', object_attributes: { id: 99, iid: 1, state: 'merged' }, project },
    params: { number: ['1'] },
  },
  {
    ...gitlab,
    what: 'a release',
    message: { id: 1, object_kind: 'release', tag: 'v1.1', action: 'create', project },
    params: { tag: ['v1.1'] },
  },
  {
    ...bitbucket,
    what: 'a push',
    message: { push: { changes: [{ new: { type: 'branch', name: 'main' } }] }, repository },
  },
  {
    ...bitbucket,
    what: 'a pull request',
    message: { pullrequest: { id: 1, state: 'MERGED' }, repository },
    params: { number: ['1'] },
  },
  {
    ...bitbucket,
    what: 'a build status',
    message: { commit_status: { key: 'mybuild', state: 'SUCCESSFUL' }, repository },
  },
  {
    ...bitbucket,
    what: 'a build that runs',
    message: { commit_status: { key: 'mybuild', state: 'INPROGRESS' }, repository },
    isSkipped: true,
  },
  { ...server, what: 'a push', message: { eventKey: 'repo:refs_changed', repository: ofServer, changes: [] } },
  {
    ...server,
    what: 'a pull request',
    message: { eventKey: 'pr:merged', pullRequest: { id: 9, state: 'MERGED', toRef: { repository: ofServer } } },
    params: { number: ['9'] },
  },
  {
    ...ghcr,
    what: 'a package',
    message: { action: 'published', package: PACKAGE },
    targets: ['ghcr.io/codertocat/hello/web'],
    params: { tag: ['v1'] },
  },
  {
    ...ghcr,
    what: 'a package, by its older event',
    message: { action: 'published', registry_package: PACKAGE },
    targets: ['ghcr.io/codertocat/hello/web'],
    params: { tag: ['v1'] },
  },
  {
    ...distribution,
    what: 'pushes',
    message: { events: [EVENT, { ...EVENT, target: { ...EVENT.target, tag: 'v2' } }] },
    targets: ['192.168.100.227:5000/hello-world'],
    params: { tag: ['v2'] },
  },
  {
    ...distribution,
    what: 'a pull',
    message: { events: [{ ...EVENT, action: 'pull' }] },
    targets: [],
    isSkipped: true,
  },
]
