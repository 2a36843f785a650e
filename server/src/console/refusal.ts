/** What a service refuses of a form, in words that stand above it. */
import { ServiceError } from '../base/errors.ts'

/** @throws whatever is no refusal of what was sent: it has a page of its own */
export function refusalOf(error: unknown): string {
  if (error instanceof ServiceError && (error.code === 'bad_request' || error.code === 'conflict')) return error.message
  throw error
}
