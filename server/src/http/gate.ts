/**
 * The gate that every request passes before anything works for it. Each route costs tokens, which the network that asks pays. Who is known
 * by a credential or a session pays themselves, and the network nothing.
 */
import { setTimeout } from 'node:timers/promises'
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Meters } from '../base/meters.ts'
import type { RateLimits } from '../config/rate-limits.ts'
import { partOf, takersOf } from '../storage/payers.ts'
import { READABLE } from './cors.ts'
import { COSTS } from './costs.ts'
import { type Count, type Counters, createOwnCounts, windowOf } from './counters.ts'
import type { Payers } from './credential.ts'
import { HttpError } from './errors.ts'
import type { App } from './instance.ts'
import { type Limited, sayLeft, unsayLeft } from './left.ts'
import { networkOf } from './network.ts'
import { createHold, createPace, createTurns } from './pace.ts'

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
  const pace = createPace(own, rateLimits.network)
  const paid = new WeakMap<FastifyRequest, Paid>()
  const refused = meters.counterOf('requests_refused_total', REFUSED_HELP, 'limit', LIMITS)
  const turns = createTurns(rateLimits.account, hold, () => refused.inc('account'))

  function refuse(limited: Limited, count: Count, request: FastifyRequest, reply: FastifyReply): never {
    const { limit, subject, most } = limited
    refused.inc(limit)
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

  function enter(request: FastifyRequest, reply: FastifyReply, address = request.ip): Promise<void> | undefined {
    if (rateLimits.network === 0 || isFreeForNetwork(request)) return undefined
    const network = networkOf(address)
    const limited = { limit: 'network', subject: network, most: rateLimits.network } as const
    const tokens = tokensOfNetwork(request)
    const before = own.last('network', network)
    if (isBeyond(before.count + tokens, tokens, limited.most)) {
      // It depends on nothing that another site must not know, and a script that is to wait has to read it.
      reply.headers(READABLE)
      return refuseHeld(limited, before, request, reply)
    }
    sayLeft(reply, limited, own.add('network', network, tokens))
    const now = Date.now()
    paid.set(request, { network, tokens, at: now })
    const waitMs = pace.take(network, tokens, now)
    return waitMs === 0 ? undefined : setTimeout(waitMs)
  }

  enterFirst(app, enter)

  function giveBack(request: FastifyRequest, reply: FastifyReply): void {
    const payment = paid.get(request)
    if (!payment) return
    paid.delete(request)
    const { network, tokens, at } = payment
    unsayLeft(reply)
    if (windowOf(Date.now()) !== windowOf(at)) return
    // Where many networks ask, the counts of some are dropped.
    own.add('network', network, -Math.min(tokens, own.last('network', network).count))
    pace.giveBack(network, tokens, at)
  }

  async function take(payers: Payers, tokens: number, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const limited = limitsOf(payers, rateLimits)
    const { account } = payers
    // What is refused takes nothing from the others, and costs no statement.
    for (const one of limited) {
      const last = counters.last(one.limit, one.subject)
      if (isBeyond(last.count + tokens, tokens, one.most)) await refuseHeld(one, last, request, reply, account)
    }
    if (account !== undefined) await turns.require(account, request, reply)
    const counts = await Promise.all(limited.map(({ limit, subject }) => counters.add(limit, subject, tokens)))
    const taken = limited.map((one, index) => ({ one, count: counts[index]! }))
    const [tightest] = taken.toSorted((a, b) => a.one.most - a.count.count - (b.one.most - b.count.count))
    const { one, count } = tightest ?? {}
    if (one && isBeyond(count!.count, tokens, one.most)) await refuseHeld(one, count!, request, reply, account)
    giveBack(request, reply)
    if (account !== undefined) await turns.take(account, tokens, request, reply)
    if (one) sayLeft(reply, one, count!)
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

function enterFirst(app: App, enter: Gate['enter']): void {
  app.addHook('onRequest', (request, reply, done) => {
    const entered = enter(request, reply)
    // Who has gone while it waited gets no work.
    if (entered) entered.then(() => (request.raw.destroyed ? reply.hijack() : done()), done)
    else done()
  })
}

/** Those that are on. Of an account with its parts; the ids of keys and workspaces have none. */
function limitsOf(payers: Payers, rateLimits: RateLimits): readonly Limited[] {
  return (Object.entries(payers) as [keyof Payers, string][])
    .filter(([limit]) => rateLimits[limit] > 0)
    .flatMap(([limit, payer]) =>
      takersOf(payer).map((taker) => ({ limit, subject: taker.name, most: partOf(rateLimits[limit], taker) })),
    )
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

/** Who has used nothing in this minute gets one request, also of a class that costs more than the limit. */
function isBeyond(count: number, tokens: number, limit: number): boolean {
  return count > limit && count > tokens
}
