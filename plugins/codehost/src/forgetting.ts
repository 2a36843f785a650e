/**
 * Finds a commit at a host without a push log, and marks what such a host may have forgotten: a commit that is not on the branch now may have been
 * there and gone. The rules say when, so that a merged and deleted branch blames nobody.
 */
import { type CheckContext, type Instant, isDestinationError, type LogTime, type Mark } from '@claimcheck/core/plugin'
import { isBranchName } from './actions/fields.ts'
import type { CommitQuery, FoundCommit, FoundRepository, Held, Place, RepositoryQuery } from './code-host.ts'
import { logTime } from './times.ts'

export interface Surroundings {
  readonly place: Place
  /** The branch's tip; undefined where the branch is missing. */
  readonly head: string | undefined
  /** Tells whether the host has the commit at all, on whatever branch; undefined where it does not tell. */
  readonly isKnown: boolean | undefined
  /** Tells that a host that does not know a commit now cannot have had it at the claimed time. */
  readonly keepsObjects: boolean
  /** The time when the repository was made, where the host tells. */
  readonly repositoryCreatedAt?: Instant
  /** Tells whether an earlier head is an ancestor of this one; undefined where that cannot be told. */
  readonly isAncestor: (older: string, head: string) => Promise<boolean | undefined>
}

/** The mark of a read that does not show the commit on the branch, where no log outweighs it. */
export async function markOf(query: CommitQuery, surroundings: Surroundings): Promise<Mark | undefined> {
  const { place, head, isKnown, keepsObjects, repositoryCreatedAt } = surroundings
  const isYoung = isMadeAfter(query, repositoryCreatedAt)
  // A commit that an earlier check saw on some branch was there, whatever the host knows now.
  const wasSeen = query.previous.some(({ observation }) => observation.kind === 'present')
  if (place.at === 'nowhere' && isKnown === false && keepsObjects && !isYoung && !wasSeen) return 'never_before'
  const mayHaveBeen =
    isYoung ||
    (place.at === 'nowhere' && wasSeen) ||
    head === undefined ||
    query.previous.some(({ observation }) => observation.facts.branch_listed === false) ||
    (place.at === 'nowhere' && isKnown === true) ||
    (await wasRewritten(query, surroundings, head))
  return mayHaveBeen ? 'may_have_been' : undefined
}

/**
 * Tells whether the repository was made after the claim: the one that was claimed may have had its name, and been deleted, with its log.
 *
 * @param createdAt undefined where the host does not tell
 */
export function isMadeAfter(
  { claimedAt }: Pick<RepositoryQuery, 'claimedAt'>,
  createdAt: Instant | undefined,
): boolean {
  // A text that is no time proves nothing about the repository's age.
  return createdAt !== undefined && !(createdAt <= claimedAt)
}

/** The time since when something has not changed, by a log that was read back to the window's start and no further. */
export function unchangedSince(openedAt: LogTime, { windowFrom }: Pick<RepositoryQuery, 'windowFrom'>): LogTime {
  const isWithin = openedAt.notBefore !== undefined && openedAt.notBefore >= windowFrom
  return isWithin ? openedAt : { notAfter: Math.max(openedAt.notAfter, windowFrom) }
}

/** Makes the log of a value of which a host tells whether it changed in the window, and not what it was before. */
export function heldUntilNow(
  value: string,
  hasChanged: boolean,
  openedAt: LogTime,
  query: Pick<RepositoryQuery, 'windowFrom'>,
): readonly Held[] {
  return hasChanged ? [{}, { value }] : [{ value, since: unchangedSince(openedAt, query) }]
}

/** Converts our time to the host's clock, at the earliest; -Infinity where the host does not tell its time. */
export function byHostsClock(time: Instant, { clockBehindMs }: Pick<FoundRepository, 'clockBehindMs'>): Instant {
  return clockBehindMs === undefined ? Number.NEGATIVE_INFINITY : time - Math.max(clockBehindMs, 0)
}

/** Tells whether an entry of a host's log is of the window: all are where the host does not tell its time. */
export function isInWindow(
  { created_at }: { readonly created_at: string },
  host: Pick<FoundRepository, 'clockBehindMs'>,
  { windowFrom }: Pick<RepositoryQuery, 'windowFrom'>,
): boolean {
  return logTime(created_at).notAfter >= byHostsClock(windowFrom, host)
}

