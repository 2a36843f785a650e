/** The anchorer's errors for what a node does. What the node says goes no further than this file: services put keys into their messages. */

import { AnchorerError, type AnchorerErrorCode } from '@claimcheck/core/plugin'
import type { RpcError, RpcErrorCode, RpcRefusal } from './checker/rpc.ts'

/** The error of a node that understood the request and refused it. */
export class Refusal extends AnchorerError {
  /** Tells that the transaction is known already, its nonce is taken, or its fee is too low, so that its fate can be looked up. */
  readonly isAboutNonceOrPrice: boolean
  /** Tells that the node has no such block, or does not know the name `finalized`. */
  readonly isAboutBlock: boolean

  constructor(
    code: AnchorerErrorCode,
    message: string,
    options: {
      readonly retryAfterMs?: number
      readonly isAboutNonceOrPrice: boolean
      readonly isAboutBlock: boolean
    },
  ) {
    super(code, message, options)
    this.isAboutNonceOrPrice = options.isAboutNonceOrPrice
    this.isAboutBlock = options.isAboutBlock
  }
}

/** Makes the error for an answer of another form. @param wanted what should have been there, with its article */
export function unexpectedResponse(wanted: string): AnchorerError {
  return new AnchorerError('unexpected_response', `the node answered something else where there should be ${wanted}`)
}

const CODES: Readonly<Record<Exclude<RpcErrorCode, 'refused'>, AnchorerErrorCode>> = {
  unavailable: 'rpc_unavailable',
  rate_limited: 'rate_limited',
  unexpected_response: 'unexpected_response',
}

/** Turns the error of a request into the anchorer's. @param origin the node's origin. The rest of its URL may hold a key. */
export function toAnchorerError(error: RpcError, origin: string): AnchorerError {
  const message = `${origin}: ${error.message}`
  const options = error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }
  if (error.code !== 'refused') return new AnchorerError(CODES[error.code], message, { ...options, cause: error.cause })
  return toRefusal(error.refusal!, message, options)
}

// Words of geth and its forks, reth, erigon, nethermind, besu and anvil for refusals by nonce or price.
const NONCE_OR_PRICE =
  /already (?:known|imported|exists)|already_exists|alreadyknown|known transaction|nonce too low|oldnonce|underpriced|replacementnotallowed|(?:fee|gas price).*(?:too low|less than|below)|feetoolow/i
const INSUFFICIENT_BALANCE = /insufficient ?(?:funds|balance)|exceeds account balance/i
const REVERTED = /revert/i
const BLOCK = /finalized block not found|unknown block|finalized.*(?:not|un)\s?(?:available|supported|found)/i
const RATE_LIMITED = /rate.?limit|too many requests|limit exceeded/i

// Codes of refusals by a limit: EIP-1474's, and the HTTP status, which some services send as a JSON-RPC code.
const LIMIT_CODES: readonly unknown[] = [-32005, 429]
// Codes of refusals by a block: JSON-RPC's invalid parameters, and the execution API's unknown block.
const BLOCK_CODES: readonly unknown[] = [-32602, -39001]
const REVERTED_CODE = 3

function toRefusal({ code, message: words }: RpcRefusal, message: string, options: { readonly retryAfterMs?: number }) {
  return new Refusal(codeOf(code, words), message, {
    ...options,
    isAboutNonceOrPrice: NONCE_OR_PRICE.test(words),
    isAboutBlock: BLOCK_CODES.includes(code) || BLOCK.test(words),
  })
}

function codeOf(code: number | undefined, words: string): AnchorerErrorCode {
  if (INSUFFICIENT_BALANCE.test(words)) return 'insufficient_balance'
  if (code === REVERTED_CODE || REVERTED.test(words)) return 'reverted'
  if (LIMIT_CODES.includes(code) || RATE_LIMITED.test(words)) return 'rate_limited'
  return 'unexpected_response'
}
