/** Request limits: who has asked too much within a minute is told when to come back. */
import rateLimit, { type RateLimitOptions } from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { credentialOf } from './credential.ts'
import { HttpError } from './errors.ts'
import type { App } from './instance.ts'

/** Requests a minute. 0: no limit. */
export interface RateLimits {
  /** Of one key, on the routes that need one. */
  readonly key: number
  /** Of one address, on receipts. */
  readonly receipts: number
  /** Of one address, on the log and the key document. */
  readonly log: number
  /** Of one address with a credential that was refused. After that, none of its credentials is looked at. */
  readonly refusals: number
}

export const DEFAULT_RATE_LIMITS: RateLimits = { key: 600, receipts: 120, log: 300, refusals: 30 }

export interface Limiter {
  /** Counts this request. @throws HttpError 429 */
  readonly count: Step
  /** Counts nothing. @throws HttpError 429 when nothing is left */
  readonly peek: Step
}

type Step = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

export type Limiters = Readonly<Record<keyof RateLimits, Limiter>>

const WINDOW_MS = 60_000
// For each limiter. Pushing a counter out takes more addresses than this, which together may ask more than we can answer.
const MOST_COUNTERS = 20_000

/** Addresses are counted as Fastify's `trustProxy` tells them; IPv6 ones by their /64, which one host has to itself. */
export async function createLimiters(app: App, limits: RateLimits): Promise<Limiters> {
  await app.register(rateLimit, { global: false })
  return {
    key: createLimiter(app, 'key', limits.key, (request) => credentialOf(request).keyId),
    receipts: createLimiter(app, 'receipts', limits.receipts),
    log: createLimiter(app, 'log', limits.log),
    refusals: createLimiter(app, 'refusals', limits.refusals),
  }
}

function createLimiter(
  app: App,
  name: keyof RateLimits,
  max: number,
  keyGenerator?: (request: FastifyRequest) => string,
): Limiter {
  if (max === 0) return UNLIMITED
  const options: RateLimitOptions = {
    max,
    timeWindow: WINDOW_MS,
    cache: MOST_COUNTERS,
    ipv6Subnet: 64,
    ...(keyGenerator ? { keyGenerator } : {}),
  }
  const apply = app.createRateLimit(options)

  function tell(reply: FastifyReply, remaining: number, seconds: number): void {
    reply.headers({
      // Draft 6, which most clients know, and the two fields of draft 10.
      'ratelimit-limit': max,
      'ratelimit-remaining': remaining,
      'ratelimit-reset': seconds,
      'ratelimit-policy': `"${name}";q=${max};w=${WINDOW_MS / 1000}`,
      ratelimit: `"${name}";r=${remaining};t=${seconds}`,
    })
  }

  async function run(request: FastifyRequest, reply: FastifyReply, increment: boolean): Promise<void> {
    const state = await apply(request, { increment })
    if (state.isAllowed) return
    const isOver = increment ? state.isExceeded : state.remaining === 0
    if (increment || isOver) tell(reply, state.remaining, state.ttlInSeconds)
    if (!isOver) return
    reply.header('retry-after', Math.max(1, state.ttlInSeconds))
    throw new HttpError(429, `too many requests: at most ${max} a minute`)
  }

  return {
    count: (request, reply) => run(request, reply, true),
    peek: (request, reply) => run(request, reply, false),
  }
}

const UNLIMITED: Limiter = { count: async () => {}, peek: async () => {} }
