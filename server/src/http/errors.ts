/** Turns every error into an answer: JSON with `detail`. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { terminalJson } from '@claimcheck/core/words/terminal'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type Issue, ServiceError, type ServiceErrorCode } from '../base/errors.ts'
import { StorageError } from '../storage/storage.ts'
import { prefersPage } from './accept.ts'
import { ambiguityOf, isEnding } from './ambiguous.ts'
import type { App } from './instance.ts'

/** A refusal for a reason that only concerns HTTP, with its status code. */
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
  gone: 410,
  forbidden: 403,
  bad_request: 400,
  conflict: 409,
  too_many: 429,
  read_only: 503,
  unavailable: 503,
}

/** The wait after a 503, whose cause is either over soon or needs the operator. */
const RETRY_SOON = { retryAfterSeconds: 1 }

const MAX_ISSUES = 32
const MAX_ISSUES_IN_LINE = 8
const MAX_STEP_LENGTH = 128

const DETAILS: Readonly<Record<string, string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'the body is larger than 64 KiB',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'the content type must be application/json',
}

const HTML_TYPE = 'text/html; charset=utf-8'

interface Refusal {
  readonly status: number
  readonly detail: string
  readonly retryAfterSeconds?: number
  /** The message to log for the error, if it is one of the service. */
  readonly logMessage?: string
}

/** Chooses the answer to an error, and what is logged. */
export function refusalOf(error: Error): Refusal {
  if (error instanceof ServiceError) {
    const status = STATUS[error.code]
    return { status, detail: error.message, ...retryOf(status, error) }
  }
  if (error instanceof StorageError && error.code === 'unavailable') {
    const logMessage = 'the database is unavailable'
    return { status: 503, detail: 'the database is unavailable: try again later', ...RETRY_SOON, logMessage }
  }
  const { statusCode, code } = error as FastifyError
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return { status: statusCode, detail: DETAILS[code] ?? error.message }
  }
  return { status: 500, detail: 'internal error', logMessage: 'request failed' }
}

function retryOf(status: number, { retryAfterMs }: ServiceError): Pick<Refusal, 'retryAfterSeconds'> {
  if (retryAfterMs !== undefined) return { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) }
  return status === 503 ? RETRY_SOON : {}
}

export function answerErrors(app: App): void {
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const { detail } = prepareRefusal(error, request, reply)
    // Fastify names no media type for an answer that another serializer writes.
    reply.type('application/json; charset=utf-8').serializer(inShownCharacters)
    if (!(error instanceof ServiceError) || error.code !== 'invalid')
      return reply.send({ detail, ...(error instanceof ServiceError ? error.more : {}) })
    return reply.send({ detail: limitIssues(error.issues), message: inOneLine(error) })
  })
}

/** A page for people who follow a wrong link, with its headers. */
export interface NotFoundPage {
  readonly headers: Readonly<Record<string, string>>
  readonly html: string
}

/** The paths of programs. */
const OF_PROGRAMS = /^\/(?:v1|\.well-known)(?:\/|$)/

/**
 * Answers 404 to a path without a route before the body is read. Call it after the hooks that refuse requests in any case.
 * @param page makes the page for browsers, which programs never get; by default there is none
 */
export function answerNotFound(app: App, page?: () => Promise<NotFoundPage>): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) done()
    else if (page && isForPeople(request)) page().then((one) => sendMissing(reply, one), done)
    else notFound(reply)
  })
}

function isForPeople({ url, headers }: FastifyRequest): boolean {
  return !OF_PROGRAMS.test(url.split('?')[0]!) && prefersPage(headers.accept)
}

function sendMissing(reply: FastifyReply, { headers, html }: NotFoundPage): void {
  reply
    .code(404)
    .headers({ ...headers, 'cache-control': 'no-store' })
    .type(HTML_TYPE)
    .send(html)
}

/** Escapes characters that a terminal would interpret: an answer may repeat a name out of the request, and clients print it. */
function inShownCharacters(body: unknown): string {
  return terminalJson(JSON.stringify(body))
}

