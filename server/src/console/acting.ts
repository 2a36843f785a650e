/** Who does what a request of the console asks for: the user of its session, or nobody. */
import type { FastifyRequest } from 'fastify'
import { type Acting, byNobody, byUser } from '../base/actor.ts'
import { optionalSessionOf } from './session.ts'

export function actingOf(request: FastifyRequest): Acting {
  const session = optionalSessionOf(request)
  return session ? byUser(session.user.id, request.ip) : byNobody(request.ip)
}
