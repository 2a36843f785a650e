/** The right edge of the tree: all that appending needs. Its size grows with the logarithm of the tree's. */
import { type TreeHasher, treeHasher, treeRoot } from './merkle.ts'
import { foldCover, rootCover } from './subtrees.ts'
import { edgeTiles, joinTile, splitTile, TILE_HEIGHT, TILE_WIDTH, type Tile } from './tiles.ts'

export interface TreeEdge {
  readonly treeSize: number
  /** The hashes of each level's last tile, where it is not full; the lowest level first. */
  readonly rows: readonly (readonly Uint8Array[])[]
  /** The roots of the perfect subtrees that the tree consists of, the largest first. */
  readonly subtrees: readonly Uint8Array[]
}

export const EMPTY_EDGE: TreeEdge = { treeSize: 0, rows: [], subtrees: [] }

/**
 * The edge of a stored tree.
 * @param hashes the hashes of `edgeTiles(treeSize)`, in that order
 * @throws TileError
 */
export function restoreEdge(treeSize: number, hashes: readonly Uint8Array[], hasher = treeHasher()): TreeEdge {
  const rows: Uint8Array[][] = []
  for (const [index, tile] of edgeTiles(treeSize).entries()) {
    while (rows.length < tile.level) rows.push([])
    rows.push(splitTile(tile, hashes[index] ?? new Uint8Array()))
  }
  return { treeSize, rows, subtrees: rows.flatMap((row) => rowSubtrees(row, hasher)).reverse() }
}

export interface Appended {
  readonly edge: TreeEdge
  readonly rootHash: Uint8Array
  /**
   * The tiles to store: of level 0 those that became full (the rest are the newest leaves), of the levels above every one
   * that changed, at the width it has now. None of them was given out before at the same width.
   */
  readonly tiles: readonly Tile[]
}

/** Appends in O(leaves + log treeSize), and leaves `edge` as it is: what is not committed never happened. */
export function appendLeaves(edge: TreeEdge, leafHashes: readonly Uint8Array[], hasher = treeHasher()): Appended {
  const rows = edge.rows.map((row) => [...row])
  const subtrees = [...edge.subtrees]
  const tiles: Tile[] = []
  const changed = new Set<number>()
  let treeSize = edge.treeSize

  function place(level: number, hash: Uint8Array): void {
    rows[level] ??= []
    const row = rows[level]
    row.push(hash)
    changed.add(level)
    if (row.length < TILE_WIDTH) return
    tiles.push(toTile(level, Math.floor(treeSize / TILE_WIDTH ** (level + 1)), row))
    rows[level] = []
    changed.delete(level)
  }

  for (const leafHash of leafHashes) {
    let hash = leafHash
    place(0, hash)
    // Each trailing one bit of the size is a subtree that this leaf makes one larger.
    for (let rest = treeSize, level = 1; rest % 2 === 1; rest = Math.floor(rest / 2), level++) {
      hash = hasher.node(subtrees.pop()!, hash)
      if (level % TILE_HEIGHT === 0) place(level / TILE_HEIGHT, hash)
    }
    subtrees.push(hash)
    treeSize++
  }

  for (const level of changed) {
    if (level > 0) tiles.push(toTile(level, Math.floor(treeSize / TILE_WIDTH ** (level + 1)), rows[level]!))
  }
  return { edge: { treeSize, rows, subtrees }, rootHash: foldCover(subtrees, hasher), tiles }
}

function toTile(level: number, index: number, row: readonly Uint8Array[]): Tile {
  return { level, index, width: row.length, hashes: joinTile(row) }
}

/** The roots of the perfect subtrees within a row, the smallest first: its largest stands leftmost. */
function rowSubtrees(row: readonly Uint8Array[], hasher: TreeHasher): Uint8Array[] {
  return rootCover(row.length)
    .map(({ level, index }) => treeRoot(row.slice(index * 2 ** level, (index + 1) * 2 ** level), hasher))
    .reverse()
}
