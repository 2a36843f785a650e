/** Converts the answers of the log to the form of the API. */

import type * as wire from '@claimcheck/core/api'
import type { Anchor } from '@claimcheck/core/hosting'
import { formatInstant } from '@claimcheck/core/rules'
import type { EntriesPage } from './log.ts'

export function toAnchor(anchor: Anchor): wire.Anchor {
  return {
    chain: anchor.chain,
    scheme: anchor.scheme,
    uid: anchor.uid,
    tx_hash: anchor.txHash,
    tree_size: anchor.treeSize,
    root_hash: anchor.rootHash,
    block_number: anchor.blockNumber,
    block_time: anchor.blockTime,
  }
}

export function toLogEntries({ treeSize, entries, next }: EntriesPage): wire.LogEntries {
  return {
    tree_size: treeSize,
    entries: entries.map(({ leafIndex, leafHash, createdAt }) => ({
      leaf_index: leafIndex,
      leaf_hash: leafHash,
      created_at: formatInstant(createdAt),
    })),
    next,
  }
}
