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
} from '@claimcheck/core'
import type { TileCache } from './tile-cache.ts'

export interface PathText {
  readonly leafHash: Uint8Array
  /** A JSON array of base64url hashes. */
  readonly path: string
}

/** The upper parts for a million leaves. */
const MAX_KNOWN = 4096

/** At once where the tiles are in memory. @throws RangeError when the leaf is not in the tree */
export type WritePath = (leafIndex: number) => PathText | Promise<PathText>

export function pathWriter(range: CompactRange, tiles: TileCache): WritePath {
  /** By full tile, what ends the path of each of its leaves. */
  const known = new Map<number, Uint8Array>()

  async function readAndWrite(leafIndex: number): Promise<PathText> {
    const full = await tiles.read(fullTilesAbove(leafIndex, range.treeSize))
    const { leafHash, path } = proveInRange(leafIndex, range, full)
    if (full.length > 0) {
      if (known.size === MAX_KNOWN) known.clear()
      const above = path.slice(TILE_HEIGHT)
      known.set(
        Math.floor(leafIndex / TILE_WIDTH),
        Buffer.from(above.length === 0 ? ']' : `,${pathText(above).slice(1)}`),
      )
    }
    return { leafHash, path: pathText(path) }
  }

  return (leafIndex) => {
    const index = Math.floor(leafIndex / TILE_WIDTH)
    const above = known.get(index)
    const tile = above && tiles.known({ level: 0, index })
    return tile ? writeInTile(tile, leafIndex % TILE_WIDTH, above) : readAndWrite(leafIndex)
  }
}

/** @param above ends the path */
function writeInTile(tile: TileNodes, index: number, above: Uint8Array): PathText {
  let end = 0
  for (let height = 0; height < TILE_HEIGHT; height++)
    end = writeItem(tile, nodeOffset(height, (index >> height) ^ 1), end)
  letters.set(above, 2 * end)
  return { leafHash: nodeAt(tile, 0, index), path: written(2 * end + above.length) }
}

export function pathText(path: readonly Uint8Array[]): string {
  if (path.length === 0) return '[]'
  let end = 0
  for (const hash of path) end = writeItem(hash, 0, end)
  return `${written(2 * end)}]`
}

export function toTexts(hashes: readonly Uint8Array[]): string[] {
  return hashes.map((hash) => {
    writeItem(hash, 0, 0)
    return letters.toString('latin1', ITEM_START, ITEM_START + HASH_LETTERS)
  })
}

// What is being written, two letters at a time: no path is as long. Reused by all calls.
const MOST_HASHES = 128
const HASH_LETTERS = Math.ceil((HASH_BYTES * 8) / 6)
const ITEM_START = ',"'.length
const pairs = new Uint16Array((MOST_HASHES * (ITEM_START + HASH_LETTERS + 1)) / 2)
const letters = Buffer.from(pairs.buffer)

/** A JSON array of the items so far, without its end. */
function written(length: number): string {
  letters.write('[')
  return letters.toString('latin1', 0, length)
}

const ALPHABET = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
const pair = (two: string) => new Uint16Array(new Uint8Array(Buffer.from(two)).buffer)[0]!
const START = pair(',"')
const PAIRS = Uint16Array.from(ALPHABET.flatMap((one) => ALPHABET.map((other) => pair(one + other))))
const ENDS = Uint16Array.from(ALPHABET.map((letter) => pair(`${letter}"`)))

/**
 * An item with the comma before it, the hash as base64url. Buffer would make a text of each hash, which takes longer than all of this.
 *
 * @param at in pairs
 * @returns where it ends, in pairs
 */
function writeItem(hashes: Uint8Array, from: number, at: number): number {
  const last = from + HASH_BYTES - 2
  let end = at
  pairs[end++] = START
  for (let next = from; next < last; next += 3) {
    const three = (hashes[next]! << 16) | (hashes[next + 1]! << 8) | hashes[next + 2]!
    pairs[end++] = PAIRS[three >> 12]!
    pairs[end++] = PAIRS[three & 0xfff]!
  }
  const two = (hashes[last]! << 8) | hashes[last + 1]!
  pairs[end++] = PAIRS[two >> 4]!
  pairs[end++] = ENDS[(two & 0xf) << 2]!
  return end
}
