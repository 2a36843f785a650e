/** The paths of inclusion proofs as JSON. What lies above a full tile is the same for all of its leaves: it is written once for each size of the tree. */
import { type CompactRange, HASH_BYTES, pathInTile, proveInRange, TILE_WIDTH, type TileNodes } from '@claimcheck/core'

export interface PathText {
  readonly leafHash: Uint8Array
  /** An array of base64url. */
  readonly path: string
}

/** Those above the tiles of a million leaves. */
const MOST_KEPT = 4096

/**
 * @param full those of `fullTilesAbove`, in that order
 * @throws RangeError when the leaf is not in the tree
 */
export type WritePath = (leafIndex: number, full: readonly TileNodes[]) => PathText

export function pathWriter(range: CompactRange): WritePath {
  const kept = new Map<number, string>()

  function writeAbove(leafIndex: number, below: number, full: readonly TileNodes[]): string {
    const index = Math.floor(leafIndex / TILE_WIDTH)
    const known = kept.get(index)
    if (known !== undefined) return known
    if (kept.size === MOST_KEPT) kept.clear()
    const written = toJson(proveInRange(leafIndex, range, full).path.slice(below))
    kept.set(index, written)
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
    return { leafHash, path: above === '' ? pathText(path) : `[${toJson(path)},${above}]` }
  }
}

export function pathText(path: readonly Uint8Array[]): string {
  return `[${toJson(path)}]`
}

/** An array's items. */
function toJson(hashes: readonly Uint8Array[]): string {
  return hashes.length === 0 ? '' : `"${toTexts(hashes).join('","')}"`
}

// A multiple of three: each hash begins at a letter of its own.
const STRIDE_BYTES = HASH_BYTES + 1
const STRIDE_LETTERS = (STRIDE_BYTES * 4) / 3
const HASH_LETTERS = Math.ceil((HASH_BYTES * 4) / 3)

// Used again and again. The byte after each hash is never written: its bits, which the hash's last letter has some of, stay 0.
let strides = Buffer.alloc(0)

/** base64url, in the same order. */
export function toTexts(hashes: readonly Uint8Array[]): string[] {
  const length = hashes.length * STRIDE_BYTES
  if (length > strides.length) strides = Buffer.alloc(length)
  for (let index = 0; index < hashes.length; index++) strides.set(hashes[index]!, index * STRIDE_BYTES)
  const letters = strides.toString('base64url', 0, length)
  return hashes.map((_, index) => letters.slice(index * STRIDE_LETTERS, index * STRIDE_LETTERS + HASH_LETTERS))
}
