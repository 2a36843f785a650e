/** The cookie that a browser carries a ticket in, from the step that issues it to the one that takes it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { cookieName, cookieOptions } from './session.ts'

export interface TicketCookie {
  give(reply: FastifyReply, ticket: string): void
  /** Gone with this answer. */
  take(request: FastifyRequest, reply: FastifyReply): string | undefined
}

/** As long as the longest ticket. */
const LASTS_SECONDS = 600

export function ticketCookie(name: 'passkey' | 'outside', publicUrl: string | undefined): TicketCookie {
  const fullName = cookieName(publicUrl, `-${name}`)
  const options = cookieOptions(publicUrl)
  return {
    give(reply, ticket) {
      reply.setCookie(fullName, ticket, { ...options, maxAge: LASTS_SECONDS })
    },
    take(request, reply) {
      reply.clearCookie(fullName, options)
      return request.cookies[fullName]
    },
  }
}
