/** A tile with the nodes above its hashes: what a proof takes from it is looked up, and never computed again. */
import { HASH_BYTES, type TreeHasher } from './merkle.ts'

export const TILE_WIDTH = 256
/** How many levels of the tree one level of tiles spans. */
export const TILE_HEIGHT = 8

/**
 * Row after row, the tile's own hashes first, each row half as wide as the one below it. The root is not among them: it is a hash of
 * the tile above. The nodes of a tile that is not full are at the same places; what is not there yet is zero.
 */
export type TileNodes = Uint8Array

const NODES = 2 * TILE_WIDTH - 2
export const TILE_NODES_BYTES = NODES * HASH_BYTES

/** @param height above the tile's own hashes @param index within the row of that height */
export function nodeAt(nodes: TileNodes, height: number, index: number): Uint8Array {
  const start = offsetOf(height, index)
  return nodes.subarray(start, start + HASH_BYTES)
}

export function setNode(nodes: TileNodes, height: number, index: number, hash: Uint8Array): void {
  nodes.set(hash, offsetOf(height, index))
}

export function noNodes(): TileNodes {
  return new Uint8Array(TILE_NODES_BYTES)
}

/** The nodes of a tile of which `width` hashes are given; they are not looked at when the nodes above follow them already. */
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

function offsetOf(height: number, index: number): number {
  const before = 2 * TILE_WIDTH - ((2 * TILE_WIDTH) >> height)
  return (before + index) * HASH_BYTES
}
