/**
 * The tree's hashes as tiles (C2SP tlog-tiles), and proofs from them. A tile at level L has up to 256 hashes, each the root of a perfect
 * subtree with 256^L leaves. A proof reads a few tiles, however large the tree is.
 */
import { HASH_BYTES, type TreeHasher, treeHasher, treeRoot } from './merkle.ts'
import { type Cover, consistencyCovers, foldCover, inclusionCovers, rootCover, type Subtree } from './subtrees.ts'
import { nodeAt, TILE_HEIGHT, TILE_NODES_BYTES, TILE_WIDTH } from './tile-nodes.ts'

export interface TileId {
  readonly level: number
  readonly index: number
  /** The number of hashes, counted from the left: 256 in a full tile, less in a partial one. */
  readonly width: number
}

export interface Tile extends TileId {
  /** The tile's `width` hashes. In a full tile, the nodes above them follow as in `TileNodes`. */
  readonly hashes: Uint8Array
}

/** Reads these tiles and returns their hashes in the same order. A tile may have more hashes than asked for, and the nodes above them. */
export type ReadTiles = (tiles: readonly TileId[]) => Promise<readonly Uint8Array[]>

export class TileError extends Error {
  override readonly name = 'TileError'
  /** The code for fewer hashes than the tile has: the tree is smaller, or the storage is damaged. */
  readonly code = 'short_tile'
  readonly tile: TileId

  constructor(tile: TileId) {
    super(`tile ${tile.level}/${tile.index} has fewer than ${tile.width} hashes`)
    this.tile = tile
  }
}

export interface ProvenInclusion {
  readonly leafHash: Uint8Array
  readonly rootHash: Uint8Array
  readonly path: readonly Uint8Array[]
}

export interface ProvenConsistency {
  readonly firstRoot: Uint8Array
  readonly secondRoot: Uint8Array
  readonly path: readonly Uint8Array[]
}

/** Makes an inclusion proof. @throws RangeError when the leaf is not in a tree of that size; TileError when a tile is missing or too short */
export async function proveInclusion(
  leafIndex: number,
  treeSize: number,
  readTiles: ReadTiles,
  hasher: TreeHasher = treeHasher(),
): Promise<ProvenInclusion> {
  const path = inclusionCovers(leafIndex, treeSize)
  const leaf = [{ level: 0, index: leafIndex }]
  const [leafHash, rootHash, ...hashes] = await readCovers([leaf, rootCover(treeSize), ...path], readTiles, hasher)
  return { leafHash: leafHash!, rootHash: rootHash!, path: hashes }
}

/** Makes a consistency proof. @throws RangeError when first is 0 or above second; TileError when a tile is missing or too short */
export async function proveConsistency(
  first: number,
  second: number,
  readTiles: ReadTiles,
  hasher: TreeHasher = treeHasher(),
): Promise<ProvenConsistency> {
  const path = consistencyCovers(first, second)
  const roots = [rootCover(first), rootCover(second)]
  const [firstRoot, secondRoot, ...hashes] = await readCovers([...roots, ...path], readTiles, hasher)
  return { firstRoot: firstRoot!, secondRoot: secondRoot!, path: hashes }
}

/** The root at that size. @throws TileError when a tile is missing or too short */
export async function rootAt(
  treeSize: number,
  readTiles: ReadTiles,
  hasher: TreeHasher = treeHasher(),
): Promise<Uint8Array> {
  const [rootHash] = await readCovers([rootCover(treeSize)], readTiles, hasher)
  return rootHash!
}

/** The partial tiles of a tree of this size, the lowest level first. Each level has at most one. */
export function partialTiles(treeSize: number): TileId[] {
  const tiles: TileId[] = []
  for (let level = 0, count = treeSize; count > 0; level++) {
    const width = count % TILE_WIDTH
    count = Math.floor(count / TILE_WIDTH)
    if (width > 0) tiles.push({ level, index: count, width })
  }
  return tiles
}

/** Joins hashes one after the other, as a tile has them. */
export function joinTile(hashes: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(hashes.length * HASH_BYTES)
  for (const [index, hash] of hashes.entries()) joined.set(hash, index * HASH_BYTES)
  return joined
}

function splitHashes(hashes: Uint8Array): Uint8Array[] {
  return Array.from({ length: hashes.length / HASH_BYTES }, (_, index) => nodeAt(hashes, 0, index))
}

/** Reads all tiles that covers need, once, and computes the hash of each cover. */
async function readCovers(covers: readonly Cover[], readTiles: ReadTiles, hasher: TreeHasher): Promise<Uint8Array[]> {
  const wanted = new Map<string, TileId>()
  for (const subtree of covers.flat()) {
    const tile = tileOf(subtree)
    const key = keyOf(tile)
    if (tile.width > (wanted.get(key)?.width ?? 0)) wanted.set(key, tile)
  }
  const tiles = [...wanted.values()]
  const read = await readTiles(tiles)
  const hashesOf = new Map<string, Uint8Array>()
  for (const [index, tile] of tiles.entries()) {
    const hashes = read[index]
    if (!hashes || hashes.length < tile.width * HASH_BYTES) throw new TileError(tile)
    hashesOf.set(keyOf(tile), hashes)
  }
  const hashOf = (subtree: Subtree) => subtreeRoot(subtree, hashesOf.get(keyOf(tileOf(subtree)))!, hasher)
  return covers.map((cover) => foldCover(cover.map(hashOf), hasher))
}

function subtreeRoot(subtree: Subtree, hashes: Uint8Array, hasher: TreeHasher): Uint8Array {
  const height = subtree.level % TILE_HEIGHT
  const span = spanOf(subtree)
  const index = subtree.index % (TILE_WIDTH / span)
  if (hashes.length >= TILE_NODES_BYTES) return nodeAt(hashes, height, index)
  return treeRoot(splitHashes(hashes.subarray(index * span * HASH_BYTES, (index + 1) * span * HASH_BYTES)), hasher)
}

/** The tile with a subtree's root or the hashes below it, as narrow as possible. */
function tileOf(subtree: Subtree): TileId {
  const span = spanOf(subtree)
  const start = subtree.index * span
  const index = Math.floor(start / TILE_WIDTH)
  return { level: Math.floor(subtree.level / TILE_HEIGHT), index, width: start - index * TILE_WIDTH + span }
}

/** Number of hashes of its tile that are below a subtree's root. */
function spanOf({ level }: Subtree): number {
  return 2 ** (level % TILE_HEIGHT)
}

function keyOf({ level, index }: TileId): string {
  return `${level}/${index}`
}
