/** GitHub's push log of one branch: since when, and until when, the branch had a commit by the host's own account. */
import { type Appearance, DestinationError, type Instant } from '@claimcheck/core/plugin'
import type { ActivityAnswer } from './answers.ts'

export interface LogEntry {
  readonly before: string
  readonly after: string
  readonly at: Required<Appearance>
  /** What was on the branch before is still on it. */
  readonly fastForward: boolean
}

export interface PushLog {
  /** Newest first, without gaps: each entry's `before` is the `after` of the one that follows. */
  readonly entries: readonly LogEntry[]
  /** It reaches back to the branch's first push. */
  readonly fromTheStart: boolean
}

/** A time in which the branch had the commit. */
export interface Stay {
  readonly arrival: Arrival
  /** When the branch lost it; absent while it has it. */
  readonly lostBy?: LogEntry
}

/** The entry that brought it; or the oldest one known, when the branch already had the commit before that. */
export interface Arrival {
  readonly entry: LogEntry
  readonly earlier: boolean
}

export interface Account {
  /** Newest first. */
  readonly stays: readonly Stay[]
  /** From here on the account is gapless. `-Infinity`: from the branch's first push on. */
  readonly since: Instant
  /** It begins with a rewriting of the branch that kept the commit, or brought it: that cannot be told without the push before. */
  readonly openAtStart: boolean
}

/** Whether a tip has the commit in its history; `undefined` when it cannot be told. */
export type Contains = (tip: string) => Promise<boolean | undefined>

export const NO_COMMIT = '0'.repeat(40)
const FAST_FORWARDS: ReadonlySet<string> = new Set(['push', 'pr_merge', 'merge_queue_merge'])

/**
 * Cut at the first gap: of what lies beyond, nothing can be told.
 *
 * @param isWhole the host has no older entries
 */
export function toPushLog(activities: ActivityAnswer, isWhole: boolean): PushLog {
  const gap = activities.findIndex(({ before }, i) => i + 1 < activities.length && before !== activities[i + 1]!.after)
  const entries = activities.slice(0, gap === -1 ? undefined : gap + 1).map(toEntry)
  return { entries, fromTheStart: isWhole && gap === -1 && entries.at(-1)?.before === NO_COMMIT }
}

function toEntry({ before, after, timestamp, activity_type }: ActivityAnswer[number]): LogEntry {
  const notBefore = Date.parse(timestamp)
  if (Number.isNaN(notBefore)) throw new DestinationError('unexpected_response')
  const notAfter = timestamp.includes('.') ? notBefore : notBefore + 999
  const fastForward = FAST_FORWARDS.has(activity_type) && before !== NO_COMMIT
  return { before, after, at: { notBefore, notAfter }, fastForward }
}

/**
 * Entries carry tips only, so a commit in the middle of a push is found by asking which tips contain it. Fast-forwards
 * keep what was there, so that a search by halves is enough within each run of them.
 *
 * @param isEnough told what is known so far after each run, newest first; ends the search
 */
export async function accountFor(
  sha: string,
  log: PushLog,
  contains: Contains,
  isEnough: (account: Account) => boolean,
): Promise<Account> {
  const runs = fastForwardRuns(log.entries)
  const stays: Stay[] = []
  let since = Number.POSITIVE_INFINITY
  let openAtStart = false

  for (const [index, run] of runs.entries()) {
    const arrival = await arrivalIn(run, sha, contains)
    if (arrival === undefined) break
    const lostBy = runs[index - 1]?.at(-1)
    if (arrival) {
      const continued = openAtStart ? stays.pop() : undefined
      const end = continued ? continued.lostBy : lostBy
      stays.push(end ? { arrival, lostBy: end } : { arrival })
    }
    const start = run.at(-1)!
    openAtStart = arrival?.entry === start && !start.fastForward && start.before !== NO_COMMIT
    const isOldest = index === runs.length - 1
    since = isOldest && log.fromTheStart ? Number.NEGATIVE_INFINITY : start.at.notBefore
    if (isEnough({ stays, since, openAtStart })) break
  }
  return { stays, since, openAtStart }
}

/** Newest first, each as long as one push built on the other. Only its oldest entry can be something else. */
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

/** How the commit came into a run; `null` when it is not in it, `undefined` when it cannot be told. */
async function arrivalIn(
  run: readonly LogEntry[],
  sha: string,
  contains: Contains,
): Promise<Arrival | null | undefined> {
  const tip = run[0]!.after
  // The end of the branch, which no claimed id must match.
  if (tip === NO_COMMIT) return null
  const asTip = run.findLastIndex(({ after }) => after === sha)
  if (asTip !== -1) return { entry: run[asTip]!, earlier: false }

  const atEnd = await contains(tip)
  if (!atEnd) return atEnd === false ? null : undefined

  // Invariant: run[has] contains the commit; run[hasNot] does not, or is beyond the run.
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
  // The log ends within the run: only the tip before its oldest entry can tell.
  return { entry, earlier: (await contains(entry.before)) !== false }
}
