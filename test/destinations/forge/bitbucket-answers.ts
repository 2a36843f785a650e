/** Bitbucket Cloud's answers, with those of their members that somebody reads, for its stand-in. */
import type { CheckRun, PostedStatus } from './checks.ts'
import type { ForgeEvent } from './events.ts'
import type { Call } from './kind.ts'
import type { ForgeRepository } from './model.ts'
import type { PullRequest } from './pull-requests.ts'

type Shown = Pick<Call, 'repository'>

export function failure(message: string) {
  return { type: 'error', error: { message } }
}

/** Microseconds, and an offset in figures. */
function iso(at: number): string {
  return new Date(at).toISOString().replace('Z', '000+00:00')
}

/** Pull requests have only the beginning of a commit's id. */
const short = (sha: string) => ({ hash: sha.slice(0, 12) })

export function repositoryAnswer(repository: ForgeRepository) {
  const { createdAt, defaultBranch } = repository
  return {
    ...{ ...repositoryName(repository), created_on: iso(createdAt) },
    mainbranch: { type: 'branch', name: defaultBranch },
  }
}

function repositoryName({ slug, uuid }: ForgeRepository) {
  return { type: 'repository', full_name: slug, uuid: `{${uuid}}` }
}

export function commitAnswer({ repository }: Shown, sha: string) {
  const { parents } = repository.pool.show(sha)
  return {
    ...{ type: 'commit', hash: sha, repository: repositoryName(repository) },
    parents: parents.map((hash) => ({ type: 'commit', hash })),
  }
}

export function branchAnswer(shown: Shown, name: string, sha: string) {
  return { type: 'branch', name, target: commitAnswer(shown, sha) }
}

const STATES = { open: 'OPEN', closed: 'DECLINED', merged: 'MERGED' } as const

export function pullRequestAnswer({ repository }: Shown, pullRequest: PullRequest) {
  const { number, state, isDraft, openedAt, landed, base, head, headSha, from } = pullRequest
  const fork = from.deletedAt === undefined ? repositoryName(from) : null
  return {
    ...{ type: 'pullrequest', id: number, state: STATES[state], draft: isDraft, created_on: iso(openedAt) },
    source: { branch: { name: head }, commit: short(headSha), repository: fork },
    destination: { branch: { name: base }, repository: repositoryName(repository) },
    merge_commit: landed === undefined ? null : short(landed),
  }
}

/** The state that each event left. */
const LEFT: Readonly<Record<string, string>> = { merged: 'MERGED', closed: 'DECLINED' }

export function activityEntries(events: readonly ForgeEvent[]) {
  let state = 'OPEN'
  const entries = events.map((event) => {
    const date = iso(event.at)
    if (event.kind === 'commented') return { comment: { id: event.id, created_on: date } }
    state = LEFT[event.kind] ?? state
    return { update: { state, date } }
  })
  return entries.reverse()
}

const STATUS_STATES = { pending: 'INPROGRESS', success: 'SUCCESSFUL', failure: 'FAILED', error: 'STOPPED' } as const

/** `context` is the name, with the key behind it where that is another: `Unit tests @ unit`. */
export function statusAnswer({ context, state, createdAt, updatedAt }: PostedStatus) {
  const [name, key = name] = context.split(' @ ') as [string, string?]
  const url = `https://ci.example.com/${encodeURIComponent(key)}`
  return {
    ...{ type: 'build', key, name, url, state: STATUS_STATES[state] },
    ...{ created_on: iso(createdAt), updated_on: iso(updatedAt) },
  }
}

/** Each run of Pipelines posts one. */
export function statusOfRun({ repository }: Shown, run: CheckRun) {
  const { result } = pipelineState(run)
  return {
    ...{ type: 'build', key: `-${run.id}`, name: `Pipeline #${run.id}` },
    url: `https://bitbucket.org/${repository.slug}/addon/pipelines/home#!/results/${run.id}`,
    state: result === undefined ? 'INPROGRESS' : RUN_STATES[result.name],
    ...{ created_on: iso(run.createdAt), updated_on: iso(run.updatedAt) },
  }
}

const RUN_STATES: Readonly<Record<string, string>> = {
  SUCCESSFUL: 'SUCCESSFUL',
  FAILED: 'FAILED',
  STOPPED: 'STOPPED',
  EXPIRED: 'STOPPED',
}

/** A model's run is a pipeline of this name that is started by hand, but for `default` and `branches/main`. */
export function pipelineAnswer({ repository }: Shown, run: CheckRun) {
  const { sha, suite } = run
  const [section, pattern] = /^(branches|tags|pull-requests)\/(.+)$/.exec(run.name)?.slice(1) ?? ['custom', run.name]
  const selector = run.name === 'default' ? { type: 'default' } : { type: section, pattern }
  return {
    ...{ type: 'pipeline', build_number: run.id, state: pipelineState(run) },
    ...(run.endedAt === undefined ? {} : { completed_on: iso(run.endedAt) }),
    target: { ref_name: suite.branch ?? repository.defaultBranch, selector, commit: { type: 'commit', hash: sha } },
  }
}

const RESULTS = {
  ...{ success: 'SUCCESSFUL', neutral: 'SUCCESSFUL', failure: 'FAILED', timed_out: 'FAILED', stale: 'EXPIRED' },
  ...{ action_required: 'FAILED', skipped: 'STOPPED', cancelled: 'STOPPED' },
} as const

function pipelineState({ state, outcome = 'failure' }: CheckRun) {
  if (state === 'ended') return { name: 'COMPLETED', result: { name: RESULTS[outcome] } }
  return { name: state === 'queued' ? 'PENDING' : 'IN_PROGRESS' }
}
