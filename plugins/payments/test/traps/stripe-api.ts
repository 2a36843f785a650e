/** Stripe's REST API over a scripted ledger: keys with their rights, accounts, modes, API versions, and the errors in Stripe's own words. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Books, type Charge, idOf, type Ledger, type Mode, type Place, type Refund } from './ledger.ts'
import { faultsOf } from './published.ts'

/** Rights of a restricted key by Stripe's names: charges and refunds are one resource in the dashboard. */
export type Right = 'rak_charge_read' | 'rak_refund_read' | 'rak_accounts_kyc_basic_read' | 'rak_balance_read'

export interface Key {
  readonly secret: string
  readonly account: string
  readonly mode: Mode
  readonly rights: readonly Right[]
  /** Accounts that it may name in `Stripe-Account`; none of a key without rights for Connect. */
  readonly connected?: readonly string[] | undefined
  readonly expiresAt?: number
}

export interface StripeRequest {
  readonly method: string
  readonly path: string
  readonly url: URL
  readonly headers: IncomingMessage['headers']
}

export interface StripeAnswer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Stripe {
  readonly ledger: Ledger
  readonly keys: readonly Key[]
  readonly now: () => number
  /** The API version of an account, for requests that name none. */
  readonly version?: string
  /** What stands between does not pass on which account is asked for. */
  readonly dropsAccount?: boolean
  /** Answers in place of Stripe, such as a proxy or Stripe in trouble. */
  readonly instead?: ((request: StripeRequest, at: number) => StripeAnswer | undefined) | undefined
  /** A replica that shows the books of some time ago, until a moment. */
  readonly lag?: { readonly byMs: number; readonly until: number } | undefined
}

export interface RunningStripe {
  readonly url: string
  /** What is wrong with answers by the published description, and with requests by the documentation. */
  readonly faults: readonly string[]
  close(): Promise<void>
}

class StripeError extends Error {
  readonly status: number
  readonly fields: { readonly code?: string; readonly param?: string; readonly type?: string }

  constructor(status: number, message: string, fields: StripeError['fields'] = {}) {
    super(message)
    this.status = status
    this.fields = fields
  }
}

const CURRENT_VERSION = '2024-06-20'
/** Before it, a charge that succeeded was `paid`. */
const SUCCEEDED_SINCE = '2015-02-18'
/** From it on, a charge lists its refunds only where they are expanded. */
const WITHOUT_REFUNDS_SINCE = '2022-11-15'
/** The customer whom no fact may name. */
export const CUSTOMER = { name: 'Jenny Rosen', email: 'jenny.rosen@example.com', phone: '+15555550123' }

export async function startStripe(stripe: Stripe): Promise<RunningStripe> {
  const { now, instead } = stripe
  const faults: string[] = []
  let count = 0

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'https://api.stripe.com')
    const asked = { method: request.method ?? 'GET', path: url.pathname, url, headers: request.headers }
    const version = request.headers['stripe-version']
    if (typeof version !== 'string') faults.push(`${asked.path} was asked without Stripe-Version`)
    count += 1
    response.setHeader('date', new Date(now()).toUTCString())
    const { status, body, headers = {} } = instead?.(asked, now()) ?? answerOf(stripe, asked, faults)
    const account = request.headers['stripe-account']
    const own = {
      'request-id': `req_${String(count).padStart(14, 'A')}`,
      'stripe-version': typeof version === 'string' ? version : (stripe.version ?? CURRENT_VERSION),
      'cache-control': 'no-cache, no-store',
      ...(typeof account === 'string' && { 'stripe-account': account }),
    }
    const isText = typeof body === 'string'
    response.writeHead(status, { ...own, 'content-type': isText ? 'text/html' : 'application/json', ...headers })
    response.end(isText ? body : JSON.stringify(body, null, 2))
  }

  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function answerOf(stripe: Stripe, request: StripeRequest, faults: string[]): StripeAnswer {
  try {
    const body = objectOf(stripe, request)
    if (body.object === 'charge' || body.object === 'refund' || body.object === 'account')
      faults.push(...faultsOf(body.object, body))
    return { status: 200, body }
  } catch (error) {
    if (!(error instanceof StripeError)) throw error
    const body = errorBody(error.message, error.fields)
    faults.push(...faultsOf('error', body.error))
    return { status: error.status, body }
  }
}

