/** Serves receipts: the stored bytes, with the proof that they are in the log. */
import { type Anchor, bytesEqual } from '@claimcheck/core'
import { createBatch } from '../base/batch.ts'
import type { ReceiptText } from '../storage/receipt-texts.ts'
import type { Storage } from '../storage/storage.ts'
import type { AnchoredPath, LogService } from './log.ts'

export interface ReceiptService {
  /**
   * The receipt as JSON text: the exact stored body and signature, and a proof at the anchored tree size or, before an anchor covers
   * it, at the current size.
   */
  get(receiptId: string): Promise<string | undefined>
  /** Exactly the text whose digest the receipt signs; undefined for a receipt from before there was evidence, and for none. */
  evidence(receiptId: string): Promise<string | undefined>
}

interface ReceiptServiceOptions {
  readonly storage: Storage
  readonly log: Pick<LogService, 'inclusions'>
}

const MAX_PER_READ = 100

export function createReceiptService({ storage, log }: ReceiptServiceOptions): ReceiptService {
  // Requests that arrive together share one lookup and one tree size.
  const lookups = createBatch<string, string | undefined>(
    async (receiptIds) => {
      const { state, receipts } = await storage.read.log.receiptsByIds(receiptIds)
      const leafIndexes = receipts.map(({ leafIndex }) => leafIndex)
      const texts = withProofs(receipts, await log.inclusions(state, leafIndexes))
      return receiptIds.map((receiptId) => texts.get(receiptId))
    },
    { maxItems: MAX_PER_READ },
  )
  return {
    get: (receiptId) => lookups.add(receiptId),
    evidence: (receiptId) => storage.read.log.evidenceOf(receiptId),
  }
}

/** The receipts' texts by receipt id. */
function withProofs(receipts: readonly ReceiptText[], proofs: readonly AnchoredPath[]): Map<string, string> {
  const texts = new Map<string, string>()
  for (const [index, { receiptId, leafIndex, leafHash, entry }] of receipts.entries()) {
    const { logId, treeSize, rootHash, leafHash: inTree, path, anchor } = proofs[index]!
    if (!bytesEqual(Buffer.from(leafHash, 'hex'), inTree))
      throw new Error('the leaf hash of the stored receipt differs from the leaf in the tree')
    // Adds the proof to the stored text, so that the signed bytes stay unchanged. Nothing in a proof needs escaping.
    const proof = `{"log_id":"${logId}","leaf_index":${leafIndex},"tree_size":${treeSize},"root_hash":"${rootHash}","inclusion":${path}${anchorMember(anchor)}}`
    texts.set(receiptId, `${entry.slice(0, -1)},"proof":${proof}}`)
  }
  return texts
}

function anchorMember(anchor: Anchor | null): string {
  if (!anchor) return ''
  const { chain, scheme, uid, txHash, treeSize } = anchor
  return `,"anchor":${JSON.stringify({ chain, scheme, uid, tx_hash: txHash, tree_size: treeSize })}`
}
