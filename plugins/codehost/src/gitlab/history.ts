/**
 * Reads what GitLab logs of merge requests and issues, and tells of those that it does not show whether their numbers were ever given out. The logs
 * have versions, changes of state and of targets, and are shown to tokens alone. They are in the order of their ids, and their times prove nothing,
 * because owners may choose the time of a change: so they only say what may have been.
 */
import { isDestinationError, type LogTime, type Mark, type Static } from '@claimcheck/core/plugin'
import { isLogDue } from '../actions/past.ts'
import type { Held, Log, NumberQuery, PullRequestField } from '../code-host.ts'
import { byHostsClock, isFarAbove, isInWindow, unlessCut, wasSeen } from '../forgetting.ts'
import { unexpectedAnswer } from '../rest.ts'
import { notAfter } from '../times.ts'
import { type MergeRequestAnswer, NotesAnswer, NumbersAnswer, StateEventsAnswer, VersionsAnswer } from './answers.ts'
import { collectAll } from './api.ts'
import type { Project } from './project.ts'

const PAGE = { size: 100, most: 10 }

/**
 * Reads the closings of an issue; undefined where all that GitLab logs is from before the window by its times: that proves neither that the issue was
 * closed, nor that it was not.
 * @param item the path of the issue
 */
export async function closingsOf(project: Project, item: string, query: NumberQuery): Promise<Log<Held> | undefined> {
  const events = await unlessCut(() =>
    collectAll(project.api.pages(`${item}/resource_state_events`, StateEventsAnswer, PAGE)),
  )
  if (events === 'cut') return events
  const changes = events.filter(({ state }) => state === 'closed' || state === 'reopened')
  if (changes.length === 0) return []
  return changes.some((change) => isInWindow(change, project.found, query)) ? [{}] : undefined
}

/**
 * Reads the heads or targets of a merge request. The versions have all heads, and not the target, whose change makes none while the merge request is
 * closed.
 */
export async function heldBy(
  project: Project,
  mergeRequest: MergeRequestAnswer,
  asked: { field: PullRequestField; openedAt?: LogTime; query: NumberQuery },
): Promise<Log<Held> | undefined> {
  const { iid, sha } = mergeRequest
  const versions = await unlessCut(() =>
    collectAll(project.api.pages(`${project.path}/merge_requests/${iid}/versions`, VersionsAnswer, PAGE)),
  )
  if (versions === 'cut') return versions
  const [newest] = versions
  // A merge request may not have versions yet, which are made in the background.
  if (!newest) return undefined
  if (newest.head_commit_sha !== sha) return 'cut'
  const { field, openedAt } = asked
  if (field === 'base') return targetsOf(project, mergeRequest, versions, asked)
  return versions.length === 1
    ? [{ value: sha, since: openedAt }]
    : versions.toReversed().map(({ head_commit_sha }) => ({ value: head_commit_sha }))
}

async function targetsOf(
  project: Project,
  { iid, target_branch: value }: MergeRequestAnswer,
  versions: Static<typeof VersionsAnswer>,
  { openedAt, query }: { openedAt?: LogTime; query: NumberQuery },
): Promise<Log<Held> | undefined> {
  const isFirst = versions.length === 1
  if (isFirst && (await wasAlwaysOpen(project, iid))) return [{ value, since: openedAt }]
  const changes = await readTargetChanges(project, iid)
  if (changes === undefined) {
    const mayHaveMoved = isFirst || versions.slice(0, -1).some((version) => isInWindow(version, project.found, query))
    return mayHaveMoved ? [{}, { value }] : undefined
  }
  const [last] = changes
  if (!last) return [{ value, since: openedAt }]
  // The target was changed again between two answers.
  if (last.to !== value) return 'cut'
  const from = byHostsClock(query.windowFrom, project.found)
  const before = changes.filter(({ at }) => at.notAfter >= from).toReversed()
  return [...before.map(({ from }) => ({ value: from })), { value, since: last.at }]
}

