/** Finds a commit at a host that shows no push log: on the claimed branch, on another one, or nowhere. The result has no times. */
import { type CheckContext, DestinationError, type Instant, type Mark } from '@claimcheck/core/plugin'
import { isBranchName } from './actions/fields.ts'
import type { CommitQuery, FoundCommit, Place, RepositoryQuery } from './code-host.ts'
import { isMadeAfter, markOf } from './forgetting.ts'

/** The time for which hosts keep commits that nothing names: git prunes them after two weeks, and hosts may do it sooner, but not within this. */
export const KEEPS_OBJECTS_MS = 24 * 60 * 60_000

/** The host's own account of which repository it is. */
export interface Identity {
  readonly repositoryId: string
  /** The repository's path, `<owner>/<repo>`. At Bitbucket Data Center, a person's project is `~<name>`. */
  readonly repositoryName: string
  readonly clockBehindMs: number | undefined
}

/**
 * Identifies the repository that an answer of one of its parts names.
 * @param show reads the repository itself
 * @throws DestinationError `ambiguous_claim` when that is another one
 */
export async function identifyPart(
  named: Identity | undefined,
  slug: string,
  show: () => Promise<Identity>,
): Promise<Identity> {
  if (named?.repositoryName.toLowerCase() === slug.toLowerCase()) return named
  // The repository has another name now, or a part of another repository was shown.
  const shown = await show()
  if (named && named.repositoryId !== shown.repositoryId) throw new DestinationError('ambiguous_claim')
  return shown
}

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
