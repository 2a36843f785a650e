/** Compares a message, as a platform showed it, with a claim, and reports what that says. */

import {
  type CheckContext,
  type Claim,
  clockBehindMs,
  DestinationError,
  type Instant,
  isLongBefore,
  type Mark,
  type Observation,
  type PreviousRead,
  type Stay,
} from '@claimcheck/core/plugin'
import { textFingerprint } from '@claimcheck/core/receipts'
import { type Facts, type Params, profile } from './profile.ts'
import type { Reads } from './reads.ts'

export interface Post {
  readonly id: string
  /** The time of the post, as the platform tells it. */
  readonly postedAt: Instant
  /** Reads whether the platform set the time, where some authors may choose it. Left out where none may. */
  readonly hasOwnTime?: () => Promise<boolean>
  /** The message that begins its thread, or the post itself; undefined at a platform whose threads are channels. */
  readonly thread?: string
  /** The ids of the account that posted it: at Slack those of a user, a bot and an app, as far as they are told. */
  readonly authors: readonly string[]
  /** The text, in all forms that count as it; undefined if the platform hides it from these credentials. */
  readonly texts: readonly string[] | undefined
  /** The time of the last edit that the platform tells; undefined without one. */
  readonly editedAt: Instant | undefined
  /** Tells whether the text may have changed without a mark of an edit. */
  readonly hidesEdits: boolean
  /** Tells whether the platform shows that the text was never another. */
  readonly wasNeverEdited: boolean
}

/** Reasons why a message is not there: `unknown` is a kind of message that may be a post. */
export type Missing = 'absent' | 'forgotten' | 'deleted' | 'system' | 'elsewhere' | 'unknown'

/** The message as a platform showed it, or the reason why there is none. */
export type Found = Post | Missing

/** Finds the message of a claim at one platform. */
export type FindMessage = (claim: Claim<Params>, context: CheckContext, reads: Reads) => Promise<Found>

const MISSING: Readonly<Record<Missing, { readonly facts: Facts; readonly mark?: Mark }>> = {
  absent: { facts: {} },
  forgotten: { facts: {}, mark: 'may_have_been' },
  deleted: { facts: { deleted: true }, mark: 'may_have_been' },
  unknown: { facts: {}, mark: 'may_have_been' },
  // An id that was given to a notice, or in another channel, is never given to a post in this one.
  system: { facts: { system: true }, mark: 'final' },
  elsewhere: { facts: { elsewhere: true }, mark: 'final' },
}

/** Reports what was found. @throws DestinationError `unexpected_response` for a copy that shows no outcome, `forbidden` for a hidden text */
export async function report(
  found: Found,
  claim: Claim<Params>,
  { previous, now }: Pick<CheckContext, 'previous' | 'now'>,
  reads: Reads,
): Promise<Observation<Facts>> {
  if (typeof found === 'string') {
    reads.refuseOldCopy()
    return { kind: 'absent', ...MISSING[found] }
  }
  const { differs, facts, isAuthorOpen } = compare(found, claim.params)
  if (differs.length > 0) {
    reads.refuseOldCopy()
    const mark = markOf(found, { differs, isAuthorOpen })
    return { kind: 'present', differs, facts, ...(mark && { mark }) }
  }
  const clock = { now: now(), clockBehindMs: clockBehindMs(reads.headers(), now()) }
  const isDated = !found.hasOwnTime || (await found.hasOwnTime())
  const post: Timed = { ...found, postedAt: isDated ? found.postedAt : undefined }
  const isTextClaimed = claim.params.text_fingerprint !== undefined
  const stay = isTextClaimed ? textStay(post, claim, previous, clock.now) : postStay(post)
  const told = { ...facts, ...timeFacts(post, claim, clock) }
  return { kind: 'present', differs: [], facts: told, ...(stay && { stays: [stay] }) }
}

/** The times of a post. That of the post itself is undefined where its author may have chosen it. */
type Timed = Pick<Post, 'editedAt' | 'hidesEdits'> & { readonly postedAt: Instant | undefined }

interface Comparison {
  readonly differs: readonly string[]
  readonly facts: Facts
  /** Tells whether the platform does not tell the account in the form that the claim names. */
  readonly isAuthorOpen: boolean
}