/** Sets the status and headers of the answer and logs the error; the caller sends the body. */
export function prepareRefusal(error: Error, request: FastifyRequest, reply: FastifyReply): Refusal {
  const refusal = refusalOf(error)
  if (refusal.logMessage !== undefined) request.log.error({ reqId: request.id, err: error }, refusal.logMessage)
  if (refusal.retryAfterSeconds !== undefined) reply.header('retry-after', refusal.retryAfterSeconds)
  reply.code(refusal.status).header('cache-control', 'no-store')
  return refusal
}

/** Limits the number of issues, so that a small request cannot cause a large answer. */
function limitIssues(issues: readonly Issue[]): Issue[] {
  return issues.slice(0, MAX_ISSUES).map((issue) => ({ ...issue, loc: issue.loc.map(shorten) }))
}

/** Writes the issues in one line, for clients that show text. A member's name may have been chosen to look like another line. */
export function inOneLine({ message, issues }: ServiceError): string {
  const shown = issues.slice(0, MAX_ISSUES_IN_LINE).map(({ loc, msg }) => `${loc.map(shorten).join('.')}: ${msg}`)
  const rest = issues.length - shown.length
  const line = shown.length === 0 ? message : shown.join('; ') + (rest > 0 ? `; and ${rest} more` : '')
  return line.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
}

function shorten(step: string | number): string | number {
  return typeof step === 'string' && step.length > MAX_STEP_LENGTH ? `${step.slice(0, MAX_STEP_LENGTH)}…` : step
}

type Headers = Readonly<Record<string, string>>

type Enter = (request: FastifyRequest, reply: FastifyReply) => Promise<void> | undefined

/**
 * Answers 404 to a path that cannot be decoded or is too long to be routed. No hook runs for it.
 * @param enter rejects for a network that has asked for too much
 */
export function answerUnroutable(headers: Headers, enter: Enter = () => undefined) {
  return (_error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    reply.headers(headers)
    const problem = ambiguityOf(request.raw)
    if (problem !== undefined) {
      reply.code(400).header('connection', 'close').send({ detail: problem })
      return
    }
    const refused = enter(request, reply)
    if (!refused) notFound(reply)
    else
      refused
        .then(() => notFound(reply))
        .catch((error: HttpError) => reply.send({ detail: prepareRefusal(error, request, reply).detail }))
  }
}

function notFound(reply: FastifyReply): FastifyReply {
  return reply.code(404).header('cache-control', 'no-store').send({ detail: 'not found' })
}

/**
 * Answers a message that is not valid HTTP, or did not arrive in time, for which Fastify has no request object. Then the connection is destroyed, as
 * a sender may never end its side of it.
 */
export function answerClientError(headers: Headers) {
  return (error: Error & { readonly code?: string; readonly rawPacket?: unknown }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    if (isEnding(socket)) {
      setTimeout(() => socket.destroy(), LINGER_MS).unref()
      return
    }
    const status = CLIENT_ERROR_STATUS[error.code ?? ''] ?? 400
    const body = JSON.stringify({ detail: STATUS_CODES[status]!.toLowerCase() })
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
      'connection: close',
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ]
    // RFC 9110 9.3.2 forbids a body here: its bytes would be taken for another answer.
    const isHead = Buffer.isBuffer(error.rawPacket) && error.rawPacket.subarray(0, 5).equals(HEAD)
    socket.end(`${head.join('\r\n')}\r\n\r\n${isHead ? '' : body}`)
    // Waits a moment before the connection is destroyed: bytes that still arrive would have the system take the answer back.
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }
}

/** Answers a request that expects something else than `100-continue` (RFC 9110 10.1.1), which reaches no route. */
export function answerExpectation(headers: Headers) {
  return (_request: IncomingMessage, response: ServerResponse): void => {
    const body = JSON.stringify({
      detail: 'the service meets no expectation but 100-continue: leave the header Expect out',
    })
    const own = { 'content-type': 'application/json', 'content-length': body.length, connection: 'close' }
    response.writeHead(417, { ...headers, ...own }).end(body)
  }
}

const LINGER_MS = 500
const HEAD = Buffer.from('HEAD ')

const CLIENT_ERROR_STATUS: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
}
