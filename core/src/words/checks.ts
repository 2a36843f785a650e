/** Says what the checks of a receipt found, in words that the command line and the pages share. */
import type { AnchorProblem } from '../anchor/checker.ts'
import type { Contradiction } from '../log/contradiction.ts'
import type { TreeHeadFinding } from '../log/head-binding.ts'
import type { Report } from '../receipt/checker.ts'
import type { EvidenceFinding } from '../receipt/evidence-checker.ts'
import { utcOf } from './when.ts'

type CheckName = keyof Report['checks']

export const CHECK_FAILURES: Readonly<Record<Exclude<CheckName, 'anchor'>, string>> = {
  spec_version: 'the format is not a version of poaw/0',
  schema: 'a member is missing, malformed or not allowed',
  integers_only: 'a number is not written as an integer',
  key: 'the key document has no such key, or the key was not in use at the time of issue',
  signature: 'the signature does not fit the content and the key',
  claim_digest: 'the digest is not that of the claim',
  inclusion: 'the proof does not lead from this entry to the root',
  policy: 'the pipeline document is not the one that the entry names',
}

/** The first check of an invalid report that does not hold, in words. Where all hold, nothing vouches for the key. */
export function firstFailure({ checks }: Report): string {
  const failed = Object.entries(checks).find(([, outcome]) => outcome === false)
  return failed
    ? CHECK_FAILURES[failed[0] as keyof typeof CHECK_FAILURES]
    : 'nothing vouches for the key that signed it'
}

export const ANCHOR_PROBLEMS: Readonly<Record<AnchorProblem, string>> = {
  unknown_scheme: 'no checker that is installed here knows anchors of its kind: install the plugin that checks them',
  rpc_chain_mismatch: 'the node is of another chain',
  unreadable: 'the node could not be read',
  attestation_not_found: 'no final block has such an attestation',
  attestation_revoked: 'the attestation is revoked',
  attester_not_published: 'the key document does not name the account that attested',
  schema_not_published: 'the key document does not name the schema of the attestation',
  data_undecodable: 'the data of the attestation cannot be decoded',
  log_or_size_mismatch: 'the attestation is of another log or size',
  anchor_does_not_cover_leaf: 'the anchored log was too small to hold this entry',
  consistency_proof_required: 'the issuer has to connect the anchor with the proof, and gave no consistency proof',
  consistency_proof_invalid: 'the consistency proof of the issuer does not hold',
  root_mismatch: 'the attestation has another root',
}

/** Problems of an anchor that leave open whether it holds, as distinct from those by which it does not. */
const UNKNOWN: ReadonlySet<string> = new Set([
  'unknown_scheme',
  'unreadable',
  'rpc_chain_mismatch',
  'consistency_proof_required',
])

export function isUnknownAnchor(anchor: AnchorProblem | 'anchored'): boolean {
  return UNKNOWN.has(anchor)
}

/** Words for the rules that the evidence was judged by, to follow "the verdict follows from the checks". */
export const RULES_WORDS: Readonly<Record<Extract<EvidenceFinding, { evidence: 'follows' }>['rules'], string>> = {
  published: 'by the rules that the issuer publishes',
  unknown: 'by rules that were not compared: no list of published rules names them',
  differs: 'but by OTHER RULES than the issuer publishes for this version of the action',
}

/** Words for rules whose list came with the receipt: its maker can write any rules into it. */
export const GIVEN_RULES_WORDS: typeof RULES_WORDS = {
  ...RULES_WORDS,
  published: 'by the rules that these documents give as the issuer’s',
}

export const EVIDENCE_LIMIT = 'This shows that checks and verdict agree, not that no check was left out.'

/** Says what is wrong with the evidence; undefined where nothing is. */
export function evidenceProblem(finding: EvidenceFinding): string | undefined {
  switch (finding.evidence) {
    case 'absent':
      return 'it signs no evidence, so that this evidence is not its own'
    case 'digest_differs':
      return 'this is not the evidence that it signs: the digest differs'
    case 'does_not_follow':
      return finding.differs.includes('form')
        ? 'the evidence is not in the form of evidence'
        : `it does not follow from its evidence, which says otherwise: ${finding.differs.join(', ')}`
    case 'follows':
    case 'not_checked':
      return undefined
  }
}

/** Tells whether the finding says anything against the receipt, or against its rules. */
export function evidenceFails(finding: EvidenceFinding): boolean {
  return evidenceProblem(finding) !== undefined || (finding.evidence === 'follows' && finding.rules === 'differs')
}

/** A sentence for readers of a receipt whose checks all hold, though nothing vouches for its key. */
export const UNVOUCHED_WORDS =
  'Nothing vouches for the key that signed this: anybody can make such a file, in the name of any issuer.'

/** Says of the file in which a log contradicts itself whether it does. */
export const CONTRADICTION_WORDS: Readonly<Record<Contradiction, string>> = {
  other_root: 'Holds: the log signed two different states of the same size.',
  shrank: 'Holds: the log signed a smaller state after a larger one.',
  open: 'Both states are signed, and the state of the log is the older one: its newest tree head shows whether it lost the other.',
  none: 'NOT valid, as a contradiction: a state is not signed by these keys, is of another log, or is in the other one.',
}

type HeadProblem = Exclude<TreeHeadFinding['tree_head'], 'holds'>

export const HEAD_PROBLEMS: Readonly<Record<HeadProblem, string>> = {
  not_signed: 'no published key signed this tree head, or another one than the key that is pinned',
  other_log: 'the signed tree head is of another log than the proof names',
  other_root: 'the signed tree head has another history: the log never had this root at this size',
  smaller_than_proof:
    'the signed tree head is of a smaller log than the proof names: if the newest head still is, the size in the proof was changed',
  consistency_proof_required: 'the proof that connects the receipt with the signed tree head is missing',
}

/** Findings about a tree head that contradict the proof, as distinct from those that leave it open. */
const CONTRADICTIONS: ReadonlySet<string> = new Set(['other_log', 'other_root'])

export function contradictsProof({ tree_head }: TreeHeadFinding): boolean {
  return CONTRADICTIONS.has(tree_head)
}

/** Says what a signed tree head proves, to follow a colon. */
export function headHolds({ tree_size, issued_at }: Extract<TreeHeadFinding, { tree_head: 'holds' }>): string {
  return `the issuer signed the state of its log with ${tree_size} ${tree_size === 1 ? 'entry' : 'entries'} at ${utcOf(issued_at)}, and this proof is part of it`
}
