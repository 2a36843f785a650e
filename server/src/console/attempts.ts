/** Limits attempts to sign in: per minute from one network, and per minute for one account. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Counters } from '../hosts/counters.ts'
import { HttpError } from '../http/errors.ts'
import { networkOf } from '../http/network.ts'

export interface Attempts {
  /** Counts an attempt. @throws HttpError 429; StorageError `unavailable`: no attempt goes uncounted */
  count(request: FastifyRequest, reply: FastifyReply, account?: string): Promise<void>
}

const LONGEST_SUBJECT = 254

/** @param most attempts a minute; 0: no limit */
export function createAttempts(counters: Counters, most: number): Attempts {
  return {
    async count(request, reply, account) {
      if (most === 0) return
      const subjects = [`from ${networkOf(request.ip)}`]
      if (account !== undefined) subjects.push(`to ${account.trim().toLowerCase().slice(0, LONGEST_SUBJECT)}`)
      for (const subject of subjects) {
        const { count, leftMs } = await counters.add('sign_in', subject)
        if (count <= most) continue
        reply.header('retry-after', Math.ceil(leftMs / 1000))
        throw new HttpError(429, `too many attempts: at most ${most} a minute. Try again in a minute`)
      }
    },
  }
}
