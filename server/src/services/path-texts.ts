/** The paths of inclusion proofs as JSON. What lies above a full tile is the same for all of its leaves: it is written once for each size of the tree. */
import { pathInTile, proveAtEdge, TILE_WIDTH, type TileNodes, type TreeEdge } from '@claimcheck/core'
import { toTexts } from './hash-text.ts'

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

export function pathWriter(edge: TreeEdge): WritePath {
  const kept = new Map<number, string>()

  function writeAbove(leafIndex: number, below: number, full: readonly TileNodes[]): string {
    const index = Math.floor(leafIndex / TILE_WIDTH)
    const known = kept.get(index)
    if (known !== undefined) return known
    if (kept.size === MOST_KEPT) kept.clear()
    const written = toJson(proveAtEdge(leafIndex, edge, full).path.slice(below))
    kept.set(index, written)
    return written
  }

  return (leafIndex, full) => {
    const [tile] = full
    if (!tile) {
      const { leafHash, path } = proveAtEdge(leafIndex, edge, full)
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
