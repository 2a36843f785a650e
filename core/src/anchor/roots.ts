/** Whether the anchored root and a proof's root are of the same log: they are equal, or a consistency proof connects them. */
import { bytesEqual, fromBase64url } from '../encoding.ts'
import { areConnected } from '../log/connected-roots.ts'
import type { AnchoredProof } from '../receipt/body.ts'
import type { AnchorProblem } from './anchorer.ts'

/**
 * The log's consistency document for two tree sizes, as text. Its source need not be trusted: the proof in it is checked.
 * Must not throw, and returns `undefined` when there is none.
 */
export type ReadConsistency = (first: number, second: number) => Promise<string | undefined>

export async function rootProblem(
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
