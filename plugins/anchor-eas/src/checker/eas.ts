/** Reads the Ethereum Attestation Service: its addresses, its attestations and events, and the log's root in an attestation's data. */
import { utf8 } from '@claimcheck/core/receipts'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { concatBytes } from '@noble/hashes/utils.js'
import { decodeAbi, decodeTuple } from './abi.ts'
import { toHex } from './hex.ts'
import type { Log } from './node.ts'

/** The address of the service on every chain of the OP stack. */
const PREDEPLOY = '0x4200000000000000000000000000000000000021'
/** The service's addresses on other chains by their ids, of which Sepolia is known. */
const OTHER_ADDRESSES: ReadonlyMap<bigint, string> = new Map([
  [11155111n, '0xc2679fbd37d54388ce493f1db75320d236e1815e'],
])

export function easAddressOn(chainId: bigint): string {
  return OTHER_ADDRESSES.get(chainId) ?? PREDEPLOY
}

export interface Attestation {
  readonly uid: Uint8Array
  readonly schema: Uint8Array
  /** The time of the attestation's block, in Unix seconds. */
  readonly time: bigint
  readonly expirationTime: bigint
  /** The time at which the attestation was revoked, in Unix seconds; 0 when it was not. */
  readonly revocationTime: bigint
  readonly refUid: Uint8Array
  readonly recipient: Uint8Array
  readonly attester: Uint8Array
  readonly revocable: boolean
  readonly data: Uint8Array
}

/** The selector of the function `getAttestation`. */
const GET_ATTESTATION = keccak_256(utf8('getAttestation(bytes32)')).subarray(0, 4)
/** The first topic of the event `Attested`. */
const ATTESTED = toHex(keccak_256(utf8('Attested(address,address,bytes32,bytes32)')))
export function getAttestationCall(uid: Uint8Array): Uint8Array {
  return concatBytes(GET_ATTESTATION, uid)
}

/** Reads an attestation, in which everything is zero for an unknown uid; `undefined` if the answer is none. */
export function readAttestation(answer: Uint8Array): Attestation | undefined {
  const members = decodeTuple(
    ['bytes32', 'bytes32', 'uint64', 'uint64', 'uint64', 'bytes32', 'address', 'address', 'bool', 'bytes'],
    answer,
  )
  if (!members) return undefined
  const [uid, schema, time, expirationTime, revocationTime, refUid, recipient, attester, revocable, data] = members
  return { uid, schema, time, expirationTime, revocationTime, refUid, recipient, attester, revocable, data }
}

/** Equal attestations in one block get different uids through a counter. A log makes no equal ones, so that few values are enough. */
const MAX_COUNTER = 16

/** Tells whether the uid is the hash of the attestation's content and time. Then a node cannot return a changed attestation for a uid. */
export function hasItsUid(attestation: Attestation): boolean {
  const { schema, recipient, attester, time, expirationTime, revocable, refUid, data } = attestation
  const content = concatBytes(
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
  for (let counter = 0; counter < MAX_COUNTER; counter++) {
    if (toHex(keccak_256(concatBytes(content, bigEndian(BigInt(counter), 4)))) === uid) return true
  }
  return false
}

/** Tells whether the log is this attestation's event, emitted by the contract at `eas`: another contract can emit the same event. */
export function isEventOf(
  { uid, schema, attester }: Attestation,
  { address, topics, data }: Log,
  eas: string,
): boolean {
  const [event, , attesterTopic, schemaTopic] = topics
  return (
    address === eas &&
    event === ATTESTED &&
    attesterTopic === toHex(concatBytes(new Uint8Array(12), attester)) &&
    schemaTopic === toHex(schema) &&
    data === toHex(uid)
  )
}

/** The state of a log that an attestation states, and that of the one before it. */
export interface AnchoredRoot {
  readonly logId: Uint8Array
  readonly treeSize: bigint
  readonly rootHash: Uint8Array
  readonly previousSize: bigint
  readonly previousRoot: Uint8Array
}

/** Reads the data of the schema `bytes32 logId,uint64 treeSize,bytes32 rootHash,uint64 prevTreeSize,bytes32 prevRootHash,string specVersion`. */
export function readAnchoredRoot(data: Uint8Array): AnchoredRoot | undefined {
  const members = decodeAbi(['bytes32', 'uint64', 'bytes32', 'uint64', 'bytes32', 'string'], data)
  if (!members) return undefined
  const [logId, treeSize, rootHash, previousSize, previousRoot] = members
  return { logId, treeSize, rootHash, previousSize, previousRoot }
}

function bigEndian(value: bigint, lengthBytes: number): Uint8Array {
  return Uint8Array.from({ length: lengthBytes }, (_, index) =>
    Number((value >> BigInt(8 * (lengthBytes - 1 - index))) & 0xffn),
  )
}
