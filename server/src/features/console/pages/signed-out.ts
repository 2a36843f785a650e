/** Answers to forms of a session that has ended or was replaced. What was typed is kept where the route allows it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from '../../../http/errors.ts'
import { paths } from '../../../web/console-paths.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { refererPath } from '../referer.ts'
import { formOf } from '../request-fields.ts'
import { sessionOf } from '../session.ts'
import { sendSignIn } from '../sign-in-page.tsx'
import { carriedForm, sendConfirmation, unsentFormOf } from '../unsent.tsx'

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

/** @throws HttpError 403 where the form is not kept */
export function answerStale(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const unsent = carriedForm(formOf(request)) ?? unsentFormOf(request)
  if (unsent) return sendConfirmation(reply, unsent, sessionOf(request).csrf, 409)
  throw new HttpError(
    403,
    'you signed in again after this page was loaded: go back, reload the page, and send it again',
  )
}
