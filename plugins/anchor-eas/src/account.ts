/** The account that attests: it signs, and does not give its key away. */
import { SigningKey } from 'ethers/crypto'
import { computeAddress, Transaction } from 'ethers/transaction'

export interface Account {
  readonly address: string
  sign(transaction: UnsignedTransaction): { readonly raw: string; readonly txHash: string }
}

/** EIP-1559. */
export interface UnsignedTransaction {
  readonly chainId: number
  readonly nonce: number
  readonly to: string
  readonly data: string
  readonly gasLimit: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** undefined for a number that is no key of the curve. */
export function createAccount(privateKey: string): Account | undefined {
  const key = new SigningKey(privateKey)
  const address = addressOf(key)
  if (address === undefined) return undefined
  return {
    address,
    sign: (unsigned) => {
      const transaction = Transaction.from({ type: 2, ...unsigned })
      transaction.signature = key.sign(transaction.unsignedHash)
      return { raw: transaction.serialized, txHash: transaction.hash! }
    },
  }
}

function addressOf(key: SigningKey): string | undefined {
  try {
    return computeAddress(key)
  } catch {
    // What the library throws carries the number along.
    return undefined
  }
}
