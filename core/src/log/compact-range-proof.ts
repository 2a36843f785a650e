/** Inclusion proofs at the size of a compact range: one full tile a level is read, and nothing is hashed. */
import type { CompactRange } from './compact-range.ts'
import { subtreeNode, TILE_WIDTH, type TileNodes } from './tile-nodes.ts'
import type { ProvenInclusion, TileId } from './tiles.ts'

/** The full tiles with a leaf's ancestors, the lowest level first. The ancestors above them are in the range's partial tiles. */
export function fullTilesAbove(leafIndex: number, treeSize: number): TileId[] {
  const tiles: TileId[] = []
  let index = Math.floor(leafIndex / TILE_WIDTH)
  let count = Math.floor(treeSize / TILE_WIDTH)
  for (let level = 0; index < count; level++) {
    tiles.push({ level, index, width: TILE_WIDTH })
    index = Math.floor(index / TILE_WIDTH)
    count = Math.floor(count / TILE_WIDTH)
  }
  return tiles
}

/**
 * The proof that `proveInclusion` makes at the range's size.
 *
 * @param fullTiles the nodes of `fullTilesAbove(leafIndex, range.treeSize)`, in that order
 * @throws RangeError when the leaf is not in the tree
 */
export function proveInRange(leafIndex: number, range: CompactRange, fullTiles: readonly TileNodes[]): ProvenInclusion {
  const { treeSize, suffixes } = range
  if (leafIndex < 0 || leafIndex >= treeSize) throw new RangeError('the leaf is not in a tree of that size')
  const tiles = [...fullTiles, ...range.tiles.slice(fullTiles.length)]

  const path: Uint8Array[] = []
  let index = leafIndex
  let last = treeSize - 1
  for (let level = 0, width = 1; last > 0; level++, width *= 2) {
    const sibling = index % 2 === 0 ? index + 1 : index - 1
    const isPerfect = (sibling + 1) * width <= treeSize
    if (isPerfect) path.push(subtreeNode(tiles, { level, index: sibling }))
    // The last node of a level that is not perfect covers the tree's last, smaller subtrees: its hash is one of the suffixes.
    else if (sibling === last) path.push(suffixes.at(-countOnes(treeSize % width))!)
    index = Math.floor(index / 2)
    last = Math.floor(last / 2)
  }
  return { leafHash: subtreeNode(tiles, { level: 0, index: leafIndex }), rootHash: suffixes[0]!, path }
}

/** The number of perfect subtrees that a tree of this size consists of: the ones in its binary form. */
function countOnes(size: number): number {
  let ones = 0
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2
  return ones
}
