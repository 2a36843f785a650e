/** One answer for everything that goes wrong: JSON, with `detail`. */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type Issue, ServiceError, type ServiceErrorCode } from '../base/errors.ts'
import { StorageError } from '../storage/storage.ts'
import type { App } from './instance.ts'

/** A refusal that HTTP itself decides. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly statusCode: number

  constructor(statusCode: number, detail: string) {
    super(detail)
    this.statusCode = statusCode
  }
}

const STATUS: Readonly<Record<ServiceErrorCode, number>> = {
  invalid: 422,
  not_found: 404,
  bad_request: 400,
  conflict: 409,
  read_only: 503,
  unavailable: 503,
}

/** With 503: what was in the way is over soon, or not at all. */
const SOON = { retryAfterSeconds: 1 }

const MOST_ISSUES = 32
const LONGEST_STEP = 128

const DETAILS: Readonly<Record<string, string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'the body is larger than 64 KiB',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'the content type must be application/json',
}

interface Refusal {
  readonly status: number
  readonly detail: string
  readonly retryAfterSeconds?: number
  /** Ours to mend, and to be logged in these words. */
  readonly fault?: string
}

/** What an error says to whoever asked. */
function refusalOf(error: Error): Refusal {
  if (error instanceof ServiceError) {
    const status = STATUS[error.code]
    return { status, detail: error.message, ...(status === 503 ? SOON : {}) }
  }
  if (error instanceof StorageError && error.code === 'unavailable') {
    return { status: 503, detail: 'the database cannot be used now', ...SOON, fault: 'the database cannot be used' }
  }
  const { statusCode, code } = error as FastifyError
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return { status: statusCode, detail: DETAILS[code] ?? error.message }
  }
  return { status: 500, detail: 'internal error', fault: 'request failed' }
}

export function answerErrors(app: App): void {
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const { detail } = prepareRefusal(error, request, reply)
    const issues = error instanceof ServiceError && error.code === 'invalid' ? bounded(error.issues) : undefined
    return reply.send({ detail: issues ?? detail })
  })
  app.setNotFoundHandler((_request, reply) => notFound(reply))
}

/** Everything of the answer but its body. */
export function prepareRefusal(error: Error, request: FastifyRequest, reply: FastifyReply): Refusal {
  const refusal = refusalOf(error)
  if (refusal.fault !== undefined) request.log.error({ err: error }, refusal.fault)
  if (refusal.retryAfterSeconds !== undefined) reply.header('retry-after', refusal.retryAfterSeconds)
  reply.code(refusal.status).header('cache-control', 'no-store')
  return refusal
}

/** An answer must not be many times the size of the request that caused it. */
function bounded(issues: readonly Issue[]): Issue[] {
  return issues.slice(0, MOST_ISSUES).map((issue) => ({ ...issue, loc: issue.loc.map(shortened) }))
}

function shortened(step: string | number): string | number {
  return typeof step === 'string' && step.length > LONGEST_STEP ? `${step.slice(0, LONGEST_STEP)}…` : step
}

/** For addresses that cannot be decoded or are too long to be routed: they name nothing. */
export function answerUnroutable(_error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void {
  notFound(reply)
}

function notFound(reply: FastifyReply) {
  return reply.code(404).header('cache-control', 'no-store').send({ detail: 'not found' })
}

/** For what is not even HTTP, where there is no request to answer. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const status = CLIENT_ERROR_STATUS[error.code ?? ''] ?? 400
  const body = JSON.stringify({ detail: STATUS_CODES[status]!.toLowerCase() })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

const CLIENT_ERROR_STATUS: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
}
