/** What goes between the thread that sequences and the one that asks it to. Many at a time: each message costs more than what is in it. */
import { ServiceError, type ServiceErrorCode } from '../../base/errors.ts'
import type { ClaimRow } from '../../storage/claim-row.ts'
import { StorageError, type StorageErrorCode } from '../../storage/storage.ts'
import type { Outcome } from '../sequencer.ts'

/** The arguments of `store`, `storeChecked` and `advance`. */
export type Order = { readonly id: number } & (
  | { readonly method: 'store'; readonly claim: ClaimRow }
  | { readonly method: 'storeChecked' | 'advance'; readonly outcome: Outcome }
)

export type Reply = { readonly id: number } & (
  | { readonly kept: boolean; readonly receiptId: string | null }
  | { readonly problem: Problem }
)

/** An error as plain data: a copy of one loses its class and its code on the way. */
export interface Problem {
  readonly name: string
  readonly code: string | undefined
  readonly message: string
  readonly stack: string | undefined
}

/** Several orders; or the last message: to finish, close and end. */
export type Request = readonly Order[] | 'close'

export function toProblem(error: unknown): Problem {
  const { name, code, message, stack } = error as Error & { readonly code?: string }
  return { name, code, message, stack }
}

export function fromProblem(problem: Problem): Error {
  const { name, code, message } = problem
  const cause = Object.assign(new Error(message), problem)
  if (name === 'StorageError') return new StorageError(code as StorageErrorCode, message, { cause })
  if (name === 'ServiceError') return new ServiceError(code as ServiceErrorCode, message, { cause })
  return cause
}
