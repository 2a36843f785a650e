/**
 * Checks what never changes of a receipt once: a badge is asked for as often as the page that shows it. Everything that may change is read
 * each time, and checked again when it did: the row, the evidence, the keys with their revocations, the profiles, and the anchor.
 */
import { type Bundle, checkBundle, type Receipt } from '@claimcheck/core/receipts'
import { LRUCache } from 'lru-cache'
import { sha256Text } from '../../../base/sha256.ts'
import { type ReceiptView, viewOf } from '../../../web/receipt-view/view.ts'
import { ErasedError } from '../../receipts/erased.ts'
import { type BundleSources, bundleOf } from './bundles.ts'

const MOST_CHECKED = 2000

export interface CheckedReceipt {
  readonly bundle: Bundle
  readonly view: ReceiptView
}

export interface CheckedReceipts {
  /** Undefined where there is no such receipt. @throws ErasedError */
  find(receiptId: string): Promise<CheckedReceipt | undefined>
}

interface Known {
  readonly digest: string
  readonly view: ReceiptView
}

export function createCheckedReceipts(sources: BundleSources): CheckedReceipts {
  const known = new LRUCache<string, Known>({ max: MOST_CHECKED })

  async function view(receiptId: string, bundle: Bundle): Promise<ReceiptView | undefined> {
    const { digest, proof } = whatCounts(bundle)
    const before = known.get(receiptId)
    if (before?.digest === digest) return { ...before.view, proof }
    const checked = viewOf(bundle, await checkBundle(bundle, { fromIssuer: true }))
    // What fails may be the log's, which is read again.
    if (checked && checked.tone !== 'doubtful') known.set(receiptId, { digest, view: checked })
    return checked
  }

  return {
    async find(receiptId) {
      try {
        const bundle = await bundleOf(receiptId, sources)
        const shown = bundle && (await view(receiptId, bundle))
        return shown && { bundle, view: shown }
      } catch (error) {
        if (error instanceof ErasedError) known.delete(receiptId)
        throw error
      }
    },
  }
}

/** A proof at another size of the same log says nothing else of the receipt: the path that was checked stays true. */
function whatCounts({ receipt, evidence, keys, profiles }: Bundle) {
  const { proof } = JSON.parse(receipt) as Receipt
  const signed = receipt.slice(0, receipt.lastIndexOf(',"proof":'))
  const place = [proof?.log_id, proof?.leaf_index, proof?.anchor]
  return { proof, digest: sha256Text(JSON.stringify([signed, place, evidence, keys, profiles])) }
}
