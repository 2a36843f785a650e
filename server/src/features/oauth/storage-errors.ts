/** Answers 503 to applications while the database is unavailable. oidc-provider would answer 500 to a StorageError. */
import { StorageError } from '../../storage/storage.ts'
import type { Library } from './library.ts'

export function translateStorageErrors(errors: Library['errors']): <T>(work: () => Promise<T>) => Promise<T> {
  return async (work) => {
    try {
      return await work()
    } catch (cause) {
      if (!(cause instanceof StorageError)) throw cause
      const error = new errors.TemporarilyUnavailable('the database is unavailable: try again later', { cause })
      throw Object.assign(error, { status: 503, statusCode: 503, expose: true })
    }
  }
}
