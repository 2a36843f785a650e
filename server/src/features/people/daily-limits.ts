/** What may be done so many times in a day. All hosts count together, and what is refused is not counted. */
import { hash } from 'node:crypto'
import type { Instant } from '@claimcheck/core/rules'
import { ServiceError } from '../../base/errors.ts'
import { adviceFor, allowanceOf, holdingsOfCounts, mayAdd, type Payer, partyOf, who } from '../../storage/payers.ts'
import type { Writes } from '../../storage/storage.ts'
import { counted } from '../../storage/throttles.ts'

export interface DailyLimit {
  readonly subject: string
  /** 0: no limit. */
  readonly most: number
}

const DAY_MS = 24 * 60 * 60_000

export interface Spent {
  /** With this one. */
  readonly count: number
  /** When the count begins anew. */
  readonly expiresAt: Instant
  readonly isWithin: boolean
}

/** Counts one more for each subject that is within its limit. The day of a subject begins with the first. */
export async function countDaily(
  tx: Writes,
  limits: readonly DailyLimit[],
  at: Instant,
): Promise<ReadonlyMap<string, Spent>> {
  // Together, so that all transactions take them in one order.
  const bySubject = new Map(limits.filter(({ most }) => most > 0).map((limit) => [limit.subject, limit]))
  const limited = [...bySubject.values()]
  const taken = await tx.throttles.take([...bySubject.keys()], at)
  const rows = limited.map(({ subject, most }) => {
    const throttle = taken.get(subject)!
    const isWithin = throttle.count < most
    return { throttle: isWithin ? counted(throttle, at, DAY_MS) : throttle, isWithin }
  })
  await tx.throttles.put(rows.filter(({ isWithin }) => isWithin).map(({ throttle }) => throttle))
  return new Map(
    rows.map(({ throttle: { subject, count, expiresAt }, isWithin }) => [subject, { count, expiresAt, isWithin }]),
  )
}

/**
 * Counts one more for who pays, within a transaction that ends with the error.
 * @param of `may` as in "invite", `limit` as in the configuration @param outcome as in "nothing was sent"
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
  const subjectOf = (name: Payer) => `${of.kind} by ${name}`
  const ofAll = subjectOf(allowanceOf(payer))
  const taken = await tx.throttles.take([...new Set([ofAll, subjectOf(partyOf(payer))])], at)
  const all = taken.get(ofAll)!
  const invited = (await tx.throttles.below(ofAll, at)).map(
    ({ subject, count }) => [subject.slice(subjectOf('').length), count] as const,
  )
  if (!mayAdd(holdingsOfCounts(payer, all.count, invited), of.most)) {
    const rule = `${who(payer)} may ${of.may} at most ${of.most} a day`
    throw tooMany(`${outcome}: ${rule}. Try again later, or ${adviceFor(payer, of.limit)}`, all.expiresAt - at)
  }
  await tx.throttles.put([...taken.values()].map((throttle) => counted(throttle, at, DAY_MS)))
}

export interface SpentLimit extends DailyLimit {
  /** As in "a workspace may invite". */
  readonly what: string
}

function tooMany(message: string, retryAfterMs: number): ServiceError {
  return new ServiceError('too_many', message, { retryAfterMs })
}

/**
 * Within a transaction that ends with the error: what is refused counts for none of them.
 * @param outcome as in "nothing was sent" @throws ServiceError `too_many` when one is at its limit
 */
export async function spendDaily(
  tx: Writes,
  limits: readonly SpentLimit[],
  at: Instant,
  outcome: string,
): Promise<void> {
  const spent = await countDaily(tx, limits, at)
  for (const { subject, most, what } of limits) {
    const { isWithin = true, expiresAt = at } = spent.get(subject) ?? {}
    if (isWithin) continue
    const advice = 'Try again later, or ask the operator to raise the limit'
    throw tooMany(`${outcome}: ${what} at most ${most} a day. ${advice}`, expiresAt - at)
  }
}

/** Hashed, as the table of counts names no one. Addresses that lead into one mailbox count as one. */
export function mailboxSubject(kind: string, address: string): string {
  return `mail ${kind} to ${hash('sha256', mailboxOf(address))}`
}

/** Without what mail servers ignore in the part before the @: what follows a plus sign, and at Gmail dots. */
export function mailboxOf(address: string): string {
  const [local = '', domain = ''] = address.toLowerCase().split('@')
  const isGmail = domain === 'gmail.com' || domain === 'googlemail.com'
  const plain = local.replace(/(?<=.)\+.*$/, '')
  return isGmail ? `${plain.replaceAll('.', '')}@gmail.com` : `${plain}@${domain}`
}
