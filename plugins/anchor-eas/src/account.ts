/** The account that attests: reads its private key and signs with it. No message about a wrong key shows any part of it. */
import { readFileSync, statSync } from 'node:fs'
import { SigningKey } from 'ethers/crypto'
import { computeAddress, Transaction } from 'ethers/transaction'

export interface Account {
  readonly address: string
  sign(transaction: UnsignedTransaction): { readonly raw: string; readonly txHash: string }
}

/** An EIP-1559 transaction. */
export interface UnsignedTransaction {
  readonly chainId: number
  readonly nonce: number
  readonly to: string
  readonly data: string
  readonly gasLimit: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** The place of the account's private key. One of the two must be given. */
export interface KeySource {
  /** The path of a file with the key. */
  readonly key_file?: string
  /** The name of an environment variable with the key. */
  readonly key_env?: string
}

/** The account that was read. `isExposed`: other users than the owner can read the key's file. */
export type AccountReading = { readonly account: Account; readonly isExposed: boolean } | { readonly problem: string }

const KEY = /^(?:0x)?([0-9a-fA-F]{64})$/
const GROUP_OR_OTHERS = 0o077

export function readAccount(
  { key_file, key_env }: KeySource,
  env: Readonly<Record<string, string | undefined>>,
): AccountReading {
  if (key_file !== undefined && key_env === undefined) return readFile(key_file)
  if (key_env !== undefined && key_file === undefined) return readVariable(key_env, env)
  return { problem: 'set either key_file or key_env' }
}

function readFile(path: string): AccountReading {
  try {
    const account = parse(readFileSync(path, 'utf8'))
    if (!account) return { problem: 'key_file does not contain a private key: 32 bytes in hex' }
    return { account, isExposed: (statSync(path).mode & GROUP_OR_OTHERS) !== 0 }
  } catch (error) {
    // The message leaves the path out: it can be a key that was entered there by mistake.
    return { problem: `key_file cannot be read: ${(error as NodeJS.ErrnoException).code}` }
  }
}

function readVariable(name: string, env: Readonly<Record<string, string | undefined>>): AccountReading {
  const text = env[name]
  if (text === undefined) return { problem: 'key_env names an environment variable that is not set' }
  const account = parse(text)
  return account
    ? { account, isExposed: false }
    : { problem: 'key_env does not contain a private key: 32 bytes in hex' }
}

function parse(text: string): Account | undefined {
  const digits = KEY.exec(text.trim())?.[1]
  if (digits === undefined) return undefined
  const key = new SigningKey(`0x${digits}`)
  const address = addressOf(key)
  if (address === undefined) return undefined
  return {
    address,
    sign(unsigned) {
      const transaction = Transaction.from({ type: 2, ...unsigned })
      transaction.signature = key.sign(transaction.unsignedHash)
      return { raw: transaction.serialized, txHash: transaction.hash! }
    },
  }
}

/** The address of the account that signed a transaction. */
export function signerOf(raw: string): string {
  return Transaction.from(raw).from!
}

/** The address of a key's account; `undefined` for a number that is not a key of the curve. */
function addressOf(key: SigningKey): string | undefined {
  try {
    return computeAddress(key)
  } catch {
    // The library's error contains the number, and is not passed on.
    return undefined
  }
}
