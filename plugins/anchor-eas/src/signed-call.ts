/** Reads what an account signed from a node's answer. Hash and signer are computed from its fields, so that no node can invent it. */
import type { JsonObject, JsonValue } from '@claimcheck/core/plugin'
import { Transaction } from 'ethers/transaction'
import { readHash, readObject, unexpectedValue } from './checker/values.ts'

export interface SignedCall {
  readonly chainId: number
  /** The address of the signer, in lower case. */
  readonly from: string
  readonly to: string
  readonly data: string
}

/** The type of transactions of EIP-1559. */
const TYPE = '0x2'

/**
 * Reads the signed call of a transaction.
 * @returns `undefined` for a transaction of another type, which the anchorer never signs
 * @throws RpcError for an answer whose fields have another hash
 */
export function readSignedCall(value: JsonValue, txHash: string): SignedCall | undefined {
  const fields = readObject(value)
  if (readHash(fields.hash) !== txHash) throw unexpectedValue('the transaction that was asked for')
  if (fields.type !== TYPE) return undefined
  const signed = signedBy(fields)
  if (signed?.hash !== txHash) throw unexpectedValue('the transaction of that hash')
  return signed.call
}

/** Computes the hash and the signer of a transaction from its fields. */
function signedBy(fields: JsonObject): { readonly hash: string; readonly call: SignedCall } | undefined {
  const { nonce, gas, maxFeePerGas, maxPriorityFeePerGas, value, chainId, to, input, accessList = [], r, s } = fields
  const signature = { r: padded(r), s: padded(s), yParity: Number(fields.yParity ?? fields.v) }
  const prices = { gasLimit: gas, maxFeePerGas, maxPriorityFeePerGas, value }
  const unsigned = { type: 2, chainId, nonce: Number(nonce), ...prices, to, data: input, accessList }
  try {
    const transaction = Transaction.from({ ...unsigned, signature } as never)
    const { hash, from, data } = transaction
    const call = { chainId: Number(transaction.chainId), from: lowerCase(from), to: lowerCase(transaction.to), data }
    return { hash: hash!, call }
  } catch {
    return undefined
  }
}

/** Writes an address in lower case; the empty text for the recipient of a transaction that creates a contract. */
function lowerCase(address: string | null): string {
  return address?.toLowerCase() ?? ''
}

/** Restores the leading zeros that nodes leave out of a number. */
function padded(value: JsonValue | undefined): string {
  return `0x${String(value).slice(2).padStart(64, '0')}`
}
