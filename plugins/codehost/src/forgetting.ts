/**
 * Places that forget: without a push log, a commit that is not on the branch now may have been there and gone. These rules say
 * when it may have, so that a merged and deleted branch blames nobody.
 */
import { type Instant, isDestinationError, type LogTime, type Mark } from '@claimcheck/core/plugin'
import type { CommitQuery, FoundCommit, FoundRepository, Place, RepositoryQuery } from './code-host.ts'
import { logTime } from './times.ts'

export interface Surroundings {
  readonly place: Place
  /** The branch's tip; undefined where the branch is missing. */
  readonly head: string | undefined
  /** Whether the host has the commit at all, on whatever branch; undefined where it does not tell. */
  readonly isKnown: boolean | undefined
  /** A host that does not know a commit now cannot have had it at the claimed time. */
  readonly keepsObjects: boolean
  /** When the repository was made, where the host tells. */
  readonly repositoryCreatedAt?: Instant
  /** Whether an earlier head is an ancestor of this one; undefined where that cannot be told. */
  readonly isAncestor: (older: string, head: string) => Promise<boolean | undefined>
}

/** The mark of a read that does not show the commit on the branch, where no log outweighs it. */
export async function markOf(query: CommitQuery, surroundings: Surroundings): Promise<Mark | undefined> {
  const { place, head, isKnown, keepsObjects, repositoryCreatedAt } = surroundings
  const isYoung = isMadeAfter(query, repositoryCreatedAt)
  // What an earlier check saw on some branch was there, whatever the host knows now.
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
 * The repository was made after the claim: the one that was claimed may have had its name, and been deleted, with its log.
 *
 * @param createdAt undefined where the host does not tell
 */
export function isMadeAfter(
  { claimedAt }: Pick<RepositoryQuery, 'claimedAt'>,
  createdAt: Instant | undefined,
): boolean {
  // A time that is none proves nothing about the repository's age.
  return createdAt !== undefined && !(createdAt <= claimedAt)
}

/** What has not changed since the window's start: a log that was read no further back does not tell since when. */
export function unchangedSince(openedAt: LogTime, { windowFrom }: Pick<RepositoryQuery, 'windowFrom'>): LogTime {
  const isWithin = openedAt.notBefore !== undefined && openedAt.notBefore >= windowFrom
  return isWithin ? openedAt : { notAfter: Math.max(openedAt.notAfter, windowFrom) }
}

/** Our time by the host's clock, at the earliest; -Infinity where the host does not tell its time. */
export function byHostsClock(time: Instant, { clockBehindMs }: Pick<FoundRepository, 'clockBehindMs'>): Instant {
  return clockBehindMs === undefined ? Number.NEGATIVE_INFINITY : time - Math.max(clockBehindMs, 0)
}

/** Whether an entry of a host's log is of the window: all are where the host does not tell its time. */
export function isInWindow(
  { created_at }: { readonly created_at: string },
  host: Pick<FoundRepository, 'clockBehindMs'>,
  { windowFrom }: Pick<RepositoryQuery, 'windowFrom'>,
): boolean {
  return logTime(created_at).notAfter >= byHostsClock(windowFrom, host)
}

const TOO_LONG_OR_CLOSED = ['too_large', 'forbidden']

/** What a log tells; `cut` where it fails with one of these codes: by default, too long for a check, or closed to these credentials. */
export async function unlessCut<T>(read: () => Promise<T>, by = TOO_LONG_OR_CLOSED): Promise<T | 'cut'> {
  try {
    return await read()
  } catch (error) {
    if (isDestinationError(error) && by.includes(error.code)) return 'cut'
    throw error
  }
}

/** @param account that pushed, by the host's log; undefined where it does not tell */
export function pusherFact(account: string | undefined, { pusher }: CommitQuery): Pick<FoundCommit, 'pusherMatches'> {
  if (account === undefined || pusher === undefined) return {}
  return { pusherMatches: account.toLowerCase() === pusher.toLowerCase() }
}

/** An earlier read shows the pull request or the issue, in whatever state. */
export function wasSeen({ previous }: RepositoryQuery): boolean {
  return previous.some(({ observation }) => observation.facts.state !== undefined)
}

/** The last head that a check saw is not an ancestor of this one. Earlier rewritings marked the reads that found them. */
async function wasRewritten({ previous }: CommitQuery, { isAncestor }: Surroundings, head: string): Promise<boolean> {
  const older = previous.map(({ observation }) => observation.facts.head).findLast((one) => typeof one === 'string')
  return older !== undefined && older !== head && (await isAncestor(older, head)) !== true
}
