/** The books of a scripted Stripe: what charges and refunds are at each moment, by the transitions that Stripe's documentation allows. */
import { createHash } from 'node:crypto'

export type Mode = 'live' | 'test'
export type Method = 'card' | 'us_bank_account' | 'konbini' | 'stripe_account'
export type RefundStatus = 'pending' | 'requires_action' | 'succeeded' | 'failed' | 'canceled'

/** The account and the mode in which an object lives: neither is seen from another. */
export interface Place {
  readonly account: string
  readonly mode: Mode
}

export interface Charge extends Place {
  readonly id: string
  readonly createdAt: number
  readonly amount: number
  readonly currency: string
  readonly method: Method
  readonly status: 'pending' | 'succeeded' | 'failed'
  readonly captured: boolean
  readonly amountCaptured: number
  readonly amountRefunded: number
  readonly disputed: boolean
  readonly failureCode?: string
  /** The connected account to which a destination charge pays. */
  readonly destination?: string
}

export interface Refund extends Place {
  readonly id: string
  readonly createdAt: number
  readonly charge: string
  readonly amount: number
  readonly currency: string
  readonly status: RefundStatus
  readonly failureReason?: string
  readonly reason: 'duplicate' | 'fraudulent' | 'requested_by_customer' | 'expired_uncaptured_charge' | null
}

export interface Books {
  readonly charges: ReadonlyMap<string, Charge>
  readonly refunds: ReadonlyMap<string, Refund>
}

interface Draft {
  readonly charges: Map<string, Charge>
  readonly refunds: Map<string, Refund>
}

type GivenCharge = Partial<Pick<Charge, 'account' | 'mode' | 'currency' | 'method' | 'status' | 'destination'>> & {
  readonly id: string
  readonly amount: number
  /** False of an authorization, which is captured later. */
  readonly capture?: boolean
  readonly failureCode?: string
}

type GivenRefund = Partial<Pick<Refund, 'status' | 'reason'>> & {
  readonly id: string
  readonly charge: string
  /** All that is left, when left out. */
  readonly amount?: number
}

export const SHOP = 'acct_1032D82eZvKYlo2C'

/** What may follow a state; a refund that succeeded can still fail, and one that failed or was canceled stays so. */
const NEXT: Readonly<Record<RefundStatus, readonly RefundStatus[]>> = {
  pending: ['succeeded', 'failed', 'canceled', 'requires_action'],
  requires_action: ['pending', 'succeeded', 'failed', 'canceled'],
  succeeded: ['failed'],
  failed: [],
  canceled: [],
}

/** Makes an id as Stripe writes them, the same for the same name. */
export function idOf(prefix: 'ch' | 'py' | 're' | 'pyr' | 'pi' | 'txn', name: string): string {
  const letters = createHash('sha256').update(name).digest('base64').replaceAll(/[^\w]/g, '')
  return `${prefix}_3${letters.slice(0, 23)}`
}

export class Ledger {
  readonly #start: number
  readonly #events: { readonly at: number; readonly apply: (books: Draft) => void }[] = []

  constructor(start: number) {
    this.#start = start
  }

