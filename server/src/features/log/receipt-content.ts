/** The content of a receipt for a decided claim, before the log adds its id, time and issuer. */

import type { AgentNames, DecidedClaim } from '@claimcheck/core/receipts'
import type { Decision, JsonObject, Source } from '@claimcheck/core/rules'
import { sha256Text } from '../../base/sha256.ts'
import type { ClaimRow } from '../../storage/claim-row.ts'

/** A decision with what the receipt says of the checks behind it. */
export interface Decided extends Decision {
  readonly facts: JsonObject
  readonly source: Source | undefined
  /** The text that is published with the receipt; undefined where it is too large. */
  readonly evidence: string | undefined
  /** Of a bound agent, when it was decided. */
  readonly agentNames?: AgentNames | undefined
}

export type ReceiptContent = Omit<DecidedClaim, 'receiptId' | 'issuedAt' | 'issuer'>

/** @param claim after the check that decided it */
export function receiptContent(claim: Omit<ClaimRow, 'lastCheck'>, decided: Decided): ReceiptContent {
  const { verdict, appeared, largestGapMs, basis, facts, source, evidence, agentNames } = decided
  const { plugin } = basis
  return {
    agentId: claim.agentId,
    ...(claim.agentBound === 1 ? { agentBound: true, agentNames } : {}),
    claim,
    observation: {
      verifier: { id: claim.profileAction, version: claim.profileVersion, ...(plugin ? { plugin } : {}) },
      observedAt: basis.answeredAt,
      deadlineAt: claim.deadlineAt,
      attempts: claim.attempts,
      facts,
      ...(appeared ? { appeared } : {}),
      ...(largestGapMs === undefined ? {} : { largestGapMs }),
      ...(source ? { source } : {}),
      ...(evidence === undefined ? {} : { evidenceDigest: sha256Text(evidence) }),
    },
    verdict,
  }
}
