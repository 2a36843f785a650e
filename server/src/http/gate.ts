/**
 * The gate that every request passes before anything works for it. Each route costs tokens, which the network that asks pays. A client known by a
 * credential or a session pays for itself, and its network nothing.
 */
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Meters } from '../base/meters.ts'
import type { Payer } from '../base/payers.ts'
import { leftOf, mayAdd } from '../base/stock.ts'
import type { RateLimits } from '../config/limits.ts'
import { READABLE } from './cors.ts'
import { COSTS } from './costs.ts'
import { type Count, type Counters, countParties, createOwnCounts, WINDOW_MS, windowOf } from './counters.ts'
import type { Payers } from './credential.ts'
import { HttpError } from './errors.ts'
import { createHold } from './hold.ts'
import type { App } from './instance.ts'
import { type Limited, sayLeft, unsayLeft } from './left.ts'
import { networkOf } from './network.ts'
import { createQueue } from './queue.ts'

const UNITS: Readonly<Record<keyof RateLimits, string>> = {
  network: 'tokens',
  key: 'tokens',
  workspace: 'tokens',
  account: 'tokens',
  refusals: 'refused credentials',
}
const REFUSED_HELP = 'Requests refused beyond a rate limit, by limit'
/** The least tokens that a network may use in a second, enough for several visits to a page. */
const LEAST_AT_ONCE = 300
/** The longest wait for a turn; clients and proxies give up later than this. */
const LONGEST_WAIT_MS = 20_000

export type Gate = ReturnType<typeof openGate>

/** Requests whose payer was known by a credential or a session, and had enough left. */
const ofKnownPayers = new WeakSet<FastifyRequest>()

/** Tells whether a request was admitted at the cost of an account. All others are of strangers, or refused. */
export function hasKnownPayer(request: FastifyRequest): boolean {
  return ofKnownPayers.has(request)
}