export function errorBody(
  message: string,
  { code, param, type = 'invalid_request_error' }: StripeError['fields'] = {},
) {
  const named = code && { code, doc_url: `https://stripe.com/docs/error-codes/${code.replaceAll('_', '-')}` }
  return { error: { ...named, message, ...(param && { param }), type } }
}

function objectOf(stripe: Stripe, { method, path, url, headers }: StripeRequest): Readonly<Record<string, unknown>> {
  const key = keyOf(stripe, headers.authorization)
  const version = versionOf(headers['stripe-version'] ?? stripe.version ?? CURRENT_VERSION)
  const account = accountOf(key, stripe.dropsAccount ? undefined : headers['stripe-account'])
  const place = { account, mode: key.mode }
  const { lag, now, ledger } = stripe
  const books = ledger.at(lag && now() < lag.until ? now() - lag.byMs : now())
  const [, one, resource, id] = path.split('/').map(decodeURIComponent)
  const expanded = url.searchParams.getAll('expand[]')
  if (method !== 'GET' || one !== 'v1') throw unknownUrl(method, path)

  switch (resource) {
    case 'account':
      permit(key, account, 'rak_accounts_kyc_basic_read')
      return accountObject(account, now())
    case 'accounts':
      permit(key, account, 'rak_accounts_kyc_basic_read')
      if (id !== account && !key.connected?.includes(id!)) throw noAccess(key, id!)
      return accountObject(id!, now())
    case 'balance':
      permit(key, account, 'rak_balance_read')
      return { object: 'balance', available: [], pending: [], livemode: key.mode === 'live' }
    case 'charges': {
      permit(key, account, 'rak_charge_read')
      if (id === undefined) return chargeList(books, place, Number(url.searchParams.get('limit') ?? 10), version)
      const charge = objectIn(books.charges, id, place, 'charge')
      return chargeObject(charge, books, version, expanded)
    }
    case 'refunds': {
      permit(key, account, 'rak_refund_read')
      const refund = objectIn(books.refunds, id!, place, 'refund')
      if (!expanded.includes('charge')) return refundObject(refund)
      permit(key, account, 'rak_charge_read')
      const charge = books.charges.get(refund.charge)!
      return { ...refundObject(refund), charge: chargeObject(charge, books, version, []) }
    }
    default:
      throw unknownUrl(method, path)
  }
}

function unknownUrl(method: string, path: string): StripeError {
  const help = 'Please see https://stripe.com/docs or we can help at https://support.stripe.com/.'
  return new StripeError(404, `Unrecognized request URL (${method}: ${path}). ${help}`)
}

function keyOf({ keys, now }: Stripe, authorization: string | undefined): Key {
  const [scheme, value = ''] = (authorization ?? '').split(' ')
  const isBasic = scheme?.toLowerCase() === 'basic'
  const secret = isBasic ? Buffer.from(value, 'base64').toString().split(':')[0]! : value
  if (secret === '') throw new StripeError(401, 'You did not provide an API key.')
  const key = keys.find((one) => one.secret === secret)
  if (!key) throw new StripeError(401, `Invalid API Key provided: ${masked(secret)}`)
  if (key.expiresAt !== undefined && now() >= key.expiresAt)
    throw new StripeError(401, `Expired API Key provided: ${masked(secret)}`, { code: 'api_key_expired' })
  return key
}

function masked(secret: string): string {
  return `${secret.slice(0, 8)}${'*'.repeat(20)}${secret.slice(-6)}`
}

function versionOf(version: string | readonly string[]): string {
  if (typeof version === 'string' && /^\d{4}-\d{2}-\d{2}(\.[a-z]+)?$/.test(version)) return version
  throw new StripeError(400, `Invalid Stripe API version: ${version}`)
}

function accountOf(key: Key, named: string | readonly string[] | undefined): string {
  if (typeof named !== 'string' || named === key.account) return key.account
  if (key.connected === undefined) {
    const why = 'You passed a restricted API key with the Stripe-Account header'
    throw new StripeError(403, `${why}, but the restricted API key does not have any Connect permissions.`)
  }
  if (!key.connected.includes(named)) throw noAccess(key, named)
  return named
}

