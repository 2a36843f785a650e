/** Inclusion in the tree that an range belongs to: one full tile a level is needed, and nothing is hashed. */
import type { CompactRange } from './compact-range.ts'
import { nodeAt, TILE_HEIGHT, TILE_WIDTH, type TileNodes } from './tile-nodes.ts'
import type { ProvenInclusion, TileId } from './tiles.ts'

/** The full tiles that a leaf lies in, the lowest level first. Above them it lies in tiles of the range. */
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
 * The same proof as `proveInclusion` makes at the range's size.
 * @param full those of `fullTilesAbove`, in that order
 * @throws RangeError when the leaf is not in the tree
 */
export function proveInRange(leafIndex: number, range: CompactRange, full: readonly TileNodes[]): ProvenInclusion {
  const { treeSize, suffixes } = range
  if (leafIndex < 0 || leafIndex >= treeSize) throw new RangeError('the leaf is not in a tree of that size')
  const tiles = [...full, ...range.tiles.slice(full.length)]

  const path: Uint8Array[] = []
  let index = leafIndex
  let last = treeSize - 1
  for (let level = 0, width = 1; last > 0; level++, width *= 2) {
    const sibling = index % 2 === 0 ? index + 1 : index - 1
    const isWhole = (sibling + 1) * width <= treeSize
    if (isWhole) path.push(subtreeNode(tiles, level, sibling))
    else if (sibling === last) path.push(suffixes.at(-countOnes(treeSize % width))!)
    index = Math.floor(index / 2)
    last = Math.floor(last / 2)
  }
  return { leafHash: subtreeNode(tiles, 0, leafIndex), rootHash: suffixes[0]!, path }
}

/** What a full tile of level 0 tells of the proof for one of its leaves: the lower part of the path, which is whole at any size. */
export function pathInTile(nodes: TileNodes, place: number): Pick<ProvenInclusion, 'leafHash' | 'path'> {
  const path: Uint8Array[] = []
  for (let height = 0; height < TILE_HEIGHT; height++) path.push(nodeAt(nodes, height, (place >> height) ^ 1))
  return { leafHash: nodeAt(nodes, 0, place), path }
}

function subtreeNode(tiles: readonly TileNodes[], level: number, index: number): Uint8Array {
  const height = level % TILE_HEIGHT
  return nodeAt(tiles[Math.floor(level / TILE_HEIGHT)]!, height, index % (TILE_WIDTH >> height))
}

/** How many perfect subtrees a tree of that size consists of. */
function countOnes(size: number): number {
  let ones = 0
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2
  return ones
}
