/** Sends pages to people who are signed in, and the answers to their forms. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { VNode } from 'preact'
import { ServiceError } from '../../base/errors.ts'
import { sendPage } from '../../web/document.tsx'
import { PlainPage, Viewing } from './page.tsx'
import { queryOf } from './request-fields.ts'
import { viewerOf } from './session.ts'

/** The parts of the page find by `useViewer` who it is for. */
export function showPage(request: FastifyRequest, reply: FastifyReply, page: VNode, status = 200): FastifyReply {
  const viewer = { ...viewerOf(request), done: queryOf(request).done }
  return sendPage(reply, <Viewing.Provider value={viewer}>{page}</Viewing.Provider>, status)
}

interface Shown {
  readonly page: VNode
  readonly status?: number
}

interface Form {
  /** Returns where a saved form leads, or what it shows. */
  readonly work: () => Promise<string | Shown>
  /** The page of the form again, with what is wrong. */
  readonly refused: (problem: string) => VNode | Promise<VNode>
}

/** Does what a form asks for, or shows it again. */
export async function answerForm(
  request: FastifyRequest,
  reply: FastifyReply,
  { work, refused }: Form,
): Promise<FastifyReply> {
  const answer = await work().catch(async (error: unknown) => {
    return { page: await refused(refusalOf(error)), status: 422 }
  })
  return typeof answer === 'string' ? reply.redirect(answer, 303) : showPage(request, reply, answer.page, answer.status)
}

interface Saving extends Pick<Form, 'refused'> {
  readonly work: () => Promise<unknown>
  /** Where a saved form leads. */
  readonly next: string
}

/** Saves a form and leads on, or shows it again. */
export function saveForm(
  request: FastifyRequest,
  reply: FastifyReply,
  { work, next, refused }: Saving,
): Promise<FastifyReply> {
  const saved = async () => {
    await work()
    return next
  }
  return answerForm(request, reply, { work: saved, refused })
}

/**
 * Leads the browser from a form to another place. A redirect would count for `form-action`, and so would each one after it: applications
 * redirect on to schemes and loopback addresses that nobody knows before. The browser follows `refresh`, which no such rule holds back.
 */
export function leadAway(reply: FastifyReply, url: string, place: string): FastifyReply {
  reply.header('refresh', `0;url=${url}`)
  return sendPage(
    reply,
    <PlainPage title={`Continue to ${place}`}>
      <p>
        If nothing happens, <a href={url}>continue to {place}</a>. Once you are there, you can close this page.
      </p>
    </PlainPage>,
  )
}

/** A refusal in words for the page. @throws any error that is not about what was sent: it gets an error page */
export function refusalOf(error: unknown): string {
  if (error instanceof ServiceError && (error.code === 'bad_request' || error.code === 'conflict')) return error.message
  throw error
}
