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
  /** Whether the anchor is of the kind that it checks, by its `chain` and `scheme`. */
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
      /** When the anchor was made. */
      readonly provenBy: Instant
    }
  /** `cause`: with `unreadable`, why. */
  | { readonly problem: AnchorProblem; readonly cause?: unknown }

/** Why an anchor does not hold. It lowers a receipt's trust level and does not make it invalid. */
export type AnchorProblem =
  /** No checker knows anchors of its kind. */
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
  /** `provenBy`: the receipt existed by then. */
  | { readonly anchor: 'anchored'; readonly provenBy: Instant }
  | { readonly anchor: AnchorProblem; readonly cause?: unknown }

/**
 * The log's consistency document for two tree sizes, as text. Its source need not be trusted: the proof in it is checked.
 * Must not throw, and returns `undefined` when there is none.
 */
export type ReadConsistency = (first: number, second: number) => Promise<string | undefined>

interface AnchorCheckOptions {
  readonly keys: KeySet
  readonly anchorCheckers: readonly AnchorChecker[]
  readonly readConsistency?: ReadConsistency
}

/** Whether the anchor proves the root of the proof that it is in. */
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
