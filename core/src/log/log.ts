/** A log as the rest sees it: entries go in, and never out. */
import type { ProvenConsistency, ProvenInclusion } from './tiles.ts'
import type { SignedTreeHead } from './tree-head.ts'

export interface Log {
  /** base64url of the SHA-256 of the log's name. */
  readonly logId: string

  /**
   * Appends these entries, in this order, under one new signed head.
   *
   * When it resolves, the entries, the tree's hashes and the signed head are on disk together: a crash at any later instruction
   * loses none of them. When it rejects or the process dies before, either all of them happened or nothing did; ask `head`.
   * Two writers never fork the log: of two appends to the same size one succeeds, the other starts again from the new size.
   * Nobody is shown a head, or an entry, that may still be undone.
   */
  append(entries: readonly Uint8Array[]): Promise<{ readonly firstIndex: number; readonly head: SignedTreeHead }>

  /** The newest signed head; `undefined` before the first. Heads never shrink, and one size has one root. */
  head(): Promise<SignedTreeHead | undefined>

  /** @throws RangeError when the leaf is not in a tree of that size, or the log has not reached the size */
  proveInclusion(leafIndex: number, treeSize: number): Promise<ProvenInclusion>

  /** @throws RangeError when first is 0 or above second, or the log has not reached second */
  proveConsistency(first: number, second: number): Promise<ProvenConsistency>
}
