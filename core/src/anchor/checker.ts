/**
 * The contract for checking anchors. A checker recognizes the anchors of one kind, and reads where they are; what it reads is compared with the
 * receipt here, by one rule for all kinds.
 */
import { bytesEqual, fromBase64url } from '../encoding.ts'
import type { Instant } from '../evidence.ts'
import { areConnected } from '../log/connected-roots.ts'
import type { AnchoredProof, ProofAnchor } from '../receipt/body.ts'
import type { KeySet } from '../signing/key-set.ts'

export interface AnchorChecker {
  /** Tells whether the anchor is of the kind that this checker checks, by the anchor's `chain` and `scheme`. */
  knows(anchor: ProofAnchor): boolean
  /**
   * Reads the state of a log that the anchor states, and makes sure that it is final, and made by an account that the issuer publishes.
   * Throws for nothing that the place of the anchor does: a place that cannot be read is `unreadable`.
   */
  read(anchor: ProofAnchor, keys: Pick<KeySet, 'anchorAddresses' | 'anchorSchemas'>): Promise<AnchorReading>
}

export type AnchorReading =
  | {
      readonly logId: Uint8Array
      readonly treeSize: number
      readonly rootHash: Uint8Array
      /** The time at which the anchor was made. */
      readonly provenBy: Instant
    }
  /** The problem of an anchor that does not hold. `cause` says why it is `unreadable`. */
  | { readonly problem: AnchorProblem; readonly cause?: unknown }

/** Reasons why an anchor does not hold. Each lowers a receipt's trust level and does not make it invalid. */
export type AnchorProblem =
  /** `unknown_scheme`: no checker knows anchors of this kind. */
  | 'unknown_scheme'
  | 'rpc_chain_mismatch'
  | 'unreadable'
  | 'attestation_not_found'
  | 'attestation_revoked'
  | 'attester_not_published'
  | 'schema_not_published'
  | 'data_undecodable'
  | 'log_or_size_mismatch'
  | 'anchor_does_not_cover_leaf'
  | 'consistency_proof_required'
  | 'consistency_proof_invalid'
  | 'root_mismatch'

/** The result of checking an anchor. */
export type AnchorFinding =
  /** `anchored`: the receipt existed by the time `provenBy`. */
  | { readonly anchor: 'anchored'; readonly provenBy: Instant }
  | { readonly anchor: AnchorProblem; readonly cause?: unknown }

/**
 * Reads the log's consistency document for two tree sizes, as text; `undefined` when there is none. Its source need not be trusted, because the proof
 * in it is checked. Must not throw.
 */
export type ReadConsistency = (first: number, second: number) => Promise<string | undefined>

interface AnchorCheckOptions {
  readonly keys: KeySet
  readonly anchorCheckers: readonly AnchorChecker[]
  readonly readConsistency?: ReadConsistency
}

/** Tells whether the anchor proves the root of the proof that it is in. */
export async function checkAnchor(
  proof: AnchoredProof,
  { keys, anchorCheckers, readConsistency }: AnchorCheckOptions,
): Promise<AnchorFinding> {
  const { log_id, leaf_index, anchor } = proof
  const checker = anchorCheckers.find((one) => one.knows(anchor))
  if (!checker) return { anchor: 'unknown_scheme' }
  const read = await checker.read(anchor, keys)
  if ('problem' in read) return { anchor: read.problem, ...('cause' in read ? { cause: read.cause } : {}) }
  if (!bytesEqual(read.logId, fromBase64url(log_id)!) || read.treeSize !== anchor.tree_size) {
    return { anchor: 'log_or_size_mismatch' }
  }
  // A consistency proof between two roots does not prove that the smaller tree has a later leaf.
  if (leaf_index >= anchor.tree_size) return { anchor: 'anchor_does_not_cover_leaf' }
  const problem = await rootProblem(proof, read.rootHash, readConsistency)
  return problem ? { anchor: problem } : { anchor: 'anchored', provenBy: read.provenBy }
}

/** The anchored root and the proof's root are of the same log if they are equal, or a consistency proof connects them. */
async function rootProblem(
  { tree_size, root_hash, anchor }: AnchoredProof,
  anchoredRoot: Uint8Array,
  readConsistency: ReadConsistency = async () => undefined,
): Promise<AnchorProblem | undefined> {
  const proven = { treeSize: tree_size, root: fromBase64url(root_hash)! }
  const anchored = { treeSize: anchor.tree_size, root: anchoredRoot }
  if (anchored.treeSize === proven.treeSize) {
    return bytesEqual(anchored.root, proven.root) ? undefined : 'root_mismatch'
  }
  const [older, newer] = anchored.treeSize < proven.treeSize ? [anchored, proven] : [proven, anchored]
  const document = await readConsistency(older.treeSize, newer.treeSize)
  if (document === undefined) return 'consistency_proof_required'
  return areConnected(older, newer, document) ? undefined : 'consistency_proof_invalid'
}