/** Opens the gate. Call it once headers and addresses are known, and before the routes are declared. */
export function openGate(app: App, parts: { rateLimits: RateLimits; counters: Counters; meters: Meters }) {
  const { rateLimits, counters, meters } = parts
  const own = createOwnCounts(Date.now)
  const hold = createHold(own)
  // The rate of a network is a tenth of its tokens in a second; an account gets its tokens evenly, and those of two seconds at once.
  const networks = createQueue({ tokensPerMs: Math.max(rateLimits.network / 10, LEAST_AT_ONCE) / 1000, atOnceMs: 1000 })
  const ofAccount = rateLimits.account / WINDOW_MS
  const accounts = createQueue({ tokensPerMs: ofAccount, atOnceMs: Math.max(2000, LEAST_AT_ONCE / ofAccount) })
  const ofParties = countParties(counters)
  /** Payments of networks for requests whose payer was not known yet. */
  const paid = new WeakMap<FastifyRequest, { network: string; tokens: number; at: Instant }>()
  const limits = Object.keys(UNITS) as (keyof RateLimits)[]
  const refused = meters.counterOf('requests_refused_total', REFUSED_HELP, 'limit', limits)

  function refuse(limited: Limited, count: Count, request: FastifyRequest, reply: FastifyReply): never {
    const { limit, subject, most } = limited
    refused.inc(limit)
    request.log.warn({ limit, client: subject }, 'a client is over its rate limit')
    sayLeft(reply, limited, count)
    reply.header('retry-after', Math.ceil(count.leftMs / 1000))
    throw new HttpError(429, `too many requests: at most ${most} ${UNITS[limit]} a minute`)
  }

  /** Refuses a request, after a while when the client goes on asking. The answer tells the time that is left by then. */
  async function refuseHeld(
    limited: Limited,
    { count, leftMs }: Count,
    request: FastifyRequest,
    reply: FastifyReply,
    client = limited.subject,
  ): Promise<never> {
    const end = Date.now() + leftMs
    await hold(client, request.raw.socket)
    return refuse(limited, { count, leftMs: Math.max(1, end - Date.now()) }, request, reply)
  }

  /**
   * Takes the tokens of this request from the network: the first hook of every request, and for those that reach no hook.
   * Resolves later where the network asks for much at once. @throws HttpError 429, after a while where it goes on
   */
  function enter(request: FastifyRequest, reply: FastifyReply, address = request.ip): Promise<void> | undefined {
    if (rateLimits.network === 0 || isFreeForNetwork(request)) return undefined
    const network = networkOf(address)
    const limited = { limit: 'network', subject: network, most: rateLimits.network } as const
    const tokens = tokensOfNetwork(request)
    const before = own.last('network', network)
    if (before.count > 0 && before.count + tokens > limited.most) {
      // Any site may read the refusal: a script has to know how long to wait, and the refusal tells no secret.
      reply.headers(READABLE)
      return refuseHeld(limited, before, request, reply)
    }
    sayLeft(reply, limited, own.add('network', network, tokens))
    paid.set(request, { network, tokens, at: Date.now() })
    if (tokens === COSTS.small.tokens) return undefined
    return networks.enter(network, tokens, () => request.raw.destroyed)
  }

  app.addHook('onRequest', (request, reply, done) => {
    const entered = enter(request, reply)
    // A client that disconnected while it waited gets no work.
    if (entered) entered.then(() => (request.raw.destroyed ? reply.hijack() : done()), done)
    else done()
  })

  function giveBack(request: FastifyRequest, reply: FastifyReply): void {
    const payment = paid.get(request)
    if (!payment) return
    paid.delete(request)
    const { network, tokens, at } = payment
    unsayLeft(reply)
    if (tokens !== COSTS.small.tokens) networks.giveBack(network, tokens)
    if (windowOf(Date.now()) !== windowOf(at)) return
    // The count may have been dropped, as when many networks ask.
    own.add('network', network, -Math.min(tokens, own.last('network', network).count))
  }

  /**
   * Refuses a request that would wait for longer than clients do.
   * @throws HttpError 429
   */
  async function requireTurn(account: Payer, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (accounts.expected(account) <= LONGEST_WAIT_MS) return
    refused.inc('account')
    request.log.warn({ limit: 'account', client: account }, 'a client asks for too much at once')
    await hold(account, request.raw.socket)
    const seconds = Math.max(1, Math.ceil(accounts.expected(account) / 1000))
    reply.header('retry-after', seconds)
    throw new HttpError(429, `too many requests of your account wait for their turn: try again in ${seconds} seconds`)
  }

  /**
   * Takes more tokens for a request that turned out to cost more.
   * @throws as `admit` does
   */
  async function takeMore(request: FastifyRequest, reply: FastifyReply, payers: Payers, tokens: number): Promise<void> {
    const limited = (Object.entries(payers) as [keyof Payers, string][])
      .filter(([limit]) => rateLimits[limit] > 0)
      .map(([limit, subject]): Limited => ({ limit, subject, most: rateLimits[limit] }))
    const account = rateLimits.account > 0 ? payers.account : undefined

    /** Refuses where a limit is used up. Returns the count of each limit, as far as it counts for this party. */
    const requireLeft = async (used: readonly ReturnType<typeof ofParties.last>[]): Promise<readonly Count[]> => {
      const counts = used.map((one, index) => {
        const { most } = limited[index]!
        return { count: Math.max(0, most - leftOf(one, most)), leftMs: one.leftMs }
      })
      const over = used.findIndex((one, index) => !mayAdd(one, limited[index]!.most, tokens))
      if (over >= 0) await refuseHeld(limited[over]!, counts[over]!, request, reply, payers.account)
      return counts
    }

    // A refused request takes nothing from others and costs no statement.
    await requireLeft(limited.map(({ limit, subject }) => ofParties.last(limit, subject)))
    if (account !== undefined) await requireTurn(account, request, reply)
    const counts = await requireLeft(
      await Promise.all(limited.map(({ limit, subject }) => ofParties.add(limit, subject, tokens))),
    )
    ofKnownPayers.add(request)
    giveBack(request, reply)
    const turn = account && accounts.enter(account, tokens, () => isGone(request))
    await turn
    // A client that disconnected while it waited gets no work.
    if (turn && isGone(request)) reply.hijack()
    const lefts = limited.map(({ most }, index) => most - counts[index]!.count)
    const tightest = lefts.indexOf(Math.min(...lefts))
    if (tightest < 0) return
    const { count, leftMs } = counts[tightest]!
    sayLeft(reply, limited[tightest]!, { count: count + tokens, leftMs })
  }

  const limitedRefusals = ({ ip }: FastifyRequest) =>
    ({ limit: 'refusals', subject: networkOf(ip), most: rateLimits.refusals }) as const

  return {
    enter,
    /**
     * Takes the tokens of a request from its payers, and returns to the network what it paid for them.
     * @throws HttpError 429, after a while where the account goes on; StorageError `unavailable`, so that no request passes uncounted
     */
    admit: (request: FastifyRequest, reply: FastifyReply, payers: Payers): Promise<void> =>
      takeMore(request, reply, payers, tokensOf(request)),
    takeMore,
    refusals: {
      /** Counts a refused credential. @throws HttpError 429; StorageError `unavailable` */
      async count(request: FastifyRequest, reply: FastifyReply): Promise<void> {
        if (rateLimits.refusals === 0) return
        const limited = limitedRefusals(request)
        const count = await counters.add('refusals', limited.subject)
        sayLeft(reply, limited, count)
        if (count.count > limited.most) refuse(limited, count, request, reply)
      },
      /**
       * Refuses a network that sent too many refused credentials, as far as this host has counted; after a while where it goes on.
       * @throws HttpError 429
       */
      async peek(request: FastifyRequest, reply: FastifyReply): Promise<void> {
        if (rateLimits.refusals === 0) return
        const limited = limitedRefusals(request)
        const last = counters.last('refusals', limited.subject)
        if (last.count >= limited.most) await refuseHeld(limited, last, request, reply)
      },
    },
  }
}

function isGone({ raw }: FastifyRequest): boolean {
  return raw.socket.destroyed
}

function tokensOf(request: FastifyRequest): number {
  return COSTS[request.routeOptions.config.cost ?? 'small'].tokens
}

/** Returns what a request costs its network as if the credential or session that the route needs were missing, which is not known yet. */
function tokensOfNetwork(request: FastifyRequest): number {
  const { needsCredential, needsSession } = request.routeOptions.config
  if (needsCredential) return COSTS.small.tokens
  return needsSession ? Math.min(tokensOf(request), COSTS.page.tokens) : tokensOf(request)
}

/**
 * Tells which requests cost their network nothing. A credential pays itself, and refused ones have a limit: requests of others behind one address
 * must not stop it. To answer a probe costs no more than to refuse it, and a host without an answer is taken out or restarted.
 */
function isFreeForNetwork({ headers, routeOptions: { config } }: FastifyRequest): boolean {
  return config.isProbe === true || (config.needsCredential === true && headers.authorization !== undefined)
}
