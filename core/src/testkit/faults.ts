/** Faults of an HTTP destination, each of which strikes one route, with the error that a check must give for it. */
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { DestinationErrorCode } from '../evidence.ts'
import { isJsonObject } from '../json.ts'
import { answerWith, headerOf, jsonOf, type WholeAnswer, withHeaders } from './exchange.ts'
import type { Route, StruckRequest } from './fault-proxy.ts'

/** A fault of a destination, and the error that a check must make of it. */
export interface ExpectedError {
  /** The name of the kit's check that strikes with this fault. */
  readonly name: `fault.${string}`
  /** The fault as a phrase: `an answer 401`. */
  readonly says: string
  /** The codes of the errors that a check may give for the fault, the best first. */
  readonly right: readonly DestinationErrorCode[]
  /** Milliseconds between the fault and the end of the check's time. */
  readonly endAfterMs?: number
  /** Marks an answer that is true as far as it goes: a check that does not read its body may go on. */
  readonly bodyOnly?: boolean
  /** Milliseconds that the destination asks to wait. */
  readonly retryAfterMs?: number
}

export interface Fault extends ExpectedError {
  applies?(route: Route): boolean
  answer(struck: StruckRequest): void | Promise<void>
}

export const SHORT_TIME_MS = 200
const HUGE_BYTES = 50 * 1024 * 1024
const CHUNK = Buffer.alloc(256 * 1024, ' ')
const RETRY_AFTER_S = 7
const JSON_TYPE = { 'content-type': 'application/json' }

export const FAULTS: readonly Fault[] = [
  { name: 'fault.401', says: 'an answer 401', answer: status(401), right: ['unauthorized'] },
  { name: 'fault.403', says: 'an answer 403', answer: status(403), right: ['forbidden'] },
  { name: 'fault.404', says: 'an answer 404', answer: status(404), right: ['forbidden', 'misconfigured'] },
  {
    name: 'fault.429-with-retry-after',
    says: `an answer 429 with Retry-After: ${RETRY_AFTER_S}`,
    answer: status(429, { 'retry-after': String(RETRY_AFTER_S) }),
    right: ['rate_limited'],
    retryAfterMs: RETRY_AFTER_S * 1000,
  },
  {
    name: 'fault.429-without-retry-after',
    says: 'an answer 429 without Retry-After',
    answer: status(429),
    right: ['rate_limited'],
  },
  { name: 'fault.500', says: 'an answer 500', answer: status(500), right: ['unavailable'] },
  { name: 'fault.502', says: 'an answer 502 of a proxy', answer: html(502), right: ['unavailable'] },
  {
    name: 'fault.html-for-json',
    says: 'a page of HTML in place of JSON',
    applies: isJson,
    answer: html(200),
    right: ['unexpected_response'],
  },
  {
    name: 'fault.truncated-json',
    says: 'JSON that is cut off',
    applies: isJson,
    answer: altered((answer) => ({ ...answer, status: 200, body: answer.body.subarray(0, answer.body.length >> 1) })),
    right: ['unexpected_response'],
  },
  {
    name: 'fault.other-shape',
    says: 'valid JSON of another shape',
    applies: isJson,
    answer: altered((answer) => ({ ...answer, status: 200, body: Buffer.from(otherShape(answer)) })),
    right: ['unexpected_response'],
  },
  {
    name: 'fault.refused-call',
    says: 'a refusal of a call in an answer 200',
    applies: ({ method }) => method === 'POST',
    answer: refusedCall,
    right: ['unexpected_response', 'unavailable', 'forbidden', 'rate_limited'],
  },
  {
    name: 'fault.large-body',
    says: 'a body of 50 MB',
    applies: hasBody,
    // JSON allows blanks behind the true answer.
    answer: inParts(function* (body) {
      yield body
      for (let sent = 0; sent < HUGE_BYTES; sent += CHUNK.length) yield CHUNK
    }),
    right: ['too_large'],
    bodyOnly: true,
  },
  {
    name: 'fault.compression-bomb',
    says: 'a small body that is 50 MB when it is decompressed',
    applies: hasBody,
    answer: altered((answer) =>
      withHeaders(
        { ...answer, body: Buffer.concat([gzipSync(answer.body), bomb()]) },
        { 'content-encoding': 'gzip', etag: undefined },
      ),
    ),
    right: ['too_large'],
    bodyOnly: true,
  },
  {
    name: 'fault.one-byte-a-second',
    says: 'a body of one byte a second',
    applies: hasBody,
    answer: inParts(async function* (body) {
      for (const byte of body) {
        yield Buffer.of(byte)
        await sleep(1000, undefined, { ref: false })
      }
    }),
    right: ['timeout'],
    endAfterMs: SHORT_TIME_MS,
    bodyOnly: true,
  },
  {
    name: 'fault.redirect-loop',
    says: 'a redirect to itself',
    answer: ({ asked, response }) => redirect(response, asked.path),
    right: ['unexpected_response'],
  },
  {
    name: 'fault.redirect-to-another-host',
    says: 'a redirect to another host',
    answer: ({ asked, response, elsewhere }) => redirect(response, elsewhere + asked.path),
    right: ['unexpected_response'],
  },
  {
    name: 'fault.reset',
    says: 'a connection that is reset',
    answer: ({ response }) => void response.socket?.resetAndDestroy(),
    right: ['unavailable'],
  },
  {
    name: 'fault.reset-in-the-body',
    says: 'a connection that is reset in the middle of the body',
    applies: isJson,
    answer: resetInBody,
    right: ['unavailable', 'unexpected_response'],
    bodyOnly: true,
  },
  {
    name: 'fault.silence',
    says: 'no answer at all',
    answer: () => {},
    right: ['timeout'],
    endAfterMs: SHORT_TIME_MS,
  },
]

