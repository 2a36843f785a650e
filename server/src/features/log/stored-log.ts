/** Views of the log at one size, which all requests at that size share: the compact range is in memory, full tiles come from the cache. */

import {
  appendLeaves,
  type CompactRange,
  EMPTY_RANGE,
  fullTilesAbove,
  type ProvenConsistency,
  type ProvenInclusion,
  partialTiles,
  proveConsistency,
  proveInclusion,
  proveInRange,
  type ReadTiles,
  restoreRange,
  rootAt,
  type SignedTreeHead,
  TILE_WIDTH,
  type TileId,
} from '@claimcheck/core/log'
import { bytesEqual } from '@claimcheck/core/receipts'
import { createBatch } from '../../base/batch.ts'
import type { AnchoredLogState, LogTip } from '../../storage/log-state.ts'
import { type LogRows, readAgain, SHA256_TREE, tileReader } from './log-rows.ts'
import { createTileCache, type TileCache } from './tile-cache.ts'

export interface LogView {
  readonly state: AnchoredLogState
  /** @throws RangeError when the leaf is not in a tree of that size; TileError when the log has not reached the size */
  proveInclusion(leafIndex: number, treeSize: number): Promise<ProvenInclusion>
  /** @throws RangeError when first is 0 or above second; TileError when the log has not reached second */
  proveConsistency(first: number, second: number): Promise<ProvenConsistency>
}

/**
 * The log as it is stored. Each writer appends in the transaction that stores what the entries are about, and guarantees:
 *
 * - An entry, the hashes above it and the signed head are on disk before any of them is published.
 * - Of two writers that append to the same size one succeeds, and the other starts again: the log never forks.
 * - The tree never shrinks, and each size has one root.
 */
export interface StoredLog {
  head(): Promise<SignedTreeHead>
  /**
   * The newest committed log at the time of the call, including entries that other hosts appended. The size never goes back between
   * calls.
   */
  view(): Promise<LogView>
}

/** Up to this growth the range is extended leaf by leaf; after more growth it is cheaper to read the range again. */
const MAX_EXTENDED = 2 * TILE_WIDTH
const MAX_SHARING = 1000

interface Known {
  readonly range: CompactRange
  readonly rootHash: Uint8Array
  readonly view?: LogView
}

const NOTHING: Known = { range: EMPTY_RANGE, rootHash: SHA256_TREE.empty }

/** @param readState the newest state of the log, which may be another log from one call to the next */
export function createStoredLog(log: LogRows, readState: () => Promise<AnchoredLogState>): StoredLog {
  let logId = ''
  const cache = createTileCache(log, () => logId)
  const readStored: ReadTiles = (tiles) => tileReader(log, logId)(tiles)
  let known = NOTHING

  /** Extends the known range; undefined when the log does not continue it, or grew too much. */
  async function extend({ treeSize, rootHash }: LogTip): Promise<CompactRange | undefined> {
    const { range } = known
    const grown = treeSize - range.treeSize
    if (grown === 0) return bytesEqual(known.rootHash, rootHash) ? range : undefined
    if (grown < 0 || grown > MAX_EXTENDED) return undefined
    const leaves = await log.leaves(logId, range.treeSize, treeSize)
    const appended = appendLeaves(
      range,
      leaves.map(({ leafHash }) => leafHash),
      SHA256_TREE,
    )
    return bytesEqual(appended.rootHash, rootHash) ? appended.range : undefined
  }

  async function restore({ treeSize }: LogTip): Promise<CompactRange> {
    const { range, rootHash } = known
    const isContinued =
      treeSize >= range.treeSize && bytesEqual(await rootAt(range.treeSize, readStored, SHA256_TREE), rootHash)
    // A database that was restored from a backup may have other tiles than the cache.
    if (!isContinued) cache.clear()
    return restoreRange(treeSize, await readStored(partialTiles(treeSize)), SHA256_TREE)
  }

  async function rangeAt(state: LogTip): Promise<CompactRange> {
    const range = (await extend(state)) ?? (await restore(state))
    requireRoot(range.suffixes[0] ?? SHA256_TREE.empty, state)
    return range
  }

  async function current(): Promise<LogView> {
    const state = await readState()
    if (known.view && isSame(known.view.state, state)) return known.view
    if (state.logId !== logId) {
      cache.clear()
      known = NOTHING
      logId = state.logId
    }
    const range = await readAgain(log, () => rangeAt(state))
    const view = viewOf(state, range, log, cache)
    known = { range, rootHash: state.rootHash, view }
    return view
  }

  // Reads one view at a time, so that the size never goes back.
  const views = createBatch<undefined, LogView>(
    async (requests) => {
      const view = await current()
      return requests.map(() => view)
    },
    { maxItems: MAX_SHARING },
  )

  return {
    view: () => views.add(undefined),
    head: async () => JSON.parse((await log.newestHead((await readState()).logId))!.signed),
  }
}

function isSame(one: AnchoredLogState, other: AnchoredLogState): boolean {
  return (
    one.number === other.number &&
    one.treeSize === other.treeSize &&
    one.anchoredSize === other.anchoredSize &&
    one.issuedAt === other.issuedAt &&
    one.logId === other.logId &&
    one.name === other.name &&
    one.keyId === other.keyId &&
    bytesEqual(one.rootHash, other.rootHash)
  )
}

function requireRoot(rootHash: Uint8Array, tip: LogTip): void {
  if (!bytesEqual(rootHash, tip.rootHash))
    throw new Error('the root of the stored tiles differs from the root of the newest head')
}

function viewOf(state: AnchoredLogState, range: CompactRange, log: LogRows, cache: TileCache): LogView {
  const { treeSize } = range

  async function readTiles(tiles: readonly TileId[]): Promise<readonly Uint8Array[]> {
    const isFull = ({ level, index }: TileId) => index < Math.floor(treeSize / TILE_WIDTH ** (level + 1))
    const full = await cache.read(tiles.filter(isFull))
    let next = 0
    return tiles.map((tile) => (isFull(tile) ? full[next++]! : partialTile(tile)))
  }

  /** Empty when the tile is not that wide in this tree. */
  function partialTile({ level, index, width }: TileId): Uint8Array {
    const newest = partialTiles(treeSize).find((tile) => tile.level === level && tile.index === index)
    return newest && newest.width >= width ? range.tiles[level]! : new Uint8Array()
  }

  return {
    state,
    async proveInclusion(leafIndex, size) {
      if (size !== treeSize) return proveInclusion(leafIndex, size, readTiles, SHA256_TREE)
      // The range has every node of a tree of the view's own size that is in no full tile: nothing is hashed, however large the tree is.
      const full = await cache.read(fullTilesAbove(leafIndex, treeSize))
      return proveInRange(leafIndex, range, full)
    },
    proveConsistency: (first, second) =>
      readAgain(log, async () => {
        const proven = await proveConsistency(first, second, readTiles, SHA256_TREE)
        if (second === treeSize) requireRoot(proven.secondRoot, state)
        return proven
      }),
  }
}
