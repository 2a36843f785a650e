/** Caches the full tiles that proofs used last, with the inner nodes above their hashes. Full tiles never change. */
import { completeTile, TILE_NODES_BYTES, type TileId, type TileNodes } from '@claimcheck/core/log'
import { LRUCache } from 'lru-cache'
import { createBatch } from '../../base/batch.ts'
import { type LogRows, SHA256_TREE } from './log-rows.ts'

export interface TileCache {
  /** Returns the tiles in the order of the ids. @throws Error when a tile is not stored */
  read(tiles: readonly TileId[]): Promise<readonly TileNodes[]>
  /** For another log, or one that was replaced, such as from a backup. */
  clear(): void
}

/** The tiles of a million leaves. */
const CACHE_BYTES = 64 * 2 ** 20
const MAX_PER_READ = 100

/** @param logId of the log that it is about now */
export function createTileCache(log: Pick<LogRows, 'fullTiles' | 'trust'>, logId: () => string): TileCache {
  const cache = new LRUCache<number, TileNodes>({ max: Math.floor(CACHE_BYTES / TILE_NODES_BYTES) })
  const known = (tile: Pick<TileId, 'level' | 'index'>) => cache.get(keyOf(tile))

  let lost = 0

  /** Forgets what may be of another log. */
  async function look(): Promise<number> {
    const now = (await log.trust?.lost()) ?? 0
    if (now !== lost) cache.clear()
    lost = now
    return now
  }

  // Proofs that miss tiles at the same time share one read.
  const misses = createBatch<TileId, TileNodes>(
    async (tiles) => {
      const before = await look()
      const rows = new Map((await log.fullTiles(logId(), tiles)).map((row) => [keyOf(row), row]))
      const isSure = (await look()) === before
      return tiles.map((tile) => {
        const row = rows.get(keyOf(tile))
        if (!row) throw new Error(`tile ${tile.level}/${tile.index} is not stored`)
        const nodes = known(tile) ?? completeTile(row.width, row.hashes, SHA256_TREE)
        if (isSure) cache.set(keyOf(tile), nodes)
        return nodes
      })
    },
    { maxItems: MAX_PER_READ },
  )

  return {
    async read(tiles) {
      if (log.trust) await look()
      const found = tiles.map(known)
      if (found.every((nodes) => nodes !== undefined)) return found
      return Promise.all(tiles.map((tile, index) => found[index] ?? misses.add(tile)))
    },
    clear: () => cache.clear(),
  }
}

/** More tiles than a level of any tree has. */
const MAX_TILES_PER_LEVEL = 2 ** 45

/** A number, because a map finds numbers faster than strings. */
function keyOf({ level, index }: Pick<TileId, 'level' | 'index'>): number {
  return level * MAX_TILES_PER_LEVEL + index
}
