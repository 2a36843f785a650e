/** Checks whether the mailbox of sent messages has a copy of a message, and whether its absence tells anything. */
import {
  type CheckContext,
  type Claim,
  credential,
  isLongBefore,
  type LogTime,
  type Observation,
  windowStart,
} from '@claimcheck/core/plugin'
import { rightSideOf } from '../header.ts'
import { type Facts, isMessageId, type Params, sendProfile } from '../profile.ts'
import { readClock } from './clock.ts'
import type { Options } from './connection.ts'
import {
  type Copy,
  findSent,
  type Mailbox,
  openMailbox,
  readCapabilities,
  type SentReader,
  sentReader,
} from './mailbox.ts'
import { openSession } from './session.ts'

const DAY_MS = 24 * 60 * 60_000
/** Milliseconds between the two dates that a server gives to a message that arrives. */
const DATES_MS = 2000

type Context = Pick<CheckContext, 'connection' | 'connect' | 'fingerprint' | 'previous' | 'now'>

export async function checkSent(claim: Claim<Params>, context: Context): Promise<Observation<Facts>> {
  const options = context.connection!.options as Options
  const session = await openSession(options, context)
  try {
    const capabilities = await readCapabilities(session)
    const names = await findSent(session, capabilities)
    const host = new URL(options.address).hostname.toLowerCase()
    const seen: Observation<Facts>[] = []
    for (const name of names) {
      const mailbox = await openMailbox(session, name)
      seen.push(await readMailbox(mailbox, sentReader(session, capabilities, host), claim, context, names.length === 1))
    }
    const copies = seen.filter(showsCopy)
    if (copies.length > 0) return copies.reduce((one, other) => (appearedBy(other) < appearedBy(one) ? other : one))
    // One of several mailboxes may forget what another one had.
    const last = seen.find(({ kind }) => kind === 'present') ?? seen.at(-1)!
    return names.length === 1 ? last : { ...last, mark: 'may_have_been' }
  } finally {
    await session.close()
  }
}

/** The moment by which a copy was there. */
function appearedBy({ stays = [] }: Observation<Facts>): number {
  return stays[0]?.appeared?.notAfter ?? Number.POSITIVE_INFINITY
}

/** @param isOnly tells that the copies of this account are in no other mailbox */
async function readMailbox(
  mailbox: Mailbox,
  reader: SentReader,
  claim: Claim<Params>,
  context: Context,
  isOnly: boolean,
): Promise<Observation<Facts>> {
  const { message_id: id, to_fingerprint: claimed } = claim.params
  const { uidValidity, uidNext } = mailbox
  const place: Facts = { uid_validity: uidValidity, ...(uidNext !== undefined && { uid_next: uidNext }) }
  const newest = await reader.newest(mailbox)
  const isNamed = ({ ids, formerIds }: Copy) => ids.includes(id) || formerIds.includes(id)
  let named = newest.filter(isNamed)
  // A search finds ids that contain the claimed one, too.
  if (named.length === 0) named = (await reader.search(id)).filter(isNamed)
  // No standard says which of two ids in a header counts.
  const copies = named.filter(({ ids, replacedId }) => ids.length <= 1 && (ids[0] === id || replacedId === id))

  // A provider that gives messages ids of its own files the claimed one under another id.
  const foreign = copies.length === 0 ? foreignTo(claim, newest, context) : []
  const recipients = await compareRecipients([...copies, ...foreign], reader, claimed, context)
  const missing = (one: Copy) => recipients(one).missing
  const copy = copies.toSorted((one, other) => missing(one) - missing(other) || one.uid - other.uid)[0]
  const mayForget = hasForgotten(mailbox, newest, claim, context)
  const mark = { mark: 'may_have_been' as const }
  const { server_files_sent = false } = context.connection!.options as Options
  if (!copy) {
    const isGone = context.previous.some(({ observation }) => observation.kind === 'present')
    const isElsewhere = isGone || named.length > 0 || foreign.some((other) => mayBeTo(recipients(other)))
    return { kind: 'absent', facts: place, ...((!server_files_sent || mayForget || isElsewhere) && mark) }
  }
  const facts = { ...place, ...factsOf(copy, claim, context), ...(claimed && { recipients_missing: missing(copy) }) }
  if (missing(copy) === 0) {
    const { now } = context
    const isLate = now() > claim.claimedAt + sendProfile.toleranceMs
    // A mailbox without messages of before may have been made again, from a backup that kept no dates.
    const isFirst =
      server_files_sent &&
      isOnly &&
      !mayForget &&
      named.every(({ uid }) => uid >= copy.uid) &&
      newest.some((one) => !isSince(one, windowStart(claim)))
    const stay = isLate && (await readStay(copy, isFirst, () => readClock([...newest, copy], reader, now)))
    return { kind: 'present', differs: [], facts, ...stay }
  }
  const isUnsure = mayForget || named.length > copies.length || copies.some((one) => !recipients(one).isClear)
  return { kind: 'present', differs: ['to_fingerprint'], facts, ...(isUnsure && mark) }
}

/**
 * Reads when the copy came, by the server's clock. Before the end of the tolerance the read itself shows that it came in time.
 * @param isFirst tells that no copy was there before this one
 */
async function readStay(
  copy: Copy,
  isFirst: boolean,
  readTime: () => Promise<LogTime | undefined>,
): Promise<Pick<Observation, 'stays' | 'clock'>> {
  const { savedAt, internalDate } = copy
  const clock = savedAt && (await readTime())
  // Without a clock a log without points in time would keep the looks from telling.
  if (!clock) return {}
  // A server that was told no date notes that of the arrival. One that a writer chose cannot fit a later change of the message.
  const isOnTime = internalDate !== undefined && Math.abs(internalDate.notAfter - savedAt.notAfter) <= DATES_MS
  return { clock, stays: [{ appeared: isFirst && isOnTime ? savedAt : { notAfter: savedAt.notAfter } }] }
}

