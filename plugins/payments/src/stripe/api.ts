/** Reads accounts, charges and refunds at Stripe's API. */
import {
  basic,
  type CheckContext,
  type Claim,
  clockBehindMs,
  DestinationError,
  isDestinationError,
  isLongBefore,
  isOldCopy,
  readJson,
  type Static,
  statusError,
  type TSchema,
  Type,
  Value,
} from '@claimcheck/core/plugin'
import type { Options } from './connection.ts'

export const STRIPE_API = 'https://api.stripe.com'

/** The version of the API, so that an account's own version does not change what a field means. */
const STRIPE_VERSION = '2025-09-30.clover'
const MOST_AGE_S = 60

const Text = Type.Union([Type.String(), Type.Null()])
/** The id of another object, or null. No read asks to expand it. */
const Id = Type.Optional(Text)

const Account = Type.Object({ object: Type.Literal('account'), id: Type.String() })
const Charge = Type.Object({
  object: Type.Literal('charge'),
  id: Type.String(),
  livemode: Type.Boolean(),
  status: Type.String(),
  captured: Type.Boolean(),
  amount: Type.Integer(),
  amount_captured: Type.Integer({ minimum: 0 }),
  amount_refunded: Type.Integer({ minimum: 0 }),
  currency: Type.String({ pattern: '^[a-z]{3}$' }),
  refunded: Type.Boolean(),
  disputed: Type.Boolean(),
  created: Type.Integer({ minimum: 0 }),
  failure_code: Type.Optional(Text),
  failure_balance_transaction: Id,
})
const Refund = Type.Object({
  object: Type.Literal('refund'),
  id: Type.String(),
  status: Type.String(),
  amount: Type.Integer({ minimum: 0 }),
  currency: Type.String({ pattern: '^[a-z]{3}$' }),
  charge: Id,
  created: Type.Integer({ minimum: 0 }),
  failure_reason: Type.Optional(Text),
  balance_transaction: Id,
  failure_balance_transaction: Id,
})
const Charges = Type.Object({ data: Type.Array(Type.Object({ livemode: Type.Boolean() })) })
const Refusal = Type.Object({
  error: Type.Object({ code: Type.Optional(Text), message: Type.Optional(Text) }),
})

export type Mode = 'live' | 'test'
export type Charge = Static<typeof Charge>
export type Refund = Static<typeof Refund>

/** An object as Stripe showed it, or that there is none. */
type Found<T> =
  | { readonly value: T; readonly headers: Headers }
  /** `inOtherMode` where Stripe says that the object is in the other mode. */
  | { readonly value: undefined; readonly inOtherMode: boolean }

/** The account whose objects a key reads, as Stripe tells it. `isShown` where the key may read the account itself. */
interface ToldAccount {
  readonly id: string
  readonly isShown: boolean
}

