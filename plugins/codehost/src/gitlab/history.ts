/**
 * What GitLab logs of merge requests and issues: versions and changes of state. It shows them to tokens alone. They are in the order of their
 * ids, and their times prove nothing, because owners may choose the time of a change: so they only say what may have been.
 */
import type { LogTime } from '@claimcheck/core/plugin'
import type { Held, Log, NumberQuery, PullRequestField } from '../code-host.ts'
import { defined } from '../defined.ts'
import { isInWindow, unlessCut } from '../forgetting.ts'
import { type MergeRequestAnswer, StateEventsAnswer, VersionsAnswer } from './answers.ts'
import { allOf, type GitLabApi } from './api.ts'
import type { Project } from './project.ts'

const PAGE = { size: 100, most: 3 }

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

/** A merge request with one version was never changed: of others, the versions have all heads, and no target. */
export async function heldBy(
  api: GitLabApi,
  project: Project,
  { iid, target_branch, sha }: MergeRequestAnswer,
  { field, openedAt, query }: { field: PullRequestField; openedAt: LogTime | undefined; query: NumberQuery },
): Promise<Log<Held> | undefined> {
  const list = `${project.path}/merge_requests/${iid}/versions`
  const versions = await unlessCut(() => allOf(api.pages(list, VersionsAnswer, PAGE)))
  if (versions === 'cut') return versions
  const [newest] = versions
  // They are made in the background.
  if (!newest) return undefined
  if (newest.head_commit_sha !== sha) return 'cut'
  const isBase = field === 'base'
  if (versions.length === 1) {
    return [{ value: isBase ? target_branch : sha, ...defined({ since: openedAt }) }]
  }
  if (!isBase) return versions.toReversed().map(({ head_commit_sha }) => ({ value: head_commit_sha }))
  const mayHaveMoved = versions.slice(0, -1).some((version) => isInWindow(version, project.found, query))
  return mayHaveMoved ? [{}, { value: target_branch }] : undefined
}
