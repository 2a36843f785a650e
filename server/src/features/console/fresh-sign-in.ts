/**
 * What changes who can get in, or which destination is believed, needs a sign-in of the last ten minutes, so that a person who finds an
 * open browser, or has stolen a session, can neither stay, nor let others in, nor have claims checked elsewhere.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../http/instance.ts'
import { confirmPath, paths, returnPath } from '../../web/console-paths.ts'
import type { ConsoleDependencies } from './dependencies.ts'
import { refererPath } from './referer.ts'
import { queryOf } from './request-fields.ts'
import { optionalSessionOf, ownersOnly, sessionOf } from './session.ts'
import { sendSignIn } from './sign-in-page.tsx'
import { unsentFormOf } from './unsent.tsx'

export const FRESH_MS = 10 * 60_000

/** Whether the request needs it: a form may choose a first password or replace one. */
type Needs = (request: FastifyRequest) => boolean

const ALWAYS: Needs = () => true

/** A session begins with a sign-in, and signing in again begins another one. */
export function isFresh(request: FastifyRequest, now: () => number): boolean {
  const session = optionalSessionOf(request)
  return session !== undefined && now() - session.session.createdAt < FRESH_MS
}

/**
 * A `preHandler`: asks for a sign-in where the last one is too long ago, and goes on afterwards with the form as it was typed. Goes after
 * the handlers that refuse the request in any case.
 */
export function freshSignInOnly(services: ConsoleDependencies, needs = ALWAYS) {
  return async function freshSignInOnly(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const session = optionalSessionOf(request)
    if (!session || !needs(request) || isFresh(request, services.now)) return undefined
    if (request.method === 'GET') return reply.redirect(confirmPath(request.url), 303)
    const unsent = unsentFormOf(request)
    const next = refererPath(request, services.config.publicUrl)
    return sendSignIn(reply, services, { session, next, unsent, status: 403 })
  }
}

/** In the options of a route: for owners of the workspace, with such a sign-in. */
export function ownersNow(services: ConsoleDependencies) {
  return { preHandler: [ownersOnly, freshSignInOnly(services)] }
}

/** The page on which a signed-in person signs in again, and goes on where they were. */
export function confirmRoutes(app: App, services: ConsoleDependencies): void {
  app.get(paths.confirm, async (request, reply) =>
    sendSignIn(reply, services, { next: returnPath(queryOf(request).next), session: sessionOf(request) }),
  )
}
