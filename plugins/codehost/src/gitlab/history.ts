/**
 * What GitLab logs of merge requests and issues: versions and changes of state. It shows them to tokens alone. They are in the order of their
 * ids, and their times prove nothing, because owners may choose the time of a change: so they only say what may have been.
 */
import { type Instant, isDestinationError, type LogTime } from '@claimcheck/core/plugin'
import type { Closing, Held, Log, NumberQuery, PullRequestField } from '../code-host.ts'
import { defined } from '../defined.ts'
import { logTime } from '../times.ts'
import { type MergeRequestAnswer, StateEventsAnswer, VersionsAnswer } from './answers.ts'
import type { GitLabApi } from './api.ts'
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
  { windowFrom }: NumberQuery,
): Promise<Log<Closing> | undefined> {
  const events = await allOf(api.pages(`${item}/resource_state_events`, StateEventsAnswer, PAGE))
  if (events === 'cut') return events
  const changes = events.filter(({ state }) => state === 'closed' || state === 'reopened')
  if (changes.length === 0) return []
  return changes.some((change) => isInWindow(change, project, windowFrom)) ? [{}] : undefined
}

/** A merge request with one version was never changed: of others, the versions have all heads, and no target. */
export async function heldBy(
  api: GitLabApi,
  project: Project,
  { iid, target_branch, sha }: MergeRequestAnswer,
  { field, openedAt, windowFrom }: { field: PullRequestField; openedAt: LogTime | undefined; windowFrom: Instant },
): Promise<Log<Held> | undefined> {
  const versions = await allOf(api.pages(`${project.path}/merge_requests/${iid}/versions`, VersionsAnswer, PAGE))
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
  const mayHaveMoved = versions.slice(0, -1).some((version) => isInWindow(version, project, windowFrom))
  return mayHaveMoved ? [{}, { value: target_branch }] : undefined
}

/** @returns `cut` where these credentials may not read them, and where there are more */
async function allOf<T>(pages: AsyncIterable<readonly T[]>): Promise<Log<T>> {
  const all: T[] = []
  try {
    for await (const page of pages) all.push(...page)
  } catch (error) {
    if (isDestinationError(error) && (error.code === 'forbidden' || error.code === 'too_large')) return 'cut'
    throw error
  }
  return all
}

function isInWindow(
  { created_at }: { readonly created_at: string },
  { found: { clockBehindMs } }: Project,
  windowFrom: Instant,
): boolean {
  return clockBehindMs === undefined || logTime(created_at).notAfter >= windowFrom - Math.max(clockBehindMs, 0)
}
