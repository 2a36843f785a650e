/** Exports what a reader of receipts needs, as `@claimcheck/core/checker`. */

export type { AnchorChecker, AnchorReading, ReadConsistency } from './anchor/checker.ts'
export { checkConsistency, checkInclusion, checkTreeHead, type TreeHeadReport } from './log/checker.ts'
export { type Contradiction, checkContradiction } from './log/contradiction.ts'
export { compareHeads, consistencyPath, headsPath, type TreeHeadFinding, treeSizeIn } from './log/head-binding.ts'
export { newerHeadField, TREE_HEAD_FIELD } from './log/head-field.ts'
export type { Consistency, Inclusion } from './log/merkle.ts'
export { verifyConsistency, verifyInclusion } from './log/merkle.ts'
export type { Proof, ProofAnchor } from './receipt/body.ts'
export {
  type Bundle,
  type BundleOptions,
  type BundleReport,
  checkBundle,
  isUnvouched,
  type VouchedBy,
} from './receipt/bundle-checker.ts'
export { type CheckOptions, type Checks, checkReceipt, type Report } from './receipt/checker.ts'
export {
  checkEvidence,
  type EvidenceFinding,
  type PublishedProfile,
  type PublishedRules,
} from './receipt/evidence-checker.ts'
export { publishedRules } from './receipt/published-rules.ts'
export { type KeySet, KeySetError, parseKeySet } from './signing/key-set.ts'
