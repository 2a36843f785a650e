/** Reads of published rows at a replica, which may lag behind the primary and be away. */
import { bytesEqual } from '@claimcheck/core/receipts'
import type { erasureReads } from './erasures.ts'
import type { logReads } from './log.ts'
import type { TreeHeadRow } from './log-state.ts'

type LogReads = ReturnType<typeof logReads>

/** Reads of rows that never change once they are stored, except by an erasure. The newest rows, such as the head, are read at the primary. */
export type PublishedReads = Pick<
  LogReads,
  'tile' | 'fullTiles' | 'leaves' | 'leafByHash' | 'receiptsByIds' | 'evidenceOf' | 'newestHead'
> & {
  /** The trust in the replica; absent where the primary answers all. */
  readonly trust?: Trust
}

/** Trust in a replica, which may have followed an old primary past a failover: its log is then another one under the same id. */
export interface Trust {
  /** Returns a number that grows when earlier reads, which may be kept, are perhaps of another log. */
  lost(): Promise<number>
  /** Reports that a read does not fit the primary, which answers until a look at the replica succeeds. */
  doubt(): void
}

/** The time for which a look at the replica holds. After a failure the primary answers until the next. */
const PAUSE_MS = 2_000

export interface Replica {
  readonly published: PublishedReads
  isReplicaAway(): boolean
}

interface Primary {
  readonly log: LogReads
  readonly erasures: ReturnType<typeof erasureReads>
}

export function readsOfReplica(primary: Primary, { log }: Pick<Primary, 'log'>): Replica {
  let lookAt = 0
  let looking: Promise<void> | undefined
  let isAway = false
  let lost = 0
  /** True if the replica was read since `lost` grew. */
  let wasRead = false

  function failed(): void {
    isAway = true
    lookAt = performance.now() + PAUSE_MS
  }
  function doubt(): void {
    if (wasRead) lost++
    wasRead = false
    failed()
  }

  /** Looks whether the newest head of the replica is one of the primary's, and believes it if so. */
  async function look(): Promise<void> {
    const before = lost
    try {
      const head = await log.newestHead()
      if (head && !(await isOfPrimary(head))) return doubt()
      if (lost !== before) return
      isAway = false
      lookAt = performance.now() + PAUSE_MS
    } catch {
      failed()
    }
  }
  async function isOfPrimary({ logId, number, rootHash }: TreeHeadRow): Promise<boolean> {
    const [same] = await primary.log.headsAfter(logId, number - 1, 1)
    return same?.number === number && bytesEqual(same.rootHash, rootHash)
  }

  async function looked(): Promise<void> {
    if (performance.now() >= lookAt) {
      lookAt = Number.POSITIVE_INFINITY
      looking = look()
    }
    // While a replica is away, trying it again keeps no client waiting.
    if (!isAway) await looking
  }

  /** Reads at the replica behind a circuit breaker; undefined where it lacks a part, does not answer or is not believed. */
  async function atReplica<T>(read: () => Promise<T>, isWhole: (found: T) => boolean): Promise<T | undefined> {
    await looked()
    if (isAway) return undefined
    wasRead = true
    try {
      const found = await read()
      return isWhole(found) ? found : undefined
    } catch {
      failed()
      return undefined
    }
  }

  const isThere = (found: unknown) => found !== undefined
  /** Finds the erased ones of these receipts: a replica that lags still has their content. */
  async function erased(receiptIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = receiptIds.length === 0 ? [] : await primary.erasures.byReceiptIds(receiptIds)
    return new Set(rows.map(({ receiptId }) => receiptId))
  }

  const published: PublishedReads = {
    ...primary.log,
    trust: {
      lost: async () => {
        await looked()
        return lost
      },
      doubt,
    },
    tile: async (...tile) => (await atReplica(() => log.tile(...tile), isThere)) ?? primary.log.tile(...tile),
    fullTiles: async (logId, places) => {
      const wanted = new Set(places.map(({ level, index }) => `${level}/${index}`)).size
      const found = await atReplica(
        () => log.fullTiles(logId, places),
        (rows) => rows.length === wanted,
      )
      return found ?? primary.log.fullTiles(logId, places)
    },
    leaves: async (logId, start, end) => {
      const found = await atReplica(
        () => log.leaves(logId, start, end),
        (rows) => rows.length === end - start,
      )
      return found ?? primary.log.leaves(logId, start, end)
    },
    leafByHash: async (state, hash) =>
      (await atReplica(() => log.leafByHash(state, hash), isThere)) ?? primary.log.leafByHash(state, hash),
    receiptsByIds: async (receiptIds) => {
      const found = await atReplica(() => log.receiptsByIds(receiptIds), isThere)
      const gone = await erased(found?.receipts.map(({ receiptId }) => receiptId) ?? [])
      const receipts = found?.receipts.filter(({ receiptId }) => !gone.has(receiptId)) ?? []
      const known = new Set(receipts.map(({ receiptId }) => receiptId))
      const others = receiptIds.filter((receiptId) => !known.has(receiptId))
      if (others.length === 0) return { receipts, elsewhere: [] }
      const rest = await primary.log.receiptsByIds(others)
      return { receipts: [...receipts, ...rest.receipts], elsewhere: rest.elsewhere }
    },
    evidenceOf: async (receiptId) => {
      const found = await atReplica(() => log.evidenceOf(receiptId), isThere)
      const isOpen = found !== undefined && (await erased([receiptId])).size === 0
      return isOpen ? found : primary.log.evidenceOf(receiptId)
    },
  }
  return { published, isReplicaAway: () => isAway }
}
