/** Reads the number after which a client goes on. */
import type { FastifyRequest } from 'fastify'
import { HttpError } from '../../http/errors.ts'

/**
 * Reads the header that clients of streams send when they connect again.
 * @throws HttpError 400 for one that is no number of ours
 */
export function lastEventId({ headers: { 'last-event-id': text } }: FastifyRequest): number | undefined {
  if (text === undefined || text === '') return undefined
  const number = Number(text)
  if (typeof text === 'string' && /^\d{1,16}$/.test(text) && Number.isSafeInteger(number)) return number
  throw new HttpError(400, 'Last-Event-ID must be the id of an event: leave it out to listen from now on')
}
