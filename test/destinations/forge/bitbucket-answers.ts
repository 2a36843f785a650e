/** Bitbucket Cloud's answers, field by field, for its stand-in. */
import type { CheckRun, PostedStatus } from './checks.ts'
import type { ForgeEvent } from './events.ts'
import type { Call } from './kind.ts'
import type { ForgeRepository } from './model.ts'
import type { PullRequest } from './pull-requests.ts'

type Shown = Pick<Call, 'api' | 'repository'>

export function failure(message: string) {
  return { type: 'error', error: { message } }
}

/** Microseconds, and an offset in figures. */
function iso(at: number): string {
  return new Date(at).toISOString().replace('Z', '000+00:00')
}

/** Pull requests have only the beginning of a commit's id. */
function short(sha: string): { readonly type: 'commit'; readonly hash: string } {
  return { type: 'commit', hash: sha.slice(0, 12) }
}

export function repositoryAnswer(api: string, repository: ForgeRepository) {
  return {
    ...repositoryName(api, repository),
    scm: 'git',
    is_private: repository.isPrivate,
    created_on: iso(repository.createdAt),
    updated_on: iso(repository.now()),
    size: 4096,
    language: '',
    has_issues: false,
    has_wiki: false,
    fork_policy: 'allow_forks',
    mainbranch: { type: 'branch', name: repository.defaultBranch },
    ...(repository.upstream ? { parent: repositoryName(api, repository.upstream) } : {}),
  }
}

function repositoryName(api: string, { slug, uuid }: ForgeRepository) {
  const links = { self: { href: `${api}/repositories/${slug}` }, html: { href: `https://bitbucket.org/${slug}` } }
  return { type: 'repository', full_name: slug, name: slug.split('/').at(-1), uuid: `{${uuid}}`, links }
}

export function commitAnswer({ api, repository }: Shown, sha: string) {
  const { parents, message, date } = repository.pool.show(sha)
  return {
    type: 'commit',
    hash: sha,
    date: iso(date.getTime()),
    author: { type: 'author', raw: 'Agent <agent@example.com>' },
    message: `${message}\n`,
    parents: parents.map((hash) => ({ type: 'commit', hash })),
    repository: repositoryName(api, repository),
  }
}

export function branchAnswer(shown: Shown, name: string, sha: string) {
  return {
    type: 'branch',
    name,
    target: commitAnswer(shown, sha),
    default_merge_strategy: 'merge_commit',
    merge_strategies: ['merge_commit', 'squash', 'fast_forward'],
  }
}

const STATES = { open: 'OPEN', closed: 'DECLINED', merged: 'MERGED' } as const

export function pullRequestAnswer({ api, repository }: Shown, pullRequest: PullRequest) {
  const { number, title, state, isDraft, openedAt, updatedAt, landed } = pullRequest
  return {
    type: 'pullrequest',
    id: number,
    title,
    state: STATES[state],
    draft: isDraft,
    created_on: iso(openedAt),
    updated_on: iso(updatedAt),
    ...endpoints({ api, repository }, pullRequest),
    merge_commit: landed === undefined ? null : { hash: landed.slice(0, 12) },
    close_source_branch: false,
    comment_count: 0,
    task_count: 0,
    reason: '',
  }
}

function endpoints({ api, repository }: Shown, { base, baseSha, head, headSha, from }: PullRequest) {
  const hash = (sha: string) => ({ hash: short(sha).hash })
  return {
    source: {
      branch: { name: head },
      commit: hash(headSha),
      repository: from.deletedAt === undefined ? repositoryName(api, from) : null,
    },
    destination: { branch: { name: base }, commit: hash(baseSha), repository: repositoryName(api, repository) },
  }
}

/** The state that each event left. */
const LEFT: Readonly<Record<string, string>> = { merged: 'MERGED', closed: 'DECLINED' }

export function activityEntries(shown: Shown, pullRequest: PullRequest, events: readonly ForgeEvent[]) {
  const { number, title } = pullRequest
  const pull_request = { type: 'pullrequest', id: number, title }
  let state = 'OPEN'
  const entries = events.map((event) => {
    const author = { type: 'user', display_name: event.by, nickname: event.by }
    if (event.kind === 'commented') {
      const comment = { type: 'pullrequest_comment', id: event.id, created_on: iso(event.at), user: author }
      return { pull_request, comment }
    }
    state = LEFT[event.kind] ?? state
    const date = iso(event.at)
    return { pull_request, update: { state, date, title, reason: '', author, ...endpoints(shown, pullRequest) } }
  })
  return entries.reverse()
}

