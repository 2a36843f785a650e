/** Finds the perfect subtrees that make up a root, an inclusion proof or a consistency proof. They follow from the tree sizes alone. */
import type { TreeHasher } from './merkle.ts'

/** A perfect subtree with 2^level leaves, the first of them at index * 2^level. */
export interface Subtree {
  readonly level: number
  readonly index: number
}

/** The perfect subtrees from which one hash is made: those of a range of leaves, from the left, each smaller than the one before. */
export type Cover = readonly Subtree[]

/** The cover of the root of a tree of this size. */
export function rootCover(treeSize: number): Cover {
  return cover(0, treeSize)
}

/** A cover for each hash of an inclusion proof, from the leaf to the root (RFC 9162 2.1.3.1). @throws RangeError when the leaf is not in the tree */
export function inclusionCovers(leafIndex: number, treeSize: number): Cover[] {
  if (leafIndex < 0 || leafIndex >= treeSize) throw new RangeError('the leaf is not in a tree of that size')
  const covers: Cover[] = []
  let start = 0
  let end = treeSize
  while (end - start > 1) {
    const middle = start + split(end - start)
    if (leafIndex < middle) {
      covers.push(cover(middle, end))
      end = middle
    } else {
      covers.push(cover(start, middle))
      start = middle
    }
  }
  return covers.reverse()
}

/** A cover for each hash of a consistency proof (RFC 9162 2.1.4.1). @throws RangeError when first is 0 or above second */
export function consistencyCovers(first: number, second: number): Cover[] {
  if (first < 1 || first > second) throw new RangeError('the first tree is empty, or larger than the second')
  const covers: Cover[] = []
  let start = 0
  let end = second
  while (first < end) {
    const middle = start + split(end - start)
    if (first <= middle) {
      covers.push(cover(middle, end))
      end = middle
    } else {
      covers.push(cover(start, middle))
      start = middle
    }
  }
  // A cover that starts at leaf 0 is the first tree itself, and the verifier has its root.
  if (start > 0) covers.push(cover(start, end))
  return covers.reverse()
}

/** The hash of a cover, from the hashes of its subtrees. A cover without any is the empty tree. */
export function foldCover(hashes: readonly Uint8Array[], hasher: TreeHasher): Uint8Array {
  return hashes.length === 0 ? hasher.empty : hashes.reduceRight((right, left) => hasher.node(left, right))
}

/** The cover of a range of leaves. @param start a multiple of the largest power of two up to `end - start`, as at every split of the tree */
function cover(start: number, end: number): Subtree[] {
  const subtrees: Subtree[] = []
  let at = start
  while (at < end) {
    const level = floorLog2(end - at)
    const width = 2 ** level
    subtrees.push({ level, index: at / width })
    at += width
  }
  return subtrees
}

/** The largest power of two below `size`. */
function split(size: number): number {
  return 2 ** floorLog2(size - 1)
}

// Math.log2 rounds, and is wrong near 2^48.
function floorLog2(value: number): number {
  let level = 0
  while (2 ** (level + 1) <= value) level++
  return level
}