function factsOf({ uid, ids, savedAt }: Copy, claim: Claim<Params>, { now }: Pick<Context, 'now'>) {
  const { claimedAt, params } = claim
  const inTimeUntil = claimedAt + sendProfile.toleranceMs
  const [sentAs] = ids
  const isPast = savedAt !== undefined && savedAt.notBefore! <= now() + DAY_MS
  return {
    message_id: params.message_id,
    ...(sentAs !== undefined && sentAs !== params.message_id && isMessageId(sentAs) && { sent_as: sentAs }),
    uid,
    ...(isPast && { saved_at: new Date(savedAt.notBefore!).toISOString() }),
    // Nothing tells the server's clock, which is right to a day.
    ...(isLongBefore(savedAt, { clockBehindMs: DAY_MS }, { claimedAt, inTimeUntil }) && { preexisting: true as const }),
  }
}

/**
 * Finds the copies of the time of the claim that may be the message under an id that a provider gave it. None is where the mailbox has other
 * messages with ids of the same right side: this provider leaves such ids as they are.
 */
function foreignTo(claim: Claim<Params>, newest: readonly Copy[], context: Pick<Context, 'previous'>): readonly Copy[] {
  const right = rightSideOf(claim.params.message_id)
  const isForeign = ({ ids }: Copy) => ids.length !== 1 || rightSideOf(ids[0]!) !== right
  if (!newest.every(isForeign)) return []
  const known = knownNext(context)
  // A relay may date a copy by its header: without a date of the server's, only the numbers say which copies are new.
  return newest.filter((copy) => isSince(copy, windowStart(claim)) || (!copy.savedAt && copy.uid >= known))
}

/** The number up to which an earlier read knew of all messages. One that shows the copy does not say so. */
function knownNext({ previous }: Pick<Context, 'previous'>): number {
  const reads = previous.map(({ observation }) => observation)
  return Number(reads.findLast((read) => read.mark === undefined && !showsCopy(read))?.facts.uid_next ?? 0)
}

/** The recipients of a copy, beside those of the claim. */
interface ComparedRecipients {
  /** Number of claimed recipients that the copy does not name. */
  readonly missing: number
  /** Tells whether all programs read the copy's recipients alike. */
  readonly isClear: boolean
  readonly hasBcc: boolean
}

/** Tells whether a message may be to the claimed recipients: most servers file copies without Bcc. */
function mayBeTo({ missing, isClear, hasBcc }: ComparedRecipients): boolean {
  return missing === 0 || !isClear || !hasBcc
}

/**
 * Compares the recipients of copies with the claimed ones.
 * @returns a function of a copy among them
 */
async function compareRecipients(
  copies: readonly Copy[],
  reader: SentReader,
  claimed: readonly string[] | undefined,
  { fingerprint }: Pick<Context, 'fingerprint'>,
): Promise<(copy: Copy) => ComparedRecipients> {
  if (!claimed || copies.length === 0) return () => ({ missing: 0, isClear: true, hasBcc: false })
  const recipients = await reader.recipients(copies.map(({ uid }) => uid))
  const compared = new Map<number, ComparedRecipients>()
  for (const [uid, { named, ...form }] of recipients) {
    const prints = await Promise.all([...named].map((address) => fingerprint(credential('fingerprints'), address)))
    const known = new Set(prints)
    compared.set(uid, { missing: claimed.filter((one) => !known.has(one)).length, ...form })
  }
  // The copy went between the two commands.
  const gone = { missing: claimed.length, isClear: false, hasBcc: false }
  return ({ uid }) => compared.get(uid) ?? gone
}

/**
 * Tells whether a copy may have been in the mailbox and gone: it is another mailbox than before, an older copy of it, or numbers were given since
 * shortly before the claim of which no message is there.
 */
function hasForgotten(
  { uidValidity, uidNext }: Mailbox,
  newest: readonly Copy[],
  claim: Claim<Params>,
  { previous }: Pick<Context, 'previous'>,
): boolean {
  const before = previous.map(({ observation }) => observation)
  // The next number never goes back: where it does, another mailbox answers, or a copy that is behind.
  const isOther = before.some(
    ({ facts }) => facts.uid_validity !== uidValidity || Number(facts.uid_next ?? 0) > (uidNext ?? 0),
  )
  if (isOther || uidNext === undefined) return true
  const first = newest.findIndex((copy) => isSince(copy, windowStart(claim)))
  const lastBefore = first === -1 ? newest.at(-1) : newest[first - 1]
  const known = knownNext({ previous })
  // The newest messages are all of this time, and what is before them is not known.
  if (first === 0 && known < newest[0]!.uid && newest[0]!.uid > 1) return true
  // Whoever stores a message dates it: without a date of the server's, the order of the numbers alone is certain.
  const isDated = lastBefore?.savedAt !== undefined
  const from = Math.max(known, isDated ? lastBefore.uid + 1 : (newest[0]?.uid ?? 1))
  return newest.filter(({ uid }) => uid >= from && uid < uidNext).length < uidNext - from
}

function showsCopy(read: Observation): boolean {
  return read.kind === 'present' && read.differs.length === 0
}

/** Tells whether a copy came into the mailbox since a moment, or may have. */
function isSince({ savedAt, internalDate }: Copy, moment: number): boolean {
  const at = savedAt ?? internalDate
  return at === undefined || at.notAfter >= moment
}
