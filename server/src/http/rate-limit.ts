/** Rate limits: answers 429 above the limit, and says when the client may try again. */
import rateLimit from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Meters } from '../base/meters.ts'
import type { RateLimits } from '../config/rate-limits.ts'
import { type Count, type Counters, countersInMemory, WINDOW_MS } from './counters.ts'
import { credentialOf, spenderOf } from './credential.ts'
import { HttpError } from './errors.ts'
import type { App } from './instance.ts'
import { networkOf } from './network.ts'

export interface Limiter {
  /** `count` as a hook, with a callback: a promise would cost more than an unlimited one does. */
  readonly onRequest: onRequestHookHandler
  /** Counts this request. @throws HttpError 429; StorageError `unavailable`, so that no request passes uncounted */
  readonly count: Check
  /** Checks without counting. @throws HttpError 429 when the limit is used up, as far as this host has counted */
  readonly peek: Check
}

type Check = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

export type Limiters = Readonly<Record<keyof RateLimits, Limiter>>

type SubjectOf = (request: FastifyRequest) => string

/** What each limit counts. Fastify's option `trustProxy` determines the address of a request. */
const SUBJECTS: Readonly<Record<keyof RateLimits, SubjectOf>> = {
  key: (request) => spenderOf(credentialOf(request)),
  receipts: networkOfRequest,
  log: networkOfRequest,
  refusals: networkOfRequest,
  oauth: networkOfRequest,
  service: networkOfRequest,
}

/** What answers while the database is away is counted on each host by itself. */
const OF_HOST: ReadonlySet<string> = new Set(['service'])

interface LimitersOptions {
  readonly rateLimits: RateLimits
  readonly counters: Counters
  readonly meters: Meters
}

export async function createLimiters(app: App, { rateLimits, counters, meters }: LimitersOptions): Promise<Limiters> {
  const refused = meters.counterOf(
    'requests_refused_total',
    'Requests refused beyond a rate limit, by limit',
    'limit',
    Object.keys(SUBJECTS),
  )
  const ofHost = countersInMemory(Date.now)
  const countersOf = (limiter: string) => (OF_HOST.has(limiter) ? ofHost : counters)
  await app.register(rateLimit, { global: false, timeWindow: WINDOW_MS, store: storeOver(countersOf) })
  const limiters = Object.entries(SUBJECTS).map(([name, subjectOf]) => {
    return [name, createLimiter(app, name, rateLimits[name as keyof RateLimits], subjectOf, () => refused.inc(name))]
  })
  return Object.fromEntries(limiters)
}

/** What a limiter tells. */
export const LIMIT_HEADERS = [
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
]

function networkOfRequest(request: FastifyRequest): string {
  return networkOf(request.ip)
}

function createLimiter(app: App, name: string, max: number, subjectOf: SubjectOf, onRefusal: () => void): Limiter {
  if (max === 0) return UNLIMITED
  const ask = app.createRateLimit({ max, keyGenerator: (request) => `${name} ${subjectOf(request)}` })

  async function check(request: FastifyRequest, reply: FastifyReply, increment: boolean): Promise<void> {
    const asked = await ask(request, { increment })
    if (asked.isAllowed) return
    const { remaining, ttlInSeconds, isExceeded } = asked
    if (!increment && remaining > 0) return
    reply.headers({
      // The fields of draft 6, which most clients know, and the two fields of draft 10.
      'ratelimit-limit': max,
      'ratelimit-remaining': remaining,
      'ratelimit-reset': ttlInSeconds,
      'ratelimit-policy': `"${name}";q=${max};w=${WINDOW_MS / 1000}`,
      ratelimit: `"${name}";r=${remaining};t=${ttlInSeconds}`,
    })
    if (increment && !isExceeded) return
    onRefusal()
    // The id of a key or a grant, or a network.
    request.log.warn({ limit: name, client: subjectOf(request) }, 'a client is over its rate limit')
    reply.header('retry-after', ttlInSeconds)
    throw new HttpError(429, `too many requests: at most ${max} a minute`)
  }

  return {
    onRequest: (request, reply, done) => {
      check(request, reply, true).then(() => done(), done)
    },
    count: (request, reply) => check(request, reply, true),
    peek: (request, reply) => check(request, reply, false),
  }
}

const UNLIMITED: Limiter = {
  onRequest: (_request, _reply, done) => done(),
  count: async () => {},
  peek: async () => {},
}

type Answer = (error: Error | null, result?: { readonly current: number; readonly ttl: number }) => void

/** The library's store over our counters, which count over all hosts. A key is the limiter's name, a space and the subject. */
function storeOver(countersOf: (limiter: string) => Counters) {
  return class CounterStore {
    child(): CounterStore {
      return this
    }

    incr(key: string, done: Answer): void {
      const [limiter, subject] = partsOf(key)
      countersOf(limiter)
        .add(limiter, subject)
        .then((count) => done(null, toResult(count)), done)
    }

    read(key: string, done: Answer): void {
      const [limiter, subject] = partsOf(key)
      done(null, toResult(countersOf(limiter).last(limiter, subject)))
    }
  }
}

function partsOf(key: string): [limiter: string, subject: string] {
  const space = key.indexOf(' ')
  return [key.slice(0, space), key.slice(space + 1)]
}

function toResult({ count, leftMs }: Count) {
  return { current: count, ttl: leftMs }
}