  /** The state of all objects at a moment. */
  at(now: number): Books {
    const books: Draft = { charges: new Map(), refunds: new Map() }
    for (const { at, apply } of this.#events) if (at <= now) apply(books)
    return books
  }

  charge(afterMs: number, { capture = true, failureCode, ...given }: GivenCharge): this {
    const { status = 'succeeded' } = given
    const isPaid = capture && status !== 'failed'
    return this.#then(afterMs, ({ charges }, createdAt) => {
      charges.set(given.id, {
        account: SHOP,
        mode: 'live',
        currency: 'usd',
        method: 'card',
        ...given,
        status,
        createdAt,
        captured: isPaid,
        amountCaptured: isPaid ? given.amount : 0,
        amountRefunded: 0,
        disputed: false,
        ...(failureCode && { failureCode }),
      })
    })
  }

  /** Ends a payment that was under way, such as a bank debit. */
  settle(afterMs: number, id: string, status: 'succeeded' | 'failed'): this {
    return this.#changeCharge(afterMs, id, (charge) => {
      if (charge.status !== 'pending') throw new Error(`${id} is ${charge.status}`)
      const failed = { captured: false, amountCaptured: 0, failureCode: 'insufficient_funds' }
      return { status, ...(status === 'failed' && failed) }
    })
  }

  /** Captures an authorization: what is left of it counts as refunded. */
  capture(afterMs: number, id: string, amountCaptured?: number): this {
    return this.#changeCharge(afterMs, id, (charge) => {
      if (charge.status !== 'succeeded' || charge.captured || charge.amountRefunded > 0)
        throw new Error(`${id} cannot be captured`)
      const amount = amountCaptured ?? charge.amount
      return { captured: true, amountCaptured: amount, amountRefunded: charge.amount - amount }
    })
  }

  /** Lets an authorization go, which nobody can capture any more. */
  release(afterMs: number, id: string, refund: string): this {
    return this.#then(afterMs, (books, createdAt) => {
      const charge = found(books.charges, id)
      if (charge.captured || charge.amountRefunded > 0) throw new Error(`${id} cannot be released`)
      const { account, mode, amount, currency } = charge
      const of = { account, mode, amount, currency, charge: id, createdAt }
      books.charges.set(id, { ...charge, amountRefunded: amount })
      books.refunds.set(refund, { ...of, id: refund, status: 'succeeded', reason: 'expired_uncaptured_charge' })
    })
  }

  dispute(afterMs: number, id: string): this {
    return this.#changeCharge(afterMs, id, () => ({ disputed: true }))
  }

  refund(afterMs: number, { id, charge: of, status = 'succeeded', reason = null, ...given }: GivenRefund): this {
    return this.#then(afterMs, (books, createdAt) => {
      const charge = found(books.charges, of)
      const left = charge.amount - charge.amountRefunded
      const { account, mode, currency } = charge
      const { amount = left } = given
      if (!charge.captured || charge.status === 'failed' || amount > left || amount <= 0)
        throw new Error(`${of} cannot be refunded by ${amount}`)
      books.charges.set(of, { ...charge, amountRefunded: charge.amountRefunded + amount })
      books.refunds.set(id, { id, account, mode, currency, amount, charge: of, status, reason, createdAt })
    })
  }

  /** Moves a refund on. What failed or was canceled is no longer refunded. */
  move(afterMs: number, id: string, status: RefundStatus, failureReason?: string): this {
    return this.#then(afterMs, (books) => {
      const refund = found(books.refunds, id)
      if (!NEXT[refund.status].includes(status)) throw new Error(`${id} is ${refund.status}, and cannot be ${status}`)
      books.refunds.set(id, { ...refund, status, ...(failureReason && { failureReason }) })
      if (status !== 'failed' && status !== 'canceled') return
      const charge = found(books.charges, refund.charge)
      books.charges.set(charge.id, { ...charge, amountRefunded: charge.amountRefunded - refund.amount })
    })
  }

  #changeCharge(afterMs: number, id: string, change: (charge: Charge) => Partial<Charge>): this {
    return this.#then(afterMs, ({ charges }) => {
      const charge = found(charges, id)
      charges.set(id, { ...charge, ...change(charge) })
    })
  }

  /** Adds what happens at a moment after all that was added before, and throws if it cannot. */
  #then(afterMs: number, apply: (books: Draft, at: number) => void): this {
    const at = this.#start + afterMs
    if (at < (this.#events.at(-1)?.at ?? at)) throw new Error('events come in their order')
    this.#events.push({ at, apply: (books) => apply(books, at) })
    this.at(at)
    return this
  }
}

function found<T>(objects: ReadonlyMap<string, T>, id: string): T {
  const object = objects.get(id)
  if (!object) throw new Error(`there is no ${id}`)
  return object
}
