/** A signed attestation as it is sent: everything that it says, who signed it included, from the transaction's own bytes. */
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
  /** All that it will be on the chain but its uid and its time, which its block decides. */
  readonly attestation: Omit<Attestation, 'uid' | 'time'>
}

/** `undefined`: it is no transaction of type 2 (EIP-1559) that calls `attest`, or nobody signed it. */
export function readSignedAttestation(raw: string): SignedAttestation | undefined {
  const bytes = fromHex(raw)
  if (!bytes || bytes[0] !== TYPE) return undefined
  const list = readItem(bytes, 1)
  if (!list?.isList || list.end !== bytes.length) return undefined
  const items = readItems(bytes.subarray(0, list.end), list.start)
  if (items?.length !== 12) return undefined
  const content = (index: number) => bytes.subarray(items[index]!.start, items[index]!.end)
  const request = readAttestCall(content(7))
  const unsigned = bytes.subarray(items[0]!.from, items[8]!.end)
  const signedHash = keccak_256(concatBytes(Uint8Array.of(TYPE), listHeader(unsigned.length), unsigned))
  const attester = signerOf(signedHash, content(9), content(10), content(11))
  if (!request || !attester) return undefined
  return {
    txHash: toHex(keccak_256(bytes)),
    chainId: toNumber(content(0)),
    nonce: toNumber(content(1)),
    maxFee: toNumber(content(3)),
    priorityFee: toNumber(content(2)),
    attestation: { ...request, attester, revocationTime: 0n },
  }
}

const TYPE = 2

/** Of RLP, the form in which transactions are written: its own bytes from `from` to `end`, its content from `start` on. */
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
  const length = lengthBytes === 0 ? short : Number(toNumber(bytes.subarray(from + 1, start)))
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

const SELECTOR_BYTES = 4
const WORD_BYTES = 32

/** `attest((bytes32 schema, (address recipient, uint64 expirationTime, bool revocable, bytes32 refUID, bytes data, uint256 value)))` */
function readAttestCall(call: Uint8Array): Request | undefined {
  const head = decodeAbi(
    ['uint64', 'bytes32', 'uint64'],
    call.subarray(SELECTOR_BYTES, SELECTOR_BYTES + 3 * WORD_BYTES),
  )
  const members = decodeAbi(
    ['address', 'uint64', 'bool', 'bytes32', 'bytes', 'uint64'],
    call.subarray(SELECTOR_BYTES + 3 * WORD_BYTES),
  )
  if (!head || !members) return undefined
  const [recipient, expirationTime, revocable, refUid, data] = members
  return { schema: head[1], recipient, expirationTime, revocable, refUid, data }
}

function signerOf(hash: Uint8Array, parity: Uint8Array, r: Uint8Array, s: Uint8Array): Uint8Array | undefined {
  try {
    const signature = concatBytes(Uint8Array.of(Number(toNumber(parity))), leftPadded(r), leftPadded(s))
    const key = secp256k1.Signature.fromBytes(signature, 'recovered').recoverPublicKey(hash).toBytes(false)
    return keccak_256(key.subarray(1)).subarray(12)
  } catch {
    // No signature of that curve.
    return undefined
  }
}

function leftPadded(bytes: Uint8Array): Uint8Array {
  return concatBytes(new Uint8Array(WORD_BYTES - bytes.length), bytes)
}

function toNumber(bytes: Uint8Array): bigint {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
}
