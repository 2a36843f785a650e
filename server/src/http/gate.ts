/**
 * The gate that every request passes before anything works for it. Each route costs tokens, which the network that asks pays. Who is known
 * by a credential or a session pays themselves, and the network nothing.
 */
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Meters } from '../base/meters.ts'
import type { RateLimits } from '../config/rate-limits.ts'
import { partOf, takersOf } from '../storage/payers.ts'
import { READABLE } from './cors.ts'
import { COSTS } from './costs.ts'
import { type Count, type Counters, createOwnCounts, type OwnCounts, WINDOW_MS } from './counters.ts'
import type { Payers } from './credential.ts'
import { HttpError } from './errors.ts'
import type { App } from './instance.ts'
import { networkOf } from './network.ts'

export interface Gate {
  /**
   * Takes the tokens of this request from the network: the first hook of every request, and for those that reach no hook.
   * Resolves later where the network asks for much at once. @throws HttpError 429, after a while where it goes on
   */
  enter(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined
  /**
   * Takes the tokens of this request from who asks, and returns to the network what it paid for them.
   * @throws HttpError 429; StorageError `unavailable`, so that no request passes uncounted
   */
  admit(request: FastifyRequest, reply: FastifyReply, payers: Payers): Promise<void>
  /** Takes the tokens of this request as often again. @throws as `admit` does */
  takeMore(request: FastifyRequest, reply: FastifyReply, payers: Payers, times: number): Promise<void>
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

interface Limited {
  readonly limit: Limit
  readonly subject: string
  readonly most: number
}

const LIMITS: readonly Limit[] = ['network', 'key', 'workspace', 'account', 'refusals']
/** So many refusals in a minute a network gets at once. Each further one is held, so that asking at full speed costs the host little. */
const REFUSED_AT_ONCE = 100
/** Several visits to a page. */
const LEAST_AT_ONCE = 300
const HELD_MS = { least: 1000, most: 3000 }
const MOST_HELD = 1000

/** Call it once headers and addresses are known, and before the routes are declared. */
export function openGate(app: App, { rateLimits, counters, meters }: GateOptions): Gate {
  const own = createOwnCounts(Date.now)
  const hold = createHold(own)
  const pace = createPace(own, rateLimits.network)
  const refused = meters.counterOf(
    'requests_refused_total',
    'Requests refused beyond a rate limit, by limit',
    'limit',
    LIMITS,
  )

  function refuse({ limit, subject, most }: Limited, count: Count, request: FastifyRequest, reply: FastifyReply) {
    refused.inc(limit)
    // The id of a key, grant, workspace or account, or a network.
    request.log.warn({ limit, client: subject }, 'a client is over its rate limit')
    sayLeft(reply, limit, most, count)
    reply.header('retry-after', Math.ceil(count.leftMs / 1000))
    return new HttpError(429, `too many requests: at most ${most} ${UNITS[limit]} a minute`)
  }

  function enter(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    if (rateLimits.network === 0 || isFreeForNetwork(request)) return undefined
    const network = networkOf(request.ip)
    const tokens = tokensOfNetwork(request)
    const problem = takeOfNetwork(network, tokens, request, reply)
    if (!problem) {
      const waitMs = tokens === COSTS.small.tokens ? 0 : pace(network, tokens)
      return waitMs === 0 ? undefined : setTimeout(waitMs)
    }
    // It depends on nothing that another site must not know, and a script that is to wait has to read it.
    reply.headers(READABLE)
    return hold(network, request.raw.socket).then(() => Promise.reject(problem))
  }

  app.addHook('onRequest', (request, reply, done) => {
    const entered = enter(request, reply)
    // Who has gone while it waited gets no work.
    if (entered) entered.then(() => (request.raw.destroyed ? reply.hijack() : done()), done)
    else done()
  })

  function takeOfNetwork(
    network: string,
    tokens: number,
    request: FastifyRequest,
    reply: FastifyReply,
  ): HttpError | undefined {
    const limited = { limit: 'network', subject: network, most: rateLimits.network } as const
    const before = own.last('network', network)
    if (isBeyond(before.count + tokens, tokens, limited.most)) return refuse(limited, before, request, reply)
    sayLeft(reply, 'network', limited.most, own.add('network', network, tokens))
    return undefined
  }

  async function take(payers: Payers, tokens: number, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const limited = limitsOf(payers, rateLimits)
    // What is used up already takes nothing from the others, and costs no statement.
    for (const one of limited) {
      const last = counters.last(one.limit, one.subject)
      if (last.count >= one.most) throw refuse(one, last, request, reply)
    }
    const counts = await Promise.all(limited.map(({ limit, subject }) => counters.add(limit, subject, tokens)))
    const taken = limited.map((one, index) => ({ ...one, count: counts[index]! }))
    const [tightest] = taken.toSorted((one, other) => one.most - one.count.count - (other.most - other.count.count))
    if (!tightest) return
    const { limit, most, count } = tightest
    if (isBeyond(count.count, tokens, most)) throw refuse(tightest, count, request, reply)
    sayLeft(reply, limit, most, count)
  }

  return {
    enter,
    async admit(request, reply, payers) {
      await take(payers, tokensOf(request), request, reply)
      if (rateLimits.network > 0) giveBack(own, request)
    },
    takeMore: (request, reply, payers, times) => take(payers, times * tokensOf(request), request, reply),
    refusals: {
      async count(request, reply) {
        if (rateLimits.refusals === 0) return
        const network = networkOf(request.ip)
        const count = await counters.add('refusals', network)
        const limited = { limit: 'refusals', subject: network, most: rateLimits.refusals } as const
        if (count.count > limited.most) throw refuse(limited, count, request, reply)
        sayLeft(reply, 'refusals', limited.most, count)
      },
      async peek(request, reply) {
        if (rateLimits.refusals === 0) return
        const network = networkOf(request.ip)
        const last = counters.last('refusals', network)
        const limited = { limit: 'refusals', subject: network, most: rateLimits.refusals } as const
        if (last.count < limited.most) return
        const problem = refuse(limited, last, request, reply)
        await hold(network, request.raw.socket)
        throw problem
      },
    },
  }
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

/** A route that needs a credential refuses one that has none at once. */
function tokensOfNetwork(request: FastifyRequest): number {
  return request.routeOptions.config.needsCredential ? COSTS.small.tokens : tokensOf(request)
}

function giveBack(own: OwnCounts, request: FastifyRequest): void {
  if (isFreeForNetwork(request)) return
  const network = networkOf(request.ip)
  // The minute may have turned since it paid.
  own.add('network', network, -Math.min(tokensOf(request), own.last('network', network).count))
}

/**
 * A credential pays, and those that are refused have a limit: what others behind one address use up must not stop it. To answer a probe
 * costs no more than to refuse it, and a host without an answer is taken out or restarted.
 */
function isFreeForNetwork({ headers, routeOptions: { config } }: FastifyRequest): boolean {
  return config.isProbe === true || (config.needsCredential === true && headers.authorization !== undefined)
}

function sayLeft(reply: FastifyReply, limit: Limit, max: number, { count, leftMs }: Count): void {
  const left = Math.max(0, max - count)
  const seconds = Math.ceil(leftMs / 1000)
  reply.headers({
    // The fields of draft 6, which most clients know, and the two fields of draft 10.
    'ratelimit-limit': max,
    'ratelimit-remaining': left,
    'ratelimit-reset': seconds,
    'ratelimit-policy': `"${limit}";q=${max};w=${WINDOW_MS / 1000}`,
    ratelimit: `"${limit}";r=${left};t=${seconds}`,
  })
}

/**
 * Spreads what a network asks for at once, so that requests of others come in between: beyond a tenth of its tokens in one second, they
 * wait for the seconds after it. Returns for how long.
 */
function createPace(own: OwnCounts, limit: number) {
  const atOnce = Math.max(limit / 10, LEAST_AT_ONCE)

  return (network: string, tokens: number): number => {
    const second = Math.floor(Date.now() / 1000)
    const later = Math.floor((own.add('at_once', `${network} ${second}`, tokens).count - 1) / atOnce)
    return later === 0 ? 0 : 1000 * (later - 1 + Math.random())
  }
}

/** Who has used nothing in this minute gets one request, also of a class that costs more than the limit. */
function isBeyond(count: number, tokens: number, limit: number): boolean {
  return count > limit && count > tokens
}

/** Holds a refusal back, so that a client that asks at full speed does so every other second on each of its connections. */
function createHold(own: OwnCounts) {
  const held = new WeakSet<Socket>()
  let count = 0

  return async (network: string, socket: Socket): Promise<void> => {
    if (own.add('refused', network).count <= REFUSED_AT_ONCE) return
    if (held.has(socket)) {
      // It sends requests without waiting for answers.
      socket.destroy()
      return
    }
    if (count >= MOST_HELD) return
    held.add(socket)
    count++
    socket.pause()
    // At different times, or all that one network has open would be answered at once.
    await setTimeout(HELD_MS.least + Math.random() * (HELD_MS.most - HELD_MS.least))
    socket.resume()
    held.delete(socket)
    count--
  }
}
