/**
 * The gate that every request passes before anything works for it. Each route costs tokens, which the network that asks pays. Who is known
 * by a credential or a session pays themselves, and the network nothing.
 */
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Meters } from '../base/meters.ts'
import type { RateLimits } from '../config/rate-limits.ts'
import { leftOf, mayAdd, type Payer } from '../storage/payers.ts'
import { READABLE } from './cors.ts'
import { COSTS } from './costs.ts'
import { type Count, type Counters, countParties, createOwnCounts, type Used, WINDOW_MS, windowOf } from './counters.ts'
import type { Payers } from './credential.ts'
import { HttpError } from './errors.ts'
import { createHold, type Hold } from './hold.ts'
import type { App } from './instance.ts'
import { type Limited, sayLeft, unsayLeft } from './left.ts'
import { networkOf } from './network.ts'
import { createQueue, type Rate } from './queue.ts'

export interface Gate {
  /**
   * Takes the tokens of this request from the network: the first hook of every request, and for those that reach no hook.
   * Resolves later where the network asks for much at once. @throws HttpError 429, after a while where it goes on
   */
  enter(request: FastifyRequest, reply: FastifyReply, address?: string): Promise<void> | undefined
  /**
   * Takes the tokens of this request from who asks, and returns to the network what it paid for them.
   * @throws HttpError 429, after a while where the account goes on; StorageError `unavailable`, so that no request passes uncounted
   */
  admit(request: FastifyRequest, reply: FastifyReply, payers: Payers): Promise<void>
  /** Takes more tokens, of a request that turned out to cost more. @throws as `admit` does */
  takeMore(request: FastifyRequest, reply: FastifyReply, payers: Payers, tokens: number): Promise<void>
  readonly refusals: {
    /** Counts a refused credential. @throws HttpError 429; StorageError `unavailable` */
    count(request: FastifyRequest, reply: FastifyReply): Promise<void>
    /** @throws HttpError 429 when the limit is used up, as far as this host has counted; after a while where the network goes on */
    peek(request: FastifyRequest, reply: FastifyReply): Promise<void>
  }
}

interface GateOptions {
  readonly rateLimits: RateLimits
  readonly counters: Counters
  readonly meters: Meters
}

type Limit = keyof RateLimits

/** What a network paid for a request before it was known who asks. */
interface Paid {
  readonly network: string
  readonly tokens: number
  /** When it paid. */
  readonly at: Instant
}

const REFUSED_HELP = 'Requests refused beyond a rate limit, by limit'
const LIMITS: readonly Limit[] = ['network', 'key', 'workspace', 'account', 'refusals']

/** Call it once headers and addresses are known, and before the routes are declared. */
export function openGate(app: App, { rateLimits, counters, meters }: GateOptions): Gate {
  const own = createOwnCounts(Date.now)
  const hold = createHold(own)
  const queue = createQueue()
  const rates = { network: networkRate(rateLimits.network), account: accountRate(rateLimits.account) }
  const ofParties = countParties(counters)
  const paid = new WeakMap<FastifyRequest, Paid>()
  const refused = meters.counterOf('requests_refused_total', REFUSED_HELP, 'limit', LIMITS)
  const { refuse, refuseHeld } = refusing(refused.inc, hold)

  function enter(request: FastifyRequest, reply: FastifyReply, address = request.ip): Promise<void> | undefined {
    if (rateLimits.network === 0 || isFreeForNetwork(request)) return undefined
    const network = networkOf(address)
    const limited = { limit: 'network', subject: network, most: rateLimits.network } as const
    const tokens = tokensOfNetwork(request)
    const before = own.last('network', network)
    if (!mayAdd({ all: before.count, own: before.count, parties: 1 }, limited.most, tokens)) {
      // It depends on nothing that another site must not know, and a script that is to wait has to read it.
      reply.headers(READABLE)
      return refuseHeld(limited, before, request, reply)
    }
    sayLeft(reply, limited, own.add('network', network, tokens))
    paid.set(request, { network, tokens, at: Date.now() })
    if (tokens === COSTS.small.tokens) return undefined
    return queue.enter(network, tokens, rates.network, () => request.raw.destroyed)
  }

  enterFirst(app, enter)

  function giveBack(request: FastifyRequest, reply: FastifyReply): void {
    const payment = paid.get(request)
    if (!payment) return
    paid.delete(request)
    const { network, tokens, at } = payment
    unsayLeft(reply)
    if (tokens !== COSTS.small.tokens) queue.giveBack(network, tokens, rates.network)
    if (windowOf(Date.now()) !== windowOf(at)) return
    // Where many networks ask, the counts of some are dropped.
    own.add('network', network, -Math.min(tokens, own.last('network', network).count))
  }

  /** @throws HttpError 429 for a request that would wait for longer than clients do */
  async function requireTurn(account: Payer, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const waitsTooLong = () => queue.expected(account, rates.account) > LONGEST_WAIT_MS
    if (!waitsTooLong()) return
    refused.inc('account')
    request.log.warn({ limit: 'account', client: account }, 'a client asks for too much at once')
    await hold(account, request.raw.socket)
    const seconds = Math.max(1, Math.ceil(queue.expected(account, rates.account) / 1000))
    reply.header('retry-after', seconds)
    throw new HttpError(429, `too many requests of your account wait for their turn: try again in ${seconds} seconds`)
  }

  async function take(payers: Payers, tokens: number, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const limited = limitsOf(payers, rateLimits)
    const account = rateLimits.account > 0 ? payers.account : undefined
    // What is refused takes nothing from the others, and costs no statement.
    for (const one of limited) {
      const last = ofParties.last(one.limit, one.subject)
      if (!mayAdd(last, one.most, tokens)) await refuseHeld(one, countOf(one, last), request, reply, payers.account)
    }
    if (account !== undefined) await requireTurn(account, request, reply)
    const before = await Promise.all(limited.map(({ limit, subject }) => ofParties.add(limit, subject, tokens)))
    const taken = limited.map((one, index) => ({ one, used: before[index]!, count: countOf(one, before[index]!) }))
    const over = taken.find(({ one, used }) => !mayAdd(used, one.most, tokens))
    if (over) await refuseHeld(over.one, over.count, request, reply, payers.account)
    giveBack(request, reply)
    const turn = account === undefined ? undefined : queue.enter(account, tokens, rates.account, () => isGone(request))
    await turn
    // Who has gone while it waited gets no work.
    if (turn && isGone(request)) reply.hijack()
    const [tightest] = taken.toSorted((a, b) => a.one.most - a.count.count - (b.one.most - b.count.count))
    if (tightest) sayLeft(reply, tightest.one, { ...tightest.count, count: tightest.count.count + tokens })
  }

  return {
    enter,
    admit: (request, reply, payers) => take(payers, tokensOf(request), request, reply),
    takeMore: (request, reply, payers, tokens) => take(payers, tokens, request, reply),
    refusals: {
      async count(request, reply) {
        if (rateLimits.refusals === 0) return
        const network = networkOf(request.ip)
        const count = await counters.add('refusals', network)
        const limited = { limit: 'refusals', subject: network, most: rateLimits.refusals } as const
        sayLeft(reply, limited, count)
        if (count.count > limited.most) refuse(limited, count, request, reply)
      },
      async peek(request, reply) {
        if (rateLimits.refusals === 0) return
        const network = networkOf(request.ip)
        const last = counters.last('refusals', network)
        const limited = { limit: 'refusals', subject: network, most: rateLimits.refusals } as const
        if (last.count >= limited.most) await refuseHeld(limited, last, request, reply)
      },
    },
  }
}

