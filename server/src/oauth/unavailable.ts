/** Tells applications of a database that cannot be used, which oidc-provider would take for a fault of ours. */
import { StorageError } from '../storage/storage.ts'
import type { Library } from './library.ts'

export function answersUnavailable(errors: Library['errors']): <T>(work: () => Promise<T>) => Promise<T> {
  return async (work) => {
    try {
      return await work()
    } catch (cause) {
      if (!(cause instanceof StorageError)) throw cause
      const error = new errors.TemporarilyUnavailable('the database cannot be used now', { cause })
      throw Object.assign(error, { status: 503, statusCode: 503, expose: true })
    }
  }
}
