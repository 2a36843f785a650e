/** Full tiles never change: those that proofs used last are kept in memory, with the nodes above their hashes. */
import { completeTile, TILE_NODES_BYTES, type TileId, type TileNodes } from '@claimcheck/core'
import { LRUCache } from 'lru-cache'
import type { Reads } from '../storage/storage.ts'
import { SHA256_TREE } from './stored-log.ts'

export interface TileCache {
  /** In the same order; what is not here in one read. @throws Error when one of them is not stored */
  read(tiles: readonly TileId[]): Promise<readonly TileNodes[]>
  /** For when the log turns out to be another one than it was. */
  clear(): void
}

/** The tiles of a million leaves. */
const CACHE_BYTES = 64 * 2 ** 20

export function createTileCache(log: Pick<Reads['log'], 'fullTiles'>): TileCache {
  const kept = new LRUCache<string, TileNodes>({ max: Math.floor(CACHE_BYTES / TILE_NODES_BYTES) })

  return {
    async read(tiles) {
      const found = new Map(tiles.map((tile) => [keyOf(tile), kept.get(keyOf(tile))]))
      const missing = tiles.filter((tile) => !found.get(keyOf(tile)))
      for (const row of missing.length === 0 ? [] : await log.fullTiles(missing)) {
        const nodes = completeTile(row.width, row.hashes, SHA256_TREE)
        kept.set(keyOf(row), nodes)
        found.set(keyOf(row), nodes)
      }
      return tiles.map((tile) => {
        const nodes = found.get(keyOf(tile))
        if (!nodes) throw new Error(`tile ${keyOf(tile)} is not stored`)
        return nodes
      })
    },
    clear: () => kept.clear(),
  }
}

function keyOf({ level, index }: Pick<TileId, 'level' | 'index'>): string {
  return `${level}/${index}`
}
