/** Derives the tree from its leaves, and compares it with the stored tiles and the signed roots. */
import { appendLeaves, type CompactRange, EMPTY_RANGE, HASH_BYTES, TILE_WIDTH, type Tile } from '@claimcheck/core/log'
import type { Problems } from '../../../base/problems.ts'
import type { TileKey } from '../../../storage/doctor-reads.ts'
import type { Reads } from '../../../storage/storage.ts'
import { SHA256_TREE } from '../../log/log-rows.ts'
import type { CheckedChunk } from './chunk.ts'
import type { SoundHead, Step } from './heads.ts'

export interface DerivedTree {
  readonly treeSize: number
  add(steps: readonly Step[], chunk: CheckedChunk): Promise<void>
  /** Reports stored tiles that belong to no head. @param treeSize the size of the log after all leaves were added */
  checkStrayTiles(treeSize: number): Promise<void>
}

const TILES_PER_READ = 1000

export function createTree(doctor: Reads['doctor'], logId: string, problems: Problems): DerivedTree {
  let range: CompactRange = EMPTY_RANGE
  let rootHash = SHA256_TREE.empty
  /** The leaves since the last head: the hashes of their entries, and their stored hashes. */
  let derived: Uint8Array[] = []
  let stored: Uint8Array[] = []
  /** True when the leaves give another root than the signed one. It is reported once; the tiles above the leaves then differ, too. */
  let rootDiffers = false
  const expected = new Set<string>()

  async function takeLeaves({ start, end }: Step, chunk: CheckedChunk): Promise<void> {
    for (let leaf = start; leaf < end; leaf++) {
      if (chunk.missing.has(leaf)) {
        problems.add(`receipts: leaf ${leaf} is missing`)
        const hash = await hashInTile(doctor, logId, leaf)
        derived.push(hash)
        stored.push(hash)
        continue
      }
      const at = (leaf - chunk.start) * HASH_BYTES
      derived.push(chunk.derived.subarray(at, at + HASH_BYTES))
      stored.push(chunk.stored.subarray(at, at + HASH_BYTES))
    }
  }

  /** Adds the leaves of the head, and returns the tiles that it created. */
  function takeHead({ row, signed }: SoundHead): readonly Tile[] {
    let appended = appendLeaves(range, derived, SHA256_TREE)
    if (stored.some((hash, index) => !isSame(hash, derived[index]!))) {
      // Where the hash of an entry differs from the stored hash, the one that gives the signed root is right.
      const other = appendLeaves(range, stored, SHA256_TREE)
      if (isSame(other.rootHash, row.rootHash)) appended = other
    }
    if (derived.length > 0) ({ range, rootHash } = appended)
    derived = []
    stored = []
    if (!rootDiffers && !isSame(rootHash, row.rootHash)) {
      problems.add(`tree head ${signed.body.tree_size}: root_hash is not the root of the leaves`)
      rootDiffers = true
    }
    return appended.tiles
  }

  async function checkTiles(tiles: readonly Tile[]): Promise<void> {
    for (const tile of tiles) expected.add(keyOf(tile))
    if (tiles.length === 0) return
    const found = new Map(
      (await doctor.tiles(tiles.map((tile) => ({ logId, ...tile })))).map((tile) => [keyOf(tile), tile.hashes]),
    )
    for (const tile of tiles) {
      const hashes = found.get(keyOf(tile))
      if (!hashes) problems.add(`tile ${keyOf(tile)}: missing`)
      else if (isSame(hashes, tile.hashes) || (rootDiffers && tile.level > 0)) continue
      else problems.add(`tile ${keyOf(tile)}: ${differenceOf(tile, hashes)}`)
    }
  }

  return {
    get treeSize() {
      return range.treeSize
    },
    async add(steps, chunk) {
      const tiles: Tile[] = []
      for (const step of steps) {
        await takeLeaves(step, chunk)
        if (step.head) tiles.push(...takeHead(step.head))
      }
      await checkTiles(tiles)
    },
    async checkStrayTiles(treeSize) {
      for (let after: TileKey | undefined = { logId, level: -1, index: 0, width: 0 }; after; ) {
        const keys: readonly TileKey[] = await doctor.tileKeys(after, TILES_PER_READ)
        for (const key of keys) {
          // A tile that was created after these leaves were read is not stray.
          const reach = (key.index * TILE_WIDTH + key.width) * TILE_WIDTH ** key.level
          const isNew = reach > range.treeSize && reach <= treeSize
          if (!expected.has(keyOf(key)) && !isNew) problems.add(`tile ${keyOf(key)}: the log has no such tile`)
        }
        after = keys.at(-1)
      }
    },
  }
}

/** The hash of a leaf without a receipt. */
async function hashInTile(doctor: Reads['doctor'], logId: string, leaf: number): Promise<Uint8Array> {
  const [tile] = await doctor.tiles([{ logId, level: 0, index: Math.floor(leaf / TILE_WIDTH), width: TILE_WIDTH }])
  const at = (leaf % TILE_WIDTH) * HASH_BYTES
  return tile?.hashes.subarray(at, at + HASH_BYTES) ?? SHA256_TREE.empty
}

function keyOf({ level, index, width }: Omit<TileKey, 'logId'>): string {
  return `${level}/${index} of width ${width}`
}

function differenceOf(tile: Tile, stored: Uint8Array): string {
  const position = Math.floor(stored.findIndex((byte, index) => byte !== tile.hashes[index]) / HASH_BYTES)
  if (position < 0 || position >= tile.width) return 'its nodes do not follow from its hashes'
  if (tile.level > 0)
    return `its hash ${position} is not that of tile ${tile.level - 1}/${tile.index * TILE_WIDTH + position}`
  return `its hash ${position} is not that of leaf ${tile.index * TILE_WIDTH + position}`
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0
}
