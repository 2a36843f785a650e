/** Calls to the chain's node: one request each, bounded in time and size. Whatever goes wrong has a code, and shows nothing of the URL but its origin. */
import { AnchorerError } from '@claimcheck/core/plugin'
import { refusal } from './refusal.ts'

/** @throws AnchorerError */
export type Rpc = (
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
  largestAnswerBytes?: number,
) => Promise<unknown>

/** A block of very many transactions, listed by their hashes, is about half as large. */
const LARGEST_ANSWER_BYTES = 2 * 1024 * 1024
const TOO_MANY_REQUESTS = 429

interface Reply {
  readonly status: number
  readonly retryAfterMs: number | undefined
  readonly text: string
}

export function createRpc(url: string, timeoutMs: number): Rpc {
  const { origin } = new URL(url)
  let id = 0

  async function post(body: string, signal: AbortSignal, largestBytes: number): Promise<Reply> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body,
      signal,
      // A key in the URL is meant for this host alone.
      redirect: 'error',
    })
    const { status, headers } = response
    return {
      status,
      retryAfterMs: retryAfterMs(headers.get('retry-after')),
      text: await readText(response, largestBytes),
    }
  }

  return async (method, params, signal, largestAnswerBytes = LARGEST_ANSWER_BYTES) => {
    id++
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    const reply = await post(body, limit, largestAnswerBytes).catch((cause: unknown) => {
      if (cause instanceof AnchorerError) throw cause
      throw new AnchorerError('rpc_unavailable', `${origin} did not answer ${method}`, { cause })
    })
    return resultOf(reply, id, `${origin} answered ${method}`)
  }
}

function resultOf({ status, text, retryAfterMs }: Reply, id: number, prefix: string): unknown {
  const options = retryAfterMs === undefined ? {} : { retryAfterMs }
  const fail = (code: 'rate_limited' | 'rpc_unavailable' | 'unexpected_response', what: string) =>
    new AnchorerError(code, `${prefix} with ${what}`, options)

  if (status === TOO_MANY_REQUESTS) throw fail('rate_limited', 'HTTP 429')
  const answer = parse(text)
  if (isObject(answer?.error)) throw refusal(answer.error, prefix, options)
  if (status >= 500) throw fail('rpc_unavailable', `HTTP ${status}`)
  if (status !== 200) throw fail('unexpected_response', `HTTP ${status}`)
  if (answer?.id !== id || !('result' in answer)) throw fail('unexpected_response', 'what is no answer to it')
  return answer.result
}

interface Answer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

function parse(text: string): Answer | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

async function readText(response: Response, largestBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > largestBytes) throw new AnchorerError('unexpected_response', 'an answer of the node is too large')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** RFC 9110 10.2.3: seconds, or a date. */
function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}