/** Refuses beyond limits. */
function refusing(countRefusal: (limit: Limit) => void, hold: Hold) {
  function refuse(limited: Limited, count: Count, request: FastifyRequest, reply: FastifyReply): never {
    const { limit, subject, most } = limited
    countRefusal(limit)
    request.log.warn({ limit, client: subject }, 'a client is over its rate limit')
    sayLeft(reply, limited, count)
    reply.header('retry-after', Math.ceil(count.leftMs / 1000))
    throw new HttpError(429, `too many requests: at most ${most} ${UNITS[limit]} a minute`)
  }

  /** Refuses after a while where the client goes on. What is left is what is left then. */
  async function refuseHeld(
    limited: Limited,
    { count, leftMs }: Count,
    request: FastifyRequest,
    reply: FastifyReply,
    client: string = limited.subject,
  ): Promise<never> {
    const end = Date.now() + leftMs
    await hold(client, request.raw.socket)
    return refuse(limited, { count, leftMs: Math.max(1, end - Date.now()) }, request, reply)
  }

  return { refuse, refuseHeld }
}

function enterFirst(app: App, enter: Gate['enter']): void {
  app.addHook('onRequest', (request, reply, done) => {
    const entered = enter(request, reply)
    // Who has gone while it waited gets no work.
    if (entered) entered.then(() => (request.raw.destroyed ? reply.hijack() : done()), done)
    else done()
  })
}

/** Several visits to a page. */
const LEAST_AT_ONCE = 300
/** Clients and proxies give up later than this. */
const LONGEST_WAIT_MS = 20_000

/** A tenth of the tokens in a second. */
function networkRate(limit: number): Rate {
  return { tokensPerMs: Math.max(limit / 10, LEAST_AT_ONCE) / 1000, atOnceMs: 1000 }
}

/** Those of a minute over the minute; of two seconds at once. */
function accountRate(limit: number): Rate {
  const tokensPerMs = limit / WINDOW_MS
  return { tokensPerMs, atOnceMs: Math.max(2000, LEAST_AT_ONCE / tokensPerMs) }
}

function isGone({ raw }: FastifyRequest): boolean {
  return raw.socket.destroyed
}

/** Those that are on. */
function limitsOf(payers: Payers, rateLimits: RateLimits): readonly Limited[] {
  return (Object.entries(payers) as [keyof Payers, string][])
    .filter(([limit]) => rateLimits[limit] > 0)
    .map(([limit, subject]) => ({ limit, subject, most: rateLimits[limit] }))
}

/** What counts of the limit for this party. */
function countOf({ most }: Limited, used: Used): Count {
  return { count: Math.max(0, most - leftOf(used, most)), leftMs: used.leftMs }
}

const UNITS: Readonly<Record<Limit, string>> = {
  network: 'tokens',
  key: 'tokens',
  workspace: 'tokens',
  account: 'tokens',
  refusals: 'refused credentials',
}

function tokensOf(request: FastifyRequest): number {
  return COSTS[request.routeOptions.config.cost ?? 'small'].tokens
}

/** What the answer costs where the credential or the session that the route needs is missing, which is not known yet. */
function tokensOfNetwork(request: FastifyRequest): number {
  const { needsCredential, needsSession } = request.routeOptions.config
  if (needsCredential) return COSTS.small.tokens
  return needsSession ? Math.min(tokensOf(request), COSTS.page.tokens) : tokensOf(request)
}

/**
 * A credential pays, and those that are refused have a limit: what others behind one address use up must not stop it. To answer a probe
 * costs no more than to refuse it, and a host without an answer is taken out or restarted.
 */
function isFreeForNetwork({ headers, routeOptions: { config } }: FastifyRequest): boolean {
  return config.isProbe === true || (config.needsCredential === true && headers.authorization !== undefined)
}
