/** Receipts: the stored bytes, with the proof that they are in the log. */
import type { Anchor } from '@claimcheck/core'
import { createBatch } from '../batch.ts'
import type { ReceiptText } from '../storage/receipt-texts.ts'
import type { Storage } from '../storage/storage.ts'
import type { AnchoredProof, LogService } from './log.ts'

export interface ReceiptService {
  /** The receipt as JSON text: the exact stored body and signature, and a proof where it is anchored, before that at the log's current size. */
  get(receiptId: string): Promise<string | undefined>
}

interface ReceiptServiceOptions {
  readonly storage: Storage
  readonly log: Pick<LogService, 'inclusions'>
}

const MOST_PER_READ = 100

export function createReceiptService({ storage, log }: ReceiptServiceOptions): ReceiptService {
  // Requests that arrive together are looked up together, and proven at one size of the log.
  const lookups = createBatch<string, string | undefined>(
    async (receiptIds) => {
      const rows = await storage.read.log.receiptsByIds(receiptIds)
      // After the rows were read: the log's size has come to each of them.
      const proofs = await log.inclusions(rows.map(({ leafIndex }) => leafIndex))
      const texts = new Map(rows.map((row, index) => [row.receiptId, withProof(row, proofs[index]!)]))
      return receiptIds.map((receiptId) => texts.get(receiptId))
    },
    { most: MOST_PER_READ },
  )
  return { get: (receiptId) => lookups.add(receiptId) }
}

function withProof(row: ReceiptText, proven: AnchoredProof): string {
  const { logId, leafIndex, treeSize, leafHash, rootHash, inclusion, anchor } = proven
  if (leafHash !== Buffer.from(row.leafHash, 'hex').toString('base64url'))
    throw new Error('the stored leaf is not the one that the tree has')
  // Spliced in as text: what was signed is served to the byte. Nothing in a proof needs escaping.
  const path = inclusion.length === 0 ? '[]' : `["${inclusion.join('","')}"]`
  const proof = `{"log_id":"${logId}","leaf_index":${leafIndex},"tree_size":${treeSize},"root_hash":"${rootHash}","inclusion":${path}${anchorMember(anchor)}}`
  return `${row.entry.slice(0, -1)},"proof":${proof}}`
}

function anchorMember(anchor: Anchor | null): string {
  if (!anchor) return ''
  const { chain, scheme, uid, txHash, treeSize } = anchor
  return `,"anchor":${JSON.stringify({ chain, scheme, uid, tx_hash: txHash, tree_size: treeSize })}`
}
