/** A tile together with the nodes above its hashes, so that a proof finds its nodes and computes none. */
import { HASH_BYTES, type TreeHasher } from './merkle.ts'
import type { Subtree } from './subtrees.ts'

export const TILE_WIDTH = 256
/** Number of levels of the tree in one level of tiles. */
export const TILE_HEIGHT = 8

/**
 * The nodes of a tile row by row: its own hashes, then their parents, and so on, each row half as long as the one before. The root of a
 * full tile is not among them: it is a hash of the tile above. In a partial tile each node is at the same offset as in a full one, and
 * the missing ones are zero.
 */
export type TileNodes = Uint8Array

export const TILE_NODES_BYTES = (2 * TILE_WIDTH - 2) * HASH_BYTES

/** The node at a place of a tile. @param height number of rows above the tile's own hashes @param index the place within that row */
export function nodeAt(nodes: TileNodes, height: number, index: number): Uint8Array {
  const start = nodeOffset(height, index)
  return nodes.subarray(start, start + HASH_BYTES)
}

export function setNode(nodes: TileNodes, height: number, index: number, hash: Uint8Array): void {
  nodes.set(hash, nodeOffset(height, index))
}

export function noNodes(): TileNodes {
  return new Uint8Array(TILE_NODES_BYTES)
}

/** The root of a perfect subtree. @param tiles the tile of each level that holds it */
export function subtreeNode(tiles: readonly TileNodes[], { level, index }: Subtree): Uint8Array {
  const height = level % TILE_HEIGHT
  return nodeAt(tiles[Math.floor(level / TILE_HEIGHT)]!, height, index % (TILE_WIDTH >> height))
}

/** Computes the nodes of a tile. @param hashes at least `width` hashes, or all nodes of a full tile, which are returned as they are */
export function completeTile(width: number, hashes: Uint8Array, hasher: TreeHasher): TileNodes {
  if (width === TILE_WIDTH && hashes.length === TILE_NODES_BYTES) return hashes
  const nodes = noNodes()
  nodes.set(hashes.subarray(0, width * HASH_BYTES))
  for (let height = 1; height < TILE_HEIGHT; height++) {
    for (let index = 0; index < width >> height; index++) {
      const hash = hasher.node(nodeAt(nodes, height - 1, 2 * index), nodeAt(nodes, height - 1, 2 * index + 1))
      setNode(nodes, height, index, hash)
    }
  }
  return nodes
}

/** The offset of a node in `TileNodes`, in bytes. */
function nodeOffset(height: number, index: number): number {
  const before = 2 * TILE_WIDTH - ((2 * TILE_WIDTH) >> height)
  return (before + index) * HASH_BYTES
}
