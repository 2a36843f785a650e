/** Receipts: the stored bytes, with the proof that they are in the log. */

export interface ReceiptService {
  /** The receipt as JSON text: the exact stored body and signature, and a proof. */
  get(receiptId: string): Promise<string | undefined>
}
