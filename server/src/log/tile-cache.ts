/** Full tiles never change: those that proofs used last are kept in memory, with the nodes above their hashes. */
import { completeTile, TILE_NODES_BYTES, type TileId, type TileNodes } from '@claimcheck/core'
import { LRUCache } from 'lru-cache'
import { createBatch } from '../base/batch.ts'
import type { Reads } from '../storage/storage.ts'
import { SHA256_TREE } from './stored-log.ts'

export interface TileCache {
  /** In the same order. @throws Error when one of them is not stored */
  read(tiles: readonly TileId[]): Promise<readonly TileNodes[]>
  /** For when the log turns out to be another one than it was. */
  clear(): void
}

/** The tiles of a million leaves. */
const CACHE_BYTES = 64 * 2 ** 20
const MOST_PER_READ = 100

export function createTileCache(log: Pick<Reads['log'], 'fullTiles'>): TileCache {
  const kept = new LRUCache<number, TileNodes>({ max: Math.floor(CACHE_BYTES / TILE_NODES_BYTES) })

  // What several proofs miss at the same time is one read.
  const misses = createBatch<TileId, TileNodes>(
    async (tiles) => {
      const rows = new Map((await log.fullTiles(tiles)).map((row) => [keyOf(row), row]))
      return tiles.map((tile) => {
        const row = rows.get(keyOf(tile))
        if (!row) throw new Error(`tile ${tile.level}/${tile.index} is not stored`)
        const nodes = kept.get(keyOf(tile)) ?? completeTile(row.width, row.hashes, SHA256_TREE)
        kept.set(keyOf(tile), nodes)
        return nodes
      })
    },
    { maxItems: MOST_PER_READ },
  )

  return {
    async read(tiles) {
      const found = tiles.map((tile) => kept.get(keyOf(tile)))
      if (found.every((nodes) => nodes !== undefined)) return found
      return Promise.all(tiles.map((tile, index) => found[index] ?? misses.add(tile)))
    },
    clear: () => kept.clear(),
  }
}

/** A number, which is found sooner than a text: no level of a tree has more tiles than this. */
const MOST_TILES = 2 ** 45

function keyOf({ level, index }: Pick<TileId, 'level' | 'index'>): number {
  return level * MOST_TILES + index
}
