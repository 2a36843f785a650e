/** The compact range of a tree: the nodes that appending to it needs, as many as the logarithm of its size. */
import { HASH_BYTES, type TreeHasher, treeHasher } from './merkle.ts'
import { rootCover } from './subtrees.ts'
import {
  completeTile,
  nodeAt,
  noNodes,
  setNode,
  subtreeNode,
  TILE_HEIGHT,
  TILE_WIDTH,
  type TileNodes,
} from './tile-nodes.ts'
import { partialTiles, type Tile, TileError } from './tiles.ts'

export interface CompactRange {
  readonly treeSize: number
  /** The partial tile of each level of tiles, the lowest level first, with the nodes that it has so far. */
  readonly tiles: readonly TileNodes[]
  /**
   * Suffixes of the list of perfect subtrees that the tree consists of, the largest subtree first: each hash is over one subtree and all smaller
   * ones. The first is the root.
   */
  readonly suffixes: readonly Uint8Array[]
}

export const EMPTY_RANGE: CompactRange = { treeSize: 0, tiles: [], suffixes: [] }

/**
 * Restores the range of a stored tree.
 * @param hashes the hashes of `partialTiles(treeSize)`, in that order
 * @throws TileError when one of them has too few
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

interface Appended {
  readonly range: CompactRange
  readonly rootHash: Uint8Array
  /**
   * The tiles to store: of level 0 only those that became full, because the hashes of its partial tile are the newest leaves; of the levels above,
   * every tile that changed, at its present width. A tile of the same width is never returned twice.
   */
  readonly tiles: readonly Tile[]
}

/** Appends in O(leaves + log treeSize). `range` stays as it is, so that it can be used again if storing the result fails. */
export function appendLeaves(range: CompactRange, leafHashes: readonly Uint8Array[], hasher = treeHasher()): Appended {
  const partialNodes: TileNodes[] = range.tiles.map((nodes) => new Uint8Array(nodes))
  const fullTiles: Tile[] = []
  const changedLevels = new Set<number>()
  let treeSize = range.treeSize

  for (const leafHash of leafHashes) {
    let hash = leafHash
    let index = treeSize++
    for (let level = 0; ; level++) {
      const tileLevel = Math.floor(level / TILE_HEIGHT)
      const height = level % TILE_HEIGHT
      if (height === 0 && level > 0) {
        fullTiles.push({ level: tileLevel - 1, index, width: TILE_WIDTH, hashes: partialNodes[tileLevel - 1]! })
        partialNodes[tileLevel - 1] = noNodes()
        changedLevels.delete(tileLevel - 1)
        changedLevels.add(tileLevel)
      }
      const nodes = partialNodes[tileLevel] ?? noNodes()
      partialNodes[tileLevel] = nodes
      const indexInRow = index % (TILE_WIDTH >> height)
      setNode(nodes, height, indexInRow, hash)
      // A left child does not complete its parent; only a right child does.
      if (index % 2 === 0) break
      hash = hasher.node(nodeAt(nodes, height, indexInRow - 1), hash)
      index = (index - 1) / 2
    }
  }

  const changedTiles = partialTiles(treeSize)
    .filter(({ level }) => changedLevels.has(level))
    .map(({ level, index, width }) => {
      return { level, index, width, hashes: partialNodes[level]!.slice(0, width * HASH_BYTES) }
    })
  const suffixes = suffixesOf(treeSize, partialNodes, hasher)
  return {
    range: { treeSize, tiles: partialNodes, suffixes },
    rootHash: suffixes[0] ?? hasher.empty,
    tiles: [...fullTiles, ...changedTiles],
  }
}

function suffixesOf(treeSize: number, tiles: readonly TileNodes[], hasher: TreeHasher): Uint8Array[] {
  const suffixes: Uint8Array[] = []
  for (const subtree of [...rootCover(treeSize)].reverse()) {
    const node = subtreeNode(tiles, subtree)
    const after = suffixes.at(-1)
    suffixes.push(after ? hasher.node(node, after) : node)
  }
  return suffixes.reverse()
}
