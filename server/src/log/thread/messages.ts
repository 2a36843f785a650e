/**
 * The messages between the main thread and the sequencer's thread. A message carries many calls, because its fixed cost is higher than
 * that of a call.
 */
import { ServiceError, type ServiceErrorCode } from '../../base/errors.ts'
import type { NewClaim } from '../../storage/claim-row.ts'
import { StorageError, type StorageErrorCode } from '../../storage/storage.ts'
import type { Outcome } from '../sequencer.ts'

/** A call of `store`, `storeChecked` or `advance`. */
export type Call = { readonly id: number } & (
  | { readonly method: 'store'; readonly claim: NewClaim }
  | { readonly method: 'storeChecked' | 'advance'; readonly outcome: Outcome }
)

export type Reply = { readonly id: number } & (
  | { readonly isStored: boolean; readonly receiptId: string | null }
  | { readonly error: ErrorData }
)

/** An error as plain data, because a message loses the class and the code of an error. */
export interface ErrorData {
  readonly name: string
  readonly code: string | undefined
  readonly message: string
  readonly stack: string | undefined
}

/** Calls, or the last message: finish the calls and end the thread. */
export type Request = readonly Call[] | 'close'

export function toErrorData(error: unknown): ErrorData {
  const { name, code, message, stack } = error as Error & { readonly code?: string }
  return { name, code, message, stack }
}

export function fromErrorData(data: ErrorData): Error {
  const { name, code, message } = data
  const cause = Object.assign(new Error(message), data)
  if (name === 'StorageError') return new StorageError(code as StorageErrorCode, message, { cause })
  if (name === 'ServiceError') return new ServiceError(code as ServiceErrorCode, message, { cause })
  return cause
}
