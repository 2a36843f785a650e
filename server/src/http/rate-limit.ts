/** Rate limits: answers 429 above the limit, and says when the client may try again. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RateLimits } from '../config/rate-limits.ts'
import { type Count, type Counters, WINDOW_MS } from '../hosts/counters.ts'
import { type Credential, credentialOf } from './credential.ts'
import { HttpError } from './errors.ts'
import { networkOf } from './network.ts'

export interface Limiter {
  /** Counts this request. @throws HttpError 429; StorageError `unavailable`, so that no request passes uncounted */
  readonly count: Check
  /** Checks without counting. @throws HttpError 429 when the limit is used up, as far as this host has counted */
  readonly peek: Check
}

type Check = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

export type Limiters = Readonly<Record<keyof RateLimits, Limiter>>

/** Fastify's option `trustProxy` determines the address of a request. */
export function createLimiters(limits: RateLimits, counters: Counters): Limiters {
  const byAddress = (request: FastifyRequest) => networkOf(request.ip)
  return {
    key: createLimiter('key', limits.key, counters, (request) => subjectOf(credentialOf(request))),
    receipts: createLimiter('receipts', limits.receipts, counters, byAddress),
    log: createLimiter('log', limits.log, counters, byAddress),
    refusals: createLimiter('refusals', limits.refusals, counters, byAddress),
    oauth: createLimiter('oauth', limits.oauth, counters, byAddress),
  }
}

/** Counts tokens by their grant, so that a client gains nothing by asking for new tokens. */
function subjectOf(credential: Credential): string {
  return credential.kind === 'key' ? credential.keyId : credential.grantId
}

function createLimiter(
  name: keyof RateLimits,
  max: number,
  counters: Counters,
  subject: (request: FastifyRequest) => string,
): Limiter {
  if (max === 0) return UNLIMITED

  function setLimitHeaders(reply: FastifyReply, { count, leftMs }: Count): void {
    const remaining = Math.max(0, max - count)
    const seconds = toSeconds(leftMs)
    reply.headers({
      // The fields of draft 6, which most clients know, and the two fields of draft 10.
      'ratelimit-limit': max,
      'ratelimit-remaining': remaining,
      'ratelimit-reset': seconds,
      'ratelimit-policy': `"${name}";q=${max};w=${WINDOW_MS / 1000}`,
      ratelimit: `"${name}";r=${remaining};t=${seconds}`,
    })
  }

  function refuse(reply: FastifyReply, { leftMs }: Count): never {
    reply.header('retry-after', toSeconds(leftMs))
    throw new HttpError(429, `too many requests: at most ${max} a minute`)
  }

  return {
    async count(request, reply) {
      const counted = await counters.add(name, subject(request))
      setLimitHeaders(reply, counted)
      if (counted.count > max) refuse(reply, counted)
    },
    async peek(request, reply) {
      const counted = counters.last(name, subject(request))
      if (counted.count < max) return
      setLimitHeaders(reply, counted)
      refuse(reply, counted)
    },
  }
}

const UNLIMITED: Limiter = { count: async () => {}, peek: async () => {} }

function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000)
}
