/** Limits the number of sign-in steps in a minute from one network, for steps that hold no guess at a secret of an account. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Counters } from '../../http/counters.ts'
import { HttpError } from '../../http/errors.ts'
import { networkOf } from '../../http/network.ts'

/** Counts an attempt. @throws HttpError 429; StorageError `unavailable`: no attempt goes uncounted */
type CountAttempt = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/**
 * Makes a function that counts attempts.
 * @param most the most attempts a minute; 0 is no limit
 * @param limiter the name under which attempts are counted together
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
