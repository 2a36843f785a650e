/** Requests to the configured node: the checker's JSON-RPC with a time limit for each request and the anchorer's error codes. */
import type { JsonValue } from '@claimcheck/core/plugin'
import { createRpc, type RpcCallOptions, RpcError } from './checker/rpc.ts'
import { withTimeout } from './checker/timeout.ts'
import { toAnchorerError } from './errors.ts'

/**
 * Sends one request and reads its result.
 * @param read throws RpcError when the result is not as it should be
 * @throws AnchorerError for any failure
 */
export type Ask = <T>(
  request: { readonly method: string; readonly params: readonly JsonValue[] },
  read: (result: JsonValue) => T,
  options: RpcCallOptions,
) => Promise<T>

export function createAsk(url: string, timeoutMs: number): Ask {
  const { origin } = new URL(url)
  const rpc = createRpc({ url })
  return async ({ method, params }, read, options) => {
    const call = (signal: AbortSignal) => rpc(method, params, { ...options, signal })
    try {
      return read(await withTimeout(options.signal, timeoutMs, call))
    } catch (error) {
      throw error instanceof RpcError ? toAnchorerError(error, origin) : error
    }
  }
}
