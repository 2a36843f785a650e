/** Asks an EVM node by JSON-RPC. The node is not trusted to behave: its answers are bounded in time and size, and are proper ones or errors. */
import { isJsonObject, type JsonValue } from '../json.ts'
import { parseStrictJson } from '../receipt/strict-json.ts'

export type RpcErrorCode =
  /** Not reached, no answer in time, or an HTTP status other than success. */
  | 'unavailable'
  /** The node understood, and answered with an error. */
  | 'refused'
  /** What came is no proper answer. */
  | 'unexpected_response'

const MESSAGES: Readonly<Record<RpcErrorCode, string>> = {
  unavailable: 'the node is not reached, or does not answer in time',
  refused: 'the node refuses to answer',
  unexpected_response: 'the node answers what makes no sense',
}

/** Says nothing of the node's address, for that may hold a key. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: RpcErrorCode

  constructor(code: RpcErrorCode, options: { readonly cause?: unknown } = {}) {
    super(MESSAGES[code], options)
    this.code = code
  }
}

export interface RpcOptions {
  readonly url: string
  readonly fetch: typeof fetch
  /** Ends whatever is under way. */
  readonly signal: AbortSignal
}

/** @throws RpcError */
export type Rpc = (method: string, ...params: readonly JsonValue[]) => Promise<JsonValue>

/** A block of very many transactions, listed by their hashes, is about half as large. */
const LARGEST_ANSWER_BYTES = 2 * 1024 * 1024

export function createRpc(options: RpcOptions): Rpc {
  let requests = 0
  return async (method, ...params) => {
    const id = ++requests
    const text = await post(options, JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return resultOf(text, id)
  }
}

async function post({ url, fetch, signal }: RpcOptions, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  try {
    // A node that could redirect would choose whom this machine talks to.
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' })
    if (!response.ok) throw new RpcError('unavailable')
    return await readText(response)
  } catch (cause) {
    throw cause instanceof RpcError ? cause : new RpcError('unavailable', { cause })
  }
}

async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  const reader = body?.getReader()
  let text = ''
  let size = 0
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    size += read.value.length
    if (size > LARGEST_ANSWER_BYTES) throw new RpcError('unexpected_response')
    text += decoder.decode(read.value, { stream: true })
  }
  return text + decoder.decode()
}

function resultOf(text: string, id: number): JsonValue {
  const answer = readJson(text)
  if (!isJsonObject(answer) || answer.jsonrpc !== '2.0' || answer.id !== id) throw new RpcError('unexpected_response')
  if (isJsonObject(answer.error)) throw new RpcError('refused')
  if (answer.result === undefined) throw new RpcError('unexpected_response')
  return answer.result
}

function readJson(text: string): JsonValue {
  try {
    return parseStrictJson(text).value
  } catch (cause) {
    throw new RpcError('unexpected_response', { cause })
  }
}
