/** Whether a receipt is what the code that makes receipts makes of its claim and checks. */

import { entryText, type Receipt, receiptBody, signedEvidence } from '@claimcheck/core/receipts'
import type { CheckRecord } from '@claimcheck/core/rules'
import { leafHashHex } from '../../../base/sha256.ts'
import { claims } from '../../../storage/claim-row.ts'
import { receiptContent } from '../../log/receipt-content.ts'
import { examineClaim } from './claim-examination.ts'
import { retell } from './evidence.ts'
import type { HeadBounds } from './receipt-examination.ts'
import type { StoredClaim, StoredReceipt } from './stored.ts'

/**
 * Only the issuer's name, the signature and, without evidence, the time of appearance are taken from the entry itself: no other row has
 * them. Never reports a problem: what is false here is examined closely.
 */
export function isAsMade(
  receipt: StoredReceipt,
  claim: StoredClaim,
  { keyId, notBefore, notAfter }: HeadBounds,
): boolean {
  const issuedAt = Number(receipt.issued_at)
  const isDecided = claim.fields.receipt_id === receipt.receipt_id && claim.fields.log_id === receipt.log_id
  if (keyId === undefined || !isDecided || !(issuedAt >= notBefore && issuedAt <= notAfter)) return false
  try {
    const row = claims.read(claim.row)
    const { body, signature } = JSON.parse(receipt.entry) as Receipt
    const records = claim.checks.map(({ record }): CheckRecord => JSON.parse(record))
    const { name } = body.issuer
    const decided = decidedBy(receipt.evidence, claim, records)
    if (!decided || decided.verdict.value !== row.verdict || (decided.verdict.reasonCode ?? null) !== row.reasonCode)
      return false
    const made = receiptBody({
      ...receiptContent({ ...row, attempts: row.attempts - 1 }, decided),
      receiptId: receipt.receipt_id,
      issuedAt,
      issuer: name === undefined ? { keyId } : { keyId, name },
    })
    const observation = decided.evidence === undefined ? { ...made.observation, ...appearedIn(body) } : made.observation
    return (
      signature.key_id === keyId &&
      signature.alg === 'Ed25519' &&
      entryText({ body: { ...made, observation }, signature }) === receipt.entry &&
      leafHashHex(receipt.entry) === receipt.leaf_hash &&
      examineClaim(claim).length === 0
    )
  } catch {
    // A text is not JSON, or a number is not a time: the close examination says which.
    return false
  }
}

function decidedBy(evidence: string, { fields, row }: StoredClaim, records: readonly CheckRecord[]) {
  if (evidence === '') {
    const { verdict: value, reasonCode, lastCheck: basis } = claims.read(row)
    if (value === null || basis === null) return undefined
    const verdict = reasonCode === null ? { value } : { value, reasonCode }
    return { verdict, basis, ...signedEvidence({ basis }, []), evidence: undefined }
  }
  const retold = retell(evidence, fields, records)
  if (retold?.text !== evidence) return undefined
  return { ...retold.decision, ...signedEvidence(retold.decision, records), evidence }
}

function appearedIn({ observation: { appeared } }: Receipt['body']) {
  return appeared === undefined ? {} : { appeared }
}
