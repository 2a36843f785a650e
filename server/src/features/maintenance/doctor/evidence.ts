/** Whether the evidence of a receipt is what the claim's stored checks say, and whether the verdict follows from it. */

import {
  type Case,
  canonicalize,
  caseOf,
  checkEvidence,
  type EvidenceDocument,
  evidenceText,
  type ReceiptBody,
  type ReceiptObservation,
  toWirePlugin,
} from '@claimcheck/core/receipts'
import { type CheckRecord, type Decision, decide, type JsonObject, type PluginName } from '@claimcheck/core/rules'
import { recordsOf } from './claim-examination.ts'
import type { StoredClaim } from './stored.ts'

/** What the evidence says again from the claim's own row and checks: the document as it must be, and its decision. */
export interface Retold {
  readonly text: string
  readonly decision: Decision
  readonly checks: readonly CheckRecord[]
}

/**
 * Only the rules and the moment of the decision are taken from the document: nothing else keeps them.
 * @throws TypeError, RangeError for what is no such document
 */
export function retell(
  document: string,
  fields: Pick<
    StoredClaim['fields'],
    'claim_digest' | 'claimed_at' | 'deadline_at' | 'submitted_at' | 'profile_action' | 'profile_version'
  >,
  checks: readonly CheckRecord[],
): Retold | undefined {
  const told = caseOf(JSON.parse(document) as EvidenceDocument)
  const decided: Case = {
    rules: told.rules,
    closing: told.closing,
    decidedAt: told.decidedAt,
    profile: { action: fields.profile_action, version: fields.profile_version },
    claim: {
      claimDigest: fields.claim_digest,
      claimedAt: Number(fields.claimed_at),
      deadlineAt: Number(fields.deadline_at),
      submittedAt: Number(fields.submitted_at),
    },
    checks,
  }
  const decision = decide(decided.rules, decided.claim, checks, decided.decidedAt, decided.closing)
  return decision && { text: evidenceText(decided, decision), decision, checks }
}

/** In words; empty when nothing is wrong. Receipts of before have no evidence. */
export function evidenceProblems(body: ReceiptBody, document: string, claim: StoredClaim | undefined): string[] {
  const hasDigest = body.observation.evidence_digest !== undefined
  if (!hasDigest) return document === '' ? [] : ['evidence is stored that it does not name']
  if (document === '') return ['its evidence is missing']
  const finding = checkEvidence(body as unknown as JsonObject, document)
  if (finding.evidence === 'digest_differs') return ['its evidence is not the one whose digest it signs']
  if (finding.evidence === 'does_not_follow')
    return [`it does not follow from its evidence: ${finding.differs.join(', ')}`]
  if (finding.evidence === 'not_checked') return ['its evidence is of rules that this version does not know']
  if (claim === undefined) return []
  const retold = tryRetelling(document, claim)
  if (retold?.text !== document) return ["its evidence is not what the claim's checks say"]
  const { plugin } = retold.decision.basis
  return namesPlugin(body.observation, plugin) ? [] : ['it names another plugin than the check that it rests on']
}

/** The receipt names this plugin, or none where there is none. */
export function namesPlugin(
  { verifier }: Pick<ReceiptObservation, 'verifier'>,
  plugin: PluginName | undefined,
): boolean {
  const { id, version } = verifier
  return canonicalize(verifier) === canonicalize({ id, version, ...toWirePlugin(plugin) })
}

function tryRetelling(document: string, claim: StoredClaim): Retold | undefined {
  try {
    return retell(document, claim.fields, recordsOf(claim))
  } catch {
    return undefined
  }
}
