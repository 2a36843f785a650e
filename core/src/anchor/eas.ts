/** The Ethereum Attestation Service as a reader sees it: where it is, its attestations and its event, and a log's root as an attestation's data. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { concatBytes } from '@noble/hashes/utils.js'
import { utf8 } from '../encoding.ts'
import { decodeAbi } from './abi.ts'
import { toHex } from './hex.ts'
import type { Log } from './node.ts'

/** A part of the system on every chain of the OP stack. */
const PREDEPLOY = '0x4200000000000000000000000000000000000021'
const ELSEWHERE: ReadonlyMap<bigint, string> = new Map([[11155111n, '0xc2679fbd37d54388ce493f1db75320d236e1815e']])

export function easAddressOn(chainId: bigint): string {
  return ELSEWHERE.get(chainId) ?? PREDEPLOY
}

export interface Attestation {
  readonly uid: Uint8Array
  readonly schema: Uint8Array
  /** Of its block, in Unix seconds. */
  readonly time: bigint
  readonly expirationTime: bigint
  /** 0: it is not revoked. */
  readonly revocationTime: bigint
  readonly refUid: Uint8Array
  readonly recipient: Uint8Array
  readonly attester: Uint8Array
  readonly revocable: boolean
  readonly data: Uint8Array
}

const GET_ATTESTATION = keccak_256(utf8('getAttestation(bytes32)')).subarray(0, 4)
const ATTESTED = toHex(keccak_256(utf8('Attested(address,address,bytes32,bytes32)')))
const TUPLE_AT = 32n

export function getAttestationCall(uid: Uint8Array): Uint8Array {
  return concatBytes(GET_ATTESTATION, uid)
}

/** All is zero in the attestation of an unknown uid. `undefined`: the answer is no attestation at all. */
export function readAttestation(answer: Uint8Array): Attestation | undefined {
  const place = decodeAbi(['uint64'], answer.subarray(0, 32))
  if (place?.[0] !== TUPLE_AT) return undefined
  const members = decodeAbi(
    ['bytes32', 'bytes32', 'uint64', 'uint64', 'uint64', 'bytes32', 'address', 'address', 'bool', 'bytes'],
    answer.subarray(32),
  )
  if (!members) return undefined
  const [uid, schema, time, expirationTime, revocationTime, refUid, recipient, attester, revocable, data] = members
  return { uid, schema, time, expirationTime, revocationTime, refUid, recipient, attester, revocable, data }
}

// Attestations of one block that are alike have uids of their own, by a counter. An honest log never makes two.
const MOST_ALIKE = 16

/** Whether the uid is the hash of what the attestation says, its time included: a node can not make up another one under it. */
export function hasItsUid(attestation: Attestation): boolean {
  const { schema, recipient, attester, time, expirationTime, revocable, refUid, data } = attestation
  const says = concatBytes(
    schema,
    recipient,
    attester,
    bigEndian(time, 8),
    bigEndian(expirationTime, 8),
    bigEndian(revocable ? 1n : 0n, 1),
    refUid,
    data,
  )
  const uid = toHex(attestation.uid)
  for (let alike = 0; alike < MOST_ALIKE; alike++) {
    if (toHex(keccak_256(concatBytes(says, bigEndian(BigInt(alike), 4)))) === uid) return true
  }
  return false
}

/** Whether this is the event of that attestation: of the contract, and not of another that says the same. */
export function isEventOf(
  { uid, schema, attester }: Attestation,
  { address, topics, data }: Log,
  eas: string,
): boolean {
  const [event, , byWhom, underWhat] = topics
  return (
    address === eas &&
    event === ATTESTED &&
    byWhom === toHex(concatBytes(new Uint8Array(12), attester)) &&
    underWhat === toHex(schema) &&
    data === toHex(uid)
  )
}

/** What an anchor says of the log. */
export interface AnchoredRoot {
  readonly logId: Uint8Array
  readonly treeSize: bigint
  readonly rootHash: Uint8Array
}

/** `bytes32 logId,uint64 treeSize,bytes32 rootHash,uint64 prevTreeSize,bytes32 prevRootHash,string specVersion` */
export function readAnchoredRoot(data: Uint8Array): AnchoredRoot | undefined {
  const members = decodeAbi(['bytes32', 'uint64', 'bytes32', 'uint64', 'bytes32', 'string'], data)
  if (!members) return undefined
  const [logId, treeSize, rootHash] = members
  return { logId, treeSize, rootHash }
}

function bigEndian(value: bigint, lengthBytes: number): Uint8Array {
  return Uint8Array.from({ length: lengthBytes }, (_, index) =>
    Number((value >> BigInt(8 * (lengthBytes - 1 - index))) & 0xffn),
  )
}
