/** The words for an erased receipt. */
import { formatInstant } from '@claimcheck/core/rules'
import { ServiceError } from '../../base/errors.ts'
import { ruleWords } from '../../storage/erasure-rules.ts'
import type { ErasureRow } from '../../storage/erasures.ts'
import { toErasedReceipt } from './erased-receipt.ts'

/** The error that stands in place of an erased receipt or its evidence. */
export class ErasedError extends ServiceError {
  readonly receipt: ErasureRow

  constructor(receipt: ErasureRow) {
    const { leafIndex } = receipt
    super(
      'gone',
      `${erasureSentence(receipt)}. Its entry ${leafIndex} in the log stays, so a copy of the receipt still verifies`,
      { more: { erased: toErasedReceipt(receipt) } },
    )
    this.receipt = receipt
  }
}

/** Writes why and when a receipt was erased, without a full stop. */
export function erasureSentence({
  erasedAt,
  rule,
  reference,
}: Pick<ErasureRow, 'erasedAt' | 'rule' | 'reference'>): string {
  return `the content of this receipt was erased at ${formatInstant(erasedAt)}, because of ${ruleWords(rule, reference)}`
}
