/** Where our pages are, for those who read them. */
import { parseUrl } from '@claimcheck/core'
import type { FastifyRequest } from 'fastify'
import { HttpError } from '../http/errors.ts'

/** The origin of our pages, as the browser of this request names it. @throws HttpError 400 */
export function originOf(request: FastifyRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return new URL(publicUrl).origin
  const origin = `${request.protocol}://${request.host}`
  if (!parseUrl(origin)) throw new HttpError(400, 'the Host header names no host')
  return origin
}