const STATUS_STATES = { pending: 'INPROGRESS', success: 'SUCCESSFUL', failure: 'FAILED', error: 'STOPPED' } as const

/** `context` is the name, with the key behind it where that is another: `Unit tests @ unit`. */
export function statusAnswer({ api, repository }: Shown, status: PostedStatus) {
  const { context, sha } = status
  const [name, key = name] = context.split(' @ ') as [string, string?]
  return statusOf(`${api}/repositories/${repository.slug}`, sha, {
    key,
    name,
    url: `https://ci.example.com/${encodeURIComponent(key)}`,
    state: STATUS_STATES[status.state],
    created_on: iso(status.createdAt),
    updated_on: iso(status.updatedAt),
  })
}

/** Each run of Pipelines posts one. */
export function statusOfRun({ api, repository }: Shown, run: CheckRun) {
  const { result } = pipelineState(run)
  const { slug } = repository
  return statusOf(`${api}/repositories/${slug}`, run.sha, {
    key: `-${run.id}`,
    name: `Pipeline #${run.id} for ${run.suite.branch ?? repository.defaultBranch}`,
    url: `https://bitbucket.org/${slug}/addon/pipelines/home#!/results/${run.id}`,
    state: result === undefined ? 'INPROGRESS' : RUN_STATES[result.name],
    created_on: iso(run.createdAt),
    updated_on: iso(run.updatedAt),
  })
}

const RUN_STATES = { SUCCESSFUL: 'SUCCESSFUL', FAILED: 'FAILED', STOPPED: 'STOPPED', EXPIRED: 'STOPPED' } as const

function statusOf<S extends { readonly key: string }>(repository: string, sha: string, status: S) {
  const commit = `${repository}/commit/${sha}`
  const links = {
    commit: { href: commit },
    self: { href: `${commit}/statuses/build/${encodeURIComponent(status.key)}` },
  }
  return { type: 'build', description: '', links, ...status }
}

/** A model's run is a pipeline that is started by hand, unless a push started it: for branches of this pattern, or `default`. */
export function pipelineAnswer({ api, repository }: Shown, run: CheckRun) {
  const { sha, suite } = run
  const ref = suite.branch ?? repository.defaultBranch
  const isPushed = suite.source === 'push' || suite.source === 'pull_request'
  const [section, pattern] = /^(branches|custom|tags|pull-requests)\/(.+)$/.exec(run.name)?.slice(1) ?? [
    isPushed ? 'branches' : 'custom',
    run.name,
  ]
  const selector = run.name === 'default' ? { type: 'default' } : { type: section, pattern }
  return {
    type: 'pipeline',
    uuid: `{00000000-0000-4000-8000-${String(run.id).padStart(12, '0')}}`,
    build_number: run.id,
    run_number: run.attempt,
    repository: repositoryName(api, repository),
    created_on: iso(run.createdAt),
    ...(run.endedAt === undefined ? {} : { completed_on: iso(run.endedAt) }),
    state: pipelineState(run),
    target:
      section === 'pull-requests'
        ? {
            ...{ type: 'pipeline_pullrequest_target', source: ref, destination: repository.defaultBranch, selector },
            commit: { type: 'commit', hash: sha },
          }
        : {
            type: 'pipeline_ref_target',
            ref_type: section === 'tags' ? 'tag' : 'branch',
            ref_name: ref,
            selector,
            commit: { type: 'commit', hash: sha },
          },
    trigger: isPushed
      ? { type: 'pipeline_trigger_push', name: 'PUSH' }
      : { type: 'pipeline_trigger_manual', name: 'MANUAL' },
  }
}

const RESULTS = {
  success: 'SUCCESSFUL',
  neutral: 'SUCCESSFUL',
  failure: 'FAILED',
  timed_out: 'FAILED',
  action_required: 'FAILED',
  skipped: 'STOPPED',
  cancelled: 'STOPPED',
  stale: 'EXPIRED',
} as const

function pipelineState({ state, outcome = 'failure' }: CheckRun) {
  if (state === 'ended') {
    const name = RESULTS[outcome]
    const result = { type: `pipeline_state_completed_${name.toLowerCase()}`, name }
    return { type: 'pipeline_state_completed', name: 'COMPLETED', result }
  }
  return state === 'queued'
    ? { type: 'pipeline_state_pending', name: 'PENDING' }
    : { type: 'pipeline_state_in_progress', name: 'IN_PROGRESS', stage: { name: 'RUNNING' } }
}
