/** What a host's own log says of the time before a read: of a pull request's base and head, and of an issue's closings. */
import type { LogTime, Mark, Stay } from '@claimcheck/core/plugin'
import type { Held, Issue, Log, PullRequest, PullRequestField, RepositoryQuery } from '../code-host.ts'
import { atLast, laterOf } from '../times.ts'

/** As observations have it: with `stays` and no mark the log is whole, with neither there is none. */
export interface Past {
  readonly stays?: readonly Stay[]
  readonly mark?: Mark
}

/** Of one observation. */
const MAX_STAYS = 8

/** A log is read at the first look, and when the time to be in time is over: between these, nothing hangs on it. */
export function isLogDue({ previous, sentAt, inTimeUntil }: RepositoryQuery): boolean {
  return previous.length === 0 || sentAt >= inTimeUntil
}

/** What is missing of a log may be read by a later look: until then it says nothing. */
function isReadOn({ sentAt, inTimeUntil }: RepositoryQuery): boolean {
  return sentAt < inTimeUntil
}

type Claimed = { readonly [F in PullRequestField]?: string | undefined }

/** Of a pull request that is as it was claimed. Undefined where the log does not tell since when. */
export async function staysAsClaimed(pullRequest: PullRequest, claimed: Claimed): Promise<readonly Stay[] | undefined> {
  const fields = FIELDS.filter((field) => claimed[field] !== undefined)
  const logs = await Promise.all(fields.map((field) => pullRequest.log?.(field, claimed[field])))
  const stays = staysOf(pullRequest, claimed, fields, logs)
  return stays.length > 0 ? stays : undefined
}

/**
 * Of one that is not as it was claimed, in these fields. One field that never was as claimed is enough to know that the whole never was.
 *
 * @returns undefined where there is no log
 */
export async function pastOf(
  pullRequest: PullRequest,
  claimed: Claimed,
  differs: readonly PullRequestField[],
  query: RepositoryQuery,
): Promise<Past | undefined> {
  const fields = FIELDS.filter((field) => claimed[field] !== undefined)
  const logs = await Promise.all(fields.map((field) => pullRequest.log?.(field, claimed[field])))
  const told = fields.flatMap((field, index) => {
    const log = logs[index]
    return log !== undefined && differs.includes(field) ? [mayHaveHeld(log, claimed[field]!)] : []
  })
  if (told.length === 0) return undefined
  if (told.includes(false)) return { stays: [] }
  if (logs.includes('cut') && isReadOn(query)) return {}
  return mayHaveBeen(staysOf(pullRequest, claimed, fields, logs))
}

const FIELDS: readonly PullRequestField[] = ['base', 'head_sha']

/** @param claimed undefined: whatever value */
function mayHaveHeld(log: Log<Held>, claimed: string | undefined): boolean {
  return (
    log === 'cut' ||
    log.some(({ value }) => claimed === undefined || value === undefined || isBeginning(value, claimed))
  )
}

/** Some hosts write only the beginning of a commit's id. */
function isBeginning(value: string, claimed: string): boolean {
  return claimed === value || (/^[0-9a-f]{7,}$/.test(value) && claimed.startsWith(value))
}

/** When it was open, with each claimed field as claimed. None where a log does not tell. */
function staysOf(
  { openedAt }: PullRequest,
  claimed: Claimed,
  fields: readonly PullRequestField[],
  logs: readonly (Log<Held> | undefined)[],
): readonly Stay[] {
  if (!openedAt) return []
  let periods: readonly Period[] = [{ since: openedAt }]
  // What it was before, and is not told, may have been as claimed too.
  let isFirstKnown = true
  for (const [index, field] of fields.entries()) {
    const log = logs[index]
    if (log === undefined || log === 'cut') return []
    isFirstKnown &&= tellsAll(log)
    const held = periodsOf(log, claimed[field])
    periods = periods.flatMap((one) => held.flatMap((other) => bothOf(one, other) ?? []))
  }
  return reported(periods, isFirstKnown)
}

function tellsAll(log: readonly Held[]): boolean {
  return log.every(({ value }) => value !== undefined)
}

/** @param claimed undefined: whatever value */
function periodsOf(log: readonly Held[], claimed: string | undefined): readonly Period[] {
  return log.flatMap(({ value, since, until }) =>
    since && (claimed === undefined || value === claimed) ? [{ since, ...(until ? { until } : {}) }] : [],
  )
}

function mayHaveBeen(stays: readonly Stay[]): Past {
  return { ...(stays.length > 0 ? { stays } : {}), mark: 'may_have_been' }
}

/** @param isFirstKnown it was not so before the first of them */
function reported(periods: readonly Period[], isFirstKnown: boolean): readonly Stay[] {
  const isWhole = isFirstKnown && periods.length <= MAX_STAYS
  return periods.slice(-MAX_STAYS).map(({ since, until }) => ({
    appeared: isWhole ? since : atLast(since),
    ...(until ? { removed: until } : {}),
  }))
}

interface Period {
  readonly since: LogTime
  readonly until?: LogTime
}

/** Undefined where they certainly or possibly do not overlap. */
function bothOf(one: Period, other: Period): Period | undefined {
  const since = laterOf(one.since, other.since)
  const ends = [one.until, other.until].filter((end) => end !== undefined)
  const until = ends.reduce<LogTime | undefined>(
    (first, end) => (first && first.notAfter <= end.notAfter ? first : end),
    undefined,
  )
  if (until && (until.notBefore ?? until.notAfter) < since.notAfter) return undefined
  return { since, ...(until ? { until } : {}) }
}

/** Of an issue that is closed as it was claimed. Undefined where the log does not tell since when. */
export function staysClosed(log: Log<Held> | undefined, reason: Issue['reason']): readonly Stay[] | undefined {
  const stays = closedStays(log, reason)
  return stays.length > 0 ? stays : undefined
}

/** Of an issue that is open, or closed for another reason. @returns undefined where there is no log */
export function pastClosings(
  log: Log<Held> | undefined,
  reason: Issue['reason'],
  query: RepositoryQuery,
): Past | undefined {
  if (log === undefined) return undefined
  if (log === 'cut' && isReadOn(query)) return {}
  return mayHaveHeld(log, reason) ? mayHaveBeen(closedStays(log, reason)) : { stays: [] }
}

function closedStays(log: Log<Held> | undefined, reason: Issue['reason']): readonly Stay[] {
  if (log === undefined || log === 'cut') return []
  // A closing whose reason is not told may have been for the claimed one.
  return reported(periodsOf(log, reason), reason === undefined || tellsAll(log))
}
