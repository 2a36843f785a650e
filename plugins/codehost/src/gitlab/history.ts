/**
 * What GitLab logs of merge requests and issues: versions and changes of state. It shows them to tokens alone. They are in the order of their
 * ids, and their times prove nothing, because owners may choose the time of a change: so they only say what may have been.
 */
import type { LogTime, Static } from '@claimcheck/core/plugin'
import type { Held, Log, NumberQuery, PullRequestField } from '../code-host.ts'
import { defined } from '../defined.ts'
import { byHostsClock, isInWindow, unlessCut } from '../forgetting.ts'
import { type MergeRequestAnswer, StateEventsAnswer, VersionsAnswer } from './answers.ts'
import { allOf, type GitLabApi } from './api.ts'
import type { Project } from './project.ts'
import { readTargetChanges } from './target-changes.ts'

const PAGE = { size: 100, most: 10 }

/**
 * Undefined where all that it logs is from before the window by its times: that proves neither that it was so, nor that it was not.
 * @param item the path of the issue
 */
export async function closingsOf(
  api: GitLabApi,
  project: Project,
  item: string,
  query: NumberQuery,
): Promise<Log<Held> | undefined> {
  const events = await unlessCut(() => allOf(api.pages(`${item}/resource_state_events`, StateEventsAnswer, PAGE)))
  if (events === 'cut') return events
  const changes = events.filter(({ state }) => state === 'closed' || state === 'reopened')
  if (changes.length === 0) return []
  return changes.some((change) => isInWindow(change, project.found, query)) ? [{}] : undefined
}

/** The versions of a merge request have all its heads. Its target they do not have, and while it is closed its change makes none. */
export async function heldBy(
  api: GitLabApi,
  project: Project,
  mergeRequest: MergeRequestAnswer,
  asked: { field: PullRequestField; openedAt: LogTime | undefined; query: NumberQuery },
): Promise<Log<Held> | undefined> {
  const { iid, sha } = mergeRequest
  const path = `${project.path}/merge_requests/${iid}`
  const versions = await unlessCut(() => allOf(api.pages(`${path}/versions`, VersionsAnswer, PAGE)))
  if (versions === 'cut') return versions
  const [newest] = versions
  // They are made in the background.
  if (!newest) return undefined
  if (newest.head_commit_sha !== sha) return 'cut'
  const { field, openedAt } = asked
  if (field === 'base') return targetsOf(api, project, mergeRequest, versions, asked)
  return versions.length === 1
    ? [{ value: sha, ...defined({ since: openedAt }) }]
    : versions.toReversed().map(({ head_commit_sha }) => ({ value: head_commit_sha }))
}

async function targetsOf(
  api: GitLabApi,
  project: Project,
  { iid, target_branch: value }: MergeRequestAnswer,
  versions: Static<typeof VersionsAnswer>,
  { openedAt, query }: { openedAt: LogTime | undefined; query: NumberQuery },
): Promise<Log<Held> | undefined> {
  const path = `${project.path}/merge_requests/${iid}`
  const isFirst = versions.length === 1
  if (isFirst && (await wasAlwaysOpen(api, path))) return [{ value, ...defined({ since: openedAt }) }]
  const changes = await readTargetChanges(api, path)
  if (changes === undefined) {
    const mayHaveMoved = isFirst || versions.slice(0, -1).some((version) => isInWindow(version, project.found, query))
    return mayHaveMoved ? [{}, { value }] : undefined
  }
  const [last] = changes
  if (!last) return [{ value, ...defined({ since: openedAt }) }]
  // Between two answers it was changed again.
  if (last.to !== value) return 'cut'
  const from = byHostsClock(query.windowFrom, project.found)
  const before = changes.filter(({ at }) => at.notAfter >= from).toReversed()
  return [...before.map(({ from }) => defined({ value: from })), { value, since: last.at }]
}

/** False where it was closed or merged, or where that may not be read. */
async function wasAlwaysOpen(api: GitLabApi, path: string): Promise<boolean> {
  const { value } = await api.find(`${path}/resource_state_events?per_page=1`, StateEventsAnswer, [401, 403, 404])
  return value !== undefined && value.length === 0
}
