/** Reads a merge request at GitLab. */

import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { FoundPullRequest, NumberQuery, PullRequest, PullRequestField } from '../code-host.ts'
import { unlessCut } from '../forgetting.ts'
import { type RestAccess, unexpectedAnswer } from '../rest.ts'
import { logTime, notAfter } from '../times.ts'
import { MergeRequestAnswer } from './answers.ts'
import { heldBy, markOfMissing, readTargetChanges } from './history.ts'
import { isOwnTime, openProject, type Project, requireCode } from './project.ts'
import { readPushLog } from './push-log.ts'

export async function findMergeRequest(
  access: RestAccess,
  query: NumberQuery,
  context: CheckContext,
): Promise<FoundPullRequest> {
  const project = await openProject(access, query, context)
  const { api, path, answer, found, repository } = project
  const list = `${path}/merge_requests`
  const { value: mergeRequest } = await context.cache.share(`gitlab ${project.id} merge request ${query.number}`, () =>
    api.find(`${list}/${query.number}`, MergeRequestAnswer),
  )
  if (mergeRequest) {
    const target = await targetOfMerge(project, mergeRequest)
    const pullRequest = toPullRequest({ ...mergeRequest, ...target }, project, query)
    const { openedAt } = pullRequest
    const log = (field: PullRequestField) => heldBy(project, mergeRequest, { field, openedAt, query })
    return { ...found, pullRequest: { ...pullRequest, log: access.token === undefined ? undefined : log } }
  }
  if (!answer.merge_requests_enabled) throw new DestinationError('forbidden')
  const { keepsMergeRequest } = repository
  const mark = await markOfMissing(project, `${list}?state=all&scope=all`, query, async (shown) => {
    if (query.sentAt - query.claimedAt > KEEPS_REFS_MS) return false
    // The ref of an open merge request is there, where the API tells of such refs.
    const open = shown.find(({ state }) => state === 'opened')
    return open !== undefined && (await keepsMergeRequest(open.iid)) && !(await keepsMergeRequest(query.number))
  })
  return { ...found, pullRequest: undefined, mark }
}

/**
 * Finds the target of a merge. The target of a merged merge request can be changed still: then its notes tell where it was merged, or the push that
 * the merge was.
 */
async function targetOfMerge(
  project: Project,
  { iid, state, target_branch, merged_at, updated_at, ...landing }: MergeRequestAnswer,
): Promise<{ readonly target_branch: string; readonly isBaseUnsure?: boolean }> {
  const mergedAt = Date.parse(merged_at ?? '')
  const isTouched = state === 'merged' && Date.parse(updated_at ?? '') > mergedAt + MERGE_MS
  if (!isTouched) return { target_branch }
  const changes = await readTargetChanges(project, iid, mergedAt)
  if (changes) {
    const [first] = changes.slice(-1)
    return {
      target_branch: first?.from ?? target_branch,
      isBaseUnsure: first !== undefined && first.from === undefined,
    }
  }
  const log = await unlessCut(() => readPushLog(project, { reachingBackTo: mergedAt - MERGE_MS, most: 3 }))
  const landed = landedOf({ state, ...landing })
  const isLogged = log !== 'cut' && log.moves.some(({ branch, after }) => branch === target_branch && after === landed)
  return { target_branch, isBaseUnsure: !isLogged }
}

/** The commit that a merge put on the base. A fast-forward makes none, and its newest commit stands for it. */
function landedOf({
  state,
  sha,
  merge_commit_sha,
  squash_commit_sha,
}: Pick<MergeRequestAnswer, 'state' | 'sha' | 'merge_commit_sha' | 'squash_commit_sha'>): string | null {
  return state === 'merged' ? (merge_commit_sha ?? squash_commit_sha ?? sha) : null
}

/** The time for which the ref of a merge request is certainly kept: GitLab removes it two weeks after that is closed or merged. */
const KEEPS_REFS_MS = 7 * 24 * 60 * 60_000
/** The time from a merge until all that belongs to it is written down. */
const MERGE_MS = 10_000

function toPullRequest(
  answer: MergeRequestAnswer & { readonly isBaseUnsure?: boolean },
  project: Project,
  { number }: NumberQuery,
): PullRequest {
  const { iid, project_id, target_project_id, state, target_branch, sha, draft, created_at, merged_at } = answer
  if (iid !== number) throw unexpectedAnswer()
  if (project_id !== project.id || target_project_id !== project.id) throw new DestinationError('ambiguous_claim')
  // A locked merge request is being merged right now.
  if (state === 'locked') throw new DestinationError('unavailable')
  const landed = landedOf(answer)
  const isOwn = answer.imported !== true && isOwnTime(created_at, project)
  const isDated = isOwn && state === 'merged' && merged_at !== null && isOwnTime(merged_at, project)
  const merge = landed !== null && {
    mergeCommit: landed,
    squashCommit: answer.squash_commit_sha || undefined,
    isOnBase: () => isOnBranch(landed, target_branch, project),
  }
  return {
    state: state === 'opened' ? 'open' : state,
    base: target_branch,
    isBaseUnsure: answer.isBaseUnsure,
    isDraft: draft,
    head: sha ?? undefined,
    openedAt: isOwn ? logTime(created_at) : undefined,
    // The time of the merge is in a record beside the merge request, which is written after the merge.
    mergedAt: isDated ? notAfter(merged_at) : undefined,
    ...merge,
  }
}

/** Tells whether the target has a merge: GitLab alone says that there was one, by a merge of its own or by a push that it found on the target. */
async function isOnBranch(sha: string, branch: string, project: Project): Promise<boolean | 'gone'> {
  const { repository } = project
  const tip = await repository.head(branch)
  if (tip !== undefined) return (await repository.contains(sha, tip)) === true
  requireCode(project)
  return 'gone'
}
