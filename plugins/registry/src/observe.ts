/** Decides what a check reports of a version: when it came, what is certain about it, and what its absence means. */
import {
  type Instant,
  isLongBefore,
  type LogTime,
  type Mark,
  type Observation,
  type PreviousRead,
  type Stay,
  showsClaimed,
} from '@claimcheck/core/plugin'
import type { FoundVersion } from './ecosystem.ts'
import type { Facts } from './profile.ts'

export interface Look {
  readonly claimedAt: Instant
  /** The moment at which the tolerance ends. */
  readonly inTimeUntil: Instant
  /** The beginning of this check. */
  readonly sentAt: Instant
  /** The moment at which its answers had come. */
  readonly answeredAt: Instant
  readonly previous: readonly PreviousRead[]
  /** Tells whether the claim names the content. */
  readonly namesContent: boolean
  /** Tells whether the registry never replaces a version, and its record has each that ever was. */
  readonly keeps: boolean
  readonly recordSince: Instant
}

/** Time for which npm and crates.io keep the name of a deleted package free. */
const FREE_MS = 24 * 60 * 60_000

/** The most by which the machines of one registry disagree, in milliseconds. */
const LARGEST_SKEW_MS = 60_000

export function toObservation(read: FoundVersion, look: Look): Observation<Facts> {
  const found = isOfTheFuture(read, look) ? { ...read, published: undefined } : read
  const facts = factsOf(found, look)
  return found.isListed ? present(found, facts, look) : absent(found, facts, look)
}

/**
 * Tells whether a record is later than the answer that has it, by the registry's `Date` and by our clock. It goes by another clock than these, so that
 * its times tell nothing.
 */
function isOfTheFuture({ published, clockBehindMs }: FoundVersion, look: Look): boolean {
  if (!published || clockBehindMs === undefined) return false
  return published.notBefore > look.answeredAt + Math.max(0, -clockBehindMs) + LARGEST_SKEW_MS
}

/**
 * Tells whether the record is of the package that was claimed. A package that was deleted, and published again after the claim, has a record that
 * says nothing of what there was at the claim.
 */
function isOfTheClaim({ keeps, recordSince, claimedAt }: Look): boolean {
  return keeps && recordSince <= claimedAt
}

function present(found: FoundVersion, facts: Facts, look: Look): Observation<Facts> {
  if (found.hasContent === false) {
    const mark = isOfTheClaim(look) ? 'final' : (markOfReplaced(found, look) ?? markOfSeen(look))
    return { kind: 'present', differs: ['integrity'], facts, ...(mark && { mark }) }
  }
  // A version that was seen in time came in time, whatever the record says.
  const stays = look.answeredAt < look.inTimeUntil ? undefined : staysOf(found, look)
  return { kind: 'present', differs: [], facts, ...(stays && { stays }) }
}

function staysOf({ published }: FoundVersion, look: Look): readonly Stay[] | undefined {
  // A record that lags does not list yet what is there.
  if (!published) return published === null && look.keeps ? [] : undefined
  return [{ appeared: appearanceOf(published, look) }]
}

/** The time of publication, without its beginning where a version can be replaced: the one that is there now may have taken the place of another. */
function appearanceOf({ notBefore, notAfter }: Required<LogTime>, { keeps, recordSince, claimedAt }: Look): LogTime {
  return keeps && recordSince <= claimedAt + FREE_MS ? { notBefore, notAfter } : { notAfter }
}

/** Reports an absence. Only the record of a registry that keeps what it published is a log: others tell what they have, and not what they had. */
function absent(found: FoundVersion, facts: Facts, look: Look): Observation<Facts> {
  const { published, removedBy, isEmptied = false } = found
  if (look.keeps && published && removedBy !== undefined && !look.namesContent) {
    const removed = { notBefore: published.notBefore, notAfter: Math.max(removedBy, published.notAfter) }
    return { kind: 'absent', facts, stays: [{ appeared: published, removed }] }
  }
  if (isOfTheClaim(look) && published === null) return { kind: 'absent', facts, stays: [], mark: 'never_before' }
  // The version may have been there, with unknown content or until an unknown time; or the record that would tell was not read.
  const mayHaveBeen = isEmptied || published || (published === undefined && look.keeps && facts.package_listed)
  const mark = mayHaveBeen ? 'may_have_been' : markOfSeen(look)
  return { kind: 'absent', facts, ...(mark && { mark }) }
}

/** Marks content that came after the claim: it may have taken the place of the claimed one. */
function markOfReplaced({ published, latest, clockBehindMs = 0 }: FoundVersion, look: Look): Mark | undefined {
  const last = latest ?? published
  // The header `Date` has whole seconds.
  const behindMs = Math.max(0, clockBehindMs - 1000)
  return last && last.notBefore + behindMs > look.claimedAt ? 'may_have_been' : undefined
}

/** Marks a version that was seen, where versions can be taken away or replaced without a trace. */
function markOfSeen(look: Look): Mark | undefined {
  return wasSeen(look) ? 'may_have_been' : undefined
}

/** Tells whether a read saw the version as claimed. One that differed from the beginning shows nothing of the claimed one. */
function wasSeen({ previous }: Look): boolean {
  return previous.some(({ observation }) => showsClaimed(observation))
}

function factsOf(found: FoundVersion, look: Look): Facts {
  const { facts, published } = found
  if (!published) return found.isListed ? { ...facts, undated: true } : facts
  return {
    ...facts,
    published_at: new Date(published.notBefore).toISOString(),
    ...(isLongBefore(published, found, look) && { preexisting: true as const }),
  }
}
