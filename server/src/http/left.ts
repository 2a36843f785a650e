/** Header fields that tell clients of a rate limit: how much is left, and until when. */
import type { FastifyReply } from 'fastify'
import type { RateLimits } from '../config/limits.ts'
import { type Count, WINDOW_MS } from './counters.ts'

/** Rate-limit fields of draft 6, which most clients know, and the two fields of draft 10. */
const FIELDS = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'ratelimit-policy', 'ratelimit'] as const
type Field = (typeof FIELDS)[number]

export interface Limited {
  readonly limit: keyof RateLimits
  /** The limited party: the id of a key, grant, workspace or account, or a network. */
  readonly subject: string
  readonly most: number
}

export function sayLeft(reply: FastifyReply, { limit, most }: Limited, { count, leftMs }: Count): void {
  const left = Math.max(0, most - count)
  const seconds = Math.ceil(leftMs / 1000)
  const fields: Readonly<Record<Field, string | number>> = {
    'ratelimit-limit': most,
    'ratelimit-remaining': left,
    'ratelimit-reset': seconds,
    'ratelimit-policy': `"${limit}";q=${most};w=${WINDOW_MS / 1000}`,
    ratelimit: `"${limit}";r=${left};t=${seconds}`,
  }
  reply.headers(fields)
}

/** Removes the fields of a limit that the request did not count against after all. */
export function unsayLeft(reply: FastifyReply): void {
  for (const name of FIELDS) reply.removeHeader(name)
}
