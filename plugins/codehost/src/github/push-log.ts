/** Reads GitHub's push log of a branch, which tells from when and until when the branch had a commit. */
import type { Instant, LogTime } from '@claimcheck/core/plugin'
import { NO_COMMIT } from '../code-host.ts'
import { logTime } from '../times.ts'
import { ActivityAnswer } from './answers.ts'
import { type GitHubApi, linkTo } from './api.ts'

export interface LogEntry {
  readonly before: string
  readonly after: string
  readonly at: Required<LogTime>
  /** Tells that every commit that was on the branch before is still on it. */
  readonly fastForward: boolean
  /** The account that pushed; absent where the log does not say. */
  readonly actor?: string
}

export interface PushLog {
  /** The log's entries, newest first, without gaps: each entry's `before` is the `after` of the next entry in this list. */
  readonly entries: readonly LogEntry[]
  /** Tells that the log reaches back to the branch's first push, or that there never was one. */
  readonly fromTheStart: boolean
  /** The reason the log ends: it has a gap (`gap`), or only older entries than were wanted are left (`reached`), or more than may be read (`cut`). */
  readonly end: 'reached' | 'cut' | 'gap'
}

/** A period in which the branch had the commit, by the entries of its log. */
export interface LoggedStay {
  readonly arrival: Arrival
  /** The entry that removed the commit; absent while the branch has it. */
  readonly removal?: LogEntry
}

export interface Arrival {
  /** The entry with which the commit came onto the branch, or the oldest known entry that has it. */
  readonly entry: LogEntry
  /** Tells whether the branch may have had the commit before the entry. */
  readonly earlier: boolean
}

/** The times of one commit on the branch, as far as the push log shows them. */
export interface CommitHistory {
  /** The stays of the commit on the branch, newest first. */
  readonly stays: readonly LoggedStay[]
  /** The time from which on the log was searched without gaps; `-Infinity` from the branch's first push on. */
  readonly since: Instant
  /** Tells that the oldest entry searched is a force-push that has the commit: only the entry before shows whether the branch had it before. */
  readonly openAtStart: boolean
}

/** Tells whether a tip has the commit in its history; `undefined` when it is not known. */
export type Contains = (tip: string) => Promise<boolean | undefined>

const FAST_FORWARDS: ReadonlySet<string> = new Set(['push', 'pr_merge', 'merge_queue_merge'])

const PAGE = 100

/** The time back to which a log is read, and the limit of its pages. */
interface Reach {
  readonly reachingBackTo: Instant
  readonly most: number
}

/**
 * Reads the push log of a branch.
 * @param root the beginning of the paths of the repository's requests
 * @returns `undefined` where the host has no push log
 */
export async function readPushLog(
  api: GitHubApi,
  root: string,
  branch: string,
  reach: Reach,
): Promise<PushLog | 'forbidden' | undefined> {
  const read = await readActivities(api, root, branch, reach)
  if (read === undefined || read === 'forbidden') return read
  const { activities, isWhole, isReached } = read
  const log = toPushLog(activities, isWhole)
  return log.end === 'gap' ? log : { ...log, end: isReached ? 'reached' : 'cut' }
}

/**
 * Reads the entries that took commits off the branch since then: force-pushes and deletions, newest first. The host lists them by themselves, so that
 * any number of pushes does not hide them.
 * @returns undefined where the host does not list them all
 */
export async function readRemovals(
  api: GitHubApi,
  root: string,
  branch: string,
  reach: Reach,
): Promise<readonly LogEntry[] | undefined> {
  const lists = await Promise.all(
    ['force_push', 'branch_deletion'].map((type) => readActivities(api, root, branch, reach, type)),
  )
  const removals: LogEntry[] = []
  for (const list of lists) {
    if (list === undefined || list === 'forbidden' || !list.isReached) return undefined
    removals.push(...list.activities.map(toEntry))
  }
  return removals
    .filter(({ at }) => at.notAfter >= reach.reachingBackTo)
    .sort((one, other) => other.at.notBefore - one.at.notBefore)
}

/** Reads entries of the activity list. @param type the type of the wanted entries; all types without it */
async function readActivities(
  api: GitHubApi,
  root: string,
  branch: string,
  { reachingBackTo, most }: Reach,
  type?: string,
) {
  const ref = `refs/heads/${branch}`
  const query = new URLSearchParams({ ref, per_page: String(PAGE) })
  if (type !== undefined) query.set('activity_type', type)
  const activities: ActivityAnswer = []
  let [isWhole, isReached] = [false, false]
  for (let page = 1; page <= most; page++) {
    const answer = await api.find(`${root}/activity?${query}`, ActivityAnswer, [403, 404, 409, 422])
    if ('refused' in answer) return answer.refused === 403 ? ('forbidden' as const) : undefined
    const read = answer.value.filter((activity) => activity.ref === ref)
    activities.push(...read.filter(({ activity_type }) => type === undefined || activity_type === type))
    const cursor = linkTo('next', answer.link)?.searchParams.get('after') || undefined
    isWhole = cursor === undefined
    const oldest = read.at(-1)
    isReached = isWhole || (oldest !== undefined && Date.parse(oldest.timestamp) < reachingBackTo)
    if (cursor === undefined || isReached) break
    query.set('after', cursor)
  }
  return { activities, isWhole, isReached }
}

