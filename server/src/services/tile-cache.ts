/** Full tiles never change: those that proofs used last are kept in memory, with the nodes above their hashes. */
import { completeTile, type ReadFullTiles, TILE_NODES_BYTES, type TileId, type TileNodes } from '@claimcheck/core'
import { LRUCache } from 'lru-cache'
import { createBatch } from '../batch.ts'
import type { Reads } from '../storage/storage.ts'
import { SHA256_TREE } from './stored-log.ts'

export interface TileCache {
  /** @throws Error when one of them is not stored */
  readonly read: ReadFullTiles
  /** For when the log turns out to be another one than it was. */
  clear(): void
}

/** The tiles of a million leaves. */
const CACHE_BYTES = 64 * 2 ** 20
const MOST_TILES_PER_READ = 64

export function createTileCache(log: Pick<Reads['log'], 'fullTiles'>): TileCache {
  const kept = new LRUCache<string, TileNodes>({ max: Math.floor(CACHE_BYTES / TILE_NODES_BYTES) })

  // Whatever proofs that are made at the same time need is read together.
  const misses = createBatch<TileId, TileNodes>(
    async (tiles) => {
      const found = new Map((await log.fullTiles(tiles)).map((row) => [keyOf(row), row]))
      return tiles.map((tile) => {
        const key = keyOf(tile)
        const row = found.get(key)
        if (!row) throw new Error(`tile ${key} is not stored`)
        const nodes = kept.get(key) ?? completeTile(row.width, row.hashes, SHA256_TREE)
        kept.set(key, nodes)
        return nodes
      })
    },
    { most: MOST_TILES_PER_READ },
  )

  return {
    read: (tiles) => Promise.all(tiles.map((tile) => kept.get(keyOf(tile)) ?? misses.add(tile))),
    clear: () => kept.clear(),
  }
}

function keyOf({ level, index }: Pick<TileId, 'level' | 'index'>): string {
  return `${level}/${index}`
}
