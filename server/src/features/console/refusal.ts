/** Why a service refused a form, in words for the page. */
import { ServiceError } from '../../base/errors.ts'

/** @throws any error that is not about what was sent: it gets an error page */
export function refusalOf(error: unknown): string {
  if (error instanceof ServiceError && (error.code === 'bad_request' || error.code === 'conflict')) return error.message
  throw error
}
