/** A row of the trap table: what happens at Stripe, what is claimed of it, and the verdict that is right. */
import { type Kind, nearDeadline, row, START, type TrapRow } from '../../../../test/traps/verifier-table.ts'
import { idOf, Ledger, type Mode, SHOP } from './ledger.ts'
import type { Key, Right, Stripe, StripeAnswer } from './stripe-api.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export interface Scene {
  readonly ledger: Ledger
  readonly params: Readonly<Record<string, unknown>>
  /** The account of the target; the shop's, or the connected one, when left out. */
  readonly target?: string
  /** What the connection says, beside the key. */
  readonly connection?: { readonly account?: string; readonly mode?: Mode; readonly connected_account?: string }
  /** What the key really is. */
  readonly key?: Partial<Omit<Key, 'secret'>>
  readonly instead?: Stripe['instead']
  readonly lag?: { readonly byMs: number; readonly untilMs: number }
  readonly version?: string
  /** What stands between does not pass on which account is asked for. */
  readonly dropsAccount?: boolean
  /** When the agent says that it did it; the start, when left out. */
  readonly claimedMs?: number
  /** A second after the claim, when left out. */
  readonly submittedMs?: number
  /** After the claim; the profile's, when left out. */
  readonly deadlineMs?: number
  /** What the facts of the deciding check must have. */
  readonly facts?: Readonly<Record<string, unknown>>
}

export interface Row extends TrapRow<Scene> {
  readonly action: 'payment.refund.succeed' | 'payment.charge.succeed'
}

export const TRUE: Kind = ['in time', 'verified']
export const FAILED: Kind = ['never', 'failed']
export const OTHER: Kind = ['other', 'mismatch', 'failed']
export const LATE: Kind = ['late', 'late']
export const UNKNOWABLE: Kind = ['unknowable', 'unverifiable']
/** It was not done, and blame may be more than what is seen. */
export const NOT_DONE: Kind = ['never', 'unverifiable', 'failed']
export const TRUE_UNTOLD: Kind = ['in time', 'unverifiable', 'refused']

export function rowsOf(action: Row['action']) {
  return (kind: Kind, title: string, why: string, scene: () => Scene): Row => {
    const near = nearDeadline(kind, { late: 3 * HOUR, other: 12 * MINUTE })
    return { action, ...row(kind, title, why, () => ({ ...near, ...scene() })) }
  }
}

export const OTHER_SHOP = 'acct_1Nv0FGQ9RKHgCVdK'
export const SELLER = 'acct_1MZcWcLrkdIwHu7i'
export const CHARGE = idOf('ch', 'an order')
export const REFUND = idOf('re', 'its refund')
export const OTHER_CHARGE = idOf('ch', 'another order')
export const OTHER_REFUND = idOf('re', 'another refund')

export const ALL_RIGHTS: readonly Right[] = ['rak_charge_read', 'rak_refund_read', 'rak_accounts_kyc_basic_read']

export function books(): Ledger {
  return new Ledger(START)
}

/** The connection as it says that it is, and the key as it is. */
export function connected({ connection = {}, key = {}, target }: Scene) {
  const { account = SHOP, mode = 'live', connected_account } = connection
  const real: Key = {
    account,
    mode,
    rights: ALL_RIGHTS,
    ...(connected_account !== undefined && { connected: [connected_account] }),
    ...key,
    secret: `rk_${key.mode ?? mode}_51MZcWcLrkdIwHu7iq9Vt3Yx8Kp2Wm5Rn`,
  }
  const options = { api_key: real.secret, account, mode, ...(connected_account !== undefined && { connected_account }) }
  return { key: real, options, target: `stripe:${target ?? connected_account ?? account}` }
}

/** An answer of what stands between, or of Stripe in trouble, between two moments. */
export function instead(answer: StripeAnswer, { fromMs = -DAY, untilMs = 400 * DAY } = {}): Stripe['instead'] {
  return (_, now) => (now >= START + fromMs && now < START + untilMs ? answer : undefined)
}