/** Answers truly, by a clock that is an hour ahead. */
export async function clockAhead({ real, send }: StruckRequest): Promise<void> {
  const answer = await real()
  const told = Date.parse(headerOf(answer, 'date') ?? '')
  send(Number.isNaN(told) ? answer : withHeaders(answer, { date: new Date(told + 60 * 60_000).toUTCString() }))
}

/** Answers as a stale replica. @param earlier answers from before the situation, by route */
export function staleAnswer(earlier: ReadonlyMap<string, WholeAnswer>) {
  return async ({ key, real, send, clock }: StruckRequest): Promise<void> => {
    const old = earlier.get(key)
    send(old ? withHeaders(clock.dated(old), { age: '60' }) : await real())
  }
}

function isJson({ method, answer }: Route): boolean {
  return method !== 'HEAD' && jsonOf(answer) !== undefined
}

function hasBody({ method, answer }: Route): boolean {
  return method !== 'HEAD' && answer.body.length > 0 && answer.status !== 304
}

function says(code: number, body: string, headers: Readonly<Record<string, string>>) {
  return ({ send, clock }: StruckRequest) => {
    const dated = { date: new Date(clock.now()).toUTCString(), ...headers }
    send({ status: code, headers: Object.entries(dated), body: Buffer.from(body) })
  }
}

function status(code: number, headers: Readonly<Record<string, string>> = {}) {
  return says(code, JSON.stringify({ message: `fault ${code}` }), { ...JSON_TYPE, ...headers })
}

function html(code: number) {
  const page = '<!doctype html><title>Sign in</title><p>Please sign in to this network.'
  return says(code, page, { 'content-type': 'text/html' })
}

function refusedCall(struck: StruckRequest): void {
  const message = 'Not now.'
  const call = jsonOf(struck.asked)
  const refusal =
    isJsonObject(call) && 'method' in call
      ? { jsonrpc: '2.0', id: call.id ?? null, error: { code: -32_000, message } }
      : { data: null, errors: [{ message }] }
  says(200, JSON.stringify(refusal), JSON_TYPE)(struck)
}

function altered(alter: (answer: WholeAnswer) => WholeAnswer) {
  return async ({ real, send }: StruckRequest) => send(alter(withHeaders(await real(), { etag: undefined })))
}

function otherShape(answer: WholeAnswer): string {
  return JSON.stringify(isJsonObject(jsonOf(answer)) ? { reason: 'maintenance', until: null } : { items: 'later' })
}

/** Sends the true answer with a body of these parts. */
function inParts(partsOf: (body: Buffer) => Iterable<Buffer> | AsyncIterable<Buffer>) {
  return async ({ real, response }: StruckRequest) => {
    const answer = await real()
    writeHead(response, answer)
    await pipeline(partsOf(answer.body), response)
  }
}

function writeHead(response: StruckRequest['response'], { status, headers }: WholeAnswer): void {
  response.sendDate = false
  response.writeHead(status, Object.fromEntries(headers))
}

let packed: Buffer | undefined

function bomb(): Buffer {
  packed ??= gzipSync(Buffer.alloc(HUGE_BYTES, ' '))
  return packed
}

async function resetInBody({ real, response }: StruckRequest): Promise<void> {
  const answer = await real()
  const { body } = answer
  response.setHeader('content-length', body.length + 4096)
  writeHead(response, answer)
  response.write(body.subarray(0, body.length >> 1), () => response.destroy())
}

function redirect(response: StruckRequest['response'], location: string): void {
  answerWith(response, { status: 302, headers: [['location', location]], body: Buffer.alloc(0) })
}
