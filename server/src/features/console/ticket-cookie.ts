/** The cookie that holds a ticket between two steps of signing in. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { cookieName, cookieOptions } from './session.ts'

/** The lifetime of the cookie, as no ticket lasts longer. */
const LASTS_SECONDS = 600

export function ticketCookie(name: 'passkey' | 'outside' | 'code', publicUrl: string | undefined) {
  const fullName = cookieName(publicUrl, `-${name}`)
  const options = cookieOptions(publicUrl)
  return {
    give(reply: FastifyReply, ticket: string): void {
      reply.setCookie(fullName, ticket, { ...options, maxAge: LASTS_SECONDS })
    },
    /** Takes the ticket from the cookie, which the answer deletes. */
    take(request: FastifyRequest, reply: FastifyReply): string | undefined {
      reply.clearCookie(fullName, options)
      return request.cookies[fullName]
    },
  }
}
