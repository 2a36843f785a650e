/** Whether the evidence of a receipt is what the claim's stored checks say, and whether the verdict follows from it. */
import { caseOf, checkEvidence, type EvidenceDocument, evidenceText, type ReceiptBody } from '@claimcheck/core/receipts'
import { type Decision, decide, type JsonObject } from '@claimcheck/core/rules'
import { recordsOf } from './claim-examination.ts'
import type { StoredClaim } from './stored.ts'

/** What the evidence says again from the claim's own row and checks: the document as it must be, and its decision. */
export interface Recomputed {
  readonly text: string
  readonly decision: Decision
}

/**
 * Only the rules and the moment of the decision are taken from the document: nothing else keeps them.
 * @throws TypeError, RangeError, SyntaxError for what is no such document
 */
export function recompute(document: string, claim: StoredClaim): Recomputed | undefined {
  const { row } = claim
  if (!row) return undefined
  const { rules, closing, decidedAt } = caseOf(JSON.parse(document) as EvidenceDocument)
  const profile = { action: row.profileAction, version: row.profileVersion }
  const checks = recordsOf(claim)
  const decision = decide(rules, row, checks, decidedAt, closing)
  return (
    decision && { text: evidenceText({ rules, closing, decidedAt, profile, claim: row, checks }, decision), decision }
  )
}

/** In words; empty when nothing is wrong. Receipts with too large evidence have none. */
export function evidenceProblems(body: ReceiptBody, document: string | null, claim: StoredClaim | undefined): string[] {
  const hasDigest = body.observation.evidence_digest !== undefined
  if (!hasDigest) return document === null ? [] : ['evidence is stored that it does not name']
  if (document === null || document === '') return ['its evidence is missing']
  const finding = checkEvidence(body as unknown as JsonObject, document)
  if (finding.evidence === 'digest_differs') return ['its evidence is not the one whose digest it signs']
  if (finding.evidence === 'does_not_follow')
    return [`it does not follow from its evidence: ${finding.differs.join(', ')}`]
  if (finding.evidence === 'not_checked') return ['its evidence is of rules that this version does not know']
  if (claim === undefined || tryRecomputing(document, claim)?.text === document) return []
  return [`its evidence is not what claim ${claim.claimId} and its checks say`]
}

function tryRecomputing(document: string, claim: StoredClaim): Recomputed | undefined {
  try {
    return recompute(document, claim)
  } catch {
    return undefined
  }
}
