/** A server in front of a service, which passes requests on, and makes of each answer what a hostile service would say. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterFile } from './after-file.ts'

/** Begins a line that looks like one of the command, and has what a terminal acts on, or does not show. */
export const HOSTILE =
  '\nFORGED \u001b[31m\u001b]0;title\u0007\r\b\t\u007f\u009b2J\u0085\u202e\u2066\u200f\u061c\u200b\u2028\u2029\ufeff\u{e0041}\u00ad\u2060end'

/** In every text of the answer; in those of which the command reads no meaning; as the error of every answer; as the whole of it. */
export const MANNERS = ['texts', 'words', 'error', 'nonsense'] as const
export type Manner = (typeof MANNERS)[number]

/** What commands look for, and go on only where it is right. */
const READ =
  /^(?:state|deadline_at|verdict|claim_id|receipt_id|issuer|.*_endpoint|key_id|access_token|token_type|reason_code|id)$/

export async function hostileService(url: string, manner: Manner): Promise<string> {
  const server = createServer((request, response) => void answer(url, manner, request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  afterFile(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function answer(url: string, manner: Manner, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await request.toArray()).join('')
  const { authorization, 'content-type': type } = request.headers
  const found = await fetch(url + request.url, {
    method: request.method!,
    headers: { ...(authorization ? { authorization } : {}), ...(type ? { 'content-type': type } : {}) },
    ...(body === '' ? {} : { body }),
  })
  const text = await found.text()
  const [status, sent] = spoilt(manner, found.status, text)
  response.writeHead(status, { 'content-type': 'application/json' }).end(sent)
}

function spoilt(manner: Manner, status: number, text: string): [number, string] {
  if (manner === 'nonsense') return [200, HOSTILE]
  if (manner === 'error') return [422, JSON.stringify({ detail: [{ loc: [HOSTILE], msg: HOSTILE, type: HOSTILE }] })]
  try {
    const spoil = (name: string, value: unknown) =>
      typeof value === 'string' && (manner === 'texts' || !READ.test(name)) ? value + HOSTILE : value
    return [status, JSON.stringify(JSON.parse(text, spoil))]
  } catch {
    return [status, text + HOSTILE]
  }
}
