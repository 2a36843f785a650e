/** Reads the hashes of the tree from the database: from the tiles, and for the newest leaves from their receipts' rows. */
import { joinTile, type ReadTiles, TILE_WIDTH, type TileId, treeHasher } from '@claimcheck/core'
import { sha256 } from '../base/sha256.ts'
import type { Reads } from '../storage/storage.ts'

export const SHA256_TREE = treeHasher(sha256)

export function tileReader(log: Reads['log']): ReadTiles {
  async function readTile({ level, index, width }: TileId): Promise<Uint8Array> {
    if (level === 0 && width < TILE_WIDTH) {
      const start = index * TILE_WIDTH
      return joinTile((await log.leaves(start, start + width)).map((leaf) => leaf.leafHash))
    }
    return (await log.tile(level, index, width))?.hashes ?? new Uint8Array()
  }
  return (tiles) => Promise.all(tiles.map(readTile))
}
