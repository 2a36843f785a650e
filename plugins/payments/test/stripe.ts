/** Stripe on loopback, of the few paths that the plugin reads: one key of one account and mode, and what that account has. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ChargeOfTests {
  readonly id: string
  readonly livemode?: boolean
  readonly status?: 'succeeded' | 'pending' | 'failed'
  readonly captured?: boolean
  readonly amount?: number
  readonly amount_captured?: number
  readonly amount_refunded?: number
  readonly currency?: string
  readonly refunded?: boolean
  readonly disputed?: boolean
  /** Seconds since the epoch. */
  readonly created: number
  readonly failure_code?: string | null
  readonly failure_balance_transaction?: string | null
}

export interface RefundOfTests {
  readonly id: string
  readonly charge: string | null
  readonly amount?: number
  readonly currency?: string
  readonly status?: 'succeeded' | 'pending' | 'requires_action' | 'failed' | 'canceled'
  readonly created: number
  readonly failure_reason?: string
  readonly balance_transaction?: string | null
  readonly failure_balance_transaction?: string
}

interface Key {
  readonly secret: string
  readonly account: string
  readonly livemode: boolean
}

/** An error as Stripe answers it. */
class Refusal extends Error {
  readonly status: number
  readonly body: object

  constructor(status: number, message: string, more: object = {}) {
    super(message)
    this.status = status
    this.body = { error: { type: 'invalid_request_error', message, ...more } }
  }
}

export class StripeOfTests {
  charges: readonly ChargeOfTests[] = []
  refunds: readonly RefundOfTests[] = []
  /** The account of the key. */
  account: string
  mayReadAccount = true
  /** Tells whether a refusal names the account of the key. */
  tellsAccount = true
  /** The accounts that are connected to the key's. */
  connected: readonly string[] = []

  readonly key: Key
  readonly now: () => number

  constructor({ key, now }: { readonly key: Key; readonly now: () => number }) {
    this.key = key
    this.account = key.account
    this.now = now
  }

  async start() {
    const server = createServer((request, response) => {
      response.setHeader('date', new Date(this.now()).toUTCString())
      response.setHeader('content-type', 'application/json')
      try {
        response.end(JSON.stringify(this.#answer(request)))
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        response.writeHead(error.status).end(JSON.stringify(error.body))
      }
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const stop = () => {
      server.closeAllConnections()
      server.close()
    }
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
  }

  #answer({ url, headers }: IncomingMessage): object {
    const { authorization, 'stripe-account': connected, 'stripe-version': version } = headers
    if (authorization !== `Basic ${btoa(`${this.key.secret}:`)}`)
      throw new Refusal(401, 'Invalid API Key provided: rk_****')
    if (!/^\d{4}-\d\d-\d\d\.[a-z]+$/.test(String(version)))
      throw new Refusal(400, `Invalid Stripe API version: ${version}`)
    if (connected !== undefined && !this.connected.includes(String(connected)))
      throw new Refusal(403, `The provided key does not have access to account '${connected}'`, {
        code: 'account_invalid',
      })
    const account = String(connected ?? this.account)
    const [path, query] = url!.split('?')
    const [, kind, id] = /^\/v1\/(account|charges|refunds)(?:\/([^/]+))?$/.exec(path!) ?? []
    if (kind === 'account') {
      if (this.mayReadAccount) return { id: account, object: 'account' }
      throw new Refusal(
        403,
        `The provided key 'rk_****' does not have the required permissions for this endpoint${this.tellsAccount ? ` on account '${account}'` : ''}.`,
      )
    }
    const charges = this.charges.filter(({ livemode = true }) => livemode === this.key.livemode)
    if (kind === 'charges' && id === undefined && query === 'limit=1')
      return {
        object: 'list',
        data: charges.slice(0, 1).map(chargeObject),
        has_more: charges.length > 1,
        url: '/v1/charges',
      }
    if (kind === 'charges')
      return chargeObject(charges.find((one) => one.id === id) ?? this.#missing('charge', id, this.charges))
    const isRead = ({ charge }: RefundOfTests) => charge === null || charges.some((one) => one.id === charge)
    if (kind === 'refunds')
      return refundObject(
        this.refunds.filter(isRead).find((one) => one.id === id) ?? this.#missing('refund', id, this.refunds),
      )
    throw new Refusal(404, `Unrecognized request URL (GET: ${path}).`)
  }

  /** Refuses an object that is not there, and tells whether it is in the other mode. */
  #missing(kind: string, id: string | undefined, all: readonly { readonly id: string }[]): never {
    const [own, other] = this.key.livemode ? ['live', 'test'] : ['test', 'live']
    const elsewhere = all.some((one) => one.id === id)
      ? `; a similar object exists in ${other} mode, but a ${own} mode key was used to make this request.`
      : ''
    throw new Refusal(404, `No such ${kind}: '${id}'${elsewhere}`, { code: 'resource_missing', param: kind })
  }
}

/** A charge with every member that the published description requires, and those that the plugin reads. */
export function chargeObject({
  amount = 1000,
  captured = true,
  amount_captured = captured ? amount : 0,
  ...rest
}: ChargeOfTests) {
  return {
    object: 'charge',
    amount,
    captured,
    amount_captured,
    amount_refunded: 0,
    billing_details: { address: null, email: null, name: null, phone: null },
    currency: 'usd',
    disputed: false,
    failure_code: null,
    livemode: true,
    metadata: {},
    paid: rest.status !== 'failed',
    refunded: false,
    status: 'succeeded',
    ...rest,
  }
}

export function refundObject(refund: RefundOfTests) {
  return {
    object: 'refund',
    amount: 1000,
    currency: 'usd',
    status: 'succeeded',
    metadata: {},
    payment_intent: null,
    ...refund,
  }
}
