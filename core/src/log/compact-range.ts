/** The right range of the tree: all that appending needs. Its size grows with the logarithm of the tree's. */
import { HASH_BYTES, type TreeHasher, treeHasher } from './merkle.ts'
import { rootCover } from './subtrees.ts'
import { completeTile, nodeAt, noNodes, setNode, TILE_HEIGHT, TILE_WIDTH, type TileNodes } from './tile-nodes.ts'
import { partialTiles, type Tile, TileError } from './tiles.ts'

export interface CompactRange {
  readonly treeSize: number
  /** Each level's last tile, where it is not full, with the nodes that it has; the lowest level first. */
  readonly tiles: readonly TileNodes[]
  /** Of the perfect subtrees that the tree consists of, the largest first: the hash of what lies from this one to the end. */
  readonly suffixes: readonly Uint8Array[]
}

export const EMPTY_RANGE: CompactRange = { treeSize: 0, tiles: [], suffixes: [] }

/**
 * The range of a stored tree.
 * @param hashes the hashes of `partialTiles(treeSize)`, in that order
 * @throws TileError
 */
export function restoreRange(treeSize: number, hashes: readonly Uint8Array[], hasher = treeHasher()): CompactRange {
  const tiles: TileNodes[] = []
  for (const [index, tile] of partialTiles(treeSize).entries()) {
    const read = hashes[index]
    if (!read || read.length < tile.width * HASH_BYTES) throw new TileError(tile)
    while (tiles.length < tile.level) tiles.push(noNodes())
    tiles.push(completeTile(tile.width, read, hasher))
  }
  return { treeSize, tiles, suffixes: suffixesOf(treeSize, tiles, hasher) }
}

export interface Appended {
  readonly range: CompactRange
  readonly rootHash: Uint8Array
  /**
   * The tiles to store: of level 0 those that became full (the rest are the newest leaves), of the levels above every one
   * that changed, at the width it has now. None of them was given out before at the same width.
   */
  readonly tiles: readonly Tile[]
}

/** Appends in O(leaves + log treeSize), and leaves `range` as it is: what is not committed never happened. */
export function appendLeaves(range: CompactRange, leafHashes: readonly Uint8Array[], hasher = treeHasher()): Appended {
  const open: TileNodes[] = range.tiles.map((nodes) => new Uint8Array(nodes))
  const full: Tile[] = []
  const changed = new Set<number>()
  let treeSize = range.treeSize

  for (const leafHash of leafHashes) {
    let hash = leafHash
    let index = treeSize++
    for (let level = 0; ; level++) {
      const tile = Math.floor(level / TILE_HEIGHT)
      const height = level % TILE_HEIGHT
      if (height === 0 && level > 0) {
        full.push({ level: tile - 1, index, width: TILE_WIDTH, hashes: open[tile - 1]! })
        open[tile - 1] = noNodes()
        changed.delete(tile - 1)
        changed.add(tile)
      }
      const nodes = open[tile] ?? noNodes()
      open[tile] = nodes
      const place = index % (TILE_WIDTH >> height)
      setNode(nodes, height, place, hash)
      // Only what is a right child completes a larger subtree.
      if (index % 2 === 0) break
      hash = hasher.node(nodeAt(nodes, height, place - 1), hash)
      index = (index - 1) / 2
    }
  }

  const partial = partialTiles(treeSize)
    .filter(({ level }) => changed.has(level))
    .map((tile) => ({ ...tile, hashes: open[tile.level]!.slice(0, tile.width * HASH_BYTES) }))
  const suffixes = suffixesOf(treeSize, open, hasher)
  return {
    range: { treeSize, tiles: open, suffixes },
    rootHash: suffixes[0] ?? hasher.empty,
    tiles: [...full, ...partial],
  }
}

function suffixesOf(treeSize: number, tiles: readonly TileNodes[], hasher: TreeHasher): Uint8Array[] {
  const suffixes: Uint8Array[] = []
  for (const { level, index } of [...rootCover(treeSize)].reverse()) {
    const height = level % TILE_HEIGHT
    const node = nodeAt(tiles[Math.floor(level / TILE_HEIGHT)]!, height, index % (TILE_WIDTH >> height))
    const after = suffixes.at(-1)
    suffixes.push(after ? hasher.node(node, after) : node)
  }
  return suffixes.reverse()
}
