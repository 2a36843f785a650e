/** The public log: heads, entries, proofs. It tells leaf indexes, leaf hashes and times, never what a leaf holds. */
import type { Instant } from '@claimcheck/core'

/** Hashes are base64url here, as on the wire. */
export interface LogEntry {
  readonly leafIndex: number
  readonly leafHash: string
  readonly createdAt: Instant
}

export interface EntriesPage {
  readonly treeSize: number
  readonly entries: readonly LogEntry[]
  /** The next page's start, or null. */
  readonly next: number | null
}

export interface InclusionProof {
  readonly logId: string
  readonly leafIndex: number
  readonly treeSize: number
  readonly leafHash: string
  readonly rootHash: string
  readonly inclusion: readonly string[]
}

export interface ConsistencyProof {
  readonly logId: string
  readonly first: number
  readonly second: number
  readonly firstRoot: string
  readonly secondRoot: string
  readonly proof: readonly string[]
}

/** A landed anchor, fields as on the wire in camelCase. */
export interface Anchor {
  readonly chain: string
  readonly scheme: string
  readonly uid: string
  readonly txHash: string
  readonly treeSize: number
  readonly rootHash: string
  readonly blockNumber: number
  /** Unix seconds. */
  readonly blockTime: number
}

export interface LogService {
  /** The newest signed tree head, as the exact JSON that was signed, with the newest landed anchor. */
  head(): Promise<{ readonly treeHead: string; readonly anchor: Anchor | null }>
  /** Ascending. Without `start`, the newest. @throws ServiceError `not_found` when start is beyond the tree */
  entries(start: number | undefined, limit: number): Promise<EntriesPage>
  /** @throws ServiceError `bad_request` when the leaf is not in a tree of that size, `not_found` when the size is beyond the tree */
  inclusion(leafIndex: number, treeSize?: number): Promise<InclusionProof>
  /** @throws ServiceError `bad_request` when first is 0 or above second, `not_found` when either is beyond the tree */
  consistency(first: number, second?: number): Promise<ConsistencyProof>
  /** Newest first. */
  anchors(
    limit: number,
    before?: number,
  ): Promise<{ readonly anchors: readonly Anchor[]; readonly next: number | null }>
}
