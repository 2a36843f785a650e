/**
 * A request by Node's own client, for servers that send an interim 100 that nobody asked for: undici takes that for a fault and ends the connection.
 * The same rules for addresses and times hold.
 */
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import type { SendInit } from '@claimcheck/core/hosting'
import { DestinationError } from '@claimcheck/core/plugin'
import { hasBody } from './body.ts'
import { codingsOf, decoded, isLeftCoded } from './codings.ts'

interface PlainOptions {
  readonly lookup: LookupFunction
  readonly ca?: string | undefined
  /** The certificate of the client, as PEM. */
  readonly cert?: string
  readonly key?: string
  /** The longest time between two bytes of the answer. */
  readonly timeoutMs: number
  readonly maxHeaderSize: number
}

export function askPlainly(
  url: URL,
  { method, headers, body, signal }: SendInit,
  { lookup, ca, timeoutMs, maxHeaderSize, ...certificate }: PlainOptions,
): Promise<Response> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const sent = { 'accept-encoding': 'gzip, deflate, br', ...Object.fromEntries(headers) }
    // Each request has a connection of its own: none is left that another one would be sent on.
    const options = {
      method,
      headers: sent,
      signal,
      lookup,
      timeout: timeoutMs,
      maxHeaderSize,
      agent: false,
      ...certificate,
    } as const
    const outgoing = send(url, ca === undefined ? options : { ...options, ca }, (answer) => {
      try {
        resolve(toResponse(answer, method, url))
      } catch (error) {
        answer.destroy()
        reject(error)
      }
    })
    outgoing.on('timeout', () => outgoing.destroy(new DestinationError('timeout')))
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

function toResponse(answer: IncomingMessage, method: string, url: URL): Response {
  const status = answer.statusCode ?? 0
  const headers = new Headers()
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  // The constructor of Response refuses these statuses.
  if (status < 200 || status > 599) throw new DestinationError('unexpected_response', { status })
  const isRead = hasBody(method, status)
  if (!isRead) answer.resume()
  const body = isRead ? bodyOf(Readable.toWeb(answer) as ReadableStream<Uint8Array>, headers) : null
  const response = new Response(body, { status, headers })
  return Object.defineProperty(response, 'url', { value: url.href })
}

/** Decodes a body as fetch does: codings that fetch does not know, or leaves, stay as they are. */
function bodyOf(raw: ReadableStream<Uint8Array>, headers: Headers): ReadableStream<Uint8Array> {
  const [coding, ...others] = codingsOf(headers)
  return others.length > 0 || isLeftCoded(headers) ? raw : (decoded(raw, coding) ?? raw)
}
