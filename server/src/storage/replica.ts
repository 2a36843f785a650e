/** Reads of published rows at a replica, which may lag behind the primary and be away. */
import { bytesEqual } from '@claimcheck/core/receipts'
import type { erasureReads } from './erasures.ts'
import type { logReads } from './log.ts'
import type { TreeHeadRow } from './log-state.ts'

type LogReads = ReturnType<typeof logReads>

/** What never changes once it is there, but by an erasure. What is newest, such as the head, is read at the primary. */
export type PublishedReads = Pick<
  LogReads,
  'tile' | 'fullTiles' | 'leaves' | 'leafByHash' | 'receiptsByIds' | 'evidenceOf' | 'newestHead'
> & {
  /** Absent where the primary answers all. */
  readonly trust?: Trust
}

/** In a replica, which may have followed an old primary past a failover: its log is then another one under the same id. */
export interface Trust {
  /** Grows when what was read until then, and is kept, may be of another log. */
  lost(): Promise<number>
  /** What was read does not fit the primary, which answers until a look at the replica succeeds. */
  doubt(): void
}

/** A look at the replica holds for so long; after a failure the primary answers until the next. */
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
  /** Since `lost` grew. */
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

  /** Believes the replica if its newest head is one of the primary's. */
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
    // The trial of one that is away keeps no client waiting.
    if (!isAway) await looking
  }

  /** What the replica has; undefined where it lacks some of it, does not answer or is not believed. A circuit breaker. */
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
  /** A replica that lags still has the content. */
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
