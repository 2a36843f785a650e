/** Receipts: the stored bytes, with the proof that they are in the log. */
import { toBase64url } from '@claimcheck/core'
import type { Storage } from '../storage/storage.ts'
import type { LogService } from './log.ts'

export interface ReceiptService {
  /** The receipt as JSON text: the exact stored body and signature, and a proof at the log's current size. */
  get(receiptId: string): Promise<string | undefined>
}

export function createReceiptService({ storage, log }: { storage: Storage; log: LogService }): ReceiptService {
  return {
    async get(receiptId) {
      const receipt = await storage.read.log.receiptById(receiptId)
      if (!receipt) return undefined
      const { logId, leafIndex, treeSize, leafHash, rootHash, inclusion } = await log.inclusion(receipt.leafIndex)
      if (leafHash !== toBase64url(receipt.leafHash))
        throw new Error('the stored leaf is not the one that the tree has')
      const proof = { log_id: logId, leaf_index: leafIndex, tree_size: treeSize, root_hash: rootHash, inclusion }
      // Spliced in as text: what was signed is served to the byte.
      return `${receipt.entry.slice(0, -1)},"proof":${JSON.stringify(proof)}}`
    },
  }
}