/**
 * Takes the entries up to the first gap: what happened in the gap is unknown.
 *
 * @param activities newest first
 * @param isWhole true if the host has no older entries
 */
function toPushLog(activities: ActivityAnswer, isWhole: boolean): PushLog {
  const gap = activities.findIndex(({ before }, i) => i + 1 < activities.length && before !== activities[i + 1]!.after)
  const entries = activities.slice(0, gap === -1 ? undefined : gap + 1).map(toEntry)
  const [start = NO_COMMIT] = entries.slice(-1).map(({ before }) => before)
  if (gap !== -1) return { entries, fromTheStart: false, end: 'gap' }
  return { entries, fromTheStart: isWhole && start === NO_COMMIT, end: isWhole ? 'reached' : 'cut' }
}

function toEntry({ before, after, timestamp, activity_type, actor }: ActivityAnswer[number]): LogEntry {
  const fastForward = FAST_FORWARDS.has(activity_type) && before !== NO_COMMIT
  return { before, after, at: logTime(timestamp), fastForward, actor: actor?.login }
}

/**
 * Searches the log for a commit. Entries name only the branch's tips, so that a commit in the middle of a push is found by asking which tips
 * contain it. A fast-forward keeps every commit, so that a binary search is enough in a run of fast-forwards.
 *
 * @param isEnough is given what is known after each run, newest first. `true` ends the search.
 */
export async function commitHistory(
  sha: string,
  log: PushLog,
  contains: Contains,
  isEnough: (history: CommitHistory) => boolean,
): Promise<CommitHistory> {
  const runs = fastForwardRuns(log.entries)
  const oldest = log.fromTheStart ? runs.at(-1) : undefined
  const stays: LoggedStay[] = []
  let since = log.fromTheStart && !oldest ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  let openAtStart = false

  for (const [index, run] of runs.entries()) {
    const arrival = await arrivalIn(run, sha, contains)
    if (arrival === undefined) break
    if (arrival) stays.push({ arrival, removal: openAtStart ? stays.pop()!.removal : runs[index - 1]?.at(-1) })
    openAtStart = mayHaveBeenBefore(arrival, run.at(-1)!)
    since = run === oldest ? Number.NEGATIVE_INFINITY : run.at(-1)!.at.notBefore
    if (isEnough({ stays, since, openAtStart })) break
  }
  return { stays, since, openAtStart }
}

/** Tells whether a run starts with a force-push to a tip that has the commit: whether the branch had it before shows only the run before. */
function mayHaveBeenBefore(arrival: Arrival | null, start: LogEntry): boolean {
  return arrival?.entry === start && !start.fastForward && start.before !== NO_COMMIT
}

/** Selects the newest entries whose older ones are ancestors of the newest, newest first; empty for an empty log. */
export function newestRun({ entries }: PushLog): readonly LogEntry[] {
  return fastForwardRuns(entries)[0] ?? []
}

/** Splits the log, newest first, into runs in which each entry is a fast-forward. Only a run's oldest entry can be something else. */
function fastForwardRuns(entries: readonly LogEntry[]): LogEntry[][] {
  const runs: LogEntry[][] = []
  let joins = false
  for (const entry of entries) {
    if (joins) runs.at(-1)!.push(entry)
    else runs.push([entry])
    joins = entry.fastForward
  }
  return runs
}

/** Finds the arrival of the commit in a run; `null` when the run does not have it, `undefined` when it is not known. */
async function arrivalIn(
  run: readonly LogEntry[],
  sha: string,
  contains: Contains,
): Promise<Arrival | null | undefined> {
  const tip = run[0]!.after
  // The tip is missing where the branch was deleted. The id of zeros must not match a claimed one.
  if (tip === NO_COMMIT) return null
  const asTip = run.findLastIndex(({ after }) => after === sha)
  if (asTip !== -1) return { entry: run[asTip]!, earlier: false }

  const atEnd = await contains(tip)
  if (!atEnd) return atEnd === false ? null : undefined

  // `run[has]` contains the commit all along; `run[hasNot]` does not, or is past the end of the run.
  let has = 0
  let hasNot = run.length
  while (hasNot - has > 1) {
    const middle = (has + hasNot) >> 1
    const inMiddle = await contains(run[middle]!.after)
    if (inMiddle === undefined) return { entry: run[has]!, earlier: true }
    if (inMiddle) has = middle
    else hasNot = middle
  }
  const entry = run[has]!
  if (hasNot < run.length || !entry.fastForward) return { entry, earlier: false }
  // The log ends within the run: only the tip before its oldest entry shows whether the branch had the commit already.
  return { entry, earlier: (await contains(entry.before)) !== false }
}