function compare(post: Post, { thread, author, text_fingerprint }: Params): Comparison {
  const { found_author, isAuthorOpen } = findAuthor(post.authors, author)
  const isOtherThread = thread !== undefined && thread !== post.thread
  const isOtherAuthor = author !== undefined && author !== found_author
  const isFixed = isOtherThread || (isOtherAuthor && !isAuthorOpen)
  // A text that is hidden leaves the rest of the claim to be blamed, and never verifies.
  if (text_fingerprint !== undefined && !post.texts && !isFixed) throw new DestinationError('forbidden')
  const same_text =
    text_fingerprint === undefined ? undefined : post.texts?.some((text) => textFingerprint(text) === text_fingerprint)
  const differences = { thread: isOtherThread, author: isOtherAuthor, text_fingerprint: same_text === false }
  const differs = Object.entries(differences).flatMap(([name, isOther]) => (isOther ? [name] : []))
  const facts = {
    message: post.id,
    ...(post.thread !== undefined && { found_thread: post.thread }),
    ...(found_author !== undefined && { found_author }),
    ...(same_text !== undefined && { same_text }),
    ...(post.editedAt !== undefined && { edited_at: new Date(post.editedAt).toISOString() }),
  }
  return { differs, facts, isAuthorOpen }
}

/** Finds the id to compare with the claimed one: one of its kind, because a user, a bot and an app have ids of their own. */
function findAuthor(authors: readonly string[], claimed: string | undefined) {
  if (claimed === undefined) return { found_author: authors[0], isAuthorOpen: false }
  const ofKind = authors.find((one) => one === claimed) ?? authors.find((one) => kindOf(one) === kindOf(claimed))
  if (ofKind !== undefined) return { found_author: ofKind, isAuthorOpen: false }
  // A message of an app may tell only one of its ids, and an organization may know a user of a team by another one.
  const isOpen = authors.length === 0 || authors.some((one) => /^[AB]/.test(one)) || /^[UW]/.test(claimed)
  return { found_author: isOpen ? undefined : authors[0], isAuthorOpen: isOpen }
}

/** The kind of an id at Slack; an empty text at platforms with one kind. */
function kindOf(author: string): string {
  return /^[A-Z]/.exec(author)?.[0] ?? ''
}

/** The mark of a message that is not as claimed. Its author and its thread never change; its text may have been another. */
function markOf(
  { wasNeverEdited, editedAt }: Post,
  { differs, isAuthorOpen }: Pick<Comparison, 'differs' | 'isAuthorOpen'>,
): Mark | undefined {
  if (differs.includes('thread') || (differs.includes('author') && !isAuthorOpen)) return 'final'
  if (isAuthorOpen) return 'may_have_been'
  if (wasNeverEdited) return 'never_before'
  return editedAt === undefined ? undefined : 'may_have_been'
}

function timeFacts(
  { postedAt }: Timed,
  { claimedAt }: Claim<Params>,
  clock: { readonly clockBehindMs: number | undefined },
): Facts {
  if (postedAt === undefined) return { undated: true }
  const at = { notBefore: postedAt, notAfter: postedAt }
  const isOld = isLongBefore(at, clock, { claimedAt, inTimeUntil: claimedAt + profile.toleranceMs })
  return { posted_at: new Date(postedAt).toISOString(), ...(isOld && { preexisting: true as const }) }
}

function postStay({ postedAt }: Timed): Stay | undefined {
  return postedAt === undefined ? undefined : { appeared: { notBefore: postedAt, notAfter: postedAt } }
}

/**
 * The stay of a message with the claimed text, which may have come by an edit: left out where it leaves open whether it came in time, so that the
 * reads decide.
 */
function textStay(
  { postedAt, editedAt, hidesEdits }: Timed,
  { claimedAt }: Claim<Params>,
  previous: readonly PreviousRead[],
  now: Instant,
): Stay | undefined {
  const inTimeUntil = claimedAt + profile.toleranceMs
  // Who posts may choose the time of an edit, too (Mattermost): no text is older than its post, or dated where the post is not.
  const textSince = hidesEdits || postedAt === undefined ? undefined : Math.max(postedAt, editedAt ?? postedAt)
  // A message that was never edited until an earlier read had the text of that read since it was posted.
  const other = previous.findLast(({ observation }) => observation.mark === 'never_before')
  const from = postedAt === undefined ? undefined : Math.max(postedAt, other?.sentAt ?? 0)
  const isInTime = textSince !== undefined && textSince <= inTimeUntil
  const isLate = from !== undefined && from > inTimeUntil
  if (!isInTime && !isLate) return undefined
  const notAfter = textSince ?? now
  return { appeared: { notAfter, ...(from !== undefined && { notBefore: Math.min(from, notAfter) }) } }
}
