/** Reads from a host's own log what was before a read: a pull request's base and head, and an issue's closings. */
import type { LogTime, Mark, Stay } from '@claimcheck/core/plugin'
import {
  type Held,
  type Issue,
  type Log,
  MOST_STAYS,
  type PullRequest,
  type PullRequestField,
  type RepositoryQuery,
} from '../code-host.ts'
import { atLast, laterOf } from '../times.ts'

/** The past as observations have it. With `stays` and no mark, the log is whole; with neither, there is none. */
export interface Past {
  readonly stays?: readonly Stay[]
  readonly mark?: Mark
}

/** Tells whether to read a log: at the first look, and when the time to be in time is over. Between these, no verdict depends on it. */
export function isLogDue({ previous, sentAt, inTimeUntil }: RepositoryQuery): boolean {
  return previous.length === 0 || sentAt >= inTimeUntil
}

/** Tells whether a later look reads the log again: until then, what is missing of it says nothing. */
function isReadAgain({ sentAt, inTimeUntil }: RepositoryQuery): boolean {
  return sentAt < inTimeUntil
}

type ClaimedFields = { readonly [F in PullRequestField]?: string }

/** Finds since when a pull request is as it was claimed; undefined where the log does not tell. */
export async function staysAsClaimed(
  pullRequest: PullRequest,
  claimed: ClaimedFields,
): Promise<readonly Stay[] | undefined> {
  return unlessNone(staysOf(pullRequest, claimed, await readLogs(pullRequest, claimed)))
}

/**
 * Tells of a pull request that is not as it was claimed, in these fields, whether it may have been. One field that never was as claimed is enough
 * to know that the whole never was.
 *
 * @returns undefined where there is no log
 */
export async function pastOf(
  pullRequest: PullRequest,
  claimed: ClaimedFields,
  differs: readonly PullRequestField[],
  query: RepositoryQuery,
): Promise<Past | undefined> {
  const logs = await readLogs(pullRequest, claimed)
  const told = logs.flatMap(({ field, log }) =>
    log !== undefined && differs.includes(field) ? [mayHaveHeld(log, claimed[field])] : [],
  )
  if (told.length === 0) return undefined
  if (told.includes(false)) return { stays: [] }
  if (logs.some(({ log }) => log === 'cut') && isReadAgain(query)) return {}
  return mayHaveBeen(staysOf(pullRequest, claimed, logs))
}

const FIELDS: readonly PullRequestField[] = ['base', 'head_sha']

interface FieldLog {
  readonly field: PullRequestField
  readonly log: Log<Held> | undefined
}

function readLogs(pullRequest: PullRequest, claimed: ClaimedFields): Promise<readonly FieldLog[]> {
  const fields = FIELDS.filter((field) => claimed[field] !== undefined)
  return Promise.all(fields.map(async (field) => ({ field, log: await pullRequest.log?.(field, claimed[field]) })))
}

/** Tells whether a log leaves open that something had the claimed value. @param claimed undefined for any value */
function mayHaveHeld(log: Log<Held>, claimed: string | undefined): boolean {
  return (
    log === 'cut' ||
    log.some(({ value }) => claimed === undefined || value === undefined || isBeginning(value, claimed))
  )
}

/** Compares a claimed value with a host's: some hosts write only the beginning of a commit's id. */
function isBeginning(value: string, claimed: string): boolean {
  return claimed === value || (/^[0-9a-f]{7,}$/.test(value) && claimed.startsWith(value))
}

/** The times when a pull request was open, with each claimed field as claimed. None where a log does not tell. */
function staysOf({ openedAt }: PullRequest, claimed: ClaimedFields, logs: readonly FieldLog[]): readonly Stay[] {
  if (!openedAt) return []
  let periods: readonly Period[] = [{ since: openedAt }]
  // An earlier value that the log does not tell may have been as claimed, too.
  let isFirstKnown = true
  for (const { field, log } of logs) {
    if (log === undefined || log === 'cut') return []
    isFirstKnown &&= tellsAllValues(log)
    const held = periodsOf(log, claimed[field])
    periods = periods.flatMap((one) => held.flatMap((other) => overlapOf(one, other) ?? []))
  }
  return toStays(periods, isFirstKnown)
}

function tellsAllValues(log: readonly Held[]): boolean {
  return log.every(({ value }) => value !== undefined)
}

/** Finds the periods in which something had the claimed value. @param claimed undefined for any value */
function periodsOf(log: readonly Held[], claimed: string | undefined): readonly Period[] {
  return log.flatMap(({ value, since, until }) =>
    since && (claimed === undefined || value === claimed) ? [{ since, until }] : [],
  )
}

function mayHaveBeen(stays: readonly Stay[]): Past {
  return { stays: unlessNone(stays), mark: 'may_have_been' }
}

function unlessNone(stays: readonly Stay[]): readonly Stay[] | undefined {
  return stays.length > 0 ? stays : undefined
}

/** Makes stays of periods. @param isFirstKnown true if the value was certainly another one before the first period */
function toStays(periods: readonly Period[], isFirstKnown: boolean): readonly Stay[] {
  const isWhole = isFirstKnown && periods.length <= MOST_STAYS
  return periods.slice(-MOST_STAYS).map(({ since, until }) => ({
    appeared: isWhole ? since : atLast(since),
    removed: until,
  }))
}

interface Period {
  readonly since: LogTime
  readonly until?: LogTime
}

/** The time in both periods; undefined where they certainly or possibly do not overlap. */
function overlapOf(one: Period, other: Period): Period | undefined {
  const since = laterOf(one.since, other.since)
  const ends = [one.until, other.until].filter((end) => end !== undefined)
  const until = ends.reduce<LogTime | undefined>(
    (first, end) => (first && first.notAfter <= end.notAfter ? first : end),
    undefined,
  )
  if (until && (until.notBefore ?? until.notAfter) < since.notAfter) return undefined
  return { since, until }
}

/** Finds since when an issue is closed as it was claimed; undefined where the log does not tell. */
export function staysClosed(log: Log<Held> | undefined, reason: Issue['reason']): readonly Stay[] | undefined {
  return unlessNone(closedStays(log, reason))
}

/** Tells of an issue that is open, or closed for another reason, whether it may have been as claimed. @returns undefined where there is no log */
export function pastClosings(
  log: Log<Held> | undefined,
  reason: Issue['reason'],
  query: RepositoryQuery,
): Past | undefined {
  if (log === undefined) return undefined
  if (log === 'cut' && isReadAgain(query)) return {}
  return mayHaveHeld(log, reason) ? mayHaveBeen(closedStays(log, reason)) : { stays: [] }
}

function closedStays(log: Log<Held> | undefined, reason: Issue['reason']): readonly Stay[] {
  if (log === undefined || log === 'cut') return []
  // A closing whose reason is not told may have been for the claimed one.
  return toStays(periodsOf(log, reason), reason === undefined || tellsAllValues(log))
}
