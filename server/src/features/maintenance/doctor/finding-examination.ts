/** Examines one finding: an entry of the log that is no receipt. */
import { canonicalize, DOMAINS, isFinding } from '@claimcheck/core/receipts'
import { formatInstant, jsonIn } from '@claimcheck/core/rules'
import { sentencesThatHold } from '../../../base/problems.ts'
import { LEAF_BEGINNING, sha256 } from '../../../base/sha256.ts'
import type { KeyRing } from './key-ring.ts'
import type { Examination, HeadBounds, StoredClaim, StoredReceipt } from './stored.ts'

export function isFindingId(id: string): boolean {
  return id.startsWith('fnd_')
}

/** @param keys to verify the signature, too */
export async function examineFinding(
  { receiptId: findingId, leafIndex, leafHash: stored, issuedAt, entry }: StoredReceipt,
  claim: StoredClaim | undefined,
  { keyId, notBefore, notAfter }: HeadBounds,
  keys?: KeyRing,
): Promise<Examination> {
  const leafHash = sha256(LEAF_BEGINNING + entry)
  const value = jsonIn(entry)
  const finding = isFinding(value) && canonicalize(value) === entry ? value : undefined
  const body = finding?.body
  const problems = sentencesThatHold({
    'leaf_hash is not the hash of the entry': Buffer.compare(leafHash, stored) !== 0,
    'issued_at is not between its tree head and the one before': !(issuedAt >= notBefore && issuedAt <= notAfter),
    'its claim is missing': !claim,
    'the entry is not a finding in canonical JSON': !finding,
    'the entry has another id': body !== undefined && body.finding_id !== findingId,
    'issued_at differs from that of the entry': body !== undefined && body.issued_at !== formatInstant(issuedAt),
    'the entry is about the receipt of another claim':
      body !== undefined && claim?.row !== undefined && claim.row.receiptId !== body.receipt_id,
    'it is not signed by the key of its tree head':
      finding !== undefined && keyId !== undefined && finding.signature.key_id !== keyId,
  })
  const ofSignature = keys && finding ? await keys.check(DOMAINS.finding, finding, issuedAt) : []
  return {
    leafHash,
    problems: [...problems, ...ofSignature].map((problem) => `finding ${findingId} (leaf ${leafIndex}): ${problem}`),
  }
}
