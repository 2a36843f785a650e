/** Reads a signed attestation from the bytes of its transaction: its content, and who signed it. */
import { bytesEqual, utf8 } from '@claimcheck/core/receipts'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { concatBytes } from '@noble/hashes/utils.js'
import { decodeAbi } from './abi.ts'
import type { Attestation } from './eas.ts'
import { fromHex, toHex } from './hex.ts'

export interface SignedAttestation {
  readonly txHash: string
  readonly chainId: bigint
  readonly nonce: bigint
  readonly maxFee: bigint
  readonly priorityFee: bigint
  /** The attestation that the transaction makes. Its uid and time depend on its block. */
  readonly attestation: Omit<Attestation, 'uid' | 'time'>
}

/**
 * Reads a signed attestation.
 * @param raw the transaction in hex
 * @returns `undefined` when it is not a transaction of type 2 (EIP-1559) that calls `attest` and has a valid signature
 */
export function readSignedAttestation(raw: string): SignedAttestation | undefined {
  const bytes = fromHex(raw)
  if (!bytes || bytes[0] !== TRANSACTION_TYPE) return undefined
  const list = readItem(bytes, 1)
  if (!list?.isList || list.end !== bytes.length) return undefined
  const items = readItems(bytes.subarray(0, list.end), list.start)
  if (items?.length !== 12) return undefined
  const content = (index: number) => bytes.subarray(items[index]!.start, items[index]!.end)
  const request = readAttestCall(content(7))
  const unsigned = bytes.subarray(items[0]!.from, items[8]!.end)
  const signedHash = keccak_256(concatBytes(Uint8Array.of(TRANSACTION_TYPE), listHeader(unsigned.length), unsigned))
  const attester = signerOf(signedHash, content(9), content(10), content(11))
  if (!request || !attester) return undefined
  return {
    txHash: toHex(keccak_256(bytes)),
    chainId: toBigint(content(0)),
    nonce: toBigint(content(1)),
    maxFee: toBigint(content(3)),
    priorityFee: toBigint(content(2)),
    attestation: { ...request, attester, revocationTime: 0n },
  }
}

const TRANSACTION_TYPE = 2

/** An item of RLP, the encoding of transactions: it begins at `from`, its content at `start`, and both end at `end`. */
interface Item {
  readonly isList: boolean
  readonly from: number
  readonly start: number
  readonly end: number
}

function readItem(bytes: Uint8Array, from: number): Item | undefined {
  const first = bytes[from]
  if (first === undefined) return undefined
  if (first < 0x80) return { isList: false, from, start: from, end: from + 1 }
  const isList = first >= 0xc0
  const short = first - (isList ? 0xc0 : 0x80)
  const lengthBytes = Math.max(0, short - 55)
  const start = from + 1 + lengthBytes
  const length = lengthBytes === 0 ? short : Number(toBigint(bytes.subarray(from + 1, start)))
  const end = start + length
  return end <= bytes.length ? { isList, from, start, end } : undefined
}

function readItems(bytes: Uint8Array, start: number): readonly Item[] | undefined {
  const items: Item[] = []
  for (let at = start; at < bytes.length; ) {
    const item = readItem(bytes, at)
    if (!item) return undefined
    items.push(item)
    at = item.end
  }
  return items
}

function listHeader(length: number): Uint8Array {
  if (length < 56) return Uint8Array.of(0xc0 + length)
  const hex = length.toString(16)
  const digits = fromHex(`0x${hex.length % 2 === 0 ? '' : '0'}${hex}`)!
  return concatBytes(Uint8Array.of(0xf7 + digits.length), digits)
}

type Request = Omit<Attestation, 'uid' | 'time' | 'attester' | 'revocationTime'>

const WORD_BYTES = 32
/** The selector of the function `attest`. */
const ATTEST = keccak_256(utf8('attest((bytes32,(address,uint64,bool,bytes32,bytes,uint256)))')).subarray(0, 4)

/**
 * Reads a call of `attest((bytes32 schema, (address recipient, uint64 expirationTime, bool revocable, bytes32 refUID, bytes data, uint256 value)))`.
 */
export function readAttestCall(call: Uint8Array): Request | undefined {
  if (!bytesEqual(call.subarray(0, ATTEST.length), ATTEST)) return undefined
  const request = call.subarray(ATTEST.length)
  const head = decodeAbi(['uint64', 'bytes32', 'uint64'], request.subarray(0, 3 * WORD_BYTES))
  const members = decodeAbi(
    ['address', 'uint64', 'bool', 'bytes32', 'bytes', 'uint64'],
    request.subarray(3 * WORD_BYTES),
  )
  if (!head || !members) return undefined
  const [recipient, expirationTime, revocable, refUid, data] = members
  return { schema: head[1], recipient, expirationTime, revocable, refUid, data }
}

function signerOf(hash: Uint8Array, parity: Uint8Array, r: Uint8Array, s: Uint8Array): Uint8Array | undefined {
  try {
    const signature = concatBytes(Uint8Array.of(Number(toBigint(parity))), leftPadded(r), leftPadded(s))
    const key = secp256k1.Signature.fromBytes(signature, 'recovered').recoverPublicKey(hash).toBytes(false)
    return keccak_256(key.subarray(1)).subarray(12)
  } catch {
    // The bytes are no signature on that curve.
    return undefined
  }
}

function leftPadded(bytes: Uint8Array): Uint8Array {
  return concatBytes(new Uint8Array(WORD_BYTES - bytes.length), bytes)
}

function toBigint(bytes: Uint8Array): bigint {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
}
