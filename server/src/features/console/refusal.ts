/** Forms that a service refuses, in words for the page. */
import type { FastifyReply } from 'fastify'
import type { VNode } from 'preact'
import { ServiceError } from '../../base/errors.ts'
import { sendPage } from '../../web/document.tsx'

/** @throws any error that is not about what was sent: it gets an error page */
export function refusalOf(error: unknown): string {
  if (error instanceof ServiceError && (error.code === 'bad_request' || error.code === 'conflict')) return error.message
  throw error
}

interface Saving {
  readonly work: () => Promise<unknown>
  /** Where a saved form leads. */
  readonly next: string
  /** The page of the form again, with what is wrong. */
  readonly refused: (problem: string) => VNode | Promise<VNode>
}

/** Saves a form and leads on, or shows it again. */
export async function saveForm(reply: FastifyReply, { work, next, refused }: Saving): Promise<FastifyReply> {
  try {
    await work()
  } catch (error) {
    return sendPage(reply, await refused(refusalOf(error)), 422)
  }
  return reply.redirect(next, 303)
}
