/** Errors of JSON-RPC, told apart by the words that the common nodes use. The words themselves go no further: services put keys into them. */
import { AnchorerError, type AnchorerErrorCode } from '@claimcheck/core/plugin'

/** As it came over the wire: nothing of it is certain. */
export interface RefusalObject {
  readonly code?: unknown
  readonly message?: unknown
}

/** The node has understood the call, and does not do it. */
export class Refusal extends AnchorerError {
  /** Of a transaction: it is there already, another has its nonce, or the node wants more for it. What became of it can be looked up. */
  readonly isAboutNonceOrPrice: boolean
  /** The node does not have such a block, or does not know what is meant. */
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

// geth and its kin, reth, erigon, nethermind, besu, anvil.
const NONCE_OR_PRICE =
  /already (?:known|imported|exists)|already_exists|alreadyknown|known transaction|nonce too low|oldnonce|underpriced|replacementnotallowed|(?:fee|gas price).*(?:too low|less than|below)|feetoolow/i
const INSUFFICIENT_BALANCE = /insufficient ?(?:funds|balance)|exceeds account balance/i
const REVERTED = /revert/i
const BLOCK = /finalized block not found|unknown block|finalized.*(?:not|un)\s?(?:available|supported|found)/i
const RATE_LIMITED = /rate.?limit|too many requests|limit exceeded/i

// EIP-1474 has the first; services send the second, which is HTTP's.
const LIMIT_CODES: readonly unknown[] = [-32005, 429]
// JSON-RPC's for parameters that are not understood, and the execution API's for an unknown block.
const BLOCK_CODES: readonly unknown[] = [-32602, -39001]
const REVERTED_CODE = 3

export function refusal(
  { code, message }: RefusalObject,
  prefix: string,
  options: { readonly retryAfterMs?: number },
): Refusal {
  const words = typeof message === 'string' ? message : ''
  const number = Number.isSafeInteger(code) ? ` ${code}` : ''
  return new Refusal(codeOf(code, words), `${prefix} with error${number}`, {
    ...options,
    isAboutNonceOrPrice: NONCE_OR_PRICE.test(words),
    isAboutBlock: BLOCK_CODES.includes(code) || BLOCK.test(words),
  })
}

function codeOf(code: unknown, words: string): AnchorerErrorCode {
  if (INSUFFICIENT_BALANCE.test(words)) return 'insufficient_balance'
  if (code === REVERTED_CODE || REVERTED.test(words)) return 'reverted'
  if (LIMIT_CODES.includes(code) || RATE_LIMITED.test(words)) return 'rate_limited'
  return 'unexpected_response'
}
