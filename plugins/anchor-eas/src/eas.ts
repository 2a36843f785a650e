/** Encodes and decodes the calls and events of the Ethereum Attestation Service, with the schema of our anchors. */
import { HASH_BYTES } from '@claimcheck/core/log'
import { type AnchorSubject, type AttestedRoot, fromBase64url, toBase64url } from '@claimcheck/core/plugin'
import { AbiCoder, Interface } from 'ethers/abi'
import { ZeroAddress, ZeroHash } from 'ethers/constants'
import { solidityPackedKeccak256 } from 'ethers/hash'
import { hexlify, zeroPadValue } from 'ethers/utils'
import { decodeAbi, decodeTuple } from './checker/abi.ts'
import { type Attestation, readAttestation as decodeAttestation, readAnchoredRoot } from './checker/eas.ts'
import { fromHex } from './checker/hex.ts'
import { readAttestCall } from './checker/signed-attestation.ts'
import { unexpectedResponse } from './errors.ts'
import type { Log } from './node.ts'

export const SCHEMA =
  'bytes32 logId,uint64 treeSize,bytes32 rootHash,uint64 prevTreeSize,bytes32 prevRootHash,string specVersion'
/** The uid of our schema when it is registered without a resolver and as not revocable. Any other registration has another uid. */
export const SCHEMA_UID = solidityPackedKeccak256(['string', 'address', 'bool'], [SCHEMA, ZeroAddress, false])

const UID_LENGTH = ZeroHash.length
const SPEC_VERSION = 'poaw/0.1'
const SCHEMA_TYPES = ['bytes32', 'uint64', 'bytes32', 'uint64', 'bytes32', 'string']
/** Values that stand for the previous anchor of the first one. */
const NO_PREVIOUS = { uid: ZeroHash, treeSize: 0, rootHash: new Uint8Array(HASH_BYTES) }

const REGISTRY = new Interface([
  'function register(string schema, address resolver, bool revocable)',
  'function getSchema(bytes32 uid) view',
])
const EAS = new Interface([
  'function getSchemaRegistry() view',
  'function attest((bytes32 schema, (address recipient, uint64 expirationTime, bool revocable, bytes32 refUID, bytes data, uint256 value) data) request) payable',
  'function getAttestation(bytes32 uid) view',
  'event Attested(address indexed recipient, address indexed attester, bytes32 uid, bytes32 indexed schemaUID)',
])

export const getSchemaRegistryCall = (): string => EAS.encodeFunctionData('getSchemaRegistry')
export const registerCall = (): string => REGISTRY.encodeFunctionData('register', [SCHEMA, ZeroAddress, false])
export const getSchemaCall = (): string => REGISTRY.encodeFunctionData('getSchema', [SCHEMA_UID])
export const getAttestationCall = (uid: string): string => EAS.encodeFunctionData('getAttestation', [uid])

/** Reads the address of the schema registry that the service uses, in lower case. @throws AnchorerError `unexpected_response` for any other answer */
export function readSchemaRegistry(answer: string): string {
  const [address] = decoded(decodeAbi(['address'], bytesOf(answer)), 'the address of the schema registry')
  return hexlify(address)
}

/** Compares what is registered under our schema's uid with our schema. @throws AnchorerError `unexpected_response` for an answer that is no schema */
export function readSchema(answer: string): 'ours' | 'another' | 'none' {
  const members = decodeTuple(['bytes32', 'address', 'bool', 'string'], bytesOf(answer))
  const [uid, resolver, revocable, schema] = decoded(members, 'a schema')
  if (hexlify(uid) === ZeroHash) return 'none'
  const isOurs =
    hexlify(uid) === SCHEMA_UID && hexlify(resolver) === ZeroAddress && revocable === false && schema === SCHEMA
  return isOurs ? 'ours' : 'another'
}

export function attestCall(subject: AnchorSubject): string {
  const { uid: refUID } = subject.previous ?? NO_PREVIOUS
  const data = {
    recipient: ZeroAddress,
    expirationTime: 0n,
    revocable: false,
    refUID,
    data: anchorData(subject),
    value: 0n,
  }
  return EAS.encodeFunctionData('attest', [{ schema: SCHEMA_UID, data }])
}

/**
 * Reads an attestation; `undefined` when there is none with this uid.
 * @throws AnchorerError `unexpected_response` for an answer that is no attestation
 */
export function readAttestation(answer: string, uid: string): Attestation | undefined {
  const attestation = decoded(decodeAttestation(bytesOf(answer)), 'an attestation')
  if (hexlify(attestation.uid) === ZeroHash) return undefined
  if (hexlify(attestation.uid) !== uid.toLowerCase()) throw unexpectedResponse('the attestation that was asked for')
  return attestation
}

/** Tells whether an attestation attests the subject, with the same previous anchor. */
export function isAttestationOf({ refUid, data }: Attestation, subject: AnchorSubject): boolean {
  const { uid: previousUid } = subject.previous ?? NO_PREVIOUS
  return hexlify(refUid) === previousUid.toLowerCase() && hexlify(data) === anchorData(subject)
}

/** The topics of the events of the attester's attestations under our schema; `null` stands for any. */
export function attestedTopics(attester: string): readonly (string | null)[] {
  return [EAS.getEvent('Attested')!.topicHash, null, zeroPadValue(attester, 32).toLowerCase(), SCHEMA_UID]
}

/** Reads what a call of the service attests under our schema; `undefined` for another call. */
export function readAttested(call: string): Pick<AttestedRoot, 'logId' | 'treeSize' | 'rootHash'> | undefined {
  const request = readAttestCall(bytesOf(call))
  const anchored = request && hexlify(request.schema) === SCHEMA_UID ? readAnchoredRoot(request.data) : undefined
  if (!anchored) return undefined
  const { logId, treeSize, rootHash } = anchored
  return { logId: toBase64url(logId), treeSize: Number(treeSize), rootHash }
}

/**
 * Lists the uids of the attester's attestations under our schema, from the service's events among these.
 * @throws AnchorerError `unexpected_response` for an event of another form
 */
export function attestedUids(logs: readonly Log[], eas: string, attester: string): string[] {
  const wanted = attestedTopics(attester)
  return logs
    .filter(({ address, topics }) => {
      const isOurs = wanted.every((topic, index) => topic === null || topic === topics[index])
      return isOurs && address === eas.toLowerCase()
    })
    .map(({ data }) => {
      if (data.length !== UID_LENGTH) throw unexpectedResponse('the uid of an attestation')
      return data
    })
}

function anchorData({ logId, treeSize, rootHash, previous }: AnchorSubject): string {
  const id = fromBase64url(logId, HASH_BYTES)
  if (!id) throw new TypeError('a log id is a hash in base64url')
  const before = previous ?? NO_PREVIOUS
  return AbiCoder.defaultAbiCoder().encode(SCHEMA_TYPES, [
    hexlify(id),
    treeSize,
    hexlify(rootHash),
    before.treeSize,
    hexlify(before.rootHash),
    SPEC_VERSION,
  ])
}

function bytesOf(hex: string): Uint8Array {
  return fromHex(hex)!
}

/** Requires a decoded value. @param wanted what should have been decoded, with its article */
function decoded<T>(value: T | undefined, wanted: string): T {
  if (value === undefined) throw unexpectedResponse(wanted)
  return value
}
