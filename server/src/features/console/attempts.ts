/** Limits steps of signing in a minute from one network: those that hold no guess at a secret of an account. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Counters } from '../../http/counters.ts'
import { HttpError } from '../../http/errors.ts'
import { networkOf } from '../../http/network.ts'

/** Counts an attempt. @throws HttpError 429; StorageError `unavailable`: no attempt goes uncounted */
type CountAttempt = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/**
 * @param most attempts a minute; 0: no limit
 * @param limiter those of one name are counted together
 */
export function limitAttempts(counters: Counters, most: number, limiter = 'sign_in'): CountAttempt {
  return async (request, reply) => {
    if (most === 0) return
    const { count, leftMs } = await counters.add(limiter, networkOf(request.ip))
    if (count <= most) return
    reply.header('retry-after', Math.ceil(leftMs / 1000))
    throw new HttpError(429, `too many attempts: at most ${most} a minute. Try again in a minute`)
  }
}
