/** A log as the rest sees it: what is in it stays as it is, and everything it says of itself comes with its proof. */
import type { ProvenConsistency, ProvenInclusion } from './tiles.ts'
import type { SignedTreeHead } from './tree-head.ts'

/**
 * Appending belongs to whoever keeps a log, in one step with what the entries stand for. To that keeper these are the promises:
 * an entry, the hashes above it and the signed head are on disk together before anybody is told of them; of two writers at one size
 * one succeeds and the other starts again, so that a log never forks; heads never shrink, and one size has one root.
 */
export interface Log {
  /** The newest signed head. */
  head(): Promise<SignedTreeHead>

  /** @throws RangeError when the leaf is not in a tree of that size; TileError when the log has not reached the size */
  proveInclusion(leafIndex: number, treeSize: number): Promise<ProvenInclusion>

  /** @throws RangeError when first is 0 or above second; TileError when the log has not reached second */
  proveConsistency(first: number, second: number): Promise<ProvenConsistency>
}
