/** GitHub's answers, with those of their members that somebody reads. */
import type { CheckRun, PostedStatus, Suite } from './checks.ts'
import type { ForgeEvent } from './events.ts'
import type { Issue } from './issues.ts'
import type { ForgeRepository, Push, PushKind } from './model.ts'
import type { ForgeCommit } from './pool.ts'
import type { PullRequest } from './pull-requests.ts'
import type { Asset, Release } from './releases.ts'

export function failure(status: number, message: string) {
  return { message, documentation_url: 'https://docs.github.com/rest', status: String(status) }
}

export function repositoryAnswer({ id, slug, isPrivate, defaultBranch, createdAt }: ForgeRepository) {
  return { id, full_name: slug, private: isPrivate, default_branch: defaultBranch, created_at: iso(createdAt) }
}

export function refAnswer(ref: string, object: { type: string; sha: string }) {
  return { ref, object }
}

/** Of an annotated tag. */
export function tagAnswer(tag: { name: string; object: string; sha: string }) {
  return { tag: tag.name, sha: tag.object, object: { type: 'commit', sha: tag.sha } }
}

export function commitAnswer({ sha, parents }: ForgeCommit) {
  return { sha, parents: parents.map((parent) => ({ sha: parent })) }
}

const ACTIVITY: Readonly<Record<PushKind, string>> = {
  ...{ create: 'branch_creation', push: 'push', merge: 'pr_merge', force: 'force_push', delete: 'branch_deletion' },
}

export function activityAnswer({ id, before, after, ref, at, kind, by }: Push) {
  return { id, before, after, ref, timestamp: iso(at), activity_type: ACTIVITY[kind], actor: user(by) }
}

export function rateLimitAnswer(limit: { limit: number; remaining: number; used: number; reset: number }) {
  return { resources: { core: limit }, rate: limit }
}

const user = (login: string) => ({
  login,
  id: [...login].reduce((id, character) => (id * 31 + character.charCodeAt(0)) % 1_000_000, 7),
})

/** In whole seconds, as GitHub gives its times. */
const iso = (at: number) => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')
const isoOrNull = (at: number | undefined) => (at === undefined ? null : iso(at))

export function pullRequestAnswer(repository: ForgeRepository, pull: PullRequest) {
  const { number, headSha, baseSha, head, base, from, state } = pull
  return {
    ...{ number, state: state === 'open' ? 'open' : 'closed', draft: pull.isDraft, merged: state === 'merged' },
    ...{ created_at: iso(pull.openedAt), closed_at: isoOrNull(pull.closedAt), merged_at: isoOrNull(pull.mergedAt) },
    // Before it is merged, a merge that no branch has.
    merge_commit_sha: pull.landed ?? pull.testMerge ?? null,
    head: { ref: head, sha: headSha, repo: from.deletedAt === undefined ? repositoryAnswer(from) : null },
    base: { ref: base, sha: baseSha, repo: repositoryAnswer(repository) },
  }
}

export function issueAnswer(api: string, repository: ForgeRepository, issue: Issue, wasReopened: boolean) {
  const { number, state, reason, closedAt } = issue
  // GitHub keeps that it was opened again as the reason of its state.
  const open = wasReopened ? 'reopened' : null
  return {
    ...{ number, state, state_reason: state === 'open' ? open : (reason ?? null), closed_at: isoOrNull(closedAt) },
    repository_url: `${api}/repos/${repository.slug}`,
  }
}

/** GitHub answers for pull requests as for issues. */
export function pullRequestAsIssue(api: string, { slug }: ForgeRepository, pull: PullRequest) {
  const { state, number, closedAt, mergedAt } = pull
  return {
    ...{ number, state: state === 'open' ? 'open' : 'closed', state_reason: null, closed_at: isoOrNull(closedAt) },
    ...{ repository_url: `${api}/repos/${slug}`, pull_request: { merged_at: isoOrNull(mergedAt) } },
  }
}

const EVENTS: Readonly<Partial<Record<ForgeEvent['kind'], string>>> = {
  ...{ head_forced: 'head_ref_force_pushed', base_changed: 'base_ref_changed', transferred: 'transferred' },
  ...{ closed: 'closed', reopened: 'reopened', merged: 'merged', labeled: 'labeled' },
}

/** `merged` is followed by `closed`. */
export function eventAnswers(events: readonly ForgeEvent[]) {
  return events.flatMap(({ kind, id, at, sha, reason }) => {
    const event = EVENTS[kind]
    if (event === undefined) return []
    const shown = {
      ...{ id, event, commit_id: kind === 'merged' ? (sha ?? null) : null, created_at: iso(at) },
      ...(kind === 'closed' ? { state_reason: reason === 'completed' ? null : (reason ?? null) } : {}),
    }
    const closed = { ...shown, id: id + 1_000_000, event: 'closed', commit_id: null, state_reason: null }
    return kind === 'merged' ? [shown, closed] : [shown]
  })
}

