/** Receipts and their evidence: `@claimcheck/core/receipts`. Making, signing, reading and checking them. */

export type { AnchorChecker, AnchorReading, ReadConsistency } from './anchor/checker.ts'
export {
  claimSentence,
  factSentences,
  type Named,
  outcomeSentence,
  type Sentence,
  type Worded,
  type Words,
} from './contract/words.ts'
export { bytesEqual, fromBase64url, toBase64url, utf8 } from './encoding.ts'
export {
  type AgentNames,
  agentNames,
  aroundBody,
  type DecidedClaim,
  entryText,
  isDomain,
  type Proof,
  type ProofAnchor,
  type Receipt,
  type ReceiptBody,
  type ReceiptObservation,
  receiptBody,
  type WireSource,
} from './receipt/body.ts'
export { type Bundle, type BundleReport, checkBundle, isUnvouched, type VouchedBy } from './receipt/bundle-checker.ts'
export { type CheckOptions, type Checks, checkReceipt } from './receipt/checker.ts'
export { claimDigest, digestOf, sha256Text, textFingerprint } from './receipt/digest.ts'
export {
  type Case,
  caseOf,
  type EvidenceDocument,
  evidenceText,
  LARGEST_EVIDENCE_BYTES,
  signedEvidence,
} from './receipt/evidence.ts'
export {
  checkEvidence,
  type EvidenceFinding,
  type PublishedProfile,
  type PublishedRules,
} from './receipt/evidence-checker.ts'
export { EXPECTED_VERIFIER, isExpectedVerifier, readExpectedVerifier } from './receipt/expected-verifier.ts'
export {
  type Change,
  checkFinding,
  type Finding,
  type FindingContent,
  findingBody,
  isFinding,
} from './receipt/finding.ts'
export { canonicalBytes, canonicalize } from './receipt/jcs.ts'
export { publishedRules } from './receipt/published-rules.ts'
export { isReceipt, isTreeHead } from './receipt/schema.ts'
export { JsonError, type JsonErrorCode, parseStrictJson, type StrictJson } from './receipt/strict-json.ts'
export { verifyEd25519 } from './signing/ed25519.ts'
export {
  type KeyDocument,
  type KeyEntry,
  type KeySet,
  KeySetError,
  keyIdOf,
  keyInUse,
  parseKeySet,
} from './signing/key-set.ts'
export { DOMAINS, type Domain, type Signature, signedMessage, verifySignature } from './signing/message.ts'
export { createNobleSigner } from './signing/noble-signer.ts'
export type { Signer } from './signing/signer.ts'
