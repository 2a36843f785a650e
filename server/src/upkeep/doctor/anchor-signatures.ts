/**
 * Checks an anchor against the bytes of its signed transactions, from which the attester, the attested data and, with the block's time,
 * the uid follow.
 */
import { fromBase64url, isJsonObject, type SignedAnchor } from '@claimcheck/core'
import { decodeAbi, hasItsUid, readSignedAttestation, type SignedAttestation } from '@claimcheck/core/anchor'
import type { Row } from '../../storage/db.ts'
import { parseJson } from './check-record.ts'

const DATA = ['bytes32', 'uint64', 'bytes32', 'uint64', 'bytes32', 'string'] as const
const HASH = /^0x[0-9a-f]{64}$/

/** Undefined when the column is not a list of transactions. */
export function readSigned({ signed }: Row): readonly SignedAnchor[] | undefined {
  const list = parseJson(String(signed))
  if (!Array.isArray(list) || JSON.stringify(list) !== signed) return undefined
  return list.every((item) => isJsonObject(item)) ? (list as unknown as readonly SignedAnchor[]) : undefined
}

/** @param previous the anchor to which this one refers */
export function signatureProblems(row: Row, previous: Row | undefined): string[] {
  const signed = readSigned(row)
  if (!signed) return ['signed is not a list of transactions']
  const problems: string[] = []
  if (new Set(signed.map(({ nonce }) => nonce)).size > 1)
    problems.push('signed: the transactions have different nonces')
  const landed = signed.find(({ txHash }) => txHash === row.tx_hash)
  if (row.tx_hash !== null && !landed && signed.length > 0)
    problems.push('tx_hash is not the hash of a signed transaction')
  for (const [index, item] of signed.entries()) {
    const attested = readSignedAttestation(String(item.raw))
    // Transactions of another scheme cannot be read as attestations and are not checked.
    if (!attested && !isAttestation(row)) continue
    const wrong = attested
      ? [...recordProblems(item, attested), ...subjectProblems(row, previous, attested)]
      : ['raw is not a signed attestation']
    problems.push(...wrong.map((problem) => `signed ${index}: ${problem}`))
    if (item === landed && attested && !isUidOf(row, attested))
      problems.push('uid does not follow from its transaction and block_time')
  }
  return problems
}

function isAttestation({ chain, scheme }: Row): boolean {
  return scheme === 'eas' && String(chain).startsWith('eip155:')
}

/** Compares the fields beside the raw transaction with its bytes. */
function recordProblems(
  { txHash, nonce, maxFee, priorityFee, ...more }: SignedAnchor,
  signed: SignedAttestation,
): string[] {
  const isSame =
    txHash === signed.txHash &&
    String(nonce) === String(signed.nonce) &&
    maxFee === String(signed.maxFee) &&
    priorityFee === String(signed.priorityFee) &&
    Object.keys(more).join() === 'raw'
  return isSame ? [] : ['its fields differ from its raw bytes']
}

function subjectProblems(row: Row, previous: Row | undefined, { chainId, attestation }: SignedAttestation): string[] {
  const { schema, attester, refUid, data } = attestation
  const problems: string[] = []
  const compare = (column: string, signed: string) => {
    if (String(row[column]).toLowerCase() !== signed) problems.push(`${column} differs from the signed one`)
  }
  compare('chain', `eip155:${chainId}`)
  compare('scheme', 'eas')
  compare('attester', hex(attester))
  compare('schema', hex(schema))
  const signedData = decodeAbi(DATA, data)
  if (!signedData) return [...problems, 'its data has another schema']
  const [logId, treeSize, rootHash, previousSize, previousRoot] = signedData
  if (hex(fromBase64url(String(row.log_id), 32) ?? new Uint8Array()) !== hex(logId))
    problems.push('log_id differs from the signed one')
  compare('tree_size', String(treeSize))
  if (!sameBytes(row.root_hash, rootHash)) problems.push('root_hash differs from the signed one')
  const refersTo = previous
    ? hex(refUid) === previous.uid &&
      Number(previousSize) === Number(previous.tree_size) &&
      sameBytes(previous.root_hash, previousRoot)
    : [refUid, previousRoot].every((bytes) => bytes.every((byte) => byte === 0)) && previousSize === 0n
  if (!refersTo) problems.push('it does not refer to the previous anchor')
  return problems
}

function isUidOf(row: Row, { attestation }: SignedAttestation): boolean {
  if (!HASH.test(String(row.uid)) || !Number.isSafeInteger(Number(row.block_time))) return false
  const uid = Buffer.from(String(row.uid).slice(2), 'hex')
  return hasItsUid({ ...attestation, uid, time: BigInt(Number(row.block_time)) })
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`
}

function sameBytes(one: unknown, other: Uint8Array): boolean {
  return one instanceof Uint8Array && Buffer.compare(one, other) === 0
}
