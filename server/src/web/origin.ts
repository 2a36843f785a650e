/** The public origin of this service. */
import { parseUrl } from '@claimcheck/core/plugin'
import type { FastifyRequest } from 'fastify'
import { HttpError } from '../http/errors.ts'

const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i

/**
 * Finds the origin of our pages, as the browser of this request names it.
 * @throws HttpError 400
 */
export function originOf(request: FastifyRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return new URL(publicUrl).origin
  const origin = `${request.protocol}://${request.host}`
  // People copy the origin into their pages within texts: a quote or a bracket would end the link there.
  if (!HOST.test(request.host) || !parseUrl(origin)) throw new HttpError(400, 'the Host header names no host')
  return origin
}
