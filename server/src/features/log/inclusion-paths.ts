/**
 * Writes the paths of inclusion proofs as JSON. All leaves of a full tile share the upper part of the path, which is written once for
 * each tree size.
 */
import {
  type CompactRange,
  fullTilesAbove,
  HASH_BYTES,
  nodeAt,
  nodeOffset,
  proveInRange,
  TILE_HEIGHT,
  TILE_WIDTH,
  type TileNodes,
} from '@claimcheck/core/log'
import type { TileCache } from './tile-cache.ts'

export interface InclusionPath {
  readonly leafHash: Uint8Array
  /** A JSON array of base64url hashes. */
  readonly path: string
}

/** The upper parts for a million leaves. */
const MAX_KNOWN = 4096

/** At once for most leaves: where the tile is in memory, and one of its leaves was written before. @throws RangeError when the leaf is not in the tree */
export type WriteInclusionPath = (leafIndex: number) => InclusionPath | Promise<InclusionPath>

export function inclusionPathWriter(range: CompactRange, tiles: TileCache): WriteInclusionPath {
  /** By full tile, what ends the path of each of its leaves. */
  const known = new Map<number, Uint8Array>()

  async function readAndWrite(leafIndex: number, index: number): Promise<InclusionPath> {
    const full = await tiles.read(fullTilesAbove(leafIndex, range.treeSize))
    const [tile] = full
    // Another leaf of the tile, which was asked for together with this one, was written meanwhile.
    const end = known.get(index)
    if (tile && end) return writeInTile(tile, leafIndex % TILE_WIDTH, end)
    const { leafHash, path } = proveInRange(leafIndex, range, full)
    if (tile) {
      if (known.size === MAX_KNOWN) known.clear()
      known.set(index, Buffer.from(endOfArray(path.slice(TILE_HEIGHT))))
    }
    return { leafHash, path: pathText(path) }
  }

  return (leafIndex) => {
    const index = Math.floor(leafIndex / TILE_WIDTH)
    const end = known.get(index)
    const tile = end && tiles.known({ level: 0, index })
    return tile ? writeInTile(tile, leafIndex % TILE_WIDTH, end) : readAndWrite(leafIndex, index)
  }
}

/** @param end of the array, after the hashes within the tile */
function writeInTile(tile: TileNodes, index: number, end: Uint8Array): InclusionPath {
  let at = 0
  for (let height = 0; height < TILE_HEIGHT; height++)
    at = writeItem(tile, nodeOffset(height, (index >> height) ^ 1), at)
  text.set(end, 2 * at)
  return { leafHash: nodeAt(tile, 0, index), path: written(2 * at + end.length) }
}

export function pathText(path: readonly Uint8Array[]): string {
  if (path.length === 0) return '[]'
  if (path.length > MOST_HASHES) throw new RangeError('no path has so many hashes')
  let at = 0
  for (const hash of path) at = writeItem(hash, 0, at)
  return `${written(2 * at)}]`
}

function endOfArray(hashes: readonly Uint8Array[]): string {
  return hashes.length === 0 ? ']' : `,${pathText(hashes).slice(1)}`
}

export function toTexts(hashes: readonly Uint8Array[]): string[] {
  return hashes.map((hash) => {
    writeItem(hash, 0, 0)
    return text.toString('latin1', ITEM_START, ITEM_START + HASH_LETTERS)
  })
}

// The text that is being written, and the same memory as pairs of letters. A pair is a number in the order of bytes of the machine. No path
// has as many hashes: a tree has at most 2^53 leaves.
const MOST_HASHES = 64
const HASH_LETTERS = Math.ceil((HASH_BYTES * 8) / 6)
const ITEM_START = ',"'.length
const pairs = new Uint16Array((MOST_HASHES * (ITEM_START + HASH_LETTERS + 1)) / 2 + 1)
const text = Buffer.from(pairs.buffer)

/** So many letters of the text, which begins with an item and becomes a JSON array. */
function written(length: number): string {
  text.write('[')
  return text.toString('latin1', 0, length)
}

const ALPHABET = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
const pairOf = (letters: string) => new Uint16Array(new Uint8Array(Buffer.from(letters)).buffer)[0]!
const BEFORE_HASH = pairOf(',"')
const PAIRS = Uint16Array.from(ALPHABET.flatMap((one) => ALPHABET.map((other) => pairOf(one + other))))
const LAST_AND_QUOTE = Uint16Array.from(ALPHABET.map((letter) => pairOf(`${letter}"`)))

/**
 * An item with the comma before it, the hash as base64url. Buffer would make a text of each hash, which takes longer than all of this.
 *
 * @param at in pairs
 * @returns where it ends, in pairs
 */
function writeItem(hashes: Uint8Array, from: number, at: number): number {
  const last = from + HASH_BYTES - 2
  let end = at
  pairs[end++] = BEFORE_HASH
  for (let next = from; next < last; next += 3) {
    const three = (hashes[next]! << 16) | (hashes[next + 1]! << 8) | hashes[next + 2]!
    pairs[end++] = PAIRS[three >> 12]!
    pairs[end++] = PAIRS[three & 0xfff]!
  }
  const two = (hashes[last]! << 8) | hashes[last + 1]!
  pairs[end++] = PAIRS[two >> 4]!
  pairs[end++] = LAST_AND_QUOTE[(two & 0xf) << 2]!
  return end
}