export function openStripe(
  { api_key, account, mode, connected_account }: Options,
  { fetch, now }: Pick<CheckContext, 'fetch' | 'now'>,
) {
  const request = {
    auth: basic(api_key, ''),
    headers: {
      accept: 'application/json',
      'stripe-version': STRIPE_VERSION,
      ...(connected_account !== undefined && { 'stripe-account': connected_account }),
    },
  }

  /** Reads what Stripe says with a refusal; the same status may also be a proxy's, or a server's that is not Stripe. */
  async function refusalOf(response: Response): Promise<Static<typeof Refusal>['error']> {
    const value = await readJson(response).catch((error: unknown) => {
      if (isDestinationError(error) && error.code === 'unexpected_response') return undefined
      throw error
    })
    if (!Value.Check(Refusal, value)) throw statusError(response, now())
    return value.error
  }

  /** Reads an object, or the refusal that comes with one of the given statuses. */
  async function read<T extends TSchema>(path: string, schema: T, refusals: readonly number[]) {
    const response = await fetch(`${STRIPE_API}/v1/${path}`, request)
    const { status, headers } = response
    if (refusals.includes(status)) return { refusal: await refusalOf(response), response }
    if (status !== 200) {
      await response.body?.cancel()
      throw statusError(response, now())
    }
    const value = await readJson(response)
    if (!Value.Check(schema, value)) throw unexpected()
    return { refusal: undefined, value: value as Static<T>, headers }
  }

  /** Finds an object by its id. @throws DestinationError `misconfigured` where the key is of another mode than the connection says */
  async function find<T extends typeof Charge | typeof Refund>(
    kind: string,
    id: string,
    schema: T,
  ): Promise<Found<Static<T>>> {
    const found = await read(`${kind}/${id}`, schema, [404])
    if (found.refusal === undefined) {
      if ((found.value as { id: string }).id !== id) throw unexpected()
      return found
    }
    const { refusal, response } = found
    if (refusal.code !== 'resource_missing') throw statusError(response, now())
    if (isOldCopy(response.headers, MOST_AGE_S)) throw unexpected(404)
    // Stripe adds where the object is: "a similar object exists in test mode, but a live mode key was used to make this request".
    const [, elsewhere] = /similar object exists in (live|test) mode/.exec(refusal.message ?? '') ?? []
    if (elsewhere === mode) throw new DestinationError('misconfigured')
    return { value: undefined, inOtherMode: elsewhere !== undefined }
  }

  return {
    /**
     * Reads to which account the key belongs, or the connected account for which it asks.
     * @throws DestinationError `misconfigured` where it is another than the connection says, `forbidden` where nothing tells it
     */
    async account(): Promise<ToldAccount> {
      const found = await read('account', Account, [403])
      // A key that may not read the account is refused "on account 'acct_...'".
      const isShown = found.refusal === undefined
      const id = isShown ? found.value.id : / on account '(acct_[A-Za-z0-9]+)'/.exec(found.refusal.message ?? '')?.[1]
      if (id === (connected_account ?? account)) return { id, isShown }
      // A refusal that names the platform leaves open whether the header with the connected account came through.
      const isOpen = !isShown && (id === undefined || id === account)
      throw isOpen ? new DestinationError('forbidden', { status: 403 }) : new DestinationError('misconfigured')
    },
    findRefund: (id: string) => find('refunds', id, Refund),
    /** Finds a charge. @throws DestinationError `misconfigured` for one of another mode than the connection says */
    async findCharge(id: string): Promise<Found<Charge>> {
      const found = await find('charges', id, Charge)
      if (found.value && modeOf(found.value) !== mode) throw new DestinationError('misconfigured')
      return found
    },
    /** Reads the mode of the newest charge, which is that of the key; undefined where there is none. */
    async newestMode(): Promise<Mode | undefined> {
      const found = await read('charges?limit=1', Charges, [])
      const [newest] = found.value?.data ?? []
      return newest && modeOf(newest)
    },
  }
}

/** The account whose objects a connection reads. */
export function accountOf({ account, connected_account }: Options): string {
  return connected_account ?? account
}

/** The identity of an account in one mode. Undefined where the key may not read its account. */
export function identityOf({ isShown, id }: ToldAccount, mode: Mode): string | undefined {
  return isShown ? `${id}/${mode}` : undefined
}

/** The facts of an account. */
export function accountFacts({ id }: ToldAccount) {
  return { account: `stripe:${id}` }
}

/** The facts of an object's time, which is whole seconds of Stripe's clock. */
export function createdFacts(
  created: number,
  headers: Headers,
  { claimedAt }: Pick<Claim, 'claimedAt'>,
  now: number,
  toleranceMs: number,
) {
  const at = { notBefore: created * 1000, notAfter: created * 1000 + 999 }
  const behind = { clockBehindMs: clockBehindMs(headers, now) }
  const isOld = isLongBefore(at, behind, { claimedAt, inTimeUntil: claimedAt + toleranceMs })
  return { created: new Date(created * 1000).toISOString(), ...(isOld && { preexisting: true as const }) }
}

/**
 * Reports an object that Stripe does not have. The key's account and its mode have to be seen, because what one does not have another may: the
 * mode by the newest charge, or by Stripe's words that the object is in the other one.
 * @throws DestinationError `forbidden` where one of the two is not seen, `misconfigured` where the mode is another than the connection says
 */
export async function reportMissing(
  { newestMode }: Pick<ReturnType<typeof openStripe>, 'newestMode'>,
  told: ToldAccount,
  { inOtherMode }: { readonly inOtherMode: boolean },
  mode: Mode,
) {
  const seen = inOtherMode || !told.isShown ? mode : await newestMode()
  if (!told.isShown || seen === undefined) throw new DestinationError('forbidden', { status: 404 })
  if (seen !== mode) throw new DestinationError('misconfigured')
  const facts = { ...accountFacts(told), ...(inOtherMode && { in_other_mode: true as const }) }
  // Objects of live mode are never deleted. The data of a test may be.
  const mark = mode === 'live' ? { mark: 'never_before' as const } : {}
  return { kind: 'absent' as const, facts, ...mark, identity: identityOf(told, mode) }
}

/** A word as a fact; undefined for a text of another form. */
export function wordOf(text: string | null | undefined): string | undefined {
  return text != null && /^[a-z_]{1,64}$/.test(text) ? text : undefined
}

export function modeOf({ livemode }: { readonly livemode: boolean }): Mode {
  return livemode ? 'live' : 'test'
}

function unexpected(status = 200): DestinationError {
  return new DestinationError('unexpected_response', { status })
}
