/**
 * Writes the paths of inclusion proofs as JSON. All leaves of a full tile share the upper part of the path, which is written once for
 * each tree size.
 */
import { type CompactRange, HASH_BYTES, pathInTile, proveInRange, TILE_WIDTH, type TileNodes } from '@claimcheck/core'

export interface PathText {
  readonly leafHash: Uint8Array
  /** A JSON array of base64url hashes. */
  readonly path: string
}

/** The upper parts for a million leaves. */
const MAX_CACHED = 4096

/**
 * @param full the tiles of `fullTilesAbove`, in its order
 * @throws RangeError when the leaf is not in the tree
 */
export type WritePath = (leafIndex: number, full: readonly TileNodes[]) => PathText

export function pathWriter(range: CompactRange): WritePath {
  const cached = new Map<number, string>()

  /** The part of the path above the leaf's tile. @param below how many hashes of the path are within the tile */
  function writeAbove(leafIndex: number, below: number, full: readonly TileNodes[]): string {
    const index = Math.floor(leafIndex / TILE_WIDTH)
    const known = cached.get(index)
    if (known !== undefined) return known
    if (cached.size === MAX_CACHED) cached.clear()
    const written = toJsonItems(proveInRange(leafIndex, range, full).path.slice(below))
    cached.set(index, written)
    return written
  }

  return (leafIndex, full) => {
    const [tile] = full
    if (!tile) {
      const { leafHash, path } = proveInRange(leafIndex, range, full)
      return { leafHash, path: pathText(path) }
    }
    const { leafHash, path } = pathInTile(tile, leafIndex % TILE_WIDTH)
    const above = writeAbove(leafIndex, path.length, full)
    return { leafHash, path: above === '' ? pathText(path) : `[${toJsonItems(path)},${above}]` }
  }
}

export function pathText(path: readonly Uint8Array[]): string {
  return `[${toJsonItems(path)}]`
}

/** The items of a JSON array, without its brackets. */
function toJsonItems(hashes: readonly Uint8Array[]): string {
  return hashes.length === 0 ? '' : `"${toTexts(hashes).join('","')}"`
}

// A multiple of three bytes, so that each hash begins at a letter boundary of base64.
const STRIDE_BYTES = HASH_BYTES + 1
const STRIDE_LETTERS = (STRIDE_BYTES * 4) / 3
const HASH_LETTERS = Math.ceil((HASH_BYTES * 4) / 3)

// Reused by all calls. The byte after each hash is never written and stays 0, as base64 requires for the unused bits of the last letter.
let strides = Buffer.alloc(0)

/** Encodes many hashes as base64url at once, which is faster than one at a time. */
export function toTexts(hashes: readonly Uint8Array[]): string[] {
  const length = hashes.length * STRIDE_BYTES
  if (length > strides.length) strides = Buffer.alloc(length)
  for (let index = 0; index < hashes.length; index++) strides.set(hashes[index]!, index * STRIDE_BYTES)
  const letters = strides.toString('base64url', 0, length)
  return hashes.map((_, index) => letters.slice(index * STRIDE_LETTERS, index * STRIDE_LETTERS + HASH_LETTERS))
}
