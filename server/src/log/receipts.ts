/** Serves receipts: the stored bytes, with the proof that they are in the log. */
import { type Anchor, bytesEqual } from '@claimcheck/core'
import { createBatch, Failed } from '../base/batch.ts'
import type { ReceiptText } from '../storage/receipt-texts.ts'
import type { Storage } from '../storage/storage.ts'
import { ErasedError } from './erased.ts'
import type { AnchoredPath, LogService } from './log.ts'

export interface ReceiptService {
  /**
   * The receipt as JSON text: the exact stored body and signature, and a proof at the anchored tree size or, before an anchor covers
   * it, at the current size.
   * @throws ErasedError
   */
  get(receiptId: string): Promise<string | undefined>
  /**
   * Exactly the text whose digest the receipt signs; undefined for a receipt from before there was evidence, and for none.
   * @throws ErasedError
   */
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
      const whole = receipts.filter(({ entry }) => entry !== '')
      const leafIndexes = whole.map(({ leafIndex }) => leafIndex)
      const texts = withProofs(whole, await log.inclusions(state, leafIndexes))
      const reasons =
        receipts.length > whole.length ? await whyEmpty(receipts.filter(({ entry }) => entry === '')) : undefined
      return receiptIds.map((receiptId) => texts.get(receiptId) ?? reasons?.get(receiptId))
    },
    { maxItems: MAX_PER_READ },
  )

  /** Each receipt without content has its own reason: the others of a batch are served. */
  async function whyEmpty(receipts: readonly ReceiptText[]): Promise<Map<string, Failed>> {
    const ids = receipts.map(({ receiptId }) => receiptId)
    const erased = new Map((await storage.read.erasures.byReceiptIds(ids)).map((row) => [row.receiptId, row]))
    return new Map(
      ids.map((receiptId) => {
        const row = erased.get(receiptId)
        const why = row ? new ErasedError(row) : new Error('a receipt has no content, and no erasure says why')
        return [receiptId, new Failed(why)]
      }),
    )
  }

  return {
    get: (receiptId) => lookups.add(receiptId),
    async evidence(receiptId) {
      const document = await storage.read.log.evidenceOf(receiptId)
      if (document !== undefined) return document
      const [erased] = await storage.read.erasures.byReceiptIds([receiptId])
      if (erased) throw new ErasedError(erased)
      return undefined
    },
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
