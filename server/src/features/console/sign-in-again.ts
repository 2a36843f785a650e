/** Forms and pages for which a person has to sign in again: because the session ended, was replaced, or began too long ago. */
import { parseUrl } from '@claimcheck/core/plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from '../../http/errors.ts'
import type { App } from '../../http/instance.ts'
import { confirmPath, paths, returnPath } from '../../web/console-paths.ts'
import { originOf } from '../../web/origin.ts'
import type { ConsoleDependencies } from './dependencies.ts'
import { formOf, queryOf } from './request-fields.ts'
import { optionalSessionOf, sessionOf } from './session.ts'
import { sendSignIn } from './sign-in-page.tsx'
import { carriedForm, sendConfirmation, unsentFormOf } from './unsent.tsx'

const FRESH_MS = 10 * 60_000

/** Tells whether a request needs a fresh sign-in: a form may choose a first password or replace one. */
export type NeedsFreshSignIn = (request: FastifyRequest) => boolean | Promise<boolean>

/** Tells whether the last sign-in was in the last ten minutes. Signing in again begins another session. */
export function isFresh(request: FastifyRequest, now: () => number): boolean {
  const session = optionalSessionOf(request)
  return session !== undefined && now() - session.session.createdAt < FRESH_MS
}

/**
 * Makes a `preHandler` that asks for a sign-in if the last one is too long ago, and goes on afterwards with the form as it was typed. Changes of who
 * can get in, or of which destination is believed, need it, so that a person who finds an open browser, or has stolen a session, can neither stay,
 * nor let others in, nor have claims checked elsewhere.
 */
export function freshSignInOnly(services: ConsoleDependencies, needs: true | NeedsFreshSignIn) {
  return async function freshSignInOnly(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const session = optionalSessionOf(request)
    if (!session || !(needs === true || (await needs(request))) || isFresh(request, services.now)) return undefined
    if (request.method === 'GET') return reply.redirect(confirmPath(request.url), 303)
    const unsent = unsentFormOf(request)
    const next = refererPath(request, services.config.publicUrl)
    return sendSignIn(reply, services, { session, next, unsent, status: 403 })
  }
}

/** Adds the page on which a signed-in person signs in again, and goes on where they were. */
export function confirmRoutes(app: App, services: ConsoleDependencies): void {
  app.get(paths.confirm, async (request, reply) =>
    sendSignIn(reply, services, { next: returnPath(queryOf(request).next), session: sessionOf(request) }),
  )
}

/** Makes the answer to a form whose session has ended. Typed values are kept where the route allows it. */
export function answerSignedOut(services: ConsoleDependencies) {
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const unsent = unsentFormOf(request)
    const problem = unsent
      ? 'nothing is saved yet, because your session has ended. Sign in: your form is kept on this page'
      : 'nothing was changed, because your session has ended. Sign in, and do it again'
    const next = unsent ? paths.home : refererPath(request, services.config.publicUrl)
    return sendSignIn(reply, services, { next, problem, unsent, status: 401 })
  }
}

/** Answers a form of a session that another one has replaced. @throws HttpError 403 where the form is not kept */
export function answerStale(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const unsent = carriedForm(formOf(request)) ?? unsentFormOf(request)
  if (unsent) return sendConfirmation(reply, unsent, sessionOf(request).csrf, 409)
  throw new HttpError(
    403,
    'you signed in again after this page was loaded: go back, reload the page, and send it again',
  )
}

/** Finds the page that a form was sent from, by the Referer, which our pages let browsers send; without it the start page. */
function refererPath(request: FastifyRequest, publicUrl: string | undefined): string {
  const { referer = '' } = request.headers
  if (!parseUrl(referer)) return paths.home
  const { origin, pathname, search } = new URL(referer)
  return origin === originOf(request, publicUrl) ? returnPath(pathname + search) : paths.home
}
