/** Converts erasures to the form of the API. */

import type * as wire from '@claimcheck/core/api'
import { formatInstant } from '@claimcheck/core/rules'
import type { ErasureRow } from '../../storage/erasures.ts'

export function toErasure({ erasedAt, rule, reference }: ErasureRow): wire.Erasure {
  return { erased_at: formatInstant(erasedAt), rule, reference: reference === '' ? null : reference }
}

export function toErasedReceipt(receipt: ErasureRow): wire.ErasedReceipt {
  return {
    ...toErasure(receipt),
    receipt_id: receipt.receiptId,
    issued_at: formatInstant(receipt.issuedAt),
    leaf_index: receipt.leafIndex,
    leaf_hash: Buffer.from(receipt.leafHash).toString('base64url'),
  }
}
