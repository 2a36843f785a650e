/** Reads of published rows at a replica, which may lag behind the primary and be away. */
import type { erasureReads } from './erasures.ts'
import type { logReads } from './log.ts'

type LogReads = ReturnType<typeof logReads>

/** What never changes once it is there, but by an erasure. What is newest, such as the head, is read at the primary. */
export type PublishedReads = Pick<
  LogReads,
  'tile' | 'fullTiles' | 'leaves' | 'leafByHash' | 'receiptsByIds' | 'evidenceOf' | 'newestHead'
>

/** After a failure the primary answers for so long; then one read tries the replica again. */
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
  let retryAt = 0

  function answered(): void {
    retryAt = 0
  }
  function failed(): void {
    retryAt = performance.now() + PAUSE_MS
  }

  /** What the replica has; undefined where it lacks some of it or does not answer. A circuit breaker. */
  async function atReplica<T>(read: () => Promise<T>, isWhole: (found: T) => boolean): Promise<T | undefined> {
    if (retryAt > 0) {
      if (performance.now() < retryAt) return undefined
      // The trial, which keeps no client waiting.
      failed()
      read().then(answered, failed)
      return undefined
    }
    try {
      const found = await read()
      return isWhole(found) ? found : undefined
    } catch {
      failed()
      return undefined
    }
  }

  const isThere = (found: unknown) => found !== undefined
  /** A replica that lags still has the content. */
  async function erased(receiptIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = receiptIds.length === 0 ? [] : await primary.erasures.byReceiptIds(receiptIds)
    return new Set(rows.map(({ receiptId }) => receiptId))
  }

  const published: PublishedReads = {
    ...primary.log,
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
  return { published, isReplicaAway: () => retryAt > 0 }
}