/** Reads a log; `cut` where it fails with one of these codes: by default, too long for a check, or closed to these credentials. */
export async function unlessCut<T>(
  read: () => Promise<T>,
  by: readonly string[] = ['too_large', 'forbidden'],
): Promise<T | 'cut'> {
  try {
    return await read()
  } catch (error) {
    if (isDestinationError(error) && by.includes(error.code)) return 'cut'
    throw error
  }
}

/** Compares the claimed pusher with the account that the host's log names; undefined where either is not told. */
export function matchesPusher(account: string | undefined, { pusher }: CommitQuery): boolean | undefined {
  return account === undefined || pusher === undefined ? undefined : account.toLowerCase() === pusher.toLowerCase()
}

/**
 * Limit of the numbers that hidden pull requests and issues may take above the highest shown one: a host may hide what a flagged account opened, and
 * counts on.
 */
const MOST_HIDDEN = 50

/**
 * Tells whether a number is so high that no run of hidden pull requests or issues explains it.
 * @param highest the highest number of all lists that count with it
 */
export function isFarAbove(number: number, highest: number): boolean {
  return number > highest + MOST_HIDDEN
}

/** Tells whether an earlier read shows the pull request or the issue, in whatever state. */
export function wasSeen({ previous }: RepositoryQuery): boolean {
  return previous.some(({ observation }) => observation.facts.state !== undefined)
}

/** Tells whether the last head that a check saw is no ancestor of this one. Earlier rewritings marked the reads that found them. */
async function wasRewritten({ previous }: CommitQuery, { isAncestor }: Surroundings, head: string): Promise<boolean> {
  const older = previous.map(({ observation }) => observation.facts.head).findLast((one) => typeof one === 'string')
  return older !== undefined && older !== head && (await isAncestor(older, head)) !== true
}

/** The time for which hosts keep commits that nothing names: git prunes them after two weeks, and hosts may do it sooner, but not within this. */
export const KEEPS_OBJECTS_MS = 24 * 60 * 60_000

interface Histories {
  /** The tip of the claimed branch; undefined where there is no such branch. */
  readonly head: string | undefined
  /** Tells whether a commit is in the history of a tip; undefined where the host does not have it. */
  contains(sha: string, tip: string): Promise<boolean | undefined>
  /** Tells whether the host has a commit at all, on whatever branch or none. */
  isKnown(sha: string): Promise<boolean>
  /** Finds a branch other than the claimed one that has the commit, which the host knows. */
  findElsewhere(): Promise<string | undefined>
  /** Reads when the repository was made, where the host tells. */
  createdAt?(): Promise<Instant>
}

/** Finds a commit on the claimed branch, on another one, or nowhere. The result has no times. */
export async function findInHistories(
  query: CommitQuery,
  { now }: Pick<CheckContext, 'now'>,
  { head, contains, isKnown: hasCommit, findElsewhere, createdAt }: Histories,
): Promise<Pick<FoundCommit, 'place' | 'head' | 'mark'>> {
  const { sha, claimedAt } = query
  const isIn = head === undefined ? undefined : await contains(sha, head)
  if (isIn === true) return { place: { at: 'branch' }, head }

  const isKnown = head === undefined ? await hasCommit(sha) : isIn !== undefined
  const name = isKnown ? await findElsewhere() : undefined
  const place: Place = name !== undefined && isBranchName(name) ? { at: 'another_branch', name } : { at: 'nowhere' }
  const mark = await markOf(query, {
    place,
    head,
    isKnown,
    keepsObjects: now() - claimedAt <= KEEPS_OBJECTS_MS,
    isAncestor: contains,
    repositoryCreatedAt: await createdAt?.(),
  })
  return { place, head, mark }
}

/** The mark of a commit that the host does not have: it keeps each commit for some time, but another repository may have had it under this name. */
export function missingCommitMark(
  query: RepositoryQuery,
  now: Instant,
  createdAt: Instant | undefined,
  keepsMs = KEEPS_OBJECTS_MS,
): Mark {
  const { claimedAt, previous } = query
  const wasSeen = previous.some(({ observation: { facts } }) => facts.commit_found === true)
  const isKept = now - claimedAt <= keepsMs && !isMadeAfter(query, createdAt)
  return isKept && !wasSeen ? 'never_before' : 'may_have_been'
}