/** Tells whether a merge request was never closed nor merged; false where that may not be read. */
async function wasAlwaysOpen({ api, path }: Project, number: number): Promise<boolean> {
  const events = `${path}/merge_requests/${number}/resource_state_events?per_page=1`
  const { value } = await api.find(events, StateEventsAnswer, [401, 403, 404])
  return value !== undefined && value.length === 0
}

export interface TargetChange {
  readonly at: LogTime
  /** The branches before and after the change; absent where the note cannot be understood. */
  readonly from?: string
  readonly to?: string
}

const ABOUT_TARGET = /^changed target branch|now targets the/
const CHANGES = [
  /^changed target branch from `(.+)` to `(.+)`$/,
  /^deleted the `(.+)` branch\. This merge request now targets the `(.+)` branch/,
]

/**
 * Reads the changes of a merge request's target from its system notes, newest first: GitLab writes one for each, also of one that is closed or
 * merged, which makes no new version. Nobody can write or date such a note.
 *
 * @param reachingBackTo by GitLab's clock: older ones are not needed
 * @returns undefined where they may not be read, or are too many
 */
export async function readTargetChanges(
  { api, path }: Project,
  number: number,
  reachingBackTo = Number.NEGATIVE_INFINITY,
): Promise<readonly TargetChange[] | undefined> {
  const changes: TargetChange[] = []
  const list = `${path}/merge_requests/${number}/notes?sort=desc&order_by=created_at`
  try {
    for await (const notes of api.pages(list, NotesAnswer, PAGE)) {
      changes.push(...notes.filter(({ system, body }) => system && ABOUT_TARGET.test(body)).map(toChange))
      if (notes.some(({ created_at }) => Date.parse(created_at) < reachingBackTo)) break
    }
  } catch (error) {
    if (isDestinationError(error) && UNREAD.has(error.code)) return undefined
    throw error
  }
  return changes.filter(({ at }) => at.notAfter >= reachingBackTo)
}

/** Failures by which the notes may not be read, or are too many. */
const UNREAD: ReadonlySet<string> = new Set(['forbidden', 'unauthorized', 'too_large', 'unexpected_response'])

function toChange({ body, created_at }: { readonly body: string; readonly created_at: string }): TargetChange {
  const [, from, to] = CHANGES.map((form) => form.exec(body)).find(Boolean) ?? []
  return { at: notAfter(created_at), from, to }
}

/** Number of the newest entries that are listed: the newest by time need not have the highest number, as owners may choose the time of an issue. */
const NEWEST = 20

/**
 * Marks a merge request or an issue that is not shown. Numbers are not given again. A number that is not above the highest was deleted, or is hidden,
 * as those of banned accounts are. The number above it may have been the highest, and deleted by an owner; of those further above, several would have
 * been.
 * @param list the path of the list, which has to be readable with these credentials
 * @param isWithoutTrace tells whether the project keeps nothing of that number that it keeps of those in the list; without it, it may keep nothing
 */
export async function markOfMissing(
  { id, api }: Project,
  list: string,
  query: NumberQuery,
  isWithoutTrace?: (shown: Static<typeof NumbersAnswer>) => Promise<boolean>,
): Promise<Mark | undefined> {
  if (wasSeen(query)) return 'may_have_been'
  if (!isLogDue(query)) return undefined
  const { number } = query
  const { value } = await api.get(`${list}&order_by=created_at&sort=desc&per_page=${NEWEST}`, NumbersAnswer)
  if (value.some(({ project_id }) => project_id !== id)) throw unexpectedAnswer()
  const highest = Math.max(0, ...value.map(({ iid }) => iid))
  if (isFarAbove(number, highest)) return 'never_before'
  if (number <= highest || !(await isWithoutTrace?.(value))) return 'may_have_been'
  return number > highest + 1 ? 'never_before' : undefined
}
