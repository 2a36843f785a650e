/** Finds messages that a proxy in front may have read in another way, so that they are refused. */
import type { IncomingMessage } from 'node:http'

/** Connections that are ending: what the parser still reads from them is part of a message that was refused. */
const ended = new WeakSet<object>()

/** Tells whether an answer to a message with two readings is on its way. */
export function isEnding(socket: object): boolean {
  return ended.has(socket)
}

/** Finds the reason that a message has two readings; undefined where it has one. */
export function ambiguityOf(message: IncomingMessage): string | undefined {
  const problem = problemOf(message)
  if (problem !== undefined) ended.add(message.socket)
  return problem
}

function problemOf({ headers, httpVersionMinor, rawHeaders, socket }: IncomingMessage): string | undefined {
  if (ended.has(socket)) return 'it follows a request that was refused'
  // Node accepts each list of codings that ends with `chunked`, and reads other bodies up to their end. RFC 9112 6.1 has HTTP/1.0 without chunks.
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (httpVersionMinor === 0 || coding.toLowerCase() !== 'chunked')) {
    return 'Transfer-Encoding is no other than chunked, once, in HTTP/1.1: send it so, or Content-Length'
  }
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1 ? 'the request has several Host headers: send one' : undefined
}
