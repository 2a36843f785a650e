/** The content of a receipt for a decided claim, before the log adds its id, time and issuer. */
import { type CheckRecord, type DecidedClaim, type Decision, isRead, type JsonObject } from '@claimcheck/core'
import type { ClaimRow } from '../storage/claim-row.ts'

export type ReceiptContent = Omit<DecidedClaim, 'receiptId' | 'issuedAt' | 'issuer'>

export function receiptContent(claim: ClaimRow, { verdict, appeared, basis }: Decision): ReceiptContent {
  return {
    agentId: claim.agentId,
    claim,
    observation: {
      verifier: { id: claim.profileAction, version: claim.profileVersion },
      observedAt: basis.answeredAt,
      deadlineAt: claim.deadlineAt,
      attempts: claim.attempts + 1,
      facts: factsOf(basis),
      ...(appeared ? { appeared } : {}),
    },
    verdict,
  }
}

/** The facts that were read; when the read failed, its error. */
export function factsOf(record: CheckRecord): JsonObject {
  if (isRead(record)) return record.observation.facts
  const { code, status } = record.failure
  return { error: code, ...(status === undefined ? {} : { status }) }
}
