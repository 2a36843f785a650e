/** Reads the hashes of a log's tree from where its rows are: from the tiles, and for the newest leaves from their receipts' rows. */
import { joinTile, type ReadTiles, TILE_WIDTH, type TileId, treeHasher } from '@claimcheck/core/log'
import { sha256 } from '../../base/sha256.ts'
import type { LeafRow } from '../../storage/log.ts'
import type { PublishedReads } from '../../storage/replica.ts'
import { StorageError } from '../../storage/storage.ts'

export const SHA256_TREE = treeHasher(sha256)

/** The rows of logs, in the database or in an archive. */
export interface LogRows extends Pick<PublishedReads, 'tile' | 'fullTiles' | 'trust'> {
  leaves(logId: string, start: number, end: number): Promise<readonly Pick<LeafRow, 'leafHash'>[]>
  newestHead(logId: string): Promise<{ readonly signed: string } | undefined>
}

export function tileReader(log: Pick<LogRows, 'leaves' | 'tile'>, logId: string): ReadTiles {
  async function readTile({ level, index, width }: TileId): Promise<Uint8Array> {
    if (level === 0 && width < TILE_WIDTH) {
      const start = index * TILE_WIDTH
      return joinTile((await log.leaves(logId, start, start + width)).map((leaf) => leaf.leafHash))
    }
    return (await log.tile(logId, level, index, width))?.hashes ?? new Uint8Array()
  }
  return (tiles) => Promise.all(tiles.map(readTile))
}

/** Reads what fails once more at the primary: a replica may have another log. */
export async function readAgain<T>({ trust }: Pick<LogRows, 'trust'>, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!trust || error instanceof StorageError) throw error
    trust.doubt()
    return read()
  }
}