function noAccess(key: Key, account: string): StripeError {
  const why = `The provided key '${masked(key.secret)}' does not have access to account '${account}'`
  const more = '(or that account does not exist). Application access may have been revoked.'
  return new StripeError(403, `${why} ${more}`, { code: 'account_invalid' })
}

function permit(key: Key, account: string, right: Right): void {
  if (key.rights.includes(right)) return
  const why = `The provided key '${masked(key.secret)}' does not have the required permissions for this endpoint`
  const more = `Having the '${right}' permission would allow this request to continue.`
  throw new StripeError(403, `${why} on account '${account}'. ${more}`)
}

function objectIn<T extends Place>(objects: ReadonlyMap<string, T>, id: string, place: Place, name: string): T {
  const object = objects.get(id)
  if (object && object.account === place.account && object.mode === place.mode) return object
  const [here, there] = place.mode === 'live' ? ['live', 'test'] : ['test', 'live']
  const isInOther = object?.account === place.account
  const similar = `; a similar object exists in ${there} mode, but a ${here} mode key was used to make this request.`
  const message = `No such ${name}: '${id}'${isInOther ? similar : ''}`
  throw new StripeError(404, message, { code: 'resource_missing', param: 'id' })
}

function chargeList(books: Books, { account, mode }: Place, limit: number, version: string) {
  const own = [...books.charges.values()].filter((charge) => charge.account === account && charge.mode === mode)
  const newest = own.toSorted((one, other) => other.createdAt - one.createdAt)
  const data = newest.slice(0, limit).map((charge) => chargeObject(charge, books, version, []))
  return { object: 'list', data, has_more: own.length > limit, url: '/v1/charges' }
}

function accountObject(id: string, now: number) {
  return {
    id,
    object: 'account',
    business_type: 'company',
    charges_enabled: true,
    country: 'US',
    created: seconds(now) - 86_400 * 900,
    default_currency: 'usd',
    details_submitted: true,
    email: CUSTOMER.email,
    metadata: {},
    payouts_enabled: true,
    type: 'standard',
  }
}

function chargeObject(charge: Charge, books: Books, version: string, expanded: readonly string[]) {
  const { id, amount, amountCaptured, amountRefunded, captured, currency, disputed, failureCode, mode, status } = charge
  const isPaid = status !== 'failed'
  const isEmbedded = version < WITHOUT_REFUNDS_SINCE || expanded.includes('refunds')
  const refunds = [...books.refunds.values()].filter((refund) => refund.charge === id).map(refundObject)
  const list = { object: 'list', data: refunds, has_more: false, url: `/v1/charges/${id}/refunds` }
  return {
    id,
    object: 'charge',
    amount,
    amount_captured: amountCaptured,
    amount_refunded: amountRefunded,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: captured ? idOf('txn', id) : null,
    billing_details: { address: null, ...CUSTOMER },
    captured,
    created: seconds(charge.createdAt),
    currency,
    customer: null,
    description: `Order of ${CUSTOMER.name}`,
    disputed,
    failure_code: failureCode ?? null,
    failure_message: failureCode ? 'Your card was declined.' : null,
    livemode: mode === 'live',
    metadata: { order: '6735', customer: CUSTOMER.email },
    outcome: { network_status: isPaid ? 'approved_by_network' : 'declined_by_network', type: 'authorized' },
    paid: isPaid,
    payment_intent: idOf('pi', id),
    payment_method: null,
    receipt_email: CUSTOMER.email,
    refunded: amountRefunded === amount,
    status: version < SUCCEEDED_SINCE && status === 'succeeded' ? 'paid' : status,
    ...(charge.destination && { transfer_data: { amount: null, destination: charge.destination } }),
    ...(isEmbedded && { refunds: list }),
  }
}

function refundObject(refund: Refund) {
  const { id, amount, charge, createdAt, currency, failureReason, reason, status } = refund
  return {
    id,
    object: 'refund',
    amount,
    balance_transaction: idOf('txn', id),
    charge: charge as unknown,
    created: seconds(createdAt),
    currency,
    metadata: { asked_by: CUSTOMER.email },
    payment_intent: idOf('pi', charge),
    reason,
    receipt_number: null,
    source_transfer_reversal: null,
    status,
    transfer_reversal: null,
    ...(status === 'failed' && {
      failure_reason: failureReason ?? 'unknown',
      failure_balance_transaction: idOf('txn', `${id} failed`),
    }),
  }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
