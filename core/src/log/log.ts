/** The read interface of an append-only log with its proofs. */
import type { ProvenConsistency, ProvenInclusion } from './tiles.ts'
import type { SignedTreeHead } from './tree-head.ts'

/**
 * An implementation appends in the same transaction that stores what the entries stand for, and guarantees:
 *
 * - An entry, the hashes above it and the signed head are on disk before any of them is published.
 * - Of two writers that append to the same size one succeeds, and the other starts again: the log never forks.
 * - The tree never shrinks, and each size has one root.
 */
export interface Log {
  /** The newest signed head. */
  head(): Promise<SignedTreeHead>

  /** @throws RangeError when the leaf is not in a tree of that size; TileError when the log has not reached the size */
  proveInclusion(leafIndex: number, treeSize: number): Promise<ProvenInclusion>

  /** @throws RangeError when first is 0 or above second; TileError when the log has not reached second */
  proveConsistency(first: number, second: number): Promise<ProvenConsistency>
}