/** @param createdAt of the commit, as GitHub has it */
export function releaseAnswer({ tag, isDraft, isPrerelease, publishedAt, assets, id }: Release, createdAt: number) {
  return {
    ...{ id, tag_name: tag, draft: isDraft, prerelease: isPrerelease, created_at: iso(createdAt) },
    ...{ published_at: isoOrNull(publishedAt), assets: assets.map(assetAnswer) },
  }
}

export function assetAnswer({ id, name }: Asset) {
  return { id, name, state: 'uploaded' }
}

const ACTIONS = 'github-actions'

/** The number that GitHub gives the app: that of its own is 15368. */
export function appId(slug: string): number {
  return slug === ACTIONS ? 15_368 : user(slug).id
}

const appAnswer = (slug: string) => ({ id: appId(slug), slug })

/** Of the workflow run that has this check suite. */
export function workflowRunId({ id }: Suite): number {
  return id + 2_000_000
}

/** The file of the workflow: where none is given, what GitHub ran is of one that is called as its first run. */
export function workflowOf(suite: Suite, runs: readonly CheckRun[]): string | undefined {
  if (suite.workflow !== undefined || !suite.isRunByHost || suite.app !== ACTIONS) return suite.workflow
  const first = runs.find((run) => run.suite.id === suite.id)
  return `.github/workflows/${first?.name.replace(/[^a-z0-9]+/gi, '-') ?? 'ci'}.yml`
}

const STATE = { queued: 'queued', running: 'in_progress', ended: 'completed' } as const

/** Whatever says that it is GitHub Actions is; any other app writes its own check runs. */
export function checkRunAnswer({ slug }: ForgeRepository, run: CheckRun) {
  const { id, name, sha, suite, state, outcome, startedAt, endedAt, isPosted } = run
  // What a workflow posts has a page of its own, like what another app reports.
  const isJob = suite.isRunByHost && !isPosted
  const page = isJob ? `github.example/${slug}/actions/runs/${workflowRunId(suite)}/job/${id}` : `ci.example/${id}`
  return {
    ...{ id, name, head_sha: sha, status: STATE[state], conclusion: outcome ?? null, details_url: `https://${page}` },
    ...{ started_at: isoOrNull(startedAt), completed_at: isoOrNull(endedAt) },
    ...{ check_suite: { id: suite.id }, app: appAnswer(suite.app) },
  }
}

const isEnded = (runs: readonly CheckRun[]) => runs.length > 0 && runs.every(({ state }) => state === 'ended')
const updatedAt = ({ createdAt }: Suite, runs: readonly CheckRun[]) =>
  iso(Math.max(createdAt, ...runs.map((run) => run.updatedAt)))
const GOOD: readonly unknown[] = ['success', 'neutral', 'skipped']

/** @param runs of the suite, the latest of each name */
export function checkSuiteAnswer(suite: Suite, runs: readonly CheckRun[]) {
  const { id, sha, app, createdAt } = suite
  const begun = runs.some(({ state }) => state !== 'queued') ? 'in_progress' : 'queued'
  const bad = runs.find(({ outcome }) => !GOOD.includes(outcome))
  return {
    ...{ id, head_sha: sha, status: isEnded(runs) ? 'completed' : begun, app: appAnswer(app) },
    conclusion: isEnded(runs) ? (bad?.outcome ?? 'success') : null,
    ...{ created_at: iso(createdAt), updated_at: updatedAt(suite, runs), latest_check_runs_count: runs.length },
  }
}

/** @param runs of its suite, the latest of each name */
export function workflowRunAnswer(repository: ForgeRepository, suite: Suite, path: string, runs: readonly CheckRun[]) {
  const passed = runs.every(({ outcome, mayFail }) => mayFail || GOOD.includes(outcome))
  const ended = { status: 'completed', conclusion: passed ? 'success' : 'failure' }
  return {
    ...{ id: workflowRunId(suite), path, event: suite.source, head_sha: suite.sha, check_suite_id: suite.id },
    run_attempt: Math.max(1, ...runs.map(({ attempt }) => attempt)),
    ...(isEnded(runs) ? ended : { status: 'in_progress', conclusion: null }),
    ...{ updated_at: updatedAt(suite, runs), repository: repositoryAnswer(repository), pull_requests: [] },
  }
}

/** A job of a workflow run; its id is that of its check run. */
export function jobAnswer({ id, name, sha, suite, state, outcome, endedAt, attempt }: CheckRun) {
  return {
    ...{ id, name, run_id: workflowRunId(suite), run_attempt: attempt, head_sha: sha },
    ...{ status: STATE[state], conclusion: outcome ?? null, completed_at: isoOrNull(endedAt) },
  }
}

/** As an entry of the list of all statuses, which names who posted it. */
export function statusAnswer({ id, context, state, by, createdAt, updatedAt }: PostedStatus) {
  return { id, context, state, creator: user(by), created_at: iso(createdAt), updated_at: iso(updatedAt) }
}
