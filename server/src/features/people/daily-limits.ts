/** Daily limits: counts actions in a day. All hosts count together, and refusals are not counted. */
import { hash } from 'node:crypto'
import type { Instant } from '@claimcheck/core/rules'
import { ServiceError } from '../../base/errors.ts'
import { allowanceOf, type Payer, partyOf } from '../../base/payers.ts'
import { adviceFor, holdingsOfCounts, mayAdd, sharersOf } from '../../base/stock.ts'
import type { Writes } from '../../storage/storage.ts'
import { counted } from '../../storage/throttles.ts'

export interface DailyLimit {
  readonly subject: string
  /** The most actions in a day; 0 is no limit. */
  readonly most: number
}

export interface SpentLimit extends DailyLimit {
  /** The beginning of the rule, as in "a workspace may invite". */
  readonly what: string
}

export interface DailyCount {
  /** The count, including this action. */
  readonly count: number
  /** The time when the count begins anew. */
  readonly expiresAt: Instant
  readonly isWithin: boolean
}

const DAY_MS = 24 * 60 * 60_000

/** Counts one more for each subject that is within its limit. The day of a subject begins with the first. */
export async function countDaily(
  tx: Writes,
  limits: readonly DailyLimit[],
  at: Instant,
): Promise<ReadonlyMap<string, DailyCount>> {
  const mostOf = new Map(limits.filter(({ most }) => most > 0).map(({ subject, most }) => [subject, most]))
  // All counts are taken together, so that all transactions take them in one order.
  const taken = await tx.throttles.take([...mostOf.keys()], at)
  const within = [...taken.values()].filter(({ subject, count }) => count < mostOf.get(subject)!)
  const after = within.map((throttle) => counted(throttle, at, DAY_MS))
  await tx.throttles.put(after)
  const counts = new Map<string, DailyCount>()
  for (const throttle of taken.values()) counts.set(throttle.subject, { ...throttle, isWithin: false })
  for (const throttle of after) counts.set(throttle.subject, { ...throttle, isWithin: true })
  return counts
}

function tooMany(outcome: string, rule: string, advice: string, retryAfterMs: number): ServiceError {
  return new ServiceError('too_many', `${outcome}: ${rule} a day. Try again later, or ${advice}`, { retryAfterMs })
}

/**
 * Counts one more for each limit, within a transaction that ends with the error: a refused action counts for none of them.
 * @param outcome the beginning of the message, as in "nothing was sent"
 * @throws ServiceError `too_many` when one is at its limit
 */
export async function spendDaily(
  tx: Writes,
  limits: readonly SpentLimit[],
  at: Instant,
  outcome: string,
): Promise<void> {
  const counts = await countDaily(tx, limits, at)
  for (const { subject, most, what } of limits) {
    const { isWithin = true, expiresAt = at } = counts.get(subject) ?? {}
    if (!isWithin)
      throw tooMany(outcome, `${what} at most ${most}`, 'ask the operator to raise the limit', expiresAt - at)
  }
}

/**
 * Counts one more for a payer, within a transaction that ends with the error.
 * @param of `may`: a verb such as "invite"; `limit`: its name in the configuration
 * @param outcome the beginning of the message, as in "nothing was sent"
 * @throws ServiceError `too_many` when the limit is used up, and the party has its part
 */
export async function spendOfPayer(
  tx: Writes,
  payer: Payer,
  of: { readonly kind: string; readonly most: number; readonly may: string; readonly limit: string },
  at: Instant,
  outcome: string,
): Promise<void> {
  if (of.most === 0) return
  const prefix = `${of.kind} by `
  const ofAll = prefix + allowanceOf(payer)
  const taken = await tx.throttles.take([...new Set([ofAll, prefix + partyOf(payer)])], at)
  const { count, expiresAt } = taken.get(ofAll)!
  const invited = (await tx.throttles.below(ofAll, at)).map(
    (one) => [one.subject.slice(prefix.length), one.count] as const,
  )
  if (!mayAdd(holdingsOfCounts(payer, count, invited), of.most)) {
    const rule = `${sharersOf(payer)} may ${of.may} at most ${of.most}`
    throw tooMany(outcome, rule, adviceFor(payer, of.limit), expiresAt - at)
  }
  await tx.throttles.put([...taken.values()].map((throttle) => counted(throttle, at, DAY_MS)))
}

/** Names the count of mails to an address by its hash, as the table of counts names no one. Addresses that lead into one mailbox count as one. */
export function mailboxSubject(kind: string, address: string): string {
  return `mail ${kind} to ${hash('sha256', mailboxOf(address))}`
}

/** Leaves out the parts before the @ that mail servers ignore: a plus sign and all after it, and at Gmail dots. */
export function mailboxOf(address: string): string {
  const [local = '', domain = ''] = address.toLowerCase().split('@')
  const isGmail = domain === 'gmail.com' || domain === 'googlemail.com'
  const plain = local.replace(/(?<=.)\+.*$/, '')
  return isGmail ? `${plain.replaceAll('.', '')}@gmail.com` : `${plain}@${domain}`
}
