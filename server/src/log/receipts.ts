/** Serves receipts: the stored bytes, with the proof that they are in the log. */
import { type Anchor, bytesEqual } from '@claimcheck/core'
import { createBatch, Failed } from '../base/batch.ts'
import type { ReceiptPlace, ReceiptRow } from '../storage/log.ts'
import type { Storage } from '../storage/storage.ts'
import { ErasedError } from './erased.ts'
import type { AnchoredPath, LogService } from './log.ts'
import type { LogArchives } from './log-archives.ts'

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
  readonly storage: Pick<Storage, 'read'>
  readonly log: Pick<LogService, 'inclusions' | 'endedInclusions'>
  readonly archives: Pick<LogArchives, 'receipt'>
}

const MAX_PER_READ = 100
const NO_CONTENT = 'a receipt has no content, and no erasure says why'

export function createReceiptService({ storage, log, archives }: ReceiptServiceOptions): ReceiptService {
  // Requests that arrive together share one lookup and one tree size.
  const lookups = createBatch<string, string | undefined>(
    async (receiptIds) => {
      const { state, receipts, elsewhere } = await storage.read.log.receiptsByIds(receiptIds)
      const whole = receipts.filter(({ entry }) => entry !== '')
      const current = whole.filter(({ logId }) => logId === state.logId)
      const leafIndexes = current.map(({ leafIndex }) => leafIndex)
      const found: Map<string, string | Failed> = withProofs(current, await log.inclusions(state, leafIndexes))
      const others =
        receiptIds.length > found.size ? [...receipts.filter(({ entry }) => entry === ''), ...elsewhere] : []
      for (const [receiptId, why] of await whyErased(others.map(({ receiptId }) => receiptId)))
        found.set(receiptId, why)
      for (const receipt of whole)
        if (receipt.logId !== state.logId) found.set(receipt.receiptId, await proveEnded(receipt))
      for (const receipt of others)
        if (!found.has(receipt.receiptId)) {
          const isEmpty = 'entry' in receipt
          found.set(receipt.receiptId, isEmpty ? new Failed(new Error(NO_CONTENT)) : await archived(receipt))
        }
      return receiptIds.map((receiptId) => found.get(receiptId))
    },
    { maxItems: MAX_PER_READ },
  )

  /** One of a log that has ended: what is wrong with it is its own mistake. */
  async function proveEnded(receipt: ReceiptRow): Promise<string | Failed> {
    try {
      const proofs = await log.endedInclusions(receipt.logId, [receipt.leafIndex])
      return withProofs([receipt], proofs).get(receipt.receiptId)!
    } catch (error) {
      return new Failed(error)
    }
  }

  /** One that is in no table. */
  async function archived({ receiptId, logId }: ReceiptPlace): Promise<string | Failed> {
    try {
      const receipt = await archives.receipt(logId, receiptId)
      if (receipt.entry === '') throw new Error(NO_CONTENT)
      return await proveEnded(receipt)
    } catch (error) {
      return new Failed(error)
    }
  }

  async function whyErased(receiptIds: readonly string[]): Promise<Map<string, Failed>> {
    if (receiptIds.length === 0) return new Map()
    const rows = await storage.read.erasures.byReceiptIds(receiptIds)
    return new Map(rows.map((row) => [row.receiptId, new Failed(new ErasedError(row))]))
  }

  return {
    get: (receiptId) => lookups.add(receiptId),
    async evidence(receiptId) {
      const document = await storage.read.log.evidenceOf(receiptId)
      if (document !== undefined) return document
      const [erased] = await storage.read.erasures.byReceiptIds([receiptId])
      if (erased) throw new ErasedError(erased)
      const { elsewhere } = await storage.read.log.receiptsByIds([receiptId])
      return elsewhere[0] && (await archives.receipt(elsewhere[0].logId, receiptId)).evidence
    },
  }
}

/** The receipts' texts by receipt id. */
function withProofs(receipts: readonly ReceiptRow[], proofs: readonly AnchoredPath[]): Map<string, string> {
  const texts = new Map<string, string>()
  for (const [index, { receiptId, leafIndex, leafHash, entry }] of receipts.entries()) {
    const { logId, treeSize, rootHash, leafHash: inTree, path, anchor } = proofs[index]!
    if (!bytesEqual(leafHash, inTree))
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
