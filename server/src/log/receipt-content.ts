/** What a receipt will say of a decided claim, before the log gives it an id, a time and an issuer. */
import type { DecidedClaim, Decision, JsonObject, Source } from '@claimcheck/core'
import { sha256Text } from '@claimcheck/core'
import { sha256 } from '../base/sha256.ts'
import type { ClaimRow } from '../storage/claim-row.ts'

/** A decision with what the receipt says of the checks behind it. Plain data: it goes from thread to thread. */
export interface Decided extends Decision {
  readonly facts: JsonObject
  readonly source: Source | undefined
  /** The text that is published beside the receipt; undefined where it is too large. */
  readonly evidence: string | undefined
}

export type ReceiptContent = Omit<DecidedClaim, 'receiptId' | 'issuedAt' | 'issuer'>

export function receiptContent(claim: ClaimRow, decided: Decided): ReceiptContent {
  const { verdict, appeared, basis, facts, source, evidence } = decided
  return {
    agentId: claim.agentId,
    claim,
    observation: {
      verifier: { id: claim.profileAction, version: claim.profileVersion },
      observedAt: basis.answeredAt,
      deadlineAt: claim.deadlineAt,
      attempts: claim.attempts + 1,
      facts,
      ...(appeared ? { appeared } : {}),
      ...(source ? { source } : {}),
      ...(evidence === undefined ? {} : { evidenceDigest: sha256Text(evidence, sha256) }),
    },
    verdict,
  }
}
