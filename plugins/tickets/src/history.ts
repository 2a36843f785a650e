/** An issue's history of statuses, and the times at which it came into a claimed state by it. */
import { DestinationError, type LogTime } from '@claimcheck/core/plugin'
import type { Category, Params } from './profile.ts'

/** A change of an issue's status, as a tracker's history has it. Ids that the history does not tell are undefined. */
export interface Change {
  readonly at: LogTime
  readonly from: string | undefined
  readonly to: string | undefined
  readonly by: string | undefined
  /** Tells that several changes may have gone into this one, so that the issue came from a status between them. */
  readonly isJoined?: boolean
}

export interface Issue {
  /** The tracker's own id, which a move does not change. */
  readonly id: string
  readonly key: string
  readonly status: string
  readonly createdAt: LogTime
  /** The changes of its status, oldest first. */
  readonly changes: readonly Change[]
  /** Tells that changes before the first of these may be hidden, and that nothing else says in which status the issue was made. */
  readonly mayHideFirst?: boolean
  /** Parts of the history of which the tracker tells, in its own way, that changes are missing. */
  readonly doubts?: readonly Doubt[]
  /** The category of a status now; undefined where the tracker does not tell it, as of one that was deleted. */
  readonly categoryOf: (status: string) => Category | undefined
}

/** A coming of the issue into the claimed state. */
export interface Arrival {
  readonly change: Change
  /** The time at which it left; undefined while it is there. */
  readonly left: LogTime | undefined
  /** The claimed params that are others than the history tells. */
  readonly differs: readonly ('from' | 'by')[]
  /** Tells whether the history leaves open that this is what was claimed. */
  readonly isOpen: boolean
}

/** A part of the history of which nobody can tell whether the claimed change is in it. */
export interface Doubt {
  readonly since: LogTime
  /** The end of the doubt; undefined while it goes on. */
  readonly until: LogTime | undefined
}

export interface Arrivals {
  /** Arrivals that may be the claimed one, or differ from it by account or earlier status, oldest first. */
  readonly arrivals: readonly Arrival[]
  readonly doubts: readonly Doubt[]
  /** Tells whether the issue is in the claimed state now; undefined where the category of its status is not told. */
  readonly isThere: boolean | undefined
}

/**
 * Finds when an issue came into the claimed state.
 * @param isRefiled tells of a time whether a status that it came into then may have been of another category than now: no history tells that
 */
export function arrivalsOf(issue: Issue, params: Params, isRefiled: (at: LogTime) => boolean): Arrivals {
  const { changes, status, createdAt, mayHideFirst = false } = issue
  const holds = (one: string | undefined) => isClaimed(one, issue, params)
  const leavings = leavingsOf(changes, holds)
  const arrivals = changes.flatMap((change, index): Arrival[] => {
    const [before, after] = [holds(change.from), holds(change.to)]
    const mayHaveHeld = params.status === undefined && isRefiled(change.at)
    if (after === false && !mayHaveHeld) return []
    const differs = differencesOf(change, params)
    const isUntold = PARTS.some((part) => params[part] !== undefined && partOf(change, part) === undefined)
    // A change within the claimed category is no coming into it, though the claim may mean it.
    const isOpen = after === false || (differs.length === 0 && (before !== false || after === undefined || isUntold))
    if (before === true && !isOpen) return []
    return [{ change, left: leavings[index + 1], differs, isOpen }]
  })
  const first = holds(changes[0] ? changes[0].from : status)
  // An issue that was made in the claimed state came into it, and was not moved there.
  const isMade = first !== false && (params.from === undefined || mayHideFirst)
  const made = isMade ? [{ since: createdAt, until: mayHideFirst ? leavings[0] : leavings[0] && createdAt }] : []
  return { arrivals, doubts: [...made, ...gapsOf(issue)], isThere: holds(status) }
}

/** Finds when the issue left the claimed state next, for the time before the first change and after each. */
function leavingsOf(
  changes: readonly Change[],
  holds: (status: string | undefined) => boolean | undefined,
): readonly (LogTime | undefined)[] {
  const leavings: (LogTime | undefined)[] = [undefined]
  // One pass from the end: a server may send a hundred thousand changes in one answer.
  for (const { at, from, to } of changes.toReversed()) {
    const isElsewhere = holds(from) === false
    // Before a change that begins elsewhere, the issue left by one that is missing.
    const left = isElsewhere ? { notAfter: at.notAfter } : at
    leavings.push(isElsewhere || holds(to) === false ? left : leavings.at(-1))
  }
  return leavings.toReversed()
}

/** Tells whether a status is the claimed state; undefined where its category is not told, or the status itself. */
function isClaimed(one: string | undefined, { categoryOf }: Issue, { status, category }: Params): boolean | undefined {
  if (one === undefined) return undefined
  if (status !== undefined && one !== status) return false
  if (category === undefined) return true
  const told = categoryOf(one)
  return told && told === category
}

const PARTS = ['from', 'by'] as const

/** Reads what a change tells of a claimed param. One that several went into does not tell the status just before. */
function partOf({ from, by, isJoined = false }: Change, part: (typeof PARTS)[number]): string | undefined {
  return { from: isJoined ? undefined : from, by }[part]
}

function differencesOf(change: Change, params: Params): readonly ('from' | 'by')[] {
  return PARTS.filter((part) => {
    const [claimed, found] = [params[part], partOf(change, part)]
    return claimed !== undefined && found !== undefined && found !== claimed
  })
}

/** Finds where changes are missing: between two that do not follow each other, and before the issue was made here. */
function gapsOf({ changes, status, createdAt, doubts = [] }: Issue): readonly Doubt[] {
  const missing = [...changes, undefined].flatMap((next, index): Doubt[] => {
    const earlier = changes[index - 1]
    if (!earlier || earlier.to === (next ? next.from : status)) return []
    return [{ since: earlier.at, until: next?.at }]
  })
  // A history from before the issue was made was brought along from elsewhere, perhaps in part.
  const isBrought = changes.some(({ at }) => at.notAfter < (createdAt.notBefore ?? createdAt.notAfter))
  const brought = isBrought ? [{ since: changes[0]!.at, until: createdAt }] : []
  return [...doubts, ...missing, ...brought]
}

/** A time of RFC 3339, also without the colon in its offset. Without an offset it would be read in the zone of whoever reads it. */
const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?)(?:Z|([+-]\d\d):?(\d\d))$/

/** Reads a time. Whole seconds mean the whole second. @throws DestinationError for one that has no offset, or another form */
export function timeOf(text: string): LogTime {
  const [, local, hours = '+00', minutes = '00'] = TIME.exec(text) ?? []
  const at = Date.parse(`${local}${hours}:${minutes}`)
  if (Number.isNaN(at)) throw new DestinationError('unexpected_response')
  return { notBefore: at, notAfter: at % 1000 === 0 ? at + 999 : at }
}

/** Orders entries of a history by time, and those of one time by a number that grows with them: APIs list them from either end. */
export function inOrder<T>(entries: readonly T[], placeOf: (entry: T) => readonly [time: string, number: number]): T[] {
  const placed = entries.map((entry) => {
    const [time, number] = placeOf(entry)
    return { entry, at: timeOf(time).notBefore!, number }
  })
  return placed.sort((one, other) => one.at - other.at || one.number - other.number).map(({ entry }) => entry)
}
