/**
 * Checks a stored anchor against the bytes of its signed transactions, from which the attester, the attested data and, with the block's time,
 * the uid follow.
 */
import { fromBase64url, type SignedAnchor, type StoredAnchor } from '@claimcheck/core/plugin'
import { bytesEqual } from '@claimcheck/core/receipts'
import { hasItsUid, readAnchoredRoot } from './eas.ts'
import { fromHex, toHex } from './hex.ts'
import { readSignedAttestation, type SignedAttestation } from './signed-attestation.ts'

const HASH = /^0x[0-9a-f]{64}$/

/** Lists the contradictions between a stored anchor and the bytes of its transactions, as an `AnchorExaminer`. */
export function examineSigned(anchor: StoredAnchor, previous: StoredAnchor | undefined): string[] {
  return anchor.signed.flatMap((item, index) => {
    const attested = readSignedAttestation(String(item.raw))
    // A transaction of another kind of anchor cannot be read as an attestation.
    if (!attested && !isAttestation(anchor)) return []
    if (!attested) return [`signed ${index}: raw is not a signed attestation`]
    const wrong = [...recordProblems(item, attested), ...subjectProblems(anchor, previous, attested)]
    const isLanded = item.txHash === anchor.txHash
    return [
      ...wrong.map((problem) => `signed ${index}: ${problem}`),
      ...(isLanded && !isUidOf(anchor, attested) ? ['uid does not follow from its transaction and block_time'] : []),
    ]
  })
}

function isAttestation({ chain, scheme }: StoredAnchor): boolean {
  return scheme === 'eas' && chain.startsWith('eip155:')
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

function subjectProblems(
  anchor: StoredAnchor,
  previous: StoredAnchor | undefined,
  { chainId, attestation }: SignedAttestation,
): string[] {
  const { schema, attester, refUid, data } = attestation
  const problems: string[] = []
  const compare = (column: string, stored: string, signed: string) => {
    if (stored.toLowerCase() !== signed) problems.push(`${column} differs from the signed one`)
  }
  compare('chain', anchor.chain, `eip155:${chainId}`)
  compare('scheme', anchor.scheme, 'eas')
  compare('attester', anchor.attester, toHex(attester))
  compare('schema', anchor.schema, toHex(schema))
  const anchored = readAnchoredRoot(data)
  if (!anchored) return [...problems, 'its data has another schema']
  const { logId, treeSize, rootHash, previousSize, previousRoot } = anchored
  compare('log_id', toHex(fromBase64url(anchor.logId, 32) ?? new Uint8Array()), toHex(logId))
  compare('tree_size', String(anchor.treeSize), String(treeSize))
  if (!bytesEqual(anchor.rootHash, rootHash)) problems.push('root_hash differs from the signed one')
  const refersTo = previous
    ? toHex(refUid) === previous.uid &&
      Number(previousSize) === previous.treeSize &&
      bytesEqual(previous.rootHash, previousRoot)
    : [refUid, previousRoot].every((bytes) => bytes.every((byte) => byte === 0)) && previousSize === 0n
  if (!refersTo) problems.push('it does not refer to the previous anchor')
  return problems
}

function isUidOf({ uid, blockTime }: StoredAnchor, { attestation }: SignedAttestation): boolean {
  if (uid === null || !HASH.test(uid) || !Number.isSafeInteger(blockTime)) return false
  return hasItsUid({ ...attestation, uid: fromHex(uid)!, time: BigInt(blockTime!) })
}
