/** JSON-RPC over HTTP with an EVM node that is not trusted: an answer has a largest size, and is either a proper one or an RpcError. */
import { type JsonObject, type JsonValue, retryAfterMs } from '@claimcheck/core/plugin'
import { parseStrictJson } from '@claimcheck/core/receipts'
import { isJsonObject } from '@claimcheck/core/rules'

export type RpcErrorCode =
  /** `unavailable`: the node cannot be reached, redirects, does not answer in time, or answers with HTTP 5xx. */
  | 'unavailable'
  /** `rate_limited`: the node answers HTTP 429. Many services report a limit as a JSON-RPC error instead, which is `refused`. */
  | 'rate_limited'
  /** `refused`: the node answers with a JSON-RPC error, which `refusal` has. */
  | 'refused'
  /** `unexpected_response`: the answer is not a proper answer to the request. */
  | 'unexpected_response'

/** A JSON-RPC error object (JSON-RPC 2.0, section 5.1). The node chooses what it says. */
export interface RpcRefusal {
  /** The code of the error; `undefined` when it is not an integer. */
  readonly code: number | undefined
  /** The node's words about the error. Empty when there are none. */
  readonly message: string
  readonly data: JsonValue | undefined
}

/**
 * The error of a node that gave no proper answer. The message names the method and the HTTP status, and nothing that the node or its URL says: both
 * may hold a key.
 */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: RpcErrorCode
  /** The wait that the node asked for, in milliseconds. */
  readonly retryAfterMs?: number
  // The refusal is private, so that a logger that prints an error's properties does not print it.
  readonly #refusal: RpcRefusal | undefined

  constructor(
    code: RpcErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterMs?: number; readonly refusal?: RpcRefusal } = {},
  ) {
    super(message, options)
    this.code = code
    this.retryAfterMs = options.retryAfterMs
    this.#refusal = options.refusal
  }

  /** The node's own error, with the code `refused`. */
  get refusal(): RpcRefusal | undefined {
    return this.#refusal
  }
}

export interface RpcOptions {
  readonly url: string
  readonly fetch?: typeof fetch
}

export interface RpcCallOptions {
  /** Ends the request when the signal is aborted. */
  readonly signal: AbortSignal
  readonly maxAnswerBytes?: number
}

/** Sends one request and returns its result. @throws RpcError if there is none */
export type Rpc = (method: string, params: readonly JsonValue[], options: RpcCallOptions) => Promise<JsonValue>

/** Limit of an answer. A block with very many transactions, listed by their hashes, is about half as large. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024
const HEADERS = { 'content-type': 'application/json', accept: 'application/json' }

export function createRpc({ url, fetch = globalThis.fetch }: RpcOptions): Rpc {
  let requests = 0
  return async (method, params, { signal, maxAnswerBytes = MAX_ANSWER_BYTES }) => {
    const id = ++requests
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    // A node that could redirect would choose which hosts this machine calls, and which of them get a key in the URL.
    const init = { method: 'POST', headers: HEADERS, body, signal, redirect: 'error' } as const
    const response = await fetch(url, init).catch((cause: unknown) => {
      throw new RpcError('unavailable', `the node did not answer ${method}`, { cause })
    })
    const text = await readText(response, method, maxAnswerBytes)
    return resultOf(response, text, id, method)
  }
}

async function readText({ body }: Response, method: string, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  const reader = body?.getReader()
  let text = ''
  let size = 0
  try {
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      size += read.value.length
      if (size > maxBytes) break
      text += decoder.decode(read.value, { stream: true })
    }
  } catch (cause) {
    throw new RpcError('unavailable', `the node did not finish its answer to ${method}`, { cause })
  }
  if (size <= maxBytes) return text + decoder.decode()
  reader?.cancel().catch(() => {})
  throw new RpcError('unexpected_response', `the node's answer to ${method} is larger than ${maxBytes} bytes`)
}

function resultOf({ status, headers }: Response, text: string, id: number, method: string): JsonValue {
  const fail = (code: RpcErrorCode, what: string, refusal?: RpcRefusal) =>
    new RpcError(code, `the node answered ${method} with ${what}`, { retryAfterMs: retryAfterMs(headers), refusal })

  if (status === 429) throw fail('rate_limited', 'HTTP 429')
  const answer = parse(text)
  // Services answer with an error also under another HTTP status, and then often without the request's id.
  if (isJsonObject(answer?.error)) {
    const refusal = toRefusal(answer.error)
    throw fail('refused', refusal.code === undefined ? 'an error' : `error ${refusal.code}`, refusal)
  }
  if (status >= 500) throw fail('unavailable', `HTTP ${status}`)
  if (status !== 200) throw fail('unexpected_response', `HTTP ${status}`)
  if (answer?.jsonrpc !== '2.0' || answer.id !== id || answer.result === undefined) {
    throw fail('unexpected_response', 'something that is not a JSON-RPC answer to it')
  }
  return answer.result
}

function toRefusal({ code, message, data }: JsonObject): RpcRefusal {
  return {
    code: Number.isSafeInteger(code) ? (code as number) : undefined,
    message: typeof message === 'string' ? message : '',
    data,
  }
}

function parse(text: string): JsonObject | undefined {
  try {
    const { value } = parseStrictJson(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
