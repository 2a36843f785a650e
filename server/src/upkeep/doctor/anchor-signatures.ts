/** The transactions of an anchor, read from their own bytes: who attests what follows from them, and with the block's time the uid. */
import { fromBase64url, isJsonObject, type SignedAnchor } from '@claimcheck/core'
import { decodeAbi, hasItsUid, readSignedAttestation, type SignedAttestation } from '@claimcheck/core/anchor'
import type { Row } from '../../storage/db.ts'
import { parseJson } from './check-record.ts'

const DATA = ['bytes32', 'uint64', 'bytes32', 'uint64', 'bytes32', 'string'] as const
const HASH = /^0x[0-9a-f]{64}$/

/** Undefined: what is stored is no list of transactions. */
export function readSigned({ signed }: Row): readonly SignedAnchor[] | undefined {
  const list = parseJson(String(signed))
  if (!Array.isArray(list) || JSON.stringify(list) !== signed) return undefined
  return list.every((item) => isJsonObject(item)) ? (list as unknown as readonly SignedAnchor[]) : undefined
}

/** `previous`: the row of the anchor that it refers to. */
export function signatureProblems(row: Row, previous: Row | undefined): string[] {
  const signed = readSigned(row)
  if (!signed) return ['signed is no list of transactions']
  const problems: string[] = []
  if (new Set(signed.map(({ nonce }) => nonce)).size > 1) problems.push('signed: they have more than one nonce')
  const landed = signed.find(({ txHash }) => txHash === row.tx_hash)
  if (row.tx_hash !== null && !landed && signed.length > 0) problems.push('tx_hash is none of what was signed')
  for (const [index, item] of signed.entries()) {
    const attested = readSignedAttestation(String(item.raw))
    // What can be read as one is one, whatever its row says.
    if (!attested && !isAttested(row)) continue
    const wrong = attested
      ? [...recordProblems(item, attested), ...subjectProblems(row, previous, attested)]
      : ['raw is no signed attestation']
    problems.push(...wrong.map((problem) => `signed ${index}: ${problem}`))
    if (item === landed && attested && !isUidOf(row, attested))
      problems.push('uid is not that of its transaction at its block_time')
  }
  return problems
}

function isAttested({ chain, scheme }: Row): boolean {
  return scheme === 'eas' && String(chain).startsWith('eip155:')
}

/** That what is kept beside the transaction is what it says. */
function recordProblems(
  { txHash, nonce, maxFee, priorityFee, ...more }: SignedAnchor,
  said: SignedAttestation,
): string[] {
  const isRecorded =
    txHash === said.txHash &&
    String(nonce) === String(said.nonce) &&
    maxFee === String(said.maxFee) &&
    priorityFee === String(said.priorityFee) &&
    Object.keys(more).join() === 'raw'
  return isRecorded ? [] : ['it is not the transaction that its raw bytes are']
}

function subjectProblems(row: Row, previous: Row | undefined, { chainId, attestation }: SignedAttestation): string[] {
  const { schema, attester, refUid, data } = attestation
  const problems: string[] = []
  const differs = (column: string, said: string) => {
    if (String(row[column]).toLowerCase() !== said) problems.push(`${column} is not what was signed`)
  }
  differs('chain', `eip155:${chainId}`)
  differs('scheme', 'eas')
  differs('attester', hex(attester))
  differs('schema', hex(schema))
  const said = decodeAbi(DATA, data)
  if (!said) return [...problems, 'its data is of another schema']
  const [logId, treeSize, rootHash, previousSize, previousRoot] = said
  if (hex(fromBase64url(String(row.log_id), 32) ?? new Uint8Array()) !== hex(logId))
    problems.push('log_id is not what was signed')
  differs('tree_size', String(treeSize))
  if (!sameBytes(row.root_hash, rootHash)) problems.push('root_hash is not what was signed')
  const refersTo = previous
    ? hex(refUid) === previous.uid &&
      Number(previousSize) === Number(previous.tree_size) &&
      sameBytes(previous.root_hash, previousRoot)
    : [refUid, previousRoot].every((bytes) => bytes.every((byte) => byte === 0)) && previousSize === 0n
  if (!refersTo) problems.push('it does not refer to the anchor before it')
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
